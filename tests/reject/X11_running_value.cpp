// A running value over layers that begins as a constant.
// EXPECT: \[shardtype X11\] a tensor is assigned a value whose gradient is wanted
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <array>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I", 8> {};
using W = Tensor<float, Dim<I>>;

auto train(std::array<W, 3> const& p, W const& x) {
  return grad<0>([](auto const& m, auto const& y) {
#ifdef LEGAL
    auto z = (y * m[0]).tensor();
    z = (z * m[1]).tensor();
    return sum(z * m[2]);
#else
    auto z = y;
    for (auto const& w : m) z = (z * w).tensor();
    return sum(m[0]);
#endif
  })(p, x);
}
