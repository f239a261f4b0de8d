// The ranks hold summands of the number.
// EXPECT: \[shardtype A02\] .*the tensor is still unreduced
// EXPECT: false, shardtype::Local<float, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

#ifdef LEGAL
using A = Local<float>;
#else
using A = Local<float, Unreduced<X>>;
#endif

void ask(A const& a) { (void)item(a); }
