// Training steps in automatic mode: both passes, the norm and the updates as one program, with the
// optimizer's state in shardings of its own. Each is compared with the step of strict mode on whole
// tensors.
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>
#include <shardtype/visualize/choices.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/replicas.hpp"
#include "harness/while_set.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using automatic_mode::Axes;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct E : Index<"E"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;
using train::Split;

/// A network with a list of layers, a scalar, and a parameter that the loss does not read.
template <class T, class P>
struct Net {
  template <class... Is>
  using W = train::Placed<P, T, Is...>;
  template <template <class> class As>
  struct Layer {
    As<W<D, H>> up;
    As<W<H>> bias;
    As<W<H, D>> down;
  };
  template <template <class> class As>
  struct Model {
    std::vector<Layer<As>> layers;
    As<W<>> scale;
    As<W<D, E>> head;
    As<W<E>> unread;
    As<Tensor<Int, Dim<E>>> places;
  };
  using Values = Model<value_t>;
};
using Whole = train::Shardings<>;
using Rows = train::Shardings<Split<D, X>>;
using Grids = train::Shardings<Split<D, X>, Split<H, Y>, Split<E, Y>>;
using Twice = train::Shardings<Split<H, Y, X>, Split<E, X>>;

struct Loss {
  auto operator()(auto const& m, auto const& x) const {
    auto y = (x * m.scale).tensor();
    for (auto const& l : m.layers)
      y = (y + matmul(tanh(matmul(y, l.up) + l.bias), l.down)).tensor();
    return sum(square(matmul(y, m.head) * m.scale)) / 64;
  }
};

