// An invariant block becomes the block of a dim that X splits: its gradient differs from rank to
// rank.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: shardtype::Local<double, shardtype::Dim<B> ?>, shardtype::Tensor<double, shardtype::Dim<B, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 11, 25 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

struct Body {
  auto operator()(auto w) const {
#ifdef LEGAL
    return varying<X>(exp(w));
#else
    return exp(w);
#endif
  }
};
struct Loss {
  auto operator()(auto w) const { return all_reduce<X>(sum(shard_map<Dim<B, X>>(Body{}, w))); }
};

auto train(T<Dim<B>> const& w) { return grad<0>(Loss{})(w); }
