// The ranks hold summands of the number.
// EXPECT: \[shardtype A02\] .*the tensor is still unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

#ifdef LEGAL
using A = Tensor<float>;
#else
using A = Tensor<float, Unreduced<X>>;
#endif

void read(A const& a) { (void)item(a); }
