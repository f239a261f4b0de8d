// A sum of another type than the value that it is to replace.
// EXPECT: \[shardtype P13\] the result of an in-place operation would have another
// EXPECT: refused<.*P13_in_place, false, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Reduced<X> ?>, shardtype::Tensor<double, shardtype::Dim<D, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 13
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D>, Reduced<X>> const& w, T<Dim<D, X>> const& x) {
  return grad<0>([](auto v, auto rows) {
#ifdef LEGAL
    auto h = reshard<Dim<D, X>>(v);
#else
    auto h = v;
#endif
    h += rows;
    return sum(square(h));
  })(w, x);
}
