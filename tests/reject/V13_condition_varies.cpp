// Each rank has a number of its own.
// EXPECT: \[shardtype V13\] the value may differ between ranks along the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Varying<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

#ifdef LEGAL
using A = Local<float>;
#else
using A = Local<float, Varying<X>>;
#endif

void ask(A const& a) { (void)item(a); }
