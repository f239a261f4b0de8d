// Pipelines: loss and gradients of all schedules beside those of the unsplit model, also with the
// batch split over a second axis and a collective in the stage; what a rank stores and sends; an
// axis and microbatches that do not fit; the cotangent of x.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

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
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;

constexpr Int width = 3, hidden = 4, rows = 2, layers_of_stage = 2;

template <class A, std::size_t N>
A waves(auto const& mesh, std::array<Int, N> const& extents, double speed) {
  return from_function<A>(mesh, extents, [=](auto... at) {
    Int number = 0;
    ((number = number * 11 + at), ...);
    return std::sin(speed * static_cast<double>(number) + 0.3);
  });
}

// The layers of a stage, or of the unsplit model.
constexpr auto layers = [](auto const& x, auto const& w1, auto const& w2) {
  return loop(w1.template extent<L>(), x, [&](Int k, auto const& h) {
    return h + matmul(tanh(matmul(h, at<L>(w1, k))), at<L>(w2, k));
  });
};
constexpr auto loss = [](auto const& out, auto const& target) {
  return mean(square(out - target));
};

template <class A, class B>
double difference(A const& a, B const& b) {
  return item(max(abs(a - b)));
}

}  // namespace

TEST_CASE("schedules without chunks") {
  int const ranks = on_ranks::rank_total();
  Mesh<Stage> const mesh(MPI_COMM_WORLD);
  using W1 = T<Dim<L, Stage>, Dim<D>, Dim<H>>;
  using W2 = T<Dim<L, Stage>, Dim<H>, Dim<D>>;
  auto const w1 = waves<W1>(mesh, std::array<Int, 3>{ranks * layers_of_stage, width, hidden}, 0.7);
  auto const w2 = waves<W2>(mesh, std::array<Int, 3>{ranks * layers_of_stage, hidden, width}, 0.4);
  auto const u1 = reshard<Dim<L>, Dim<D>, Dim<H>>(w1);
  auto const u2 = reshard<Dim<L>, Dim<H>, Dim<D>>(w2);
  for (int m : {1, 3, 8}) {
    auto const x = waves<T<Dim<M>, Dim<B>, Dim<D>>>(mesh, std::array<Int, 3>{m, rows, width}, 1.3);
    auto const y = waves<T<Dim<M>, Dim<B>, Dim<D>>>(mesh, std::array<Int, 3>{m, rows, width}, 0.9);
    auto const unsplit = [](auto const& v1, auto const& v2, auto const& in, auto const& target) {
      return loss(layers(in, v1, v2), target);
    };
    auto const [expected, slopes] = value_and_grad<0, 1>(unsplit)(u1, u2, x, y);
    for (pipeline::Schedule const& s :
         {pipeline::gpipe(ranks, m), pipeline::one_forward_one_backward(ranks, m)}) {
      pipeline::Ran ran;
      int const me = on_ranks::my_rank();
      shim::reset();
      auto const [value, to_w1, to_w2] = shard_map<Outs<T<>, W1, W2>>(
          pipeline::value_and_grad<Stage, M>(s, layers, loss, &ran), x, y, w1, w2);
      pipeline::Plan const planned = pipeline::plan(s, rows * width * 8);
      CHECK(ran.blocks_sent == planned.blocks_sent(me));
      CHECK((me > 0 ? shim::bytes_to(me - 1) : 0) + (me + 1 < ranks ? shim::bytes_to(me + 1) : 0) ==
            planned.bytes_sent(me));
      CHECK(std::abs(item(value) - item(expected)) < 1e-12);
      CHECK(difference(reshard<Dim<L>, Dim<D>, Dim<H>>(to_w1), std::get<0>(slopes)) < 1e-10);
      CHECK(difference(reshard<Dim<L>, Dim<H>, Dim<D>>(to_w2), std::get<1>(slopes)) < 1e-10);
      CHECK(ran.peak_stored == pipeline::peak_stored(s, me));
    }
  }
}

