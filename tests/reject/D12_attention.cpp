// Attention to keys whose batch is split over another axis than that of the queries.
// EXPECT: \[shardtype D12\] the operands must have the same indices in the same order
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Q = Tensor<float, Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>;

#ifdef LEGAL
using A = Q;
#else
using A = Tensor<float, Dim<B, Y>, Dim<S>, Dim<H>, Dim<F>>;
#endif

void attend(Q const& q, A const& k, A const& v) { (void)nn::attention(q, k, v); }
