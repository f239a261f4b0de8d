// Four ranks cannot have equal parts of 6 rows.
// EXPECT: \[shardtype V10\] shard_map needs equal blocks, but the ranks that split this index do not divide its extent
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X, Y> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

#ifdef LEGAL
struct I : Index<"I", 8> {};
#else
struct I : Index<"I", 6> {};
#endif

void ask(Tensor<float, Dim<I, X, Y>> const& a) {
  (void)shard_map<Dim<I, X, Y>>([](auto b) { return b; }, a);
}
