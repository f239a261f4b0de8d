// A block with dims is no number.
// EXPECT: \[shardtype A01\] item takes the one value of a tensor without dims
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Local<float>;
#else
using A = Local<float, Dim<I>>;
#endif

void ask(A const& a) { (void)item(a); }
