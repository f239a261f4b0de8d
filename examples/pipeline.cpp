// A model whose layers are split over the ranks of an axis, trained by microbatches that move from
// rank to rank: three schedules, their idle part and what they store asserted in the source. On 2
// and on 4 ranks.
// SHOWN: docs
// RANKS: 2 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: schedules
// Schedules are values. F2 is the forward pass of microbatch 2, B2 its backward pass.
constexpr auto all_forward = pipeline::gpipe(4, 8);
constexpr auto in_turn = pipeline::one_forward_one_backward(4, 8);
constexpr auto in_chunks = pipeline::interleaved(4, 8, 2);
static_assert(pipeline::bubble(all_forward) == pipeline::Fraction(3, 11));
static_assert(pipeline::bubble(in_turn) == pipeline::Fraction(3, 11));
static_assert(pipeline::bubble(in_chunks) == pipeline::Fraction(3, 19));
static_assert(pipeline::peak_stored(all_forward, 0) == 8);
static_assert(pipeline::peak_stored(in_turn, 0) == 4 && pipeline::peak_stored(in_turn, 3) == 1);
static_assert(pipeline::bubble(pipeline::forward_only(in_chunks)) == pipeline::Fraction(3, 19));
// docs: end

// docs: model
struct Stage : Axis<"Stage"> {};
struct M : Index<"M"> {};      // microbatches
struct C : Index<"C"> {};      // chunks of layers on a rank
struct L : Index<"L"> {};      // layers
struct B : Index<"B", 16> {};  // rows of a microbatch
struct D : Index<"D", 8> {};
struct H : Index<"H", 32> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

using In = T<Dim<M>, Dim<B>, Dim<D>>;
using W1 = T<Dim<C>, Dim<L, Stage>, Dim<D>, Dim<H>>;  // each rank holds its layers
using W2 = T<Dim<C>, Dim<L, Stage>, Dim<H>, Dim<D>>;

// A stage: the layers that a rank holds, of one chunk. Its result has the type of its operand.
constexpr auto layers = [](auto const& x, auto const& w1, auto const& w2) {
  return loop(w1.template extent<L>(), x, [&](std::int64_t k, auto const& h) {
    return h + 0.5 * matmul(tanh(matmul(h, at<L>(w1, k))), at<L>(w2, k));
  });
};
constexpr auto loss = [](auto const& result, auto const& target) {
  return mean(square(result - target));
};

// What a microbatch moves: a block forward and a cotangent backward between all stages.
constexpr auto moves = pipeline::plan(in_turn, type<T<Dim<B>, Dim<D>>>);
static_assert(moves.bytes_per_microbatch() == 2 * 3 * (16 * 8 * 8));
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<Stage> const mesh(env.world());
  int const ranks = static_cast<int>(mesh.size_of<Stage>());
  auto const wave = [](double speed) {
    return [speed](auto... at) {
      double number = 0;
      ((number = number * 7 + static_cast<double>(at)), ...);
      return std::sin(speed * number);
    };
  };
  if (env.rank() == 0) {
    std::printf("== schedules\n%s\n%s\n%s", pipeline::draw(pipeline::gpipe(4, 4)).c_str(),
                pipeline::draw(pipeline::one_forward_one_backward(4, 4)).c_str(),
                pipeline::draw(pipeline::interleaved(4, 4, 2)).c_str());
    std::printf("== plan\n%s", pipeline::explain(moves).c_str());
    std::printf("== training\n");
  }

  // docs: train
  auto const schedule = pipeline::interleaved(ranks, 8, 2);
  auto const x = from_function<In>(mesh, {8, 16, 8}, wave(0.7));
  auto const y = from_function<In>(mesh, {8, 16, 8}, wave(0.3));
  auto w1 = from_function<W1>(mesh, {2, ranks, 8, 32}, wave(1.1));
  auto w2 = from_function<W2>(mesh, {2, ranks, 32, 8}, wave(0.9));
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    auto const [value, to_w1, to_w2] = shard_map<Outs<T<>, W1, W2>>(
        pipeline::value_and_grad<Stage, M, C>(schedule, layers, loss), x, y, w1, w2);
    w1 = w1 - 0.2 * to_w1;
    w2 = w2 - 0.2 * to_w2;
    last = item(value);
    if (step == 0) first = last;
  }
  // docs: end

  // docs: evaluate
  // Data held out: the forward passes alone, with the schedule's stages on each rank.
  auto const value =
      shard_map<T<>>(pipeline::evaluate<Stage, M, C>(schedule, layers, loss), x, y, w1, w2);
  auto const results = shard_map<In>(pipeline::forward<Stage, M, C>(schedule, layers), x, w1, w2);
  // docs: end
  double const again = item(loss(results, y));

  if (std::abs(item(value) - again) > 1e-12 || !(again < first))
    throw Error("example", "the evaluation is not the loss", FailedOn::every_rank);
  if (!(last < 0.9 * first)) throw Error("example", "the loss did not fall", FailedOn::every_rank);
  if (env.rank() == 0)
    std::printf("%d ranks of 2 chunks, 8 microbatches: loss %.4f, after 20 steps %.4f\n", ranks,
                first, last);
}
