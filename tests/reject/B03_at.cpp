// A row of a dim that is block-cyclic.
// EXPECT: \[shardtype B03\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 2(L|l)?> ?>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 2>>, Dim<J>>;
#endif

void ask(A const& a) { (void)at<I>(a, 1); }
