// One program over five mesh axes.
// EXPECT: \[shardtype T07\] one operation has more than 8 indices, 8 operands or 6 mesh axes
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct P : Axis<"P", 1> {};
struct Q : Axis<"Q", 1> {};
struct R : Axis<"R", 1> {};
using M = Mesh<X, Y, P, Q, R>;
using A = Tensor<float, Dim<I, X, Y>, Dim<J, P, Q>>;
using B = Tensor<float, Dim<J>, Dim<K, R>>;

auto product(M const& mesh, A const& a, B const& b) {
#ifdef LEGAL
  return evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * reshard<Dim<J>, Dim<K>>(b));
#else
  return evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * b);
#endif
}
