// A number read inside of a differentiated function.
// EXPECT: \[shardtype X09\] a C\+\+ number is read of a value whose gradient is wanted
// EXPECT: shardtype::Tensor<double ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D"> {};
using W = Tensor<double, Dim<D, X>>;

auto train(W const& w) {
  return grad<0>([](auto v) {
    auto total = sum<Tensor<double>>(square(v));
#ifdef LEGAL
    return sum(v / item(stop_gradient(total)));
#else
    return sum(v / item(total));
#endif
  })(w);
}
