// The result of evaluate has another element type.
// EXPECT: \[shardtype N05\]
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

auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Tensor<float, Dim<I>, Dim<J>>>(mesh, lazy(a) * 2);
#else
  return evaluate<Tensor<double, Dim<I>, Dim<J>>>(mesh, lazy(a) * 2);
#endif
}
