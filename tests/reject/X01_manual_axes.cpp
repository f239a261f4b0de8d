// Weights that are the same along the manual axis, beside rows that differ.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 12, 28 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

struct Body {
  auto operator()(auto const& v, auto const& w) const {
#ifdef LEGAL
    return matmul(v, varying<X>(w));
#else
    return matmul(v, w);
#endif
  }
};
struct Loss {
  auto operator()(auto const& v, auto const& w) const {
    return all_reduce<X>(sum(shard_map<Dim<I, X>>(manual_axes<X>, Body{}, v, w)));
  }
};

auto train(T<Dim<I, X>, Dim<J>> const& v, T<Dim<J>> const& w) { return grad<1>(Loss{})(v, w); }
