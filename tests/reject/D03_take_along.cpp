// Taken along a split dim.
// EXPECT: \[shardtype D03\] this operation works along one dim
// EXPECT: false, .*, V, X>
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
using Ids = Tensor<std::int32_t, Dim<V>, Dim<D>>;

#ifdef LEGAL
using A = Tensor<float, Dim<V>, Dim<D>>;
#else
using A = Tensor<float, Dim<V, X>, Dim<D>>;
#endif

void ask() { (void)plan(op::TakeAlong<V>{}, type<A>, type<Ids>); }
