// A pending maximum has no cotangent.
// EXPECT: \[shardtype X03\] this operation has no gradient
// EXPECT: Maximum.*shardtype::Tensor<double, shardtype::Dim<B, X> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

auto train(T<Dim<B, X>> const& w) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    return all_reduce<X>(sum(square(v))) + all_reduce<X>(max<B>(stop_gradient(v)));
#else
    return all_reduce<X>(max<B>(v));
#endif
  })(w);
}
