// A loss with dims.
// EXPECT: \[shardtype X04\] a loss is one real floating number
// EXPECT: shardtype::Tensor<double, shardtype::Dim<H> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D>, Dim<H>> const& w) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    return sum(square(v));
#else
    return sum<D>(square(v));
#endif
  })(w);
}
