// A layer that takes an Overlap, and weights of other features.
// EXPECT: \[shardtype C01\] the operands share no index
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/transformer.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct Y : Axis<"Y", 2> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};
using Rows = Tensor<float, Dim<S, Y>, Dim<D>>;

#ifdef LEGAL
using Up = Tensor<float, Dim<D>, Dim<M, Y>>;
#else
using Up = Tensor<float, Dim<N>, Dim<M, Y>>;
#endif

void run(Rows const& x, Up const& w) { (void)nn::linear(x, w, nn::Overlapped<>{Overlap::ring}); }
