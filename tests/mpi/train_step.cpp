// A training step against its plan: six layers in five parallelisms. The bytes of both passes and
// of the norm by the shim are the plan's, and what a rank holds at most is at most the planned peak
// and at least ten elevenths of it. With split parameters the step needs less than two layers'
// whole weights beyond what it was given and the gradient.
// RANKS: 4
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

using Int = std::int64_t;

// Mesh axes of all ranks, and of two each.
struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 4> {};
struct P : Axis<"P", 2> {};
struct Q : Axis<"Q", 2> {};
struct B : Index<"B", 19> {};
struct D : Index<"D", 123> {};  // 4 does not divide it
struct M : Index<"M", 510> {};
struct C : Index<"C", 10> {};
constexpr int layers = 6;
using train::Placed;
using train::Shardings;
using train::Split;

// What splits parameters and activations, and how these are used.
struct DataParallel {
  static constexpr bool again = false;
  static constexpr bool ahead = false;
  static constexpr bool kept = false;
  using On = Mesh<X>;
  using Parameters = Shardings<>;
  using Activations = Shardings<Split<B, X>>;
  using Gathered = Reduced<X>;
  using Weights = nn::Use<Gathered>;
  using In = nn::Use<>;
};
struct Fsdp : DataParallel {
  using Parameters = Shardings<Split<D, X>>;
};
// ZeRO-3: a layer's weights are gathered again in the backward pass.
struct Fsdp3 : Fsdp {
  static constexpr bool again = true;
};
// The gathers are started one layer ahead.
struct Fsdp3Ahead : Fsdp {
  static constexpr bool ahead = true;
};
// And what is gathered is kept for the backward pass.
struct FsdpAhead : Fsdp3Ahead {
  static constexpr bool kept = true;
};
struct TensorParallel {
  static constexpr bool again = false;
  static constexpr bool ahead = false;
  static constexpr bool kept = false;
  using On = Mesh<Y>;
  using Parameters = Shardings<Split<M, Y>>;
  using Activations = Shardings<>;
  using Weights = nn::Use<>;
  using In = nn::Use<Reduced<Y>>;
};
struct DataAndTensor {
  static constexpr bool again = false;
  static constexpr bool ahead = false;
  static constexpr bool kept = false;
  using On = Mesh<P, Q>;
  using Parameters = Shardings<Split<M, Q>>;
  using Activations = Shardings<Split<B, P>>;
  using Gathered = Reduced<P>;
  using Weights = nn::Use<Gathered>;
  using In = nn::Use<Reduced<Q>>;
};
struct FsdpAndTensor : DataAndTensor {
  using Parameters = Shardings<Split<M, Q>, Split<D, P>>;
};
struct FsdpAheadAndTensor : FsdpAndTensor {
  static constexpr bool ahead = true;
};

template <class S, class T>
struct Net {
  template <class... Is>
  using W = Placed<typename S::Parameters, T, Is...>;
  template <class... Is>
  using A = Placed<typename S::Activations, T, Is...>;
  using Classes = Placed<typename S::Activations, Int, B>;

  template <template <class> class As>
  struct Model {
    std::array<nn::Mlp<As, W<D, M>, W<M>, W<M, D>, W<D>>, layers> blocks;
    As<W<D, C>> head;
  };
  static constexpr auto loss = [](auto const& m, auto const& input, auto const& classes) {
    auto const plain = [](auto const& x, auto const& p) {
      return (x + nn::mlp<A<B, D>>(typename S::In{}(x), p, typename S::Weights{})).tensor();
    };
    auto const layer = [&](auto const& x, auto const& p) {
      if constexpr (S::again) {
        return remat(plain)(x, p);
      } else {
        return plain(x, p);
      }
    };
    auto const x = [&] {
      if constexpr (S::kept) {
        return prefetch_layers<typename S::Gathered>(plain, keep_gathered)(input, m.blocks);
      } else if constexpr (S::ahead) {
        return prefetch_layers<typename S::Gathered>(plain)(input, m.blocks);
      } else {
        auto h = layer(input, m.blocks[0]);
        for (std::size_t k = 1; k < layers; ++k) h = layer(h, m.blocks[k]);
        return h;
      }
    }();
    using Scalar = Tensor<shardtype::detail::computed_t<T>>;
    return nn::mean_cross_entropy<C, Scalar>(matmul(x, typename S::Weights{}(m.head)), classes);
  };
};

