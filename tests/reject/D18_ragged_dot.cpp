// Rows that are split over ranks, and sizes of their groups that are not.
// EXPECT: \[shardtype D18\] rows, matrices and the sizes of groups do not fit together
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <cstdint>

#include <shardtype/nn/ragged_dot.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct S : Index<"S"> {};
struct E : Index<"E"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
using A = Tensor<float, Dim<S, X>, Dim<D>>;
using Sizes = Tensor<std::int64_t, Dim<E, X>>;

#ifdef LEGAL
using W = Tensor<float, Dim<E, X>, Dim<D>, Dim<F>>;
#else
using W = Tensor<float, Dim<E>, Dim<D>, Dim<F>>;
#endif

void multiply(A const& a, W const& w, Sizes const& sizes) { (void)nn::ragged_dot<D>(a, w, sizes); }
