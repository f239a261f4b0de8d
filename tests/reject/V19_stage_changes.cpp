// A stage of a pipeline whose result has other dims than its operand.
// EXPECT: \[shardtype V19\] a stage of a pipeline returns another type than it takes
// EXPECT: Local<float, shardtype::Dim<B>, shardtype::Dim<D>, shardtype::Varying<Stage> ?>, shardtype::Local<float, shardtype::Dim<B>, shardtype::Dim<H>, shardtype::Varying<Stage> ?> ?>
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
#ifdef LEGAL
using W = Tensor<float, Dim<L, Stage>, Dim<D>, Dim<H>>;
constexpr auto stage = [](auto const& x, auto const& w) {
  return matmul(matmul(x, at<L>(w, 0)), at<L>(w, 0));
};
#else
using W = Tensor<float, Dim<L, Stage>, Dim<D>, Dim<H>>;
constexpr auto stage = [](auto const& x, auto const& w) { return matmul(x, at<L>(w, 0)); };
#endif

auto ask(In const& x, In const& y, W const& w) {
  auto const loss = [](auto const& a, auto const& b) { return sum(square(a - b)); };
  return shard_map<Outs<Tensor<float>, W>>(
      pipeline::value_and_grad<Stage, M>(pipeline::gpipe(2, 4), stage, loss), x, y, w);
}
