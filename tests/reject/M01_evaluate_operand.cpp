// A tensor of an expression is split over an axis that the mesh of evaluate lacks.
// EXPECT: \[shardtype M01\] the tensor type names a mesh axis that this Mesh does not have
// EXPECT: Dim<I, Z>
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, Z>, Dim<J>>;

template <class M>
auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) * 2);
}
auto run(Mesh<X, Z> const& mesh, A const& a) {
  return twice(mesh, a);
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) * 2);
}
auto run(Mesh<X, Y> const& mesh, A const& a) {
  return twice(mesh, a);
#endif
}