TEST_CASE("chunks, the batch split over a second axis") {
  auto const mesh = on_ranks::two_axes<Stage, X>();
  auto const stages = static_cast<int>(mesh.size_of<Stage>());
  Int const across = mesh.size_of<X>();
  using W1 = T<Dim<C>, Dim<L, Stage>, Dim<D>, Dim<H>>;
  using W2 = T<Dim<C>, Dim<L, Stage>, Dim<H>, Dim<D>>;
  auto const of_rows = [](auto const& out, auto const& target) {
    return all_reduce<Mean, X>(loss(out, target));
  };
  for (int chunks : {1, 3}) {
    auto const w1 = waves<W1>(mesh, std::array<Int, 4>{chunks, stages, width, hidden}, 0.7);
    auto const w2 = waves<W2>(mesh, std::array<Int, 4>{chunks, stages, hidden, width}, 0.4);
    auto const u1 = reshard<Dim<C>, Dim<L>, Dim<D>, Dim<H>>(w1);
    auto const u2 = reshard<Dim<C>, Dim<L>, Dim<H>, Dim<D>>(w2);
    Int const m = 2 * stages;
    using In = T<Dim<M>, Dim<B, X>, Dim<D>>;
    auto const x = waves<In>(mesh, std::array<Int, 3>{m, rows * across, width}, 1.3);
    auto const y = waves<In>(mesh, std::array<Int, 3>{m, rows * across, width}, 0.9);
    auto const unsplit = [&](auto const& v1, auto const& v2) {
      auto const out = loop(chunks, reshard<Dim<M>, Dim<B>, Dim<D>>(x), [&](Int c, auto const& h) {
        return layers(h, at<C>(v1, c), at<C>(v2, c));
      });
      return loss(out, reshard<Dim<M>, Dim<B>, Dim<D>>(y));
    };
    auto const [expected, slopes] = value_and_grad<0, 1>(unsplit)(u1, u2);
    pipeline::Schedule const s = pipeline::interleaved(stages, static_cast<int>(m), chunks);
    pipeline::Ran ran;
    using U1 = cotangent_t<T<Dim<C>, Dim<L, Stage>, Dim<D>, Dim<H>, Reduced<X>>>;
    using U2 = cotangent_t<T<Dim<C>, Dim<L, Stage>, Dim<H>, Dim<D>, Reduced<X>>>;
    auto const [value, to_w1, to_w2] = shard_map<Outs<T<>, U1, U2>>(
        pipeline::value_and_grad<Stage, M, C>(s, layers, of_rows, &ran), x, y,
        used_as<Reduced<X>>(w1), used_as<Reduced<X>>(w2));
    CHECK(std::abs(item(value) - item(expected)) < 1e-12);
    CHECK(difference(reshard<Dim<C>, Dim<L>, Dim<D>, Dim<H>>(all_reduce<X>(to_w1)),
                     std::get<0>(slopes)) < 1e-10);
    CHECK(difference(reshard<Dim<C>, Dim<L>, Dim<H>, Dim<D>>(all_reduce<X>(to_w2)),
                     std::get<1>(slopes)) < 1e-10);
    auto const me = static_cast<int>(mesh.coordinate<Stage>());
    CHECK(ran.peak_stored == pipeline::peak_stored(s, me));
    CHECK(ran.blocks_sent == pipeline::plan(s, 0).blocks_sent(me));
  }
}

TEST_CASE("a collective in the stage") {
  auto const mesh = on_ranks::two_axes<X, Stage>();
  auto const stages = static_cast<int>(mesh.size_of<Stage>());
  Int const split = hidden * mesh.size_of<X>();
  using W1 = T<Dim<L, Stage>, Dim<D>, Dim<H, X>>;
  using W2 = T<Dim<L, Stage>, Dim<H, X>, Dim<D>>;
  auto const w1 = waves<W1>(mesh, std::array<Int, 3>{stages, width, split}, 0.7);
  auto const w2 = waves<W2>(mesh, std::array<Int, 3>{stages, split, width}, 0.4);
  auto const u1 = reshard<Dim<L>, Dim<D>, Dim<H>>(w1);
  auto const u2 = reshard<Dim<L>, Dim<H>, Dim<D>>(w2);
  auto const x = waves<T<Dim<M>, Dim<B>, Dim<D>>>(mesh, std::array<Int, 3>{5, rows, width}, 1.3);
  auto const y = waves<T<Dim<M>, Dim<B>, Dim<D>>>(mesh, std::array<Int, 3>{5, rows, width}, 0.9);
  auto const unsplit = [&](auto const& v1, auto const& v2) { return loss(layers(x, v1, v2), y); };
  auto const [expected, slopes] = value_and_grad<0, 1>(unsplit)(u1, u2);
  auto const megatron = [](auto const& h, auto const& v1, auto const& v2) {
    auto const part = matmul(tanh(matmul(varying<X>(h), at<L>(v1, 0))), at<L>(v2, 0));
    return h + all_reduce<X>(part);
  };
  auto const s = pipeline::one_forward_one_backward(stages, 5);
  pipeline::Ran ran;
  // a stage that stores its operands alone
  auto const [value, to_w1, to_w2] = shard_map<Outs<T<>, W1, W2>>(
      pipeline::value_and_grad<Stage, M>(s, remat(megatron), loss, &ran), x, y, w1, w2);
  CHECK(std::abs(item(value) - item(expected)) < 1e-12);
  CHECK(difference(reshard<Dim<L>, Dim<D>, Dim<H>>(to_w1), std::get<0>(slopes)) < 1e-10);
  CHECK(difference(reshard<Dim<L>, Dim<H>, Dim<D>>(to_w2), std::get<1>(slopes)) < 1e-10);

  auto const code = [&](pipeline::Schedule const& other) {
    return on_ranks::code_of([&] {
      static_cast<void>(shard_map<Outs<T<>, W1, W2>>(
          pipeline::value_and_grad<Stage, M>(other, remat(megatron), loss, &ran), x, y, w1, w2));
    });
  };
  CHECK(code(pipeline::gpipe(stages + 1, 5)) == "E85");
  CHECK(code(pipeline::gpipe(stages, 4)) == "E85");
  CHECK(code(pipeline::forward_only(pipeline::gpipe(stages, 5))) == "E85");
  CHECK(code(pipeline::interleaved(stages, 4 * stages, 2)) == "E85");
}

