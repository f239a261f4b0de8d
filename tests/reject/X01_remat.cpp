// The cast that is missing in a function that is rematerialised.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: op::Matmul<>, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<D> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 12, 28 with echo
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
#ifdef LEGAL
    auto h = remat([](auto r, auto u) { return tanh(matmul(r, reduced<X>(u))); })(rows, v);
#else
    auto h = remat([](auto r, auto u) { return tanh(matmul(r, u)); })(rows, v);
#endif
    return sum(square(h));
  })(w, x);
}
