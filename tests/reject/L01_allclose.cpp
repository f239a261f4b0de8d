// Comparing an expression that is not evaluated yet.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
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

bool same([[maybe_unused]] M const& mesh, A const& a) {
#ifdef LEGAL
  return allclose(evaluate<Dim<I, X>, Dim<J>>(mesh, exp(lazy(a))), a);
#else
  return allclose(exp(lazy(a)), a);
#endif
}
