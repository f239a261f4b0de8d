// Evaluation of a pipeline: loss and results of the forward passes of all schedules beside those of
// the unsplit model and of the step; also with an embedding and a head, the batch split over a
// second axis and a collective in the stage; what a rank sends; an axis, microbatches and an empty
// batch that do not fit.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>

#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct Stage : Axis<"Stage"> {};
struct X : Axis<"X"> {};
struct M : Index<"M"> {};
struct C : Index<"C"> {};
struct L : Index<"L"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using In = T<Dim<M>, Dim<B>, Dim<D>>;
using W = T<Dim<C>, Dim<L, Stage>, Dim<D>>;

constexpr Int width = 3, rows = 2, layers_of_stage = 2;

template <class A, std::size_t N>
A waves(auto const& mesh, std::array<Int, N> const& extents, double speed) {
  return from_function<A>(mesh, extents, [=](auto... at) {
    Int number = 0;
    ((number = number * 11 + at), ...);
    return std::sin(speed * static_cast<double>(number) + 0.3);
  });
}
constexpr auto layers = [](auto const& x, auto const& w) {
  return loop(w.template extent<L>(), x,
              [&](Int k, auto const& h) { return h + tanh(h * at<L>(w, k)); });
};
constexpr auto loss = [](auto const& out, auto const& target) {
  return mean(square(out - target));
};
// The chunks of an unsplit model follow each other.
constexpr auto unsplit = [](auto const& x, auto const& w) {
  return loop(w.template extent<C>(), x,
              [&](Int c, auto const& h) { return layers(h, at<C>(w, c)); });
};
template <class A, class B>
double difference(A const& a, B const& b) {
  return item(max(abs(a - b)));
}

}  // namespace

TEST_CASE("evaluation of each schedule") {
  int const ranks = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  Mesh<Stage> const mesh(MPI_COMM_WORLD);
  for (pipeline::Schedule const& s :
       {pipeline::gpipe(ranks, 1), pipeline::gpipe(ranks, 7),
        pipeline::one_forward_one_backward(ranks, 5), pipeline::interleaved(ranks, 2 * ranks, 3)}) {
    auto const w =
        waves<W>(mesh, std::array<Int, 3>{s.chunks, ranks * layers_of_stage, width}, 0.7);
    auto const x = waves<In>(mesh, std::array<Int, 3>{s.microbatches, rows, width}, 1.3);
    auto const y = waves<In>(mesh, std::array<Int, 3>{s.microbatches, rows, width}, 0.9);
    auto const expected = unsplit(x, reshard<Dim<C>, Dim<L>, Dim<D>>(w));
    pipeline::Ran ran;
    shim::reset();
    auto const value =
        shard_map<T<>>(pipeline::evaluate<Stage, M, C>(s, layers, loss, &ran), x, y, w);
    auto const planned = pipeline::plan(pipeline::forward_only(s), rows * width * 8);
    if (ranks > 1) CHECK(shim::bytes_to((me + 1) % ranks) == planned.bytes_sent(me));
    CHECK(ran.blocks_sent == planned.blocks_sent(me));
    CHECK(ran.peak_stored == 0);
    CHECK(ran.backward == 0);
    CHECK(std::abs(item(value) - item(loss(expected, y))) < 1e-12);
    auto const out = shard_map<In>(pipeline::forward<Stage, M, C>(s, layers, &ran), x, w);
    CHECK(difference(out, expected) < 1e-10);
    CHECK(ran.blocks_sent == planned.blocks_sent(me));
  }
}

