// The condition is a tensor.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Tensor<bool> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using P = Local<bool>;
#else
using P = Tensor<bool>;
#endif

void ask(P const& p, A const& a) {
  (void)branch(p, [](auto b) { return b; }, [](auto b) { return b; }, a);
}
