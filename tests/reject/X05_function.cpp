// A function with a gradient by hand that captures a value whose gradient is wanted.
// EXPECT: \[shardtype X05\] the function of remat or custom_vjp uses a value whose gradient is wanted
// EXPECT: refused<.*X05_captured, false, shardtype::Tensor<double, shardtype::Dim<D> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct D : Index<"D"> {};

auto train(Tensor<double, Dim<D>> const& w) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    auto f = [](auto a) { return a * 2.0; };
#else
    auto f = [&](auto a) { return a + v; };
#endif
    auto twice = custom_vjp(
        f, [](auto a) { return std::pair(a * 2.0, 0); }, [](int, auto ct) { return ct * 2.0; });
    return sum(twice(v));
  })(w);
}
