// The block of an unreduced tensor, read as if it were values.
// EXPECT: \[shardtype A10\] local\(\) reads values
// EXPECT: Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using U = Tensor<float, Dim<I>, Unreduced<X>>;

#ifdef LEGAL
float ask(U const& u) {
  auto const a = all_reduce<X>(u);
  return a.local()(0) + u.unreduced_local()(0);
}
#else
float ask(U const& u) { return u.local()(0); }
#endif
