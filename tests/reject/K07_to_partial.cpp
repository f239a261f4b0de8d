// A sum over nothing.
// EXPECT: \[shardtype K07\] this collective names no mesh axis
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

#ifdef LEGAL
void ask(A const& a) { (void)to_partial<Y>(a); }
#else
void ask(A const& a) { (void)to_partial(a); }
#endif
