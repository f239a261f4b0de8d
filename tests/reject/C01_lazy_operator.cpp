// a * b where neither an elementwise product nor a matmul is one.
// EXPECT: \[shardtype C01\] the operands share no index
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
using V = Tensor<float, Dim<K>>;

auto product(M const& mesh, A const& a, V const& v) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) * relabel<K, J>(lazy(v)));
#else
  return evaluate<Dim<I>, Dim<J>, Dim<K>>(mesh, lazy(a) * lazy(v));
#endif
}
