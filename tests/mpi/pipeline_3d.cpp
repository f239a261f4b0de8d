// A GPT in three dimensions: stages over one axis, the batch over a second, heads and hidden
// features over a third. Loss and gradients beside the unsplit GPT, and loss and logits of the
// forward passes alone; what each rank sends and holds beside the plans of step and evaluation.
// RANKS: 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/pipelined_model.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct Stage : Axis<"Stage", 2> {};
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct M : Index<"M"> {};      // microbatches
struct C : Index<"C"> {};      // chunks
struct L : Index<"L", 4> {};   // layers of a chunk
struct B : Index<"B", 8> {};   // sequences of a microbatch
struct S : Index<"S", 16> {};  // positions
struct D : Index<"D", 32> {};  // features
struct H : Index<"H", 4> {};   // heads
struct F : Index<"F", 8> {};   // features of a head
struct U : Index<"U", 64> {};  // hidden features
struct V : Index<"V", 40> {};  // tokens
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using Mesh3 = Mesh<Stage, X, Y>;
using Ids = Tensor<Int, Dim<M>, Dim<B, X>, Dim<S>>;

template <class Layers, class Heads, class Hidden, class... Rs>
using Model =
    std::tuple<T<Dim<V>, Dim<D>, Rs...>, T<Dim<D>, Rs...>,  //
               T<Dim<C>, Layers, Dim<D>, Rs...>, T<Dim<C>, Layers, Dim<D>, Heads, Dim<F>, Rs...>,
               T<Dim<C>, Layers, Dim<D>, Heads, Dim<F>, Rs...>,
               T<Dim<C>, Layers, Heads, Dim<F>, Dim<D>, Rs...>,
               T<Dim<C>, Layers, Dim<D>, Hidden, Rs...>, T<Dim<C>, Layers, Hidden, Dim<D>, Rs...>>;
using Stored = Model<Dim<L, Stage>, Dim<H, Y>, Dim<U, Y>>;
// for each part of the batch; the gradients are then sums over X that nobody has computed
using Used = Model<Dim<L, Stage>, Dim<H, Y>, Dim<U, Y>, Reduced<X>>;
using Unsplit = Model<Dim<L>, Dim<H>, Dim<U>>;

constexpr auto embed = [](auto const& ids, auto const& table, auto const&) {
  return nn::embedding<V>(table, ids);
};
// `in` and `out` begin and end a part whose heads or features are split.
constexpr auto blocks_by = [](auto const& in, auto const& out, auto const& x, auto const& gain,
                              auto const& query, auto const& key, auto const& mix, auto const& up,
                              auto const& down) {
  return loop(gain.template extent<L>(), x, [&](Int k, auto const& h) {
    auto const a = in(nn::rms_norm<D>(h, at<L>(gain, k)));
    auto const q = nn::rotary<S, F>(matmul(a, at<L>(query, k)));
    auto const v = matmul(a, at<L>(key, k));
    auto const y = h + out(einsum<B, S, D>(nn::attention(q, v, v), at<L>(mix, k)));
    return y + out(matmul(gelu(matmul(in(y), at<L>(up, k))), at<L>(down, k)));
  });
};
constexpr auto megatron = [](auto const& x, auto const&... w) {
  return blocks_by([](auto const& a) { return varying<Y>(a); },
                   [](auto const& a) { return all_reduce<Y>(a); }, x, w...);
};
constexpr auto same = [](auto const& a) -> auto const& { return a; };
constexpr auto scores = [](auto const& h, auto const& table, auto const& gain) {
  return matmul(nn::rms_norm<D>(h, gain), table);
};
constexpr auto loss_of = [](auto const& h, auto const& targets, auto const& table,
                            auto const& gain) {
  return mean(nn::cross_entropy<V>(scores(h, table, gain), targets));
};
constexpr auto head = [](auto const&... as) { return all_reduce<Mean, X>(loss_of(as...)); };
constexpr auto unsplit = harness::unsplit_model<M, C>(
    embed, [](auto const&... as) { return blocks_by(same, same, as...); }, loss_of);
template <class... Ws>
std::tuple<Ws...> model_of(Mesh3 const& mesh, Int chunks, Type<std::tuple<Ws...>> of) {
  return harness::pipelined_model<C>(mesh, chunks, 4, 0.2, of);
}
template <class A, class B>
double difference(A const& a, B const& b) {
  return harness::model_difference(a, b, [](auto const& w) { return all_reduce<X>(w); });
}

