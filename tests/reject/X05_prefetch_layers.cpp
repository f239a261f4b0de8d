// A bias that the function of the layers captures: no gradient would reach it.
// EXPECT: \[shardtype X05\] the function of remat or custom_vjp uses a value whose gradient is wanted
// EXPECT: refused<.*X05_captured, false, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<D> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <array>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(std::array<T<Dim<D, X>>, 2> const& gains, T<Dim<D>, Reduced<X>> const& bias,
           T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0, 1>([&](auto const& ps, auto const& b) {
    auto const layer = [&](auto const& h, auto const& gain) {
#ifdef LEGAL
      return (h * gain + stop_gradient(b)).tensor();
#else
      return (h * gain + b).tensor();
#endif
    };
    return sum<T<>>(square(prefetch_layers<Reduced<X>>(layer)(x, ps)));
  })(gains, bias);
}
