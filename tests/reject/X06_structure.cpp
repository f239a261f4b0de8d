// A backward function whose cotangent of an array has one tensor too few.
// EXPECT: \[shardtype X06\] wrong type of a cotangent
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <array>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct D : Index<"D"> {};
using W = Tensor<double, Dim<D>>;

auto train(std::array<W, 2> const& w) {
  return grad<0>([](auto const& v) {
    auto added = custom_vjp([](auto const& ws) { return ws[0] + ws[1]; },
                            [](auto const& ws) { return std::pair(ws[0] + ws[1], 0); },
                            [](int, auto const& ct) {
#ifdef LEGAL
                              return std::array{ct, ct};
#else
                              return std::array{ct};
#endif
                            });
    return sum(square(added(v)));
  })(w);
}
