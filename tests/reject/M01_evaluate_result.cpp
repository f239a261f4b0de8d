// The result of evaluate is split over an axis that the mesh lacks.
// EXPECT: \[shardtype M01\] the tensor type names a mesh axis that this Mesh does not have
// EXPECT: Dim<J, Z>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J, Y>>(mesh, lazy(a) * 2);
#else
  return evaluate<Dim<I>, Dim<J, Z>>(mesh, lazy(a) * 2);
#endif
}
