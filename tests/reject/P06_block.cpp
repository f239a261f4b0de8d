// Summands times blocks that differ.
// EXPECT: \[shardtype P06\] one operand is unreduced over an axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>, Unreduced<X>>;

#ifdef LEGAL
using B = Local<float, Dim<I>, Dim<J>>;
#else
using B = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#endif

void ask(A const& a, B const& b) { (void)(a * b); }
