// Where some axes are manual, a reshard is a call of its own.
// EXPECT: \[shardtype V14\] operations on Locals name no result by dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y>, shardtype::Varying<X> ?> ?>
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
  (void)shard_map<Dim<I, X>>(
      manual_axes<X>, [](auto const& v) { return all_reduce<Y>(sum<J>(v)); }, a);
#else
  (void)shard_map<Dim<I, X>>(manual_axes<X>, [](auto const& v) { return sum<Dim<I>>(v); }, a);
#endif
}
