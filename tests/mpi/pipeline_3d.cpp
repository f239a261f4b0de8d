// A GPT in three dimensions: stages over one axis, the batch over a second, heads and hidden
// features over a third. Loss and gradients beside the unsplit GPT; what each rank sends and holds
// beside the plan of the step.
// RANKS: 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
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
constexpr auto loss_of = [](auto const& h, auto const& targets, auto const& table,
                            auto const& gain) {
  return mean(nn::cross_entropy<V>(matmul(nn::rms_norm<D>(h, gain), table), targets));
};
constexpr auto head = [](auto const&... as) { return all_reduce<Mean, X>(loss_of(as...)); };
constexpr auto unsplit = [](auto const& model, auto const& ids, auto const& targets) {
  return std::apply(
      [&](auto const& table, auto const& gain, auto const& first, auto const&... w) {
        auto const of = [&](Int m) {
          auto const x = embed(at<M>(ids, m), table, gain);
          auto const out = loop(first.template extent<C>(), x, [&](Int c, auto const& h) {
            return blocks_by(same, same, h, at<C>(first, c), at<C>(w, c)...);
          });
          return loss_of(out, at<M>(targets, m), table, gain);
        };
        Int const all = ids.template extent<M>();
        auto const others = [&](Int m, auto const& sum) { return sum + of(m + 1); };
        return loop(all - 1, of(0), others) / static_cast<double>(all);
      },
      model);
};

template <class W>
W parameter(Mesh3 const& mesh, Int chunks, double speed) {
  std::array<Int, W::rank> extents{};
  for (std::size_t d = 0; d < W::rank; ++d) {
    Int const fixed = core::Scope<W>::names.label_extent[W::spec.dims[d].label];
    extents[d] = fixed != dynamic ? fixed : chunks;
  }
  bool const is_gain = W::rank % 2 == 1 && W::rank < 5;
  return from_function<W>(mesh, extents, [=](auto... at) {
    Int number = 0;
    ((number = number * 7 + at), ...);
    return (is_gain ? 1 : 0) + 0.2 * std::sin(speed * static_cast<double>(number) + 0.3);
  });
}
template <class... Ws>
std::tuple<Ws...> model_of(Mesh3 const& mesh, Int chunks, Type<std::tuple<Ws...>>) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tuple<Ws...>{parameter<Ws>(mesh, chunks, 0.3 + 0.17 * static_cast<double>(K))...};
  }(std::index_sequence_for<Ws...>{});
}
template <class... As, class... Bs>
double difference(std::tuple<As...> const& a, std::tuple<Bs...> const& b) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    double most = 0;
    ((most = std::fmax(
          most, item(max(abs(reshard<Bs>(all_reduce<X>(std::get<K>(a))) - std::get<K>(b)))))),
     ...);
    return most;
  }(std::index_sequence_for<As...>{});
}

auto pipelined(pipeline::Schedule const& schedule, pipeline::Ran* ran = nullptr) {
  return pipeline::value_and_grad<Stage, M, C>(schedule, embed, megatron, head, ran);
}
template <class... Ws>
pipeline::StepPlan plan_of(pipeline::Schedule const& schedule, Type<std::tuple<Ws...>>) {
  return pipeline::plan(pipelined(schedule), type<Ids>, type<Ids>, type<Ws>...);
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
    pipeline::StepPlan const planned = plan_of(s, type<Used>);
    auto const used =
        std::apply([](auto const&... w) { return std::tuple(used_as<Reduced<X>>(w)...); },
                   model_of(mesh, s.chunks, type<Stored>));
    auto& memory = runtime::run_time.memory;
    pipeline::Ran ran;
    auto const run = [&]<class... Ws>(Type<std::tuple<Ws...>>) {
      return std::apply(
          [&](auto const&... w) {
            return shard_map<Outs<T<>, cotangent_t<Ws>...>>(pipelined(s, &ran), ids, targets, w...);
          },
          used);
    };
    static_cast<void>(run(type<Used>));  // the first run makes communicators
    memory.reset();
    shim::reset();
    auto const all = run(type<Used>);
    CHECK(shim::bytes() == planned.bytes_sent(me));
    CHECK(ran.peak_stored == pipeline::peak_stored(s, me));
    auto const measured = static_cast<double>(memory.most());
    auto const peak = static_cast<double>(planned.peak_bytes(me));
    CAPTURE(measured, peak, measured / peak, planned.stored_bytes(me), planned.given);
    CHECK(measured < 1.1 * peak);
    CHECK(measured > 0.9 * peak);

    auto const whole = model_of(mesh, s.chunks, type<Unsplit>);
    using Ids1 = Tensor<Int, Dim<M>, Dim<B>, Dim<S>>;
    auto const expected =
        value_and_grad<0>(unsplit)(whole, reshard<Ids1>(ids), reshard<Ids1>(targets));
    std::apply(
        [&](auto const& value, auto const&... g) {
          CHECK(std::abs(item(value) - item(expected.value)) < 1e-10);
          CHECK(difference(std::tuple(g...), expected.grad) < 1e-10);
        },
        all);
  }
}
