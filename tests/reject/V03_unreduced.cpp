// Equal blocks are no summands.
// EXPECT: \[shardtype V03\] this needs a block that differs between the ranks of the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
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
using A = Local<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) { (void)unreduced<X>(a); }
