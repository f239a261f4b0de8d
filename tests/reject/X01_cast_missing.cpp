// Data parallel: the weight is replicated over X, the batch split over X, and no cast says so.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: op::Matmul<>, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<D> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X>
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

struct Loss {
  auto operator()(auto w, auto x) const {
#ifdef LEGAL
    return all_reduce<X>(sum(square(matmul(x, reduced<X>(w)))));
#else
    return all_reduce<X>(sum(square(matmul(x, w))));
#endif
  }
};

auto train(T<Dim<D>, Dim<H>> const& w, T<Dim<B, X>, Dim<D>> const& x) {
  return value_and_grad<0>(Loss{})(w, x);
}
