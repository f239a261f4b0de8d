// Along an index that a strict axis splits, the parts of the manual axis are in pieces.
// EXPECT: \[shardtype V18\] this index is split over an axis that stays strict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y>, shardtype::Varying<X> ?>, J, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 11, 25 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I>, Dim<J>>(
      manual_axes<X>, [](auto const& v) { return all_gather<X, I>(v); }, a);
#else
  (void)shard_map<Dim<I>, Dim<J>>(
      manual_axes<X>, [](auto const& v) { return all_gather<X, J>(v); }, a);
#endif
}
