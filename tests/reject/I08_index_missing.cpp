// Updates without an index of the ids.
// EXPECT: \[shardtype I08\] the updates lack an index of the ids
// EXPECT: false, .*, N>
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
using Ids = Tensor<std::int32_t, Dim<B>, Dim<N>>;

#ifdef LEGAL
using A = Tensor<float, Dim<B>, Dim<N>, Dim<D>>;
#else
using A = Tensor<float, Dim<B>, Dim<D>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V>{}, type<A>, type<Ids>); }
