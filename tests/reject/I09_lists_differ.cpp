// B split over X in the updates, over Y in the ids.
// EXPECT: \[shardtype I09\] an index is split differently in the ids and in the updates
// EXPECT: false, .*, B, X>
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
using A = Tensor<float, Dim<B, X>, Dim<D>>;

#ifdef LEGAL
using Ids = Tensor<std::int32_t, Dim<B, X, Y>>;
#else
using Ids = Tensor<std::int32_t, Dim<B, Y>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V>{}, type<A>, type<Ids>); }
