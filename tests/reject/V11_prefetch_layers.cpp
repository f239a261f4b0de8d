// A layer that gives other activations than it takes.
// EXPECT: \[shardtype V11\] the loop's body returns another type than the carry it takes
// EXPECT: refused<.*V11_carry_changes, false, .*Dim<B, X>, shardtype::Dim<D> ?>, .*Dim<B, X>, shardtype::Dim<H> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <array>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto run(T<Dim<B, X>, Dim<D>> const& x, std::array<T<Dim<D, X>, Dim<H>>, 2> const& ws) {
  return prefetch_layers<Reduced<X>>([](auto const& h, auto const& w) {
#ifdef LEGAL
    return matmul(matmul(h, w), transpose<H, D>(w));
#else
    return matmul(h, w);
#endif
  })(x, ws);
}
