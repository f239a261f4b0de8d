// A product of bool.
// EXPECT: \[shardtype C11\] .*cannot be multiplied and summed
// EXPECT: false, shardtype::Tensor<bool, shardtype::Dim<I>, shardtype::Dim<J> ?>
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
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>, Dim<J>>;
using B2 = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<bool, Dim<I>, Dim<J>>;
using B2 = Tensor<bool, Dim<J>, Dim<K>>;
#endif

void ask(A const& a, B const& b, B2 const& b2) { (void)einsum<I, K>(b, b2), (void)a; }
