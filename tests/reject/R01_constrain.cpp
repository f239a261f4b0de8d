// A constraint with an index that the expression lacks.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
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

auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, constrain<Dim<J>, Dim<I, X>>(lazy(a) * 2));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, constrain<Dim<K>, Dim<I, X>>(lazy(a) * 2));
#endif
}
