// A backward function that leaves a sum unreduced where its argument is replicated.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: refused<.*X01_gradient_unreduced, false, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Unreduced<X> ?>, shardtype::Tensor<double, shardtype::Dim<D> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D>> const& b, T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0>([](auto bias, auto rows) {
    auto added = custom_vjp([](auto r, auto c) { return r + c; },
                            [](auto r, auto c) { return std::pair(r + c, 0); },
                            [](int, auto ct) {
#ifdef LEGAL
                              return std::tuple(ct, all_reduce<X>(sum<B>(ct)));
#else
                              return std::tuple(ct, sum<B>(ct));
#endif
                            });
    return sum(square(added(rows, bias)));
  })(b, x);
}
