// Nothing is an unreduced mean.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>
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
  (void)unreduced<X>(a);
#else
  (void)unreduced<Mean, X>(a);
#endif
}
