// A collective of an expression: the planner chooses collectives.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
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

auto whole(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) * 2);
#else
  static_cast<void>(mesh);
  return all_gather<X, I>(lazy(a) * 2);
#endif
}
