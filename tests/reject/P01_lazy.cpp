// Neither expression has all indices.
// EXPECT: \[shardtype P01\] no operand has all indices of the others
// FORBID: error:.*error:
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
  return evaluate<Dim<I>, Dim<K>>(mesh, lazy(a) * lazy(b));
#else
  return evaluate<Dim<I>, Dim<K>>(mesh, lazy(a) + lazy(b));
#endif
}
