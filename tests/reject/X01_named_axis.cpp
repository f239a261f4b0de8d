// A named product: the axis at fault splits the other operand, and is not the one of the result.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D>, Dim<H>> const& w, T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0>([](auto v, auto const& data) {
#ifdef LEGAL
    return sum(square(matmul<Dim<B>, Dim<H, Y>>(data, reduced<X>(v))));
#else
    return sum(square(matmul<Dim<B>, Dim<H, Y>>(data, v)));
#endif
  })(w, x);
}
