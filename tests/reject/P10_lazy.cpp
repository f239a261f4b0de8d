// A floating number on an expression of integers.
// EXPECT: \[shardtype P10\] a number does not fit
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X, Y>;
using N = Tensor<std::int64_t, Dim<I, X>, Dim<J>>;

auto add(M const& mesh, N const& n) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, 3 * lazy(n));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, 1.5 * lazy(n));
#endif
}
