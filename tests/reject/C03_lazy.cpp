// Expressions with two common indices.
// EXPECT: \[shardtype C03\] the operands share several indices
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<I, Y>>;

auto product(M const& mesh, A const& a, B const& b) {
#ifdef LEGAL
  return evaluate<>(mesh, einsum<>(lazy(a), lazy(b)));
#else
  return evaluate<>(mesh, matmul(lazy(a), lazy(b)));
#endif
}
