// The rows of one running maximum along a split dim may be on several ranks.
// EXPECT: \[shardtype X03\] this operation has no gradient
// EXPECT: Maximum.*shardtype::Tensor<double, shardtype::Dim<B, X>, ?shardtype::Dim<D> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};

auto train(Tensor<double, Dim<B, X>, Dim<D>> const& w) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    return sum(cummax<D>(v));
#else
    return sum(cummax<B>(v));
#endif
  })(w);
}
