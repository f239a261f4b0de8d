// A backward function of two arguments that gives one cotangent.
// EXPECT: \[shardtype X07\] custom_vjp\(f, forward, backward\)
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct D : Index<"D"> {};
using W = Tensor<double, Dim<D>>;

auto train(W const& w, W const& u) {
  return grad<0, 1>([](auto v, auto b) {
    auto added = custom_vjp([](auto r, auto c) { return r + c; },
                            [](auto r, auto c) { return std::pair(r + c, 0); },
                            [](int, auto ct) {
#ifdef LEGAL
                              return std::tuple(ct, ct);
#else
                              return ct;
#endif
                            });
    return sum(square(added(v, b)));
  })(w, u);
}
