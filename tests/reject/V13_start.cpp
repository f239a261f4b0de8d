// Each rank would slice from elsewhere.
// EXPECT: \[shardtype V13\] this reads a value that may differ along the mesh axis into C\+\+
// EXPECT: false, shardtype::Local<.*, shardtype::Varying<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;

#ifdef LEGAL
using B = Local<std::int32_t>;
#else
using B = Local<std::int32_t, Varying<X>>;
#endif

void ask(A const& a, B const& start) { (void)dynamic_slice<I>(a, start, 2); }