struct Sizes {
  Int b, d, h, e;
  int layers;
  template <class I>
  Int of() const {
    if constexpr (std::is_same_v<I, B>) return b;
    if constexpr (std::is_same_v<I, D>) return d;
    if constexpr (std::is_same_v<I, H>) return h;
    return e;
  }
};
template <class A>
struct Drawn;
template <class T, class... Ds>
struct Drawn<Tensor<T, Ds...>> {
  using A = Tensor<T, Ds...>;
  static A of(Grid const& mesh, Sizes const& n, int seed) {
    return from_function<A>(mesh, {n.of<detail::label_of_t<Ds>>()...}, [=](auto... at) {
      Int k = seed;
      ((k = 31 * k + static_cast<Int>(at)), ...);
      return static_cast<T>(0.5 * std::sin(static_cast<double>(k % 10'007)));
    });
  }
};
template <class N>
typename N::Values model(Grid const& mesh, Sizes const& n) {
  int seed = 1;
  typename N::Values out{{},
                         Drawn<typename N::template W<>>::of(mesh, n, 11),
                         Drawn<typename N::template W<D, E>>::of(mesh, n, 12),
                         Drawn<typename N::template W<E>>::of(mesh, n, 13),
                         from_function<Tensor<Int, Dim<E>>>(mesh, {n.e}, [](Int k) { return k; })};
  for (int k = 0; k < n.layers; ++k) {
    auto const up = Drawn<typename N::template W<D, H>>::of(mesh, n, seed++);
    auto const bias = Drawn<typename N::template W<H>>::of(mesh, n, seed++);
    out.layers.push_back({up, bias, Drawn<typename N::template W<H, D>>::of(mesh, n, seed++)});
  }
  return out;
}
template <class A, class C>
double difference(A const& a, C const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  REQUIRE(x.size() == y.size());
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    most = std::max(most, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
  return most;
}
/// The largest difference of two models or states, whose replicas are the same bits.
template <class A, class C>
double differences(A const& a, C const& b) {
  CHECK(harness::replicas_agree(a));
  double most = 0;
  train::for_each_tensor(
      [&]<class P>(std::string_view, P const& x, auto const& y) {
        if constexpr (is_tensor<P>) {
          most = std::max(most, difference(x, y));
        }
      },
      a, b);
  return most;
}

/// Steps in automatic mode of parameters split by `P` with a state split by `S`, beside strict ones
/// of whole tensors.
template <class T, class P, class S, class Data, class O>
void compare(Grid const& mesh, Sizes const& n, O const& optimizer, double tolerance) {
  using Mine = Net<T, P>;
  using Theirs = Net<T, Whole>;
  using Layout = typename Net<T, S>::Values;
  using In = train::Placed<Data, T, B, D>;
  auto mine = model<Mine>(mesh, n);
  auto theirs = model<Theirs>(mesh, n);
  auto state = optimizer.template init_as<Layout>(mine);
  static_assert(std::is_same_v<decltype(state), typename O::template StateOf<Layout>>);
  auto other = optimizer.init(theirs);
  auto const step = train::step(optimizer, value_and_grad<0>(Loss{}));
  for (int k = 0; k < 3; ++k) {
    auto const x = Drawn<In>::of(mesh, n, 50 + k);
    auto const got = evaluate(mesh, step, mine, state, x);
    auto const want = step(theirs, other, reshard<Dim<B>, Dim<D>>(x));
    CHECK(std::abs(item(got.loss) - item(want.loss)) <=
          tolerance * std::max(1.0, static_cast<double>(item(want.loss))));
    CHECK(std::abs(got.norm - want.norm) <= tolerance * std::max(1.0, want.norm));
    CHECK(got.rate == want.rate);
    CHECK(got.applied);
    CHECK(differences(mine, theirs) <= tolerance);
    for (std::size_t m = 0; m < state.moments.size(); ++m)
      CHECK(differences(state.moments[m], other.moments[m]) <= tolerance);
    CHECK(state.master.has_value() == other.master.has_value());
    if (state.master) CHECK(differences(*state.master, *other.master) <= tolerance);
  }
  CHECK(state.step == 3);
}
/// The same with a state whose shardings the plan chooses, and which goes on as tensors.
template <class T, class P, class Data, class O>
void compare_free(Grid const& mesh, Sizes const& n, O const& optimizer, double tolerance) {
  using In = train::Placed<Data, T, B, D>;
  using Layout = typename Net<T, Rows>::Values;
  auto mine = model<Net<T, P>>(mesh, n);
  auto theirs = model<Net<T, Whole>>(mesh, n);
  auto state = optimizer.init_free(mine);
  auto other = optimizer.init(theirs);
  CHECK(differences(state.as(mine).moments[0], other.moments[0]) == 0);
  auto const step = train::step(optimizer, value_and_grad<0>(Loss{}));
  auto const same = [&](auto const& got, auto const& want) {
    CHECK(std::abs(item(got.loss) - item(want.loss)) <=
          tolerance * std::max(1.0, static_cast<double>(item(want.loss))));
    CHECK(std::abs(got.norm - want.norm) <= tolerance * std::max(1.0, want.norm));
    CHECK(differences(mine, theirs) <= tolerance);
  };
  auto const same_state = [&](auto const& typed) {
    for (std::size_t m = 0; m < typed.moments.size(); ++m)
      CHECK(differences(typed.moments[m], other.moments[m]) <= tolerance);
    CHECK(typed.master.has_value() == other.master.has_value());
    if (typed.master) CHECK(differences(*typed.master, *other.master) <= tolerance);
  };
  for (int k = 0; k < 3; ++k) {
    auto const x = Drawn<In>::of(mesh, n, 50 + k);
    same(evaluate(mesh, step, mine, state, x), step(theirs, other, reshard<Dim<B>, Dim<D>>(x)));
    CHECK(state.is_laid_out());
    CHECK(state.step == k + 1);
  }
  same_state(state.as(mine));
  auto typed = state.template as<Layout>(mine);
  static_assert(std::is_same_v<decltype(typed), typename O::template StateOf<Layout>>);
  same_state(typed);
  auto const x = Drawn<In>::of(mesh, n, 60);
  same(evaluate(mesh, step, mine, typed, x), step(theirs, other, reshard<Dim<B>, Dim<D>>(x)));
  same_state(typed);
}
template <class T, class O>
void compare_all(Grid const& mesh, O const& optimizer, double tolerance) {
  using Data = train::Shardings<Split<B, X, Y>>;
  using Half = train::Shardings<Split<B, X>>;
  for (Sizes const n :
       {Sizes{5, 6, 4, 3, 2}, Sizes{1, 1, 1, 1, 1}, Sizes{4, 5, 0, 3, 1}, Sizes{3, 4, 2, 3, 0}}) {
    INFO(n.layers << " layers");
    compare<T, Whole, Whole, Data>(mesh, n, optimizer, tolerance);  // data parallel
    compare<T, Whole, Rows, Data>(mesh, n, optimizer, tolerance);   // ZeRO-1, or 2
    compare<T, Whole, Twice, Half>(mesh, n, optimizer, tolerance);
    compare<T, Rows, Rows, Half>(mesh, n, optimizer, tolerance);  // ZeRO-3
    compare<T, Rows, Grids, Half>(mesh, n, optimizer, tolerance);
    compare<T, Grids, Twice, Whole>(mesh, n, optimizer, tolerance);
    compare_free<T, Whole, Data>(mesh, n, optimizer, tolerance);
    compare_free<T, Rows, Half>(mesh, n, optimizer, tolerance);
    compare_free<T, Grids, Whole>(mesh, n, optimizer, tolerance);
  }
}

/// The same of two cases.
template <class T, class O>
void compare_some(Grid const& mesh, O const& optimizer, double tolerance) {
  using Data = train::Shardings<Split<B, X, Y>>;
  Sizes const n{5, 6, 4, 3, 2};
  compare<T, Whole, Rows, Data>(mesh, n, optimizer, tolerance);
  compare_free<T, Grids, Data>(mesh, n, optimizer, tolerance);
}

}  // namespace

TEST_CASE("steps with a state in shardings of its own") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  compare_all<double>(mesh, train::AdamW{{.rate = 0.01, .decay = 0.1, .clip = 0.5}}, 1e-11);
  compare_some<double>(mesh, train::Sgd({.rate = 0.01, .decay = 0.1}, 0.9, true), 1e-11);
}
TEST_CASE("steps by messages alone") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  harness::WhileSet<bool> const on_one_node{runtime::run_time.on_one_node, false};
  compare_some<double>(mesh, train::AdamW{{.rate = 0.01, .clip = 0.5}}, 1e-11);
}
TEST_CASE("steps of floats, and of bfloat16 with a master copy") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  compare_some<float>(mesh, train::Lion{{.rate = 0.01, .decays = &train::matrices_decay}}, 1e-4);
  // a number of bfloat16 has 8 bits, and sums over ranks are rounded to them
  compare_all<bfloat16>(mesh, train::Sgd{{.rate = 0.01, .clip = 1}}, 0.1);
}

