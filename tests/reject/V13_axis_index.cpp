// A branch on the rank's own number.
// EXPECT: \[shardtype V13\] the value may differ between ranks along the mesh axis
// EXPECT: false, shardtype::Local<bool, shardtype::Varying<X> ?>, X>
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
  (void)where(axis_index<X>() == 0, a, a + a);
#else
  (void)branch(axis_index<X>() == 0, [&] { return a; }, [&] { return a + a; });
#endif
}
