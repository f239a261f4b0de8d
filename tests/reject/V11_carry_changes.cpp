// The carry begins invariant, and varies after one round.
// EXPECT: \[shardtype V11\] the loop.s body returns another type than the carry it takes
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;
using B = Local<float, Dim<I>, Varying<X>>;

void ask(A const& a, B const& b) {
#ifdef LEGAL
  (void)loop(3, varying<X>(a), [&](std::int64_t, auto c) { return c + b; });
#else
  (void)loop(3, a, [&](std::int64_t, auto c) { return c + b; });
#endif
}
