// The middle of elements that a mesh axis splits.
// EXPECT: \[shardtype D03\] this operation works along one dim
// EXPECT: false, .*, V, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>, Dim<B, X>>;
#else
using A = Tensor<float, Dim<V, X>, Dim<B>>;
#endif

void ask(A const& a) { (void)median<V>(a); }
