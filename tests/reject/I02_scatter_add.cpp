// The ids of a scatter that are still sums.
// EXPECT: \[shardtype I02\] the tensor of ids is still unreduced
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
using A = Tensor<float, Dim<B>, Dim<D>>;

#ifdef LEGAL
using Ids = Tensor<std::int64_t, Dim<B>>;
#else
using Ids = Tensor<std::int64_t, Dim<B>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V, Dim<V>, Dim<D>>{}, type<A>, type<Ids>); }
