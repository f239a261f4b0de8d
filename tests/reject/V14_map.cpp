// map by dims.
// EXPECT: \[shardtype V14\] operations on Locals name no result by dims
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
using B = Local<float, Dim<I>, Dim<J>, Varying<X>>;

void ask(A const& a, B const& b) {
#ifdef LEGAL
  (void)map(functions::Add{}, a, b);
#else
  (void)map<Dim<I>, Dim<J>>(functions::Add{}, a, b);
#endif
}