TEST_CASE("a step that is left out changes nothing") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Sizes const n{5, 4, 3, 3, 2};
  using Layout = Net<double, Rows>::Values;
  auto mine = model<Net<double, Whole>>(mesh, n);
  auto const before = model<Net<double, Whole>>(mesh, n);
  train::AdamW const adam{{.rate = 0.01, .skip_not_finite = true}};
  auto state = adam.init_as<Layout>(mine);
  auto const step = train::step(adam, value_and_grad<0>(Loss{}));
  auto x = Drawn<Tensor<double, Dim<B, X>, Dim<D>>>::of(mesh, n, 5);
  auto const infinite = (x * std::numeric_limits<double>::infinity()).tensor();
  auto const left_out = evaluate(mesh, step, mine, state, infinite);
  CHECK_FALSE(left_out.applied);
  CHECK_FALSE(std::isfinite(left_out.norm));
  CHECK(state.step == 0);
  CHECK(differences(mine, before) == 0);
  CHECK(evaluate(mesh, step, mine, state, x).applied);
  CHECK(state.step == 1);
  CHECK(differences(mine, before) > 0);
}

TEST_CASE("a state of other extents, of another mesh, or of fewer parameters") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Mine = Net<double, Whole>;
  Sizes const n{4, 6, 4, 3, 1};
  Sizes const wider{4, 8, 4, 3, 1};
  Sizes const longer{4, 6, 4, 3, 2};
  train::AdamW const adam{{.rate = 0.01}};
  auto const step = train::step(adam, value_and_grad<0>(Loss{}));
  auto const x = [&](Sizes const& of) {
    return Drawn<Tensor<double, Dim<B, X>, Dim<D>>>::of(mesh, of, 1);
  };
  auto first = model<Mine>(mesh, n);
  auto second = model<Mine>(mesh, wider);
  auto third = model<Mine>(mesh, longer);
  auto typed = adam.init_as<Net<double, Rows>::Values>(first);
  auto free = adam.init_free(first);
  evaluate(mesh, step, first, free, x(n));
  CHECK(code_of([&] { evaluate(mesh, step, second, typed, x(wider)); }) == "E24");
  CHECK(code_of([&] { evaluate(mesh, step, second, free, x(wider)); }) == "E24");
  CHECK(code_of([&] { evaluate(mesh, step, third, free, x(longer)); }) == "E24");
  auto const other = on_ranks::two_axes<X, Y>();
  auto fourth = model<Mine>(other, n);
  auto const there = Drawn<Tensor<double, Dim<B, X>, Dim<D>>>::of(other, n, 1);
  CHECK(code_of([&] { evaluate(other, step, fourth, typed, there); }) == "E23");
  CHECK(code_of([&] { evaluate(other, step, fourth, free, there); }) == "E23");
}

