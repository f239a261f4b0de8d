// A backward function that gives a sum over the ranks that split its argument.
// EXPECT: \[shardtype X06\] wrong type of a cotangent
// EXPECT: refused<.*X06_other_cotangent, false, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Unreduced<X> ?>, shardtype::Tensor<double, shardtype::Dim<D, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D"> {};
using W = Tensor<double, Dim<D, X>>;

auto train(W const& w) {
  return grad<0>([](auto v) {
    auto doubled =
        custom_vjp([](auto a) { return a * 2.0; }, [](auto a) { return std::pair(a * 2.0, 0); },
#ifdef LEGAL
                   [](int, auto ct) { return ct * 2.0; });
#else
                   [](int, auto ct) { return to_partial<X>(ct); });
#endif
    return sum(square(doubled(v)));
  })(w);
}
