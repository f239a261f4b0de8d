// Summed twice.
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
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)all_reduce<X>(a);
#else
  (void)all_reduce<X>(all_reduce<X>(a));
#endif
}
