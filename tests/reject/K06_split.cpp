// X splits I.
// EXPECT: \[shardtype K06\] .*only what is replicated over
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, I, X
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, Y>>;
#else
using B = Tensor<float, Dim<I, X>>;
#endif

void ask(A const& a, B const& b) { (void)reduced<X>(b), (void)a; }
