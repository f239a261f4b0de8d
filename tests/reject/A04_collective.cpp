// Another collective of what is still under way, in manual mode.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// EXPECT: shardtype::Pending<shardtype::Local<float, shardtype::Dim<I> ?, shardtype::Varying<X> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

auto scattered(Local<float, Dim<I>, Varying<X>> const& a) {
  auto pending = start(op::Rotate<X>{1}, a);
#ifdef LEGAL
  return reduce_scatter<X, I>(std::move(pending).wait());
#else
  return reduce_scatter<X, I>(pending);
#endif
}
