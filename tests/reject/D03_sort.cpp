// Sorted along a split dim.
// EXPECT: \[shardtype D03\] this operation works along one dim, and a mesh axis splits that dim
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V, X>, shardtype::Dim<D> ?>, V, X>
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
using A = Tensor<float, Dim<V, X>, Dim<D>>;

#ifdef LEGAL
using Along = D;
#else
using Along = V;
#endif

void ask() { (void)plan(op::Sort<Along>{}, type<A>); }
