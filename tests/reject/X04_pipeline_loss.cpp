// A loss with dims, of the forward passes of a pipeline alone.
// EXPECT: \[shardtype X04\] a loss is one real floating number: a tensor or block without dims
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
using In = Tensor<float, Dim<M>, Dim<B>, Dim<D>>;
using W = Tensor<float, Dim<L, Stage>, Dim<D>>;
constexpr auto stage = [](auto const& x, auto const& w) { return x * at<L>(w, 0); };
#ifdef LEGAL
constexpr auto loss = [](auto const& a, auto const& b) { return sum(square(a - b)); };
#else
constexpr auto loss = [](auto const& a, auto const& b) { return sum<D>(square(a - b)); };
#endif

auto ask(In const& x, In const& y, W const& w) {
  return shard_map<Tensor<float>>(pipeline::evaluate<Stage, M>(pipeline::gpipe(2, 4), stage, loss),
                                  x, y, w);
}
