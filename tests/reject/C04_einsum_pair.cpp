// Of three matrices the product of the first two is refused; the message has these two.
// EXPECT: \[shardtype C04\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K, X> ?>, I, K, X
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K, X>>;
using C = Tensor<float, Dim<K, X>, Dim<L>>;

#ifdef LEGAL
void ask(A const& a, B const& b, C const& c) { (void)einsum<Dim<I, X>, Dim<L>>(a, b, c); }
#else
void ask(A const& a, B const& b, C const& c) { (void)einsum<I, L>(a, b, c); }
#endif
