// A condition is of bool.
// EXPECT: \[shardtype P11\] where, any and all need a condition of bool
// EXPECT: false, shardtype::Local<float> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;

#ifdef LEGAL
using P = Local<bool>;
#else
using P = Local<float>;
#endif

void ask(P const& p, A const& a) {
  (void)branch(p, [](auto b) { return b; }, [](auto b) { return b; }, a);
}
