// A product of blocks sends nothing, so that it has no result to name.
// EXPECT: \[shardtype V14\] operations on Locals name no result by dims
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Local<float, shardtype::Dim<J>, shardtype::Dim<K> ?> ?>
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
using B = Local<float, Dim<J>, Dim<K>>;

void ask(A const& a, B const& b) {
#ifdef LEGAL
  (void)matmul(a, b);
#else
  (void)matmul<Dim<I, X>, Dim<K>>(a, b);
#endif
}
