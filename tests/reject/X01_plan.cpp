// A refused plan of a gradient that must be a constant: one error, also on clang.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: Matmul<>, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<D> ?>, shardtype::Tensor<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X>
// FORBID: must be initialized by a constant
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 11, 25 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 4> {};
struct B : Index<"B", 64> {};
struct D : Index<"D", 8> {};
struct H : Index<"H", 16> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

inline constexpr auto loss = [](auto w, auto x) {
#ifdef LEGAL
  return all_reduce<X>(sum(square(matmul(x, reduced<X>(w)))));
#else
  return all_reduce<X>(sum(square(matmul(x, w))));
#endif
};
constexpr auto both =
    plan(value_and_grad<0>(loss), type<T<Dim<D>, Dim<H>>>, type<T<Dim<B, X>, Dim<D>>>);
#ifdef LEGAL
static_assert(both.backward.count(Collective::all_reduce) == 1);
#endif
