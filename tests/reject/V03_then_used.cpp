// One mistake, one message: what is done with the refused block adds none.
// EXPECT: \[shardtype V03\] this needs a block that differs between the ranks of the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#else
using A = Local<float, Dim<I>, Dim<J>>;
#endif

auto use(A const& a) {
  auto sum = all_reduce<X>(a);
  auto apart = varying<X>(sum);
  auto all = all_gather<X, I>(apart, to_varying);
  auto part = reduce_scatter<Max, X, I>(all);
  auto moved = all_to_all<X, I, J>(rotate<X>(part, 1));
  auto sent = permute<X>(moved, {{0, 1}});
  auto first = broadcast_from<X>(sent, 0);
  auto own = unreduced<X>(shard<X, I>(first));
  auto scattered = reduce_scatter<X, J>(own);
  auto mean = all_reduce<Mean, X>(scattered);
  auto trusted = assume_invariant<X>(varying<X>(reduced<X>(mean)));
  return trusted.clone();
}
