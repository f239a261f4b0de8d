// A GPT in a pipeline: the embedding on the first stage, blocks, the tied table again in the loss
// on the last. Loss and gradients of each schedule, loss and logits of its forward passes alone,
// the norm over all stages and a step of an optimizer beside the unsplit GPT; its checkpoint loads
// into the unsplit model and back.
// RANKS: 2 4 8
// NEEDS: JSON
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/pipelined_model.hpp"
#include "harness/temp_dir.hpp"

using namespace shardtype;

namespace {

struct Stage : Axis<"Stage"> {};
struct M : Index<"M"> {};      // microbatches
struct C : Index<"C"> {};      // chunks
struct L : Index<"L"> {};      // layers
struct B : Index<"B", 2> {};   // sequences of a microbatch
struct S : Index<"S", 4> {};   // positions
struct D : Index<"D", 6> {};   // features
struct H : Index<"H", 2> {};   // heads
struct F : Index<"F", 4> {};   // features of a head
struct U : Index<"U", 8> {};   // hidden features
struct V : Index<"V", 10> {};  // tokens
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using Ids = Tensor<Int, Dim<M>, Dim<B>, Dim<S>>;

// The parameters: table and gain of the ends, and those of the blocks.
template <class... Layers>
using Model = std::tuple<T<Dim<V>, Dim<D>>, T<Dim<D>>,          //
                         T<Dim<C>, Dim<L, Layers...>, Dim<D>>,  // gain
                         T<Dim<C>, Dim<L, Layers...>, Dim<D>, Dim<H>, Dim<F>>,
                         T<Dim<C>, Dim<L, Layers...>, Dim<H>, Dim<F>, Dim<D>>,
                         T<Dim<C>, Dim<L, Layers...>, Dim<D>, Dim<U>>,
                         T<Dim<C>, Dim<L, Layers...>, Dim<U>, Dim<D>>>;
using Staged = Model<Stage>;
using Unsplit = Model<>;

constexpr auto embed = [](auto const& ids, auto const& table, auto const&) {
  return nn::embedding<V>(table, ids);
};
constexpr auto blocks = [](auto const& x, auto const& gain, auto const& q, auto const& out,
                           auto const& up, auto const& down) {
  return loop(gain.template extent<L>(), x, [&](Int k, auto const& h) {
    auto const a = nn::rms_norm<D>(h, at<L>(gain, k));
    auto const heads = matmul(a, at<L>(q, k));
    auto const y =
        h + einsum<B, S, D>(nn::attention(nn::rotary<S, F>(heads), heads, heads), at<L>(out, k));
    return y + matmul(gelu(matmul(y, at<L>(up, k))), at<L>(down, k));
  });
};
constexpr auto logits = [](auto const& h, auto const& table, auto const& gain) {
  return matmul(nn::rms_norm<D>(h, gain), table);
};
constexpr auto head = [](auto const& h, auto const& targets, auto const& table, auto const& gain) {
  return mean(nn::cross_entropy<V>(logits(h, table, gain), targets));
};
constexpr auto unsplit = harness::unsplit_model<M, C>(embed, blocks, head);
template <class... Ws>
std::tuple<Ws...> model_of(Mesh<Stage> const& mesh, Int chunks, Int layers,
                           Type<std::tuple<Ws...>> of) {
  return harness::pipelined_model<C>(mesh, chunks, layers, 0.4, of);
}
template <class A, class B>
double difference(A const& a, B const& b) {
  return harness::model_difference(a, b, [](auto const& w) -> auto const& { return w; });
}
Ids ids_of(Mesh<Stage> const& mesh, Int microbatches, Int step) {
  return from_function<Ids>(mesh, {microbatches, 2, 4}, [=](Int m, Int b, Int s) {
    return (5 * m + 3 * b + s * s + step) % 10;
  });
}

// The loss and the gradients of a pipeline.
template <class... Ws>
auto in_pipeline(pipeline::Schedule const& schedule, std::tuple<Ws...> const& model, Ids const& ids,
                 Ids const& targets, pipeline::Ran* ran = nullptr) {
  auto const all = std::apply(
      [&](auto const&... w) {
        return shard_map<Outs<T<>, Ws...>>(
            pipeline::value_and_grad<Stage, M, C>(schedule, embed, blocks, head, ran), ids, targets,
            w...);
      },
      model);
  return std::apply(
      [](auto const& value, auto const&... g) { return std::pair(value, std::tuple(g...)); }, all);
}

}  // namespace

