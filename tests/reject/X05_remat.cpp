// A weight that the rematerialised function captures: no gradient would reach it.
// EXPECT: \[shardtype X05\] the function of remat or custom_vjp uses a value whose gradient is wanted
// EXPECT: refused<.*X05_captured, false, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<H> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D>, Dim<H>, Reduced<X>> const& w, T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0>([](auto v, auto rows) {
#ifdef LEGAL
    auto h = remat([](auto r, auto u) { return tanh(matmul(r, u)); })(rows, v);
#else
    auto h = remat([&](auto r) { return tanh(matmul(r, v)); })(rows);
#endif
    return sum(square(h));
  })(w, x);
}
