// A block-cyclic constraint.
// EXPECT: \[shardtype L02\] automatic mode plans blocks only
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
  return evaluate<Dim<I>, Dim<J>>(mesh, constrain<Dim<I>, Dim<J, X>>(lazy(a) * 2));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, constrain<Dim<I>, Dim<J, Cyclic<X, 2>>>(lazy(a) * 2));
#endif
}
