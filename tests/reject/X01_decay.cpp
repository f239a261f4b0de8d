// The cast weight in a decay term: next to a Reduced operand a replicated one gets a sum over X.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: functions::Multiply, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H>, shardtype::Reduced<X> ?>, X>
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

auto train(T<Dim<D>, Dim<H>> const& w, T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0>([](auto v, auto rows) {
    auto r = reduced<X>(v);
    auto fit = all_reduce<X>(sum(square(matmul(rows, r))));
#ifdef LEGAL
    return fit + sum(v * v);
#else
    return fit + sum(v * r);
#endif
  })(w, x);
}
