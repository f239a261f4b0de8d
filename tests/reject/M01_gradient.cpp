// A gradient that is named over an axis that the mesh lacks.
// EXPECT: \[shardtype M01\]
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;
using B = Tensor<float, Dim<I, Y>>;

auto squares(Mesh<X> const& mesh, A const& a) {
  auto const g = value_and_grad<0>([](auto const& x) { return sum(x * x); });
#ifdef LEGAL
  return evaluate<Outs<Tensor<float>, A>>(mesh, g, a);
#else
  return evaluate<Outs<Tensor<float>, B>>(mesh, g, a);
#endif
}
