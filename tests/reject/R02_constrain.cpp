// A constraint that only a sum could keep, with static sizes.
// EXPECT: \[shardtype R02\] a reshard never makes a replicated value unreduced
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I", 4096> {};
struct J : Index<"J", 4096> {};
struct K : Index<"K", 4096> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

auto product(M const& mesh, A const& a, B const& b) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<K>>(mesh, constrain<Dim<I>, Dim<K>, Unreduced<X>>(lazy(a) * b));
#else
  return evaluate<Dim<I>, Dim<K>>(mesh, constrain<Dim<I>, Dim<K>, Unreduced<X>>(sqrt(lazy(a) * b)));
#endif
}
