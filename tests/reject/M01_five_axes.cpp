// The same on a mesh with more axes than a program may use.
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
struct P : Axis<"P", 1> {};
struct Q : Axis<"Q", 1> {};
struct R : Axis<"R", 1> {};
using M = Mesh<X, Y, P, Q, R>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J, Y>>(mesh, lazy(a) * 2);
#else
  return evaluate<Dim<I>, Dim<J, Z>>(mesh, lazy(a) * 2);
#endif
}
