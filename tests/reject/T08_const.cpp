// A tensor of const elements; const stands before the tensor.
// EXPECT: \[shardtype T08\] a tensor cannot hold this element type
// EXPECT: false, shardtype::Tensor<(float const|const float), shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>> const;
#else
using Mine = Tensor<float const, Dim<I, X>>;
#endif

static_assert(Mine::spec.rank >= 0);
