// A number of bfloat16 on integers.
// EXPECT: \[shardtype P10\] .*a number does not fit
// EXPECT: false, shardtype::Tensor<int, shardtype::Dim<I> ?>, shardtype::checking::Number<shardtype::bfloat16>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>>;
#else
using A = Tensor<int, Dim<I>>;
#endif

void ask(A const& a) { (void)(a * bfloat16(1.5F)); }
