// A bias that is replicated over X, added to rows that X splits, in a lambda.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: functions::Add, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<D> ?>, shardtype::Tensor<double, shardtype::Dim<D> ?>, X>
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

auto train(T<Dim<D>> const& b, T<Dim<B, X>, Dim<D>> const& x) {
  return grad<0>([](auto bias, auto rows) {
#ifdef LEGAL
    return all_reduce<X>(sum(square(rows + reduced<X>(bias))));
#else
    return all_reduce<X>(sum(square(rows + bias)));
#endif
  })(b, x);
}
