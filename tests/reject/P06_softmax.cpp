// The maximum of each row is unreduced over the axis that splits the rows.
// EXPECT: \[shardtype P06\] .*all_reduce<X> the unreduced one first \(as all_reduce<X>\(max<J>\(a\)\)
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<shardtype::Max, Y> ?>, Y>
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
using A = Tensor<float, Dim<I>, Dim<J, Y>>;

#ifdef LEGAL
void ask(A const& a) { (void)exp(a - all_reduce<Y>(max<J>(a))); }
#else
void ask(A const& a) { (void)exp(a - max<J>(a)); }
#endif
