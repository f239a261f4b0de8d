// How many so far is no bool.
// EXPECT: \[shardtype D15\] elements of this type cannot be scanned like this
// EXPECT: false, shardtype::Tensor<bool, shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<std::int64_t, Dim<I, X>>;
#else
using A = Tensor<bool, Dim<I, X>>;
#endif

void run(A const& a) { (void)cumsum<I>(a); }
