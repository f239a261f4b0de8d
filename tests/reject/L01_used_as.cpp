// What becomes of a parameter is the choice of the planner.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using W = Tensor<float, Dim<I, X>, Dim<J>>;

auto use(Mesh<X, Y> const& mesh, W const& w) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, lazy(used_as<Reduced<X>>(w)) * 2);
#else
  return evaluate<Dim<I>, Dim<J>>(mesh, used_as<Reduced<X>>(lazy(w)) * 2);
#endif
}
