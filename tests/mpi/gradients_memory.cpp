// What a gradient saves, holds and sends against its plan: one MLP in five parallelisms and with
// microbatches; of two also with their movements under way meanwhile. The saved bytes are the
// plan's tape_bytes, the bytes of both passes by the shim are the plan's, the peak is at most the
// planned one and at least ten elevenths of it. The backward pass frees what it has read. A steady
// training loop allocates nothing, neither with new nor from the system into the pool.
// RANKS: 4
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/counted_new.hpp"
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
// Extents that 4 does not divide.
struct B : Index<"B", 1203> {};
struct D : Index<"D", 67> {};
struct H : Index<"H", 253> {};
struct J : Index<"J", 35> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

struct DataParallel {
  using Mesh = shardtype::Mesh<X>;
  using W1 = T<Dim<D>, Dim<H>>;
  using W2 = T<Dim<H>, Dim<J>>;
  using In = T<Dim<B, X>, Dim<D>>;
  using Target = T<Dim<B, X>, Dim<J>>;
  using UsedIn = In;
  using UsedW1 = T<Dim<D>, Dim<H>, Reduced<X>>;
  using UsedW2 = T<Dim<H>, Dim<J>, Reduced<X>>;
};
struct Fsdp : DataParallel {
  using W1 = T<Dim<D, X>, Dim<H>>;
  using W2 = T<Dim<H, X>, Dim<J>>;
};
struct TensorParallel {
  using Mesh = shardtype::Mesh<Y>;
  using W1 = T<Dim<D>, Dim<H, Y>>;
  using W2 = T<Dim<H, Y>, Dim<J>>;
  using In = T<Dim<B>, Dim<D>>;
  using Target = T<Dim<B>, Dim<J>>;
  using UsedIn = T<Dim<B>, Dim<D>, Reduced<Y>>;
  using UsedW1 = W1;
  using UsedW2 = W2;
};
struct SequenceParallel : TensorParallel {
  using In = T<Dim<B, Y>, Dim<D>>;
  using Target = T<Dim<B, Y>, Dim<J>>;
};
struct TwoAxes {
  using Mesh = shardtype::Mesh<P, Q>;
  using W1 = T<Dim<D>, Dim<H, Q>>;
  using W2 = T<Dim<H, Q>, Dim<J>>;
  using In = T<Dim<B, P>, Dim<D>>;
  using Target = T<Dim<B, P>, Dim<J>>;
  using UsedIn = T<Dim<B, P>, Dim<D>, Reduced<Q>>;
  using UsedW1 = T<Dim<D>, Dim<H, Q>, Reduced<P>>;
  using UsedW2 = T<Dim<H, Q>, Dim<J>, Reduced<P>>;
};

template <class S>
struct Loss {
  constexpr auto operator()(auto const& w1, auto const& w2, auto const& x, auto const& y) const {
    auto const hidden =
        tanh(matmul(used_as<typename S::UsedIn>(x), used_as<typename S::UsedW1>(w1)));
    auto const out = matmul<typename S::Target>(hidden, used_as<typename S::UsedW2>(w2));
    return sum<T<>>(square(out - y)) / 1203.0;
  }
};

auto wave(double speed) {
  return [=](auto... at) {
    Int sum = 1;
    ((sum = sum * 3 + at), ...);
    return 0.1 * std::sin(speed * static_cast<double>(sum));
  };
}

template <class A>
Int bytes_of(A const& a) {
  return measured_plan::block_bytes(a);
}
template <class A, std::size_t N>
Int bytes_of(std::array<A, N> const& all) {
  Int n = 0;
  for (A const& a : all) n += measured_plan::block_bytes(a);
  return n;
}

// Runs both passes of `g` on these operands, which stay alive, and checks them against `plan`; with
// `windows`, values are exchanged in shared memory, and nothing is sent.
template <class G, class M, class... As>
void holds(G const& g, GradientPlan const& plan, M const& mesh, bool windows, As const&... as) {
  auto& memory = runtime::run_time.memory;
  Int given = 0;
  ((given += bytes_of(as)), ...);
  Int const others = memory.now() - given;
  memory.reset();
  shim::reset();
  Int saved = 0, forward = 0, backward = 0;
  {
    auto const result = g.run(
        std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{},
        [&](Int loss_bytes) {
          saved = memory.now() - others - given - loss_bytes;
          forward = shim::bytes();
        },
        as...);
    backward = shim::bytes() - forward;
  }
  Int const peak = measured_plan::most_of_ranks(memory.most() - others);
  INFO("saved " << saved << ", peak " << peak << ", planned " << plan.tape_bytes() << ", "
                << plan.peak_bytes());
  CHECK(measured_plan::most_of_ranks(saved) == plan.tape_bytes());
  CHECK(plan.tape_bytes() > 0);
  if (!windows) CHECK(forward == plan.forward.bytes(measured_plan::at(plan.forward, mesh)));
  CHECK(backward == (windows ? 0 : plan.backward.bytes(measured_plan::at(plan.backward, mesh))));
  CHECK(peak <= plan.peak_bytes());
  // a plan says what blocks that are sent take
  if (!windows) CHECK(static_cast<double>(plan.peak_bytes()) <= 1.1 * static_cast<double>(peak));
  CHECK(memory.now() - others == given);
}

