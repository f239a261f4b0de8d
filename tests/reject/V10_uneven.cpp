// Two ranks cannot have equal parts of 7 rows.
// EXPECT: \[shardtype V10\] shard_map needs equal blocks, but the ranks that split this index do not divide its extent
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

#ifdef LEGAL
struct I : Index<"I", 8> {};
#else
struct I : Index<"I", 7> {};
#endif

void ask(Tensor<float, Dim<I, X>> const& a) {
  (void)shard_map<Dim<I, X>>([](auto b) { return b; }, a);
}
