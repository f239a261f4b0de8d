// Tensors are split; only where an axis is manual may one vary over it.
// EXPECT: \[shardtype V02\] Varying stands in a Tensor, or mesh axes split a dim of a Local
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using Mine = Tensor<float, Dim<I, X>>;
#else
using Mine = Tensor<float, Dim<I>, Varying<X>>;
#endif

void ask(Mesh<X> const& mesh) { (void)zeros<Mine>(mesh, {4}); }
