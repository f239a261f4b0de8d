// The result of evaluate has another index.
// EXPECT: \[shardtype L07\] the result that evaluate names has other indices than the expression
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
  return evaluate<Dim<J>, Dim<I, X>>(mesh, lazy(a) * 2);
#else
  return evaluate<Dim<K>, Dim<I, X>>(mesh, lazy(a) * 2);
#endif
}
