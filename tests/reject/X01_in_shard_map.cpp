// A bias that is invariant over X, added to rows that vary over it, in the function of a shard_map.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: functions::Add, shardtype::Local<double, shardtype::Dim<B>, shardtype::Dim<D>, shardtype::Varying<X> ?>, shardtype::Local<double, shardtype::Dim<D> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 12, 28 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

struct Body {
  auto operator()(auto bias, auto rows) const {
#ifdef LEGAL
    return all_reduce<X>(sum(square(rows + reduced<X>(bias))));
#else
    return all_reduce<X>(sum(square(rows + bias)));
#endif
  }
};
struct Loss {
  auto operator()(auto b, auto x) const { return shard_map<>(Body{}, b, x); }
};

auto train(T<Dim<D>> const& b, T<Dim<B, X>, Dim<D>> const& x) { return grad<0>(Loss{})(b, x); }
