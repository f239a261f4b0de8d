// The same of a named einsum, on clang too: its gradient would be summed over X silently.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: op::Einsum<shardtype::Dim<B, X>, shardtype::Dim<H> ?>, .*shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X>
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

struct Y : Axis<"Y"> {};

auto train(T<Dim<D>, Dim<H>> const& w, T<Dim<B, X>, Dim<D, Y>> const& x) {
  return grad<0>([](auto v, auto rows) {
#ifdef LEGAL
    return sum(square(einsum<Dim<B, X>, Dim<H>>(rows, reduced<X>(v))));
#else
    return sum(square(einsum<Dim<B, X>, Dim<H>>(rows, v)));
#endif
  })(w, x);
}
