// A C++ bool may differ from rank to rank.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// EXPECT: false, bool ?>
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
using P = bool;
#endif

void ask(P const& p, A const& a) {
  (void)branch(p, [](auto b) { return b; }, [](auto b) { return b; }, a);
}
