// Rows of neighbours, of an expression: what they are depends on how it is split.
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

auto borders(M const& mesh, A const& a) {
#ifdef LEGAL
  return halo_exchange<I>(evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) * 2), 1, 1);
#else
  static_cast<void>(mesh);
  return halo_exchange<I>(lazy(a) * 2, 1, 1);
#endif
}
