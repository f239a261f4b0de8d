// Expressions of two element types.
// EXPECT: \[shardtype P09\] the operands have different element types
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
using N = Tensor<std::int64_t, Dim<I, X>, Dim<J>>;

auto add(M const& mesh, A const& a, N const& n) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) + cast<float>(lazy(n)));
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) + lazy(n));
#endif
}
