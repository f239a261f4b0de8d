// The batch index N is split over X in a and over Y in b.
// EXPECT: \[shardtype C09\] a batch index is split differently in both operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<N, X>, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<N, Y>, shardtype::Dim<J>, shardtype::Dim<K> ?>, N>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<N, X>, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<N, X, Y>, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<N, Y>, Dim<J>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)einsum<N, I, K>(a, b); }
