// item of a vector.
// EXPECT: \[shardtype A01\] item takes the one value of a tensor without dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float>;
#else
using A = Tensor<float, Dim<I>>;
#endif

void read(A const& a) { (void)item(a); }
