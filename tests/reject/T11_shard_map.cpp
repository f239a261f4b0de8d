// A function of two blocks, and one tensor.
// EXPECT: \[shardtype T11\] the function given here cannot be called
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
auto ask(A const& a) {
  return shard_map<Dim<I, X>, Dim<J>>([](auto b, auto c) { return b + c; }, a, a);
}
#else
auto ask(A const& a) {
  return shard_map<Dim<I, X>, Dim<J>>([](auto b, auto c) { return b + c; }, a);
}
#endif
