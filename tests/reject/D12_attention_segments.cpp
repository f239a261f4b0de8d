// Attention with segments of queries whose batch is split over another axis than the queries'.
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
using Ids = Tensor<std::int32_t, Dim<B, X>, Dim<S>>;

#ifdef LEGAL
using OfQueries = Ids;
#else
using OfQueries = Tensor<std::int32_t, Dim<B, Y>, Dim<S>>;
#endif

void attend(Q const& q, OfQueries const& a, Ids const& b) { (void)nn::attention(q, q, q, a, b); }
