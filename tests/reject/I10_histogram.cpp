// Summands, counted by their values.
// EXPECT: \[shardtype I10\] the tensor is still unreduced
// EXPECT: false, .*shardtype::Unreduced<X> ?>, X>
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
using A = Tensor<float, Dim<B, X>>;
#else
using A = Tensor<float, Dim<B>, Unreduced<X>>;
#endif

void ask(A const& a) { (void)histogram<V>(a, 10, 0.0, 1.0); }
