// A loss with dims, in automatic mode.
// EXPECT: \[shardtype X04\] a loss is one real floating number
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto loss(Mesh<X> const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate(mesh, value_and_grad<0>([](auto const& x) { return sum(x * x); }), a);
#else
  return evaluate(mesh, value_and_grad<0>([](auto const& x) { return x * x; }), a);
#endif
}
