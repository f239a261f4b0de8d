// The sum of what has been reduced already: the axis size times it.
// EXPECT: \[shardtype V03\] this needs a block that differs between the ranks of the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Reduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>, Varying<X>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)all_reduce<X>(varying<X>(all_gather<X, I>(a, to_reduced)));
#else
  (void)all_reduce<X>(all_gather<X, I>(a, to_reduced));
#endif
}
