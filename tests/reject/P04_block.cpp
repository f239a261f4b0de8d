// The exponential of an unreduced sum.
// EXPECT: \[shardtype P04\]
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void ask(A const& a) { (void)exp(a); }