template <class S, class... Options>
void as_planned(Options... options) {
  using W1 = typename S::W1;
  using W2 = typename S::W2;
  using In = typename S::In;
  using Target = typename S::Target;
  static constexpr auto both = plan(value_and_grad<0, 1>(Loss<S>{}, Options{}...), type<W1>,
                                    type<W2>, type<In>, type<Target>);
  typename S::Mesh const mesh(MPI_COMM_WORLD);
  holds(value_and_grad<0, 1>(Loss<S>{}, options...), both, mesh, false,
        from_function<W1>(mesh, wave(1.1)), from_function<W2>(mesh, wave(0.7)),
        from_function<In>(mesh, wave(0.3)), from_function<Target>(mesh, wave(0.9)));
}

// Runs `step` on parameters that it replaces.
template <class M, class Step>
void allocates_nothing(M const& mesh, Step step) {
  for (int k = 0; k < 3; ++k) step();
  std::size_t const blocks = mesh.state().pool().allocations();
  std::size_t const before = allocated;
  for (int k = 0; k < 10; ++k) step();
  CHECK(allocated == before);
  CHECK(mesh.state().pool().allocations() == blocks);
}

template <class S>
void trains_steadily() {
  typename S::Mesh const mesh(MPI_COMM_WORLD);
  auto w1 = from_function<typename S::W1>(mesh, wave(1.1));
  auto w2 = from_function<typename S::W2>(mesh, wave(0.7));
  auto const x = from_function<typename S::In>(mesh, wave(0.3));
  auto const y = from_function<typename S::Target>(mesh, wave(0.9));
  double first = 0, last = 0;
  allocates_nothing(mesh, [&] {
    auto const [loss, gradients] = value_and_grad<0, 1>(Loss<S>{})(w1, w2, x, y);
    auto const& [to_w1, to_w2] = gradients;
    w1 = w1 - 0.05 * to_w1;
    w2 = w2 - 0.05 * to_w2;
    last = item(loss);
    if (first == 0) first = last;
  });
  CHECK(last < first);
}

// Passes its operand on; its pull writes down the bytes in use.
std::vector<Int> in_use;
struct Probe {
  using operation = Probe;
  static constexpr std::string_view name = "probe";
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const& out, In const& in) const {
    for (std::size_t k = 0; k < in.size(); ++k) out.data()[k] = in.data()[k];
  }
};

}  // namespace

template <>
struct shardtype::autodiff::Vjp<Probe> : Differentiable {
  template <class V, class A>
  static constexpr Kept<> save(Probe const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Probe const&, S const&, C const& ct) {
    if (!std::is_constant_evaluated()) in_use.push_back(runtime::run_time.memory.now());
    return ct;
  }
};

namespace {

constexpr std::size_t layers = 8;
struct E : Index<"E", D::extent> {};
using Layer = T<Dim<D>, Dim<E>>;
using Rows = T<Dim<B, X>, Dim<D>>;
struct Deep {
  constexpr auto operator()(auto const& ws, auto const& x) const {
    auto const layer = [](auto const& h, auto const& w) {
      auto const out = tanh(matmul(h, used_as<Reduced<X>>(w))).tensor();
      return relabel<E, D>(call(Probe{}, std::source_location::current(), out));
    };
    auto h = layer(x, ws[0]);
    for (std::size_t k = 1; k < ws.size(); ++k) h = layer(h, ws[k]);
    return all_reduce<X>(sum(square(h)));
  }
};

constexpr std::size_t parts = 3;
struct Microbatches {
  using S = DataParallel;
  constexpr auto operator()(auto const& w1, auto const& w2, auto const& xs, auto const& ys) const {
    auto const used_1 = used_as<Reduced<X>>(w1);
    auto const used_2 = used_as<Reduced<X>>(w2);
    auto const one = [&](std::size_t k) {
      return sum(square(matmul(tanh(matmul(xs[k], used_1)), used_2) - ys[k])).tensor();
    };
    auto total = one(0);
    for (std::size_t k = 1; k < xs.size(); ++k) total = (total + one(k)).tensor();
    return all_reduce<X>(total);
  }
};

}  // namespace

