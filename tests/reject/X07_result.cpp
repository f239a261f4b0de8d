// A forward function that gives another result than the function.
// EXPECT: \[shardtype X07\] custom_vjp\(f, forward, backward\)
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct D : Index<"D"> {};
struct H : Index<"H"> {};

auto train(Tensor<double, Dim<D>, Dim<H>> const& w) {
  return grad<0>([](auto v) {
    auto sums = custom_vjp([](auto a) { return sum<H>(a); },
#ifdef LEGAL
                           [](auto a) { return std::pair(sum<H>(a), a); },
#else
                           [](auto a) { return std::pair(sum<D>(a), a); },
#endif
                           [](auto a, auto ct) { return (0.0 * a + ct).tensor(); });
    return sum(sums(v));
  })(w);
}
