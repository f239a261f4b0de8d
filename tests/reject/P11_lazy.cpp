// A condition that is no expression of bool.
// EXPECT: \[shardtype P11\] where, any and all need a condition of bool
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

auto choose(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, where(lazy(a) > 0, a, 0));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, where(lazy(a), a, 0));
#endif
}
