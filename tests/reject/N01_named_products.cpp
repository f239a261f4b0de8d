// The named product of three matrices has an index that none of them has.
// EXPECT: \[shardtype N01\]
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
struct M : Index<"M"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K, X>>;
using C = Tensor<float, Dim<K, X>, Dim<L>>;

#ifdef LEGAL
void ask(A const& a, B const& b, C const& c) { (void)einsum<Dim<I, X>, Dim<L>>(a, b, c); }
#else
void ask(A const& a, B const& b, C const& c) { (void)einsum<Dim<I, X>, Dim<M>>(a, b, c); }
#endif