using Scores = T<Dim<M>, Dim<B, X>, Dim<S>, Dim<V>>;

auto pipelined(pipeline::Schedule const& schedule, pipeline::Ran* ran = nullptr) {
  return pipeline::value_and_grad<Stage, M, C>(schedule, embed, megatron, head, ran);
}
// Runs `f` on `args` and a model, a second time as well: the first run makes communicators. The
// second one sends and holds what the plan says; the shim does not count broadcasts, of results.
template <class Outs, class F, class... As, class... Ws>
auto as_planned(Mesh3 const& mesh, F const& f, std::tuple<Ws...> const& model, As const&... args) {
  auto const me = static_cast<int>(mesh.coordinate<Stage>());
  pipeline::StepPlan const planned = pipeline::plan(f, type<As>..., type<Ws>...);
  auto const run = [&] {
    return std::apply([&](auto const&... w) { return shard_map<Outs>(f, args..., w...); }, model);
  };
  auto& memory = runtime::run_time.memory;
  static_cast<void>(run());
  memory.reset();
  Int const before = memory.most() - planned.given;
  shim::reset();
  auto out = run();
  CHECK(shim::bytes() + planned.results == planned.bytes_sent(me));
  auto const measured = static_cast<double>(memory.most() - before);
  auto const peak = static_cast<double>(planned.peak_bytes(me));
  CAPTURE(measured, peak, measured / peak, planned.stored_bytes(me), planned.given);
  CHECK(measured < 1.1 * peak);
  CHECK(measured > 0.9 * peak);
  return out;
}

}  // namespace

TEST_CASE("a GPT in three dimensions") {
  Mesh3 const mesh(MPI_COMM_WORLD);
  auto const me = static_cast<int>(mesh.coordinate<Stage>());
  for (pipeline::Schedule const& s :
       {pipeline::gpipe(2, 6), pipeline::one_forward_one_backward(2, 6),
        pipeline::interleaved(2, 6, 2)}) {
    auto const ids_of = [&](Int step) {
      return [=](Int m, Int b, Int i) { return (5 * m + 3 * b + i * i + step) % 40; };
    };
    auto const ids = from_function<Ids>(mesh, {s.microbatches, 8, 16}, ids_of(0));
    auto const targets = from_function<Ids>(mesh, {s.microbatches, 8, 16}, ids_of(1));
    auto const used =
        std::apply([](auto const&... w) { return std::tuple(used_as<Reduced<X>>(w)...); },
                   model_of(mesh, s.chunks, type<Stored>));
    pipeline::Ran ran;
    auto const all = [&]<class... Ws>(Type<std::tuple<Ws...>>) {
      return as_planned<Outs<T<>, cotangent_t<Ws>...>>(mesh, pipelined(s, &ran), used, ids,
                                                       targets);
    }(type<Used>);
    CHECK(ran.peak_stored == pipeline::peak_stored(s, me));
    auto const held_out = as_planned<T<>>(
        mesh, pipeline::evaluate<Stage, M, C>(s, embed, megatron, head), used, ids, targets);
    auto const of_last = as_planned<Scores>(
        mesh, pipeline::forward<Stage, M, C>(s, embed, megatron, scores), used, ids);

    auto const whole = model_of(mesh, s.chunks, type<Unsplit>);
    using Ids1 = Tensor<Int, Dim<M>, Dim<B>, Dim<S>>;
    auto const expected =
        value_and_grad<0>(unsplit)(whole, reshard<Ids1>(ids), reshard<Ids1>(targets));
    CHECK(std::abs(item(held_out) - item(expected.value)) < 1e-10);
    auto const losses = nn::cross_entropy<V>(of_last, targets);
    CHECK(std::abs(item(mean(reshard<Dim<M>, Dim<B>, Dim<S>>(losses))) - item(expected.value)) <
          1e-10);
    std::apply(
        [&](auto const& value, auto const&... g) {
          CHECK(std::abs(item(value) - item(expected.value)) < 1e-10);
          CHECK(difference(std::tuple(g...), expected.grad) < 1e-10);
        },
        all);
  }
}
