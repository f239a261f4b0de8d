// A backward function of two arguments that gives one cotangent, in automatic mode.
// EXPECT: \[shardtype X07\] custom_vjp\(f, forward, backward\)
// FORBID: Resolve<|basic_type|Pack<|Sharded
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto added(Mesh<X> const& mesh, A const& a) {
  auto const own =
      custom_vjp([](auto const& x, auto const& y) { return (x + y).tensor(); },
                 [](auto const& x, auto const& y) { return std::pair((x + y).tensor(), 0); },
                 [](int, auto const& ct) {
#ifdef LEGAL
                   return std::tuple(ct, ct);
#else
                   return ct;
#endif
                 });
  return evaluate(mesh, value_and_grad<0>([&](auto const& x) { return sum(own(x, x)); }), a);
}
