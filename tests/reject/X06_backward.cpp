// A backward function whose cotangent has other dims than its argument.
// EXPECT: \[shardtype X06\] wrong type of a cotangent
// EXPECT: refused<.*X06_other_cotangent, false, shardtype::Tensor<double, shardtype::Dim<H>, shardtype::Dim<D> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?> ?>
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

auto train(T<Dim<D>, Dim<H>> const& w) {
  return grad<0>([](auto v) {
    auto turned = custom_vjp([](auto a) { return transpose<H, D>(a); },
                             [](auto a) { return std::pair(transpose<H, D>(a), 0); },
#ifdef LEGAL
                             [](int, auto ct) { return transpose<D, H>(ct); });
#else
                             [](int, auto ct) { return ct; });
#endif
    return sum(square(turned(v)));
  })(w);
}
