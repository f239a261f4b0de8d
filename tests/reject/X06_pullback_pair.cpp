// A pullback of a pair that is called with one cotangent.
// EXPECT: \[shardtype X06\] wrong type of a cotangent
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct D : Index<"D"> {};

auto back(Tensor<double, Dim<D>> const& w) {
  auto [y, pullback] =
      vjp([](auto v) { return std::pair((v * 2.0).tensor(), (v * 3.0).tensor()); }, w);
#ifdef LEGAL
  return pullback(y);
#else
  return pullback(y.first);
#endif
}
