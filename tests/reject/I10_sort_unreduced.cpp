// Summands, sorted.
// EXPECT: \[shardtype I10\] the tensor is still unreduced: the order of summands
// EXPECT: false, .*shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>, Reduced<X>>;
#else
using A = Tensor<float, Dim<V>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Sort<V>{}, type<A>); }