namespace {

struct DS : Index<"D", 64> {};
struct HS : Index<"H", 96> {};
/// Two layers with sizes in their types; `Ds` and `Hs`: what splits its dims.
template <class... Is>
struct Pair {
  template <template <class> class As>
  struct Model {
    As<Tensor<float, Dim<DS, Is...>, Dim<HS>>> up;
    As<Tensor<float, Dim<HS>>> bias;
    As<Tensor<float, Dim<HS>, Dim<DS, Is...>>> down;
  };
  using Values = Model<value_t>;
};
struct PairLoss {
  auto operator()(auto const& m, auto const& x) const {
    return sum(square(matmul(tanh(matmul(x, m.up) + m.bias), m.down)));
  }
};
template <class T, class... Ds>
Tensor<T, Ds...> filled_with(Grid const& mesh, Type<Tensor<T, Ds...>>,
                             std::array<Int, sizeof...(Ds)> const& n, int seed) {
  return from_function<Tensor<T, Ds...>>(mesh, n, [=](auto... at) {
    Int k = seed;
    ((k = 31 * k + static_cast<Int>(at)), ...);
    return static_cast<T>(0.1 * std::sin(static_cast<double>(k % 10'007)));
  });
}
std::int64_t most_of_ranks(std::int64_t mine) {
  std::int64_t most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return most;
}
/// The plan of a step of parameters split by `P` and a state by `S`, which has the bytes that are
/// sent.
template <class P, class S>
PlannedProgram planned_and_sent(Grid const& mesh, train::AdamW const& adam) {
  using Model = typename P::Values;
  using Layout = typename S::Values;
  using In = Tensor<float, Dim<B, X>, Dim<DS>>;
  auto const step = train::step(adam, value_and_grad<0>(PairLoss{}));
  PlannedProgram const p = dry_run<Axes<X, Y>, Model, train::AdamW::StateOf<Layout>, In>(step)
                               .template extent<B>(512)
                               .template ranks<X>(mesh.size_of<X>())
                               .template ranks<Y>(mesh.size_of<Y>())
                               .on(machine_here())
                               .planned();
  Model m{filled_with(mesh, Type<decltype(Model::up)>{}, {64, 96}, 1),
          filled_with(mesh, Type<decltype(Model::bias)>{}, {96}, 2),
          filled_with(mesh, Type<decltype(Model::down)>{}, {96, 64}, 3)};
  auto state = adam.init_as<Layout>(m);
  auto const x = filled_with(mesh, Type<In>{}, {512, 64}, 4);
  for (int k = 0; k < 2; ++k) {
    shim::reset();
    auto& memory = runtime::run_time.memory;
    memory.reset();
    Int const before = memory.now();
    evaluate(mesh, step, m, state, x);
    CHECK(memory.most() - before <= p.plan.temporary_bytes());
    // the total is broadcast, and counted where it arrives
    Int const total = adam.clip > 0 && mesh.size() > 1 ? 8 : 0;
    CHECK(most_of_ranks(shim::bytes()) + total == p.plan.bytes_per_rank());
  }
  return p;
}

}  // namespace

TEST_CASE("the plan of a step has its bytes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  harness::WhileSet<bool> const on_one_node{runtime::run_time.on_one_node, false};
  train::AdamW const plain{{.rate = 0.01}};
  train::AdamW const clipped{{.rate = 0.01, .clip = 1}};
  using In = Tensor<float, Dim<B, X>, Dim<DS>>;
  for (auto const& adam : {plain, clipped}) {
    planned_and_sent<Pair<>, Pair<>>(mesh, adam);
    planned_and_sent<Pair<X>, Pair<X>>(mesh, adam);
    planned_and_sent<Pair<X>, Pair<X, Y>>(mesh, adam);
    auto const p = planned_and_sent<Pair<>, Pair<X>>(mesh, adam);
    // ZeRO-1: a gradient is reduced to where the state lies, and the new parameter is gathered
    if (mesh.size_of<X>() < 2) continue;
    CHECK(p.plan.count(Collective::reduce_scatter) >= 2);
    CHECK(p.plan.count(Collective::all_gather) == 2);
    auto const passes = dry_run<Axes<X, Y>, Pair<>::Values, In>(value_and_grad<0>(PairLoss{}))
                            .extent<B>(512)
                            .ranks<X>(mesh.size_of<X>())
                            .ranks<Y>(mesh.size_of<Y>())
                            .on(machine_here())
                            .planned();
    CHECK(p.plan.bytes_per_rank() <= passes.plan.bytes_per_rank() + 64);
  }
}

namespace {

struct DL : Index<"D", 4096> {};
struct HL : Index<"H", 16384> {};
struct XL : Axis<"X", 8> {};
template <template <class> class As>
struct Large {
  As<Tensor<float, Dim<DL>, Dim<HL>>> up;
  As<Tensor<float, Dim<HL>>> bias;
};
template <template <class> class As>
struct LargeSplit {
  As<Tensor<float, Dim<DL, XL>, Dim<HL>>> up;
  As<Tensor<float, Dim<HL, XL>>> bias;
};

}  // namespace

TEST_CASE("a free state of large parameters is split over the ranks of a batch") {
  using Model = Large<value_t>;
  using In = Tensor<float, Dim<B, XL>, Dim<DL>>;
  constexpr auto loss = [](auto const& m, auto const& x) {
    return sum(square(tanh(matmul(x, m.up) + m.bias)));
  };
  for (double const clip : {0.0, 1.0}) {
    train::AdamW const adam{{.rate = 0.01, .clip = clip}};
    auto const step = train::step(adam, value_and_grad<0>(loss));
    auto const planned = [&](auto dry) {
      return dry.template extent<B>(65536).on(machines::h100_node).planned();
    };
    PlannedProgram const free = planned(dry_run<Model, train::FreeState<Model, 2>, In>(step));
    PlannedProgram const whole = planned(dry_run<Model, train::AdamW::StateOf<Model>, In>(step));
    PlannedProgram const split =
        planned(dry_run<Model, train::AdamW::StateOf<LargeSplit<value_t>>, In>(step));
    CHECK(free.seconds() < whole.seconds());
    CHECK(free.seconds() <= split.seconds());
    CHECK(free.plan.bytes_per_rank() <= whole.plan.bytes_per_rank() + 64);
    CHECK(free.plan.gap() <= 1e-9);
    // why: the price of the other layouts of the state
    auto const choices = layout_choices(free);
    auto const state = std::find_if(choices.begin(), choices.end(), [](auto const& c) {
      return c.made_by == "update" && c.chosen == "[D@X, H]";
    });
    REQUIRE(state != choices.end());
    CHECK(state->otherwise == "[D, H@X]");
    CHECK(state->seconds == 0);
  }
}
