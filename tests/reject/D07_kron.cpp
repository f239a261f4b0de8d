// One index for a product of matrices, whose dims are merged in two pairs.
// EXPECT: \[shardtype D07\] the indices named here are not as many
// EXPECT: false, .*shardtype::Dim<I>, shardtype::Dim<J> ?>, .*, P>
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
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<K>, Dim<L>>;

#ifdef LEGAL
void ask(A const& a, B const& b) { (void)kron<P, Q>(a, b); }
#else
void ask(A const& a, B const& b) { (void)kron<P>(a, b); }
#endif
