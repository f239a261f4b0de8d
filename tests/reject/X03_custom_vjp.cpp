// A function with a gradient of its own, which automatic mode does not record.
// EXPECT: \[shardtype X03\] this operation has no gradient
// FORBID: error:.*error:
// NEEDS: full
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto squares(Mesh<X> const& mesh, A const& a) {
  auto const own = custom_vjp([](auto const& x) { return (x * x).tensor(); },
                              [](auto const& x) { return std::pair((x * x).tensor(), x); },
                              [](auto const& x, auto const& ct) { return (ct * x * 2).tensor(); });
#ifdef LEGAL
  static_cast<void>(mesh);
  return value_and_grad<0>([&](auto const& x) { return sum(own(x)); })(a);
#else
  auto const other = custom_vjp([](auto const& x) { return x * x; },
                                [](auto const& x) { return std::pair(x * x, x); },
                                [](auto const& x, auto const& ct) { return ct * x * 2; });
  static_cast<void>(own);
  return evaluate(mesh, value_and_grad<0>([&](auto const& x) { return sum(other(x)); }), a);
#endif
}