template <class S>
Int bytes_of(S const& s) {
  Int n = 0;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (is_tensor<A>) n += measured_plan::block_bytes(a);
      },
      s);
  return n;
}

constexpr train::AdamW adam{{.rate = 0.01, .decay = 0.1, .clip = 1}};
constexpr train::Adafactor adafactor{{.rate = 0.01, .decay = 0.1, .clip = 1}};
constexpr train::Muon<train::Except<C>> muon{{.rate = 0.01, .decay = 0.1, .clip = 1},
                                             train::AdamW{{}},
                                             train::MuonScale::as_adamw,
                                             0.95,
                                             true,
                                             2};

template <class S, class T, auto const& optimizer = adam, class... Options>
void holds(Options...) {
  using N = Net<S, T>;
  using Model = typename N::template Model<value_t>;
  using In = typename N::template A<B, D>;
  using Ids = typename N::Classes;
  static constexpr auto step = train::step(optimizer, value_and_grad<0>(N::loss, Options{}...));
  static constexpr StepPlan planned = plan(step, type<Model>, type<In>, type<Ids>);
  constexpr Int summed = optimizer.sums * (4 * layers + 1);  // numbers over the mesh
  static_assert(planned.norm.count(Collective::all_reduce) == 1);
  static_assert(planned.count(Collective::all_reduce) ==
                planned.passes.count(Collective::all_reduce) + 1 + (summed > 0 ? 1 : 0) +
                    planned.parameters.count(Collective::all_reduce));

  typename S::On const mesh(MPI_COMM_WORLD);
  auto model = train::initialize<Model>(mesh, RandomKey{3}, [](std::string_view path, auto) {
    return path.ends_with("b1") || path.ends_with("b2") ? train::Initial::zeros()
                                                        : train::Initial::normal(0.05);
  });
  auto state = optimizer.init(model);
  auto const x = from_function<In>(
      mesh, [](Int b, Int d) { return static_cast<T>(std::sin(static_cast<double>(7 * b + d))); });
  auto const ids = from_function<Ids>(mesh, [](Int b) { return b % 10; });

  auto& memory = runtime::run_time.memory;
  Int kept = 0;
  decltype(state)::each_part(state, [&](auto const&, auto const& part) { kept += bytes_of(part); });
  CHECK(measured_plan::most_of_ranks(kept) == planned.state_bytes());
  Int const given =
      bytes_of(model) + measured_plan::block_bytes(x) + measured_plan::block_bytes(ids);
  Int const others = memory.now() - given - kept;
  memory.reset();
  shim::reset();
  Int sent = 0;
  {
    auto const done = step(model, state, x, ids);
    sent = shim::bytes();
    CHECK(done.applied);
    CHECK(done.norm > 0);
    CHECK(std::isfinite(item(done.loss)));
  }
  GradientPlan const& passes = planned.passes;
  // what is sent once more from the first rank is not counted by the shim
  Int const norm = planning::twice_but_own(sizeof(double), 4);
  Int const sums = planning::twice_but_own(summed * Int{sizeof(double)}, 4);
  Int const of_passes = passes.forward.bytes(measured_plan::at(passes.forward, mesh)) +
                        passes.backward.bytes(measured_plan::at(passes.backward, mesh));
  CHECK(measured_plan::most_of_ranks(sent - of_passes - norm - sums) ==
        planned.parameters.bytes_per_rank());
  if (summed == 0 && planned.parameters.collectives() == 0) CHECK(sent == of_passes + norm);
  CHECK(planned.norm.bytes_per_rank() == norm + 8);
  CHECK(planned.sums.bytes_per_rank() == sums + summed * 8);
  Int const peak = measured_plan::most_of_ranks(memory.most() - others);
  INFO("held " << peak << ", planned " << planned.peak_bytes());
  CHECK(peak <= planned.peak_bytes());
  CHECK(static_cast<double>(planned.peak_bytes()) <= 1.1 * static_cast<double>(peak));
}

