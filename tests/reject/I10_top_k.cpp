// The largest of candidates for maxima.
// EXPECT: \[shardtype I10\] the tensor is still unreduced
// EXPECT: false, .*shardtype::Unreduced<shardtype::Max, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>>;
#else
using A = Tensor<float, Dim<V>, Unreduced<Max, X>>;
#endif

void ask(A const& a) { (void)top_k<V, N>(a, 3).values; }