TEST_CASE("the cotangent of x, with and without an embedding") {
  int const ranks = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  Mesh<Stage> const mesh(MPI_COMM_WORLD);
  using W = T<Dim<L, Stage>, Dim<D>, Dim<H>>;
  using In = T<Dim<M>, Dim<B>, Dim<D>>;
  using Gain = T<Dim<D>>;
  auto const w = waves<W>(mesh, std::array<Int, 3>{ranks, width, hidden}, 0.7);
  auto const whole = reshard<Dim<L>, Dim<D>, Dim<H>>(w);
  auto const gain = waves<Gain>(mesh, std::array<Int, 1>{width}, 0.4);
  auto const x = waves<In>(mesh, std::array<Int, 3>{5, rows, width}, 1.3);
  auto const y = waves<In>(mesh, std::array<Int, 3>{5, rows, width}, 0.9);
  auto const stage = [](auto const& h, auto const& v) {
    return loop(v.template extent<L>(), h, [&](Int k, auto const& a) {
      auto const row = at<L>(v, k);
      return a + einsum<B, D>(tanh(matmul(a, row)), row);
    });
  };
  auto const s = pipeline::one_forward_one_backward(ranks, 5);
  {
    auto const at_once = [&](auto const& in, auto const& v) {
      return loss(loop(v.template extent<L>(), in,
                       [&](Int k, auto const& a) {
                         auto const row = at<L>(v, k);
                         return a + einsum<M, B, D>(tanh(matmul(a, row)), row);
                       }),
                  y);
    };
    auto const [expected, slopes] = value_and_grad<0, 1>(at_once)(x, whole);
    auto const [value, to_x, to_w] = shard_map<Outs<T<>, In, W>>(
        pipeline::value_and_grad<Stage, M>(s, stage, loss, pipeline::input_grad), x, y, w);
    CHECK(std::abs(item(value) - item(expected)) < 1e-12);
    CHECK(difference(to_x, std::get<0>(slopes)) < 1e-10);
    CHECK(difference(reshard<Dim<L>, Dim<D>, Dim<H>>(to_w), std::get<1>(slopes)) < 1e-10);
  }
  {
    auto const embed = [](auto const& in, auto const& g) { return sin(in * g); };
    auto const scaled = [](auto const& out, auto const& target, auto const& g) {
      return mean(square(out * g - target));
    };
    auto const at_once = [&](auto const& in, auto const& g, auto const& v) {
      return scaled(loop(v.template extent<L>(), sin(in * g).tensor(),
                         [&](Int k, auto const& a) {
                           auto const row = at<L>(v, k);
                           return a + einsum<M, B, D>(tanh(matmul(a, row)), row);
                         }),
                    y, g);
    };
    auto const [expected, slopes] = value_and_grad<0, 1, 2>(at_once)(x, gain, whole);
    pipeline::Ran ran;
    // reduced over the stages: gradients stay unreduced, and nothing is sent for them
    using ToIn = T<Dim<M>, Dim<B>, Dim<D>, Unreduced<Stage>>;
    using ToGain = T<Dim<D>, Unreduced<Stage>>;
    auto const [value, to_x, to_gain, to_w] = shard_map<Outs<T<>, ToIn, ToGain, W>>(
        pipeline::value_and_grad<Stage, M>(s, embed, stage, scaled, pipeline::input_grad, &ran),
        used_as<Reduced<Stage>>(x), y, used_as<Reduced<Stage>>(gain), w);
    CHECK(std::abs(item(value) - item(expected)) < 1e-12);
    CHECK(difference(all_reduce<Stage>(to_x), std::get<0>(slopes)) < 1e-10);
    CHECK(difference(all_reduce<Stage>(to_gain), std::get<1>(slopes)) < 1e-10);
    CHECK(difference(reshard<Dim<L>, Dim<D>, Dim<H>>(to_w), std::get<2>(slopes)) < 1e-10);
    CHECK(ran.blocks_sent == pipeline::plan(s, 0).blocks_sent(me));
  }
}
