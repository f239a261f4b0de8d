// A tensor whose static extents are more elements than 64 bits count the bytes of.
// EXPECT: \[shardtype T10\] by its static extents a tensor here, .* would have more than 2\^58 elements
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<K> ?>
// FORBID: Resolve<|basic_type|Pack<|ParsedType
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", (std::int64_t{1} << 30)> {};
struct J : Index<"J", (std::int64_t{1} << 28)> {};
struct K : Index<"K", (std::int64_t{1} << 28) + 1> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using Mine = Tensor<float, Dim<I, X>, Dim<K>>;
#endif

auto make(Mesh<X> const& mesh) { return zeros<Mine>(mesh); }
