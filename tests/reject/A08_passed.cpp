// A tensor is passed to a function that takes another sharding.
// EXPECT: \[shardtype A08\] the variable has other dims, another sharding or another element type than the value that is assigned or returned
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken|invalid initialization|no matching function
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;

double first(B const& b);

#ifdef LEGAL
double ask(A const& a) { return first(all_gather<X>(a)); }
#else
double ask(A const& a) { return first(a); }
#endif
