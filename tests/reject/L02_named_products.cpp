// A named product of three matrices is planned as a program, which takes no block-cyclic dims.
// EXPECT: \[shardtype L02\]
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
using B = Tensor<float, Dim<J>, Dim<K, X>>;
using C = Tensor<float, Dim<K, X>, Dim<L>>;

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 2>>, Dim<J>>;
#endif

void ask(A const& a, B const& b, C const& c) { (void)einsum<Dim<I>, Dim<L>>(a, b, c); }