TEST_CASE("a GPT in a pipeline: loss, gradients, norm, step and checkpoint of the unsplit one") {
  int const ranks = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  Mesh<Stage> const mesh(MPI_COMM_WORLD);
  train::AdamW const adam{{.rate = 0.1, .decay = 0.01, .clip = 0.25}};
  harness::TempDir const dir("pipeline_gpt");
  for (pipeline::Schedule const& s :
       {pipeline::gpipe(ranks, 3), pipeline::one_forward_one_backward(ranks, 5),
        pipeline::interleaved(ranks, 2 * ranks, 2)}) {
    auto model = model_of(mesh, s.chunks, ranks, type<Staged>);
    auto whole = model_of(mesh, s.chunks, ranks, type<Unsplit>);
    auto state = adam.init(model);
    auto whole_state = adam.init(whole);
    for (int step = 0; step < 2; ++step) {
      auto const ids = ids_of(mesh, s.microbatches, step);
      auto const targets = ids_of(mesh, s.microbatches, step + 1);
      auto const expected = value_and_grad<0>(unsplit)(whole, ids, targets);
      pipeline::Ran ran;
      auto const [value, grads] = in_pipeline(s, model, ids, targets, &ran);
      CHECK(std::abs(item(value) - item(expected.value)) < 1e-10);
      CHECK(difference(grads, expected.grad) < 1e-10);
      CHECK(ran.peak_stored == pipeline::peak_stored(s, me));
      CHECK(ran.blocks_sent == pipeline::plan(s, 0).blocks_sent(me));
      // the forward passes alone: the loss, and the logits that give it
      auto const held_out = std::apply(
          [&](auto const&... w) {
            return shard_map<T<>>(pipeline::evaluate<Stage, M, C>(s, embed, blocks, head, &ran),
                                  ids, targets, w...);
          },
          model);
      CHECK(std::abs(item(held_out) - item(expected.value)) < 1e-10);
      CHECK(ran.peak_stored == 0);
      CHECK(ran.blocks_sent == pipeline::plan(pipeline::forward_only(s), 0).blocks_sent(me));
      auto const scores = std::apply(
          [&](auto const&... w) {
            return shard_map<T<Dim<M>, Dim<B>, Dim<S>, Dim<V>>>(
                pipeline::forward<Stage, M, C>(s, embed, blocks, logits), ids, w...);
          },
          model);
      CHECK(std::abs(item(mean(nn::cross_entropy<V>(scores, targets))) - item(expected.value)) <
            1e-10);
      // one norm over all stages, and the same factor
      auto const did = adam.update(model, grads, state);
      auto const expects = adam.update(whole, expected.grad, whole_state);
      CHECK(did.norm > 0.25);
      CHECK(std::abs(did.norm - expects.norm) < 1e-10);
      CHECK(difference(model, whole) < 1e-10);
    }
    checkpoint::save(dir / "staged", 2, model, state);
    auto loaded = model_of(mesh, s.chunks, ranks, type<Unsplit>);
    auto loaded_state = adam.init(loaded);
    CHECK(checkpoint::load(dir / "staged", loaded, loaded_state).step == 2);
    CHECK(difference(model, loaded) == 0);
    CHECK(difference(state.moments[0], loaded_state.moments[0]) == 0);
    checkpoint::save(dir / "whole", 2, loaded, loaded_state);
    auto back = model_of(mesh, s.chunks, ranks, type<Staged>);
    auto back_state = adam.init(back);
    checkpoint::load(dir / "whole", back, back_state);
    CHECK(difference(back, loaded) == 0);
    CHECK(difference(back_state.moments[1], loaded_state.moments[1]) == 0);
  }
}
