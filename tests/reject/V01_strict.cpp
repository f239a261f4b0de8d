// strict takes blocks.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using B = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using A = Local<float, Dim<I>, Dim<J>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) {
  (void)strict<B>([](auto b) { return b; }, a);
}
