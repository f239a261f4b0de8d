// Ranks would take different branches.
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

#ifdef LEGAL
using P = Local<bool>;
#else
using P = Local<bool, Varying<X>>;
#endif

void ask(P const& p, A const& a) {
  (void)branch(p, [](auto b) { return b; }, [](auto b) { return b; }, a);
}
