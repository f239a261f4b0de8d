// A stage of a pipeline, run forward alone, whose result has other dims than its operand.
// EXPECT: \[shardtype V19\] a stage of a pipeline returns another type than it takes
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct Stage : Axis<"Stage", 2> {};
struct M : Index<"M"> {};
struct L : Index<"L"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
using In = Tensor<float, Dim<M>, Dim<B>, Dim<D>>;
using W = Tensor<float, Dim<L, Stage>, Dim<D>, Dim<H>>;
#ifdef LEGAL
constexpr auto stage = [](auto const& x, auto const& w) {
  return matmul(matmul(x, at<L>(w, 0)), at<L>(w, 0));
};
#else
constexpr auto stage = [](auto const& x, auto const& w) { return matmul(x, at<L>(w, 0)); };
#endif

auto ask(In const& x, W const& w) {
  return shard_map<In>(pipeline::forward<Stage, M>(pipeline::gpipe(2, 4), stage), x, w);
}
