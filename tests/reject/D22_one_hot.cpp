// Targets as a one_hot.
// EXPECT: \[shardtype D22\] targets have the dim of the classes here: cross_entropy takes the number of each row
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <cstdint>

#include <shardtype/nn/cross_entropy.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct V : Index<"V"> {};
using A = Tensor<float, Dim<B, X>, Dim<V>>;

#ifdef LEGAL
using Targets = Tensor<std::int64_t, Dim<B, X>>;
#else
using Targets = A;
#endif

auto loss(A const& x, Targets const& y) { return nn::mean_cross_entropy<V, Tensor<float>>(x, y); }
