// An expression is returned as another sharding.
// EXPECT: \[shardtype A08\] the variable has other dims, another sharding or another element type than the value that is assigned or returned
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken|could not convert|no viable conversion
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;

// Overloads for other dims see expressions as before.
using Row = Tensor<float, Dim<J>>;
inline int dims(A const&) { return 2; }
inline int dims(Row const&) { return 1; }
inline int dims_of(A const& a) { return dims(a * 2); }

#ifdef LEGAL
B doubled(A const& a) { return reshard<Dim<I>, Dim<J>>(a * 2); }
#else
B doubled(A const& a) { return a * 2; }
#endif
