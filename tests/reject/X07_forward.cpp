// A forward function that gives no pair.
// EXPECT: \[shardtype X07\] custom_vjp\(f, forward, backward\)
// EXPECT: std::pair of f's result
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
    auto twice = custom_vjp([](auto a) { return a * 2.0; },
#ifdef LEGAL
                            [](auto a) { return std::pair(a * 2.0, 0); },
#else
                            [](auto a) { return a * 2.0; },
#endif
                            [](int, auto ct) { return ct * 2.0; });
    return sum(twice(v));
  })(w);
}