TEST_CASE("saved, held and sent as planned") {
  SECTION("data parallel") { as_planned<DataParallel>(); }
  SECTION("FSDP") { as_planned<Fsdp>(); }
  SECTION("tensor parallel") { as_planned<TensorParallel>(); }
  SECTION("sequence parallel") { as_planned<SequenceParallel>(); }
  SECTION("data x tensor") { as_planned<TwoAxes>(); }
  SECTION("data parallel, overlapped") { as_planned<DataParallel>(overlap_grad_reduce); }
  SECTION("FSDP, overlapped") { as_planned<Fsdp>(overlap_grad_reduce); }
  SECTION("microbatches") {
    using S = DataParallel;
    static constexpr auto both =
        plan(value_and_grad<0, 1>(Microbatches{}), type<S::W1>, type<S::W2>,
             type<std::array<S::In, parts>>, type<std::array<S::Target, parts>>);
    static_assert(both.forward.count(Collective::all_reduce) == 1);
    static_assert(both.backward.count(Collective::all_reduce) == 2);
    S::Mesh const mesh(MPI_COMM_WORLD);
    auto const x = [&](double speed) { return from_function<S::In>(mesh, wave(speed)); };
    auto const y = [&](double speed) { return from_function<S::Target>(mesh, wave(speed)); };
    holds(value_and_grad<0, 1>(Microbatches{}), both, mesh, false,
          from_function<S::W1>(mesh, wave(1.1)), from_function<S::W2>(mesh, wave(0.7)),
          std::array{x(0.3), x(0.4), x(0.5)}, std::array{y(0.9), y(0.8), y(0.6)});
  }
}

TEST_CASE("the backward pass frees what it has read") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  static constexpr auto both =
      plan(value_and_grad<0>(Deep{}), type<std::array<Layer, layers>>, type<Rows>);
  auto const w = from_function<Layer>(mesh, wave(1.1));
  std::array<Layer, layers> const ws{w,         w.clone(), w.clone(), w.clone(),
                                     w.clone(), w.clone(), w.clone(), w.clone()};
  auto const x = from_function<Rows>(mesh, wave(0.3));
  in_use.clear();
  holds(value_and_grad<0>(Deep{}), both, mesh, false, ws, x);
  // a layer saves the results of tanh and of the probe, and leaves a gradient
  Int const block = measured_plan::block_bytes(x);
  Int const gradient = measured_plan::block_bytes(w);
  REQUIRE(in_use.size() == layers);
  for (std::size_t k = 1; k < layers; ++k) CHECK(in_use[k - 1] - in_use[k] == 2 * block - gradient);
}

namespace {

struct N : Index<"N", 3> {};
struct R : Index<"R", 400> {};
struct K : Index<"K", 500> {};
// A named sum whose cotangent is gathered once, and kept for the gradient of the weights; `Ns`
// stand before the dim that is gathered.
template <Overlap how, class... Ns>
struct ScatteredSum {
  using A = T<Ns..., Dim<R>, Dim<H, Y>>;
  using W = T<Dim<H, Y>, Dim<K>>;
  constexpr auto operator()(auto const& a, auto const& w) const {
    return sum<T<>>(square(einsum<Ns..., Dim<R, Y>, Dim<K>>(a, w, how)));
  }
  static void as_planned() {
    constexpr auto both = plan(value_and_grad<0, 1>(ScatteredSum{}), type<A>, type<W>);
    Mesh<Y> const mesh(MPI_COMM_WORLD);
    if (how == Overlap::shared && !mesh.state().window().possible()) return;
    holds(value_and_grad<0, 1>(ScatteredSum{}), both, mesh, how == Overlap::shared,
          from_function<A>(mesh, wave(0.3)), from_function<W>(mesh, wave(0.7)));
  }
};

}  // namespace

TEST_CASE("a cotangent that is gathered behind a product, and kept, is in the plan") {
  ScatteredSum<Overlap::none, Dim<N>>::as_planned();
  ScatteredSum<Overlap::ring, Dim<N>>::as_planned();
  ScatteredSum<Overlap::bidirectional, Dim<N>>::as_planned();
  ScatteredSum<Overlap::ring>::as_planned();
  ScatteredSum<Overlap::shared, Dim<N>>::as_planned();
  ScatteredSum<Overlap::shared>::as_planned();
}

TEST_CASE("a steady training loop allocates nothing") {
  SECTION("data parallel") { trains_steadily<DataParallel>(); }
  SECTION("FSDP") { trains_steadily<Fsdp>(); }
  SECTION("tensor parallel") { trains_steadily<TensorParallel>(); }
  SECTION("sequence parallel") { trains_steadily<SequenceParallel>(); }
  SECTION("data x tensor") { trains_steadily<TwoAxes>(); }
}
