// A product that keeps a mesh axis.
// EXPECT: \[shardtype S05\] a mesh axis is named where an index belongs
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
void ask(A const& a, B const& b) { (void)einsum<I, K>(a, b); }
#else
void ask(A const& a, B const& b) { (void)einsum<X, K>(a, b); }
#endif
