// A backward function that captures a value whose gradient is wanted.
// EXPECT: \[shardtype X05\] the function of remat or custom_vjp uses a value whose gradient is wanted
// EXPECT: refused<.*X05_captured, false, shardtype::Tensor<double, shardtype::Dim<D> ?>
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

auto train(T<Dim<D>> const& w) {
  return grad<0>([](auto v) {
    auto twice =
        custom_vjp([](auto a) { return a + a; }, [](auto a) { return std::pair(a + a, a); },
#ifdef LEGAL
                   [](auto, auto ct) { return ct + ct; });
#else
                   [&](auto, auto ct) { return ct * v; });
#endif
    return sum(twice(v));
  })(w);
}
