// Of three matrices the last one is split otherwise than the product of the others.
// EXPECT: \[shardtype C02\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<K, Y> ?>, shardtype::Tensor<float, shardtype::Dim<K>, shardtype::Dim<L> ?>, K, Y
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
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K, Y>>;

#ifdef LEGAL
using C = Tensor<float, Dim<K, Y>, Dim<L>>;
#else
using C = Tensor<float, Dim<K>, Dim<L>>;
#endif

void ask(A const& a, B const& b, C const& c) { (void)einsum<I, L>(a, b, c); }