TEST_CASE("evaluation with both ends, the batch split over a second axis") {
  auto const mesh = on_ranks::two_axes<Stage, X>();
  auto const stages = static_cast<int>(mesh.size_of<Stage>());
  Int const across = mesh.size_of<X>();
  using Split = T<Dim<M>, Dim<B, X>, Dim<D>>;
  using Layers = T<Dim<L, Stage>, Dim<D>>;
  auto const w = waves<Layers>(mesh, std::array<Int, 2>{stages, width}, 0.7);
  auto const gain = waves<T<Dim<D>>>(mesh, std::array<Int, 1>{width}, 0.4);
  auto const x = waves<Split>(mesh, std::array<Int, 3>{5, rows * across, width}, 1.3);
  auto const y = waves<Split>(mesh, std::array<Int, 3>{5, rows * across, width}, 0.9);
  auto const embed = [](auto const& in, auto const& g) { return sin(in * g); };
  auto const scores = [](auto const& out, auto const& g) { return sum<D>(out * g); };
  auto const head = [&](auto const& out, auto const& target, auto const& g) {
    return all_reduce<Mean, X>(mean(square(scores(out, g) - sum<D>(target))));
  };
  // the mean of the rows of all ranks, a collective over the other axis
  auto const centered = [](auto const& h, auto const& v) {
    return layers(h - varying<X>(all_reduce<Mean, X>(mean<B>(h))), v);
  };
  auto const whole_x = reshard<Dim<M>, Dim<B>, Dim<D>>(x);
  auto const whole_y = reshard<Dim<M>, Dim<B>, Dim<D>>(y);
  auto const v = reshard<Dim<L>, Dim<D>>(w);
  auto const last = loop(Int{stages}, sin(whole_x * gain).tensor(), [&](Int k, auto const& h) {
    auto const a = h - mean<B>(h);
    return a + tanh(a * at<L>(v, k));
  });
  auto const expected = scores(last, gain).tensor();
  auto const expected_loss = mean(square(expected - sum<D>(whole_y)));
  auto const s = pipeline::one_forward_one_backward(stages, 5);
  auto const value =
      shard_map<T<>>(pipeline::evaluate<Stage, M>(s, embed, centered, head), x, y, gain, w);
  CHECK(std::abs(item(value) - item(expected_loss)) < 1e-10);
  auto const out = shard_map<T<Dim<M>, Dim<B, X>>>(
      pipeline::forward<Stage, M>(s, embed, centered, scores), x, gain, w);
  CHECK(difference(reshard<Dim<M>, Dim<B>>(out), expected) < 1e-10);
  // a head without an embedding
  auto const sums =
      shard_map<T<Dim<M>, Dim<B, X>>>(pipeline::forward<Stage, M>(s, layers, scores), x, gain, w);
  auto const plain =
      loop(Int{stages}, whole_x, [&](Int k, auto const& h) { return h + tanh(h * at<L>(v, k)); });
  CHECK(difference(reshard<Dim<M>, Dim<B>>(sums), scores(plain, gain)) < 1e-10);
}

TEST_CASE("evaluations that do not fit") {
  int const ranks = on_ranks::rank_total();
  Mesh<Stage> const mesh(MPI_COMM_WORLD);
  using Layers = T<Dim<L, Stage>, Dim<D>>;
  auto const w = waves<Layers>(mesh, std::array<Int, 2>{ranks, width}, 0.7);
  auto const of = [&](Int m) { return waves<In>(mesh, std::array<Int, 3>{m, rows, width}, 1.3); };
  auto const code = [&](pipeline::Schedule const& s, Int m, Int targets) {
    auto const x = of(m), y = of(targets);
    return on_ranks::code_of([&] {
      static_cast<void>(shard_map<T<>>(pipeline::evaluate<Stage, M>(s, layers, loss), x, y, w));
    });
  };
  CHECK(code(pipeline::gpipe(ranks, 4), 4, 4) == "none");
  CHECK(code(pipeline::gpipe(ranks + 1, 4), 4, 4) == "E85");
  CHECK(code(pipeline::gpipe(ranks, 4), 3, 4) == "E85");
  CHECK(code(pipeline::gpipe(ranks, 4), 4, 3) == "E85");
  CHECK(code(pipeline::gpipe(ranks, 1), 0, 0) == "E85");
  CHECK(code(pipeline::Schedule{pipeline::Order::gpipe, ranks, 0, 1}, 0, 0) == "E85");
  CHECK(code(pipeline::interleaved(ranks, 4 * ranks, 2), 4 * ranks, 4 * ranks) == "E85");
}
