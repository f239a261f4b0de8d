// Parts along the manual axis differ, and the output says that they are equal.
// EXPECT: \[shardtype V07\] the output names no dim split over the mesh axis
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y>, shardtype::Varying<X> ?>, X>
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
      manual_axes<X>, [](auto const& v) { return all_reduce<X>(v); }, a);
#else
  (void)shard_map<Dim<I>, Dim<J>>(manual_axes<X>, [](auto const& v) { return v; }, a);
#endif
}
