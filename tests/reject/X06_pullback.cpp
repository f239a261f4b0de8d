// A pullback that is called with the value's type where Unreduced and Reduced are swapped.
// EXPECT: \[shardtype X06\] wrong type of a cotangent
// EXPECT: refused<.*X06_other_cotangent, false, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Reduced<X> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Unreduced<X> ?> ?>
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

auto back(T<Dim<D>, Reduced<X>> const& w) {
  auto [y, pullback] = vjp([](auto v) { return v * 2.0; }, w);
#ifdef LEGAL
  return pullback(to_partial<X>(all_gather<X>(reshard<Dim<D, X>>(y))));
#else
  return pullback(y);
#endif
}
