// A backward function whose cotangent has other indices than its argument, in automatic mode.
// EXPECT: \[shardtype X06\]
// EXPECT: Dim<J>
// FORBID: Resolve<|basic_type|Pack<|Sharded
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>>;

auto doubled(Mesh<X> const& mesh, A const& a) {
  auto const own = custom_vjp([](auto const& x) { return (x + x).tensor(); },
                              [](auto const& x) { return std::pair((x + x).tensor(), 0); },
                              [](int, auto const& ct) {
#ifdef LEGAL
                                return ct * 2;
#else
                                return relabel<I, J>(ct);
#endif
                              });
  return evaluate(mesh, value_and_grad<0>([&](auto const& x) { return sum(own(x)); }), a);
}
