// X splits the dim in front of Y, which stays.
// EXPECT: \[shardtype K08\] other mesh axes split the dim behind this one
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X, Y> ?>, I, X>
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
using A = Tensor<float, Dim<I, X, Y>>;

#ifdef LEGAL
void ask(A const& a) { (void)to_partial<X, Y>(a), (void)to_partial<Y, X>(a); }
#else
void ask(A const& a) { (void)to_partial<X>(a); }
#endif
