// A condition is of bool.
// EXPECT: \[shardtype P11\] where, any and all need a condition of bool
// EXPECT: false, shardtype::Local<float> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
using A = Local<float>;

void ask(A const& a) {
#ifdef LEGAL
  (void)loop_while([](auto b) { return b > 1.0F; }, a, [](auto b) { return b - 1.0F; });
#else
  (void)loop_while([](auto b) { return b; }, a, [](auto b) { return b - 1.0F; });
#endif
}
