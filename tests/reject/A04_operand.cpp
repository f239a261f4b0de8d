// A product with what is still under way.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// EXPECT: shardtype::Pending<shardtype::Tensor<float, shardtype::Dim<I> ?, shardtype::Dim<J> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>>;

auto product(A const& a, B const& b) {
  auto pending = start(op::AllGather<X>{}, a);
#ifdef LEGAL
  return matmul(std::move(pending).wait(), b);
#else
  return matmul(pending, b);
#endif
}
