// While a condition holds.
// EXPECT: \[shardtype V11\] the loop.s body returns another type than the carry it takes
// EXPECT: false, shardtype::Local<float>, shardtype::Local<float, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
using A = Local<float>;

#ifdef LEGAL
using B = Local<float>;
#else
using B = Local<float, Varying<X>>;
#endif

void ask(A const& a, B const& b) {
  (void)loop_while([](auto c) { return c < 3.0F; }, a, [&](auto c) { return c + b; });
}
