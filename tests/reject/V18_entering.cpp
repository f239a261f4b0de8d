// The manual axis stands behind a strict one.
// EXPECT: \[shardtype V18\] this index is split over an axis that stays strict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, Y, X>, shardtype::Dim<J> ?>, I, X>
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
#ifdef LEGAL
using A = Tensor<float, Dim<I, X, Y>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Y, X>, Dim<J>>;
#endif

void ask(A const& a) {
  (void)shard_map<Dim<I, X>, Dim<J>>(manual_axes<X>, [](auto const& v) { return v; }, a);
}
