// A norm of an expression, used further.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto length(M const& mesh, A const& a) {
#ifdef LEGAL
  return norm<>(evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) * 2)) + 1;
#else
  return norm<>(lazy(a) * 2) + 1;
#endif
}
