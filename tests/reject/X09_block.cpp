// A number read of a block whose gradient is wanted.
// EXPECT: \[shardtype X09\] a C\+\+ number is read of a value whose gradient is wanted
// EXPECT: shardtype::Local<double ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D"> {};
using Block = Local<double, Dim<D>, Varying<X>>;

auto train(Block const& w) {
  return grad<0>([](auto v) {
    auto total = all_reduce<X>(sum(square(v)));
#ifdef LEGAL
    return sum(v / item(stop_gradient(total)));
#else
    return sum(v / item(total));
#endif
  })(w);
}
