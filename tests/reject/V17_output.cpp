// The output of shard_map over X names X alone: the function decides about Y.
// EXPECT: \[shardtype V17\] a collective of blocks, or an output of shard_map, names a mesh axis that is not manual here
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y>, shardtype::Varying<X> ?>, Y>
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
  (void)shard_map<Dim<I, X>, Dim<J>>(manual_axes<X>, [](auto const& v) { return v; }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J, Y>>(manual_axes<X>, [](auto const& v) { return v; }, a);
#endif
}
