// A transformer block of rows whose features are split: norms need whole rows, so the sequence is
// split.
// EXPECT: \[shardtype D03\]
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/transformer.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct Y : Axis<"Y", 2> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
struct M : Index<"M"> {};
using Vec = Tensor<float, Dim<D>>;
using Heads = Tensor<float, Dim<D>, Dim<H, Y>, Dim<F>>;
using Out = Tensor<float, Dim<H, Y>, Dim<F>, Dim<D>>;
using Up = Tensor<float, Dim<D>, Dim<M, Y>>;
using Down = Tensor<float, Dim<M, Y>, Dim<D>>;
struct Block {
  nn::Norm<value_t, Vec> norm1, norm2;
  nn::Attention<value_t, Heads, Heads, Out> attention;
  nn::GatedMlp<value_t, Up, Down> mlp;
};

#ifdef LEGAL
using Rows = Tensor<float, Dim<B>, Dim<S, Y>, Dim<D>>;
#else
using Rows = Tensor<float, Dim<B>, Dim<S>, Dim<D, Y>>;
#endif

void run(Rows const& x, Block const& p) {
  (void)nn::transformer_block(x, p, nn::Overlapped<>{Overlap::ring});
}
