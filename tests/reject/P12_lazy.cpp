// A root of an expression of integers.
// EXPECT: \[shardtype P12\] this function is one of floating and complex numbers
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

auto root(M const& mesh, N const& n) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, sqrt(cast<double>(lazy(n))));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, sqrt(lazy(n)));
#endif
}
