// Nine dims.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands or 6 mesh axes
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<B>, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Dim<K>, shardtype::Dim<L>, shardtype::Dim<M>, shardtype::Dim<N>, shardtype::Dim<O>, shardtype::Dim<P> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};
struct O : Index<"O"> {};
struct P : Index<"P"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<B>, Dim<I>, Dim<J>, Dim<K>, Dim<L>, Dim<M>, Dim<N>, Dim<O>>;
#else
using Mine = Tensor<float, Dim<B>, Dim<I>, Dim<J>, Dim<K>, Dim<L>, Dim<M>, Dim<N>, Dim<O>, Dim<P>>;
#endif

static_assert(Mine::spec.rank >= 0);
