// A replicated operand is sliced for free next to one that X splits along the same dim.
// EXPECT: \[shardtype X02\] an operand is replicated along a mesh axis and was sliced for free
// EXPECT: functions::Multiply, shardtype::Tensor<double, shardtype::Dim<B> ?>, shardtype::Tensor<double, shardtype::Dim<B, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<B>> const& w, T<Dim<B, X>> const& x) {
  return grad<0>([](auto v, auto rows) {
#ifdef LEGAL
    return all_reduce<X>(sum(reshard<Dim<B, X>>(v) * rows));
#else
    return all_reduce<X>(sum(v * rows));
#endif
  })(w, x);
}
