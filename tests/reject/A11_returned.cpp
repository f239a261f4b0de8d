// A loss that is returned as a number.
// EXPECT: \[shardtype A11\] .*item\(sum<Tensor<float>>\(a\)\)
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
using M = Mesh<X, Y>;

#ifdef LEGAL
double ask(Tensor<double> const& l) { return item(l); }
#else
double ask(Tensor<double> const& l) { return l; }
#endif
