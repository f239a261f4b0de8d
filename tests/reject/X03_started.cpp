// A collective that is started has no gradient.
// EXPECT: \[shardtype X03\] this operation has no gradient
// EXPECT: op::AllGather<X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct D : Index<"D"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<D, X>> const& w) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    auto whole = all_gather<X>(v);
#else
    auto whole = start(op::AllGather<X>{}, v);
#endif
    return sum(square(whole));
  })(w);
}
