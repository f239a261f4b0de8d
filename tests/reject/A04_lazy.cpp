// What is still under way in an expression.
// EXPECT: \[shardtype A04\] this is a Pending result, not yet a tensor
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

auto product(M const& mesh, A const& a, B const& b) {
#ifdef LEGAL
  auto pending = start(op::AllGather<X>{}, a);
  return evaluate<Dim<I>, Dim<K>>(mesh, std::move(pending).wait() * lazy(b));
#else
  auto pending = start(op::AllGather<X>{}, a);
  return evaluate<Dim<I>, Dim<K>>(mesh, matmul(pending, lazy(b)));
#endif
}
