// The number of a branch is a tensor.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Tensor<(int|long|long int)> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;

#ifdef LEGAL
using N = Local<std::int64_t>;
#else
using N = Tensor<std::int64_t>;
#endif

void ask(N const& n, A const& a) {
  (void)branch(n, [](auto b) { return b; }, [](auto b) { return b; }, a);
}