// docs/training.md, "The stages of ZeRO": the six layers have 6.05 MB of weights in double, the
// moments twice as much.
template <class S>
constexpr Int planned_peak() {
  using N = Net<S, double>;
  return plan(train::step(adam, value_and_grad<0>(N::loss)),
              type<typename N::template Model<value_t>>, type<typename N::template A<B, D>>,
              type<typename N::Classes>)
      .peak_bytes();
}
static_assert(planned_peak<DataParallel>() > 24'000'000);  // everything on every rank
static_assert(planned_peak<Fsdp>() <
              12'500'000);  // whole weights from the forward to the backward pass
static_assert(planned_peak<Fsdp3>() < 8'200'000);  // of one layer at a time

// The bytes of one layer's whole weights.
constexpr Int layer(Int element) { return (2 * 123 * 510 + 510 + 123) * element; }

}  // namespace

TEST_CASE("a training step sends and holds what its plan says") {
  holds<DataParallel, double>();
  holds<Fsdp, double>();
  holds<Fsdp3, double>();
  holds<TensorParallel, double>();
  holds<DataAndTensor, float>();
  holds<FsdpAndTensor, bfloat16>();
}

TEST_CASE("and with the parameters of the next layer gathered meanwhile") {
  holds<Fsdp3Ahead, double>();
  holds<Fsdp3Ahead, float>(overlap_grad_reduce);
  holds<Fsdp3Ahead, double>(join_grad_reduce);
  holds<FsdpAhead, float>(overlap_grad_reduce);
  holds<FsdpAheadAndTensor, float>(overlap_grad_reduce);
}

TEST_CASE("and with small gradients joined") {
  holds<Fsdp3, double>(join_grad_reduce);
  holds<DataAndTensor, float>(join_grad_reduce);
}

TEST_CASE("a step of Adafactor sends and holds what its plan says") {
  holds<DataParallel, double, adafactor>();
  holds<Fsdp3, double, adafactor>();
  holds<DataAndTensor, float, adafactor>();
  holds<FsdpAndTensor, bfloat16, adafactor>();
}

TEST_CASE("a step of Muon sends and holds what its plan says") {
  holds<DataParallel, double, muon>();
  holds<Fsdp3, double, muon>();
  holds<DataAndTensor, float, muon>();
  holds<FsdpAndTensor, bfloat16, muon>();
}

TEST_CASE("split parameters: beyond what is stored, less than two layers' whole weights") {
  using N = Net<Fsdp3, double>;
  using Model = typename N::Model<value_t>;
  static constexpr auto planned = plan(train::step(adam, value_and_grad<0>(N::loss)), type<Model>,
                                       type<N::A<B, D>>, type<N::Classes>);
  constexpr auto model = train::detail::model_bytes<Model>();
  constexpr Int stored = planned.state_bytes() + 2 * model.trained;
  INFO(planned.peak_bytes() - stored << " of " << layer(8));
  CHECK(planned.peak_bytes() - stored < 2 * layer(8));
  // whole parameters and moments on every rank: four times as much
  constexpr auto whole =
      plan(train::step(adam, value_and_grad<0>(Net<DataParallel, double>::loss)),
           type<Net<DataParallel, double>::Model<value_t>>,
           type<Net<DataParallel, double>::A<B, D>>, type<Net<DataParallel, double>::Classes>);
  CHECK(whole.state_bytes() > 39 * planned.state_bytes() / 10);
}
