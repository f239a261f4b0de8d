// Two types named for a loss and two gradients.
// EXPECT: \[shardtype L09\] evaluate names other than one result
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto products(Mesh<X> const& mesh, A const& a, A const& b) {
  auto const g = value_and_grad<0, 1>([](auto const& x, auto const& y) { return sum(x * y); });
#ifdef LEGAL
  return evaluate<Outs<Tensor<float>, A, A>>(mesh, g, a, b);
#else
  return evaluate<Outs<Tensor<float>, A>>(mesh, g, a, b);
#endif
}
