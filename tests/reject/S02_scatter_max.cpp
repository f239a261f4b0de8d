// The maximum by ids of updates that are pending sums.
// EXPECT: \[shardtype S02\] the tensor is already unreduced by another kind
// EXPECT: false, .*, V, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <cstdint>

#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};
using Ids = Tensor<std::int64_t, Dim<B>>;

#ifdef LEGAL
using Updates = Tensor<float, Dim<B>, Unreduced<Max, X>>;
#else
using Updates = Tensor<float, Dim<B>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::ScatterMax<V>{9}, type<Updates>, type<Ids>); }
