// A sum as maxima that are still to be taken.
// EXPECT: \[shardtype R04\] source and destination are unreduced with different kinds
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

auto total(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<J>, Unreduced<Max, X>>(mesh, max<I>(lazy(a)));
#else
  return evaluate<Dim<J>, Unreduced<Max, X>>(mesh, sum<I>(lazy(a)));
#endif
}
