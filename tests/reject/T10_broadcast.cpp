// The result of another operation is larger than a tensor can be.
// EXPECT: \[shardtype T10\] by its static extents a tensor here, .* would have more than 2\^58 elements
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<K>, shardtype::Dim<I, X> ?>
// FORBID: Resolve<|basic_type|Pack<|ParsedType
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", (std::int64_t{1} << 31)> {};
#ifdef LEGAL
struct K : Index<"K", (std::int64_t{1} << 27)> {};
#else
struct K : Index<"K", (std::int64_t{1} << 31)> {};
#endif

auto spread(Tensor<float, Dim<I, X>> const& a) { return broadcast<Dim<K>>(a); }
