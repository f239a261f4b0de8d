// Differences of floats.
// EXPECT: \[shardtype X08\] check_grads takes differences in double
// EXPECT: refused<.*X08_not_double, false, shardtype::Tensor<float, shardtype::Dim<D> ?> ?>
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

void check(Tensor<float, Dim<D>> const& w) {
  auto const f = [](auto v) { return sum(v * v); };
#ifdef LEGAL
  check_grads(f, cast<double>(w));
#else
  check_grads(f, w);
#endif
}
