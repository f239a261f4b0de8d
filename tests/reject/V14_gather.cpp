// gather by dims.
// EXPECT: \[shardtype V14\] operations on Locals name no result by dims
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Local<.*, shardtype::Dim<K> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
using B = Local<std::int32_t, Dim<K>>;

void ask(A const& a, B const& b) {
#ifdef LEGAL
  (void)take<I>(a, b);
#else
  (void)take<I, Dim<K>, Dim<J>>(a, b);
#endif
}
