// What is under way is started again.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// EXPECT: shardtype::Pending<shardtype::Tensor<float, shardtype::Dim<I> ?, shardtype::Dim<J, X> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

auto back(Tensor<float, Dim<I, X>, Dim<J>> const& a) {
  auto pending = start(op::AllToAll<X, I, J>{}, a);
#ifdef LEGAL
  return start(op::AllToAll<X, J, I>{}, std::move(pending).wait());
#else
  return start(op::AllToAll<X, J, I>{}, pending);
#endif
}
