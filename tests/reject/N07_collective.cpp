// op::Named of an operation that names its result itself.
// EXPECT: \[shardtype N07\] op::Named takes an operation that computes one block from blocks
// EXPECT: Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto ask(A const& a) {
#ifdef LEGAL
  return reshard<Dim<I>, Dim<J, X>>(all_gather<X>(a));
#else
  return call(op::Named<op::AllGather<X>, Dim<I>, Dim<J, X>>{}, std::source_location::current(), a);
#endif
}
