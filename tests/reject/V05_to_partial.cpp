// A sum of one copy and zeros has to have copies.
// EXPECT: \[shardtype V05\] this takes a block that is the same on all ranks of the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#endif

void ask(A const& a) { (void)to_partial<X>(a); }
