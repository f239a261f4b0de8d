// The result of a product is larger than a tensor can be.
// EXPECT: \[shardtype T10\] by its static extents a tensor here, .* would have more than 2\^58 elements
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?>
// FORBID: Resolve<|basic_type|Pack<|ParsedType
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", (std::int64_t{1} << 31)> {};
struct J : Index<"J", 1> {};
#ifdef LEGAL
struct K : Index<"K", (std::int64_t{1} << 27)> {};
#else
struct K : Index<"K", (std::int64_t{1} << 31)> {};
#endif
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

auto product(A const& a, B const& b) { return matmul(a, b); }
