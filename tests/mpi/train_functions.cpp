// What training has beside optimizers: norms of any order and clipping by them, accuracy and the
// confusion matrix, each beside the same on whole arrays; groups of parameters; rates that stay and
// then fall, and first values by numbers of features.
// RANKS: 1 2 4 8
// NEEDS: Random123
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct V : Index<"V"> {};
struct C : Index<"C"> {};

constexpr double inf = std::numeric_limits<double>::infinity();

template <class A>
double distance(A const& a, A const& b) {
  auto const ours = to_host(a);
  auto const theirs = to_host(b);
  REQUIRE(ours.size() == theirs.size());
  double out = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) out = std::max(out, std::abs(ours[k] - theirs[k]));
  return out;
}

TEST_CASE("norms of any order count each element once") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // split over both axes, over one, over none, and without elements
  using Split = Tensor<double, Dim<B, X>, Dim<S, Y>>;
  using Rows = Tensor<float, Dim<V, Y>>;
  using All = Tensor<double, Dim<C>>;
  auto const gradient = [&] {
    return std::tuple{normal<Split>(mesh, {5, 3}, RandomKey{1}),
                      normal<Rows>(mesh, {3}, RandomKey{2}), normal<All>(mesh, {4}, RandomKey{3}),
                      normal<Split>(mesh, {0, 2}, RandomKey{4})};
  };
  auto const magnitudes = [](auto const& g) {
    std::vector<double> out;
    train::for_each_tensor(
        [&](auto, auto const& a) {
          for (auto const x : to_host(a)) out.push_back(std::abs(static_cast<double>(x)));
        },
        g);
    return out;
  };
  auto const dense = [](std::vector<double> const& all, double p) {
    double sum = 0, most = 0;
    for (double const x : all) {
      sum += std::pow(x, p);
      most = std::max(most, x);
    }
    return std::isinf(p) ? most : std::pow(sum, 1 / p);
  };
  auto const g = gradient();
  auto const all = magnitudes(g);
  REQUIRE(all.size() == 22);
  for (double const p : {0.5, 1.0, 2.0, 3.0, 7.0, inf}) {
    double const norm = dense(all, p);
    CHECK(std::abs(train::global_norm(g, p) - norm) < 1e-6 * norm);
    auto clipped = gradient();
    CHECK(train::clip_by_global_norm(clipped, 0.25, p) == train::global_norm(g, p));
    CHECK(std::abs(train::global_norm(clipped, p) - 0.25) < 1e-6);
    auto const less = magnitudes(clipped);
    for (std::size_t k = 0; k < all.size(); ++k)
      CHECK(std::abs(less[k] - all[k] * 0.25 / norm) < 1e-6);
    CHECK(train::clip_by_global_norm(clipped, 100, p) < 0.26);
    CHECK(magnitudes(clipped) == less);
  }
  CHECK(train::global_norm(g, 2) == train::global_norm(g));
  auto const wrong = std::tuple{full<Split>(mesh, {5, 3}, std::nan(""))};
  for (double const p : {1.0, 3.0, inf}) CHECK_FALSE(std::isfinite(train::global_norm(wrong, p)));
  for (double const p : {0.0, -1.0, std::nan("")})
    CHECK(code_of([&] { (void)train::global_norm(g, p); }) == "E85");
}

template <class Logits, class Ids>
void check_metrics(Mesh<X, Y> const& mesh, std::int64_t b, std::int64_t s, std::int64_t v) {
  CAPTURE(b, s, v);
  auto const logits = normal<Logits>(mesh, {b, s, v}, RandomKey{5});
  // some targets are none of the classes
  auto const targets = integers<Ids>(mesh, {b, s}, RandomKey{6}, -1, v + 1);
  auto const x = to_host(logits);
  auto const ids = to_host(targets);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(v * v));
  double hits = 0, rows = 0;
  for (std::size_t r = 0; r < ids.size(); ++r) {
    auto const row = x.begin() + static_cast<std::ptrdiff_t>(r) * v;
    std::int64_t const best = std::max_element(row, row + v) - row;
    rows += ids[r] == -1 ? 0 : 1;
    hits += ids[r] == best ? 1 : 0;
    if (ids[r] >= 0 && ids[r] < v) ++counts[static_cast<std::size_t>(ids[r] * v + best)];
  }
  // docs: metrics
  double const right = train::accuracy<V>(logits, targets);
  auto const confused =
      train::confusion_matrix<V, Tensor<std::int64_t, Dim<C>, Dim<V>>>(logits, targets);
  // docs: end
  CHECK(right == (rows == 0 ? 0 : hits / rows));
  CHECK(to_host(confused) == counts);
  CHECK(to_host(train::confusion_matrix<V, Tensor<std::int64_t, Dim<C, Y>, Dim<V, X>>>(
            logits, targets)) == counts);
}

TEST_CASE("accuracy and the confusion matrix are those of the whole") {
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (auto const& [b, s, v] : {std::array<std::int64_t, 3>{7, 3, 5}, {1, 9, 2}, {0, 4, 3}}) {
      check_metrics<Tensor<float, Dim<B, X>, Dim<S>, Dim<V, Y>>,
                    Tensor<std::int64_t, Dim<B, X>, Dim<S>>>(mesh, b, s, v);
      check_metrics<Tensor<double, Dim<B, X>, Dim<S, Y>, Dim<V>>,
                    Tensor<std::int64_t, Dim<B, X>, Dim<S, Y>>>(mesh, b, s, v);
    }
  }
}

// The first parameter has a quarter of the rate and no decay, the second twice and three times.
// docs: groups
train::Group slow_first(std::string_view path, int) {
  return path == "0" ? train::Group{.rate = 0.25, .decay = 0} : train::Group{.rate = 2, .decay = 3};
}
// docs: end
using First = Tensor<double, Dim<B, X>, Dim<S, Y>>;
using Second = Tensor<double, Dim<B>, Dim<S, X>>;
std::tuple<First, Second> two_parameters(Mesh<X, Y> const& mesh, std::uint64_t key) {
  return {normal<First>(mesh, {5, 3}, RandomKey{key}),
          normal<Second>(mesh, {4, 6}, RandomKey{key + 1})};
}

// A parameter alone has the rate and the decay of its group.
template <class Make>
void check_groups(Make const& make) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = two_parameters(mesh, 10);
  std::tuple first{std::get<0>(model).clone()};
  std::tuple second{std::get<1>(model).clone()};
  auto const gradient = two_parameters(mesh, 20);
  auto const grouped = make({.rate = 0.1, .decay = 0.5, .groups = &slow_first});
  auto const of_first = make({.rate = 0.025});
  auto const of_second = make({.rate = 0.2, .decay = 1.5});
  auto state = grouped.init(model);
  auto first_state = of_first.init(first);
  auto second_state = of_second.init(second);
  for (int step = 0; step < 3; ++step) {
    grouped.update(model, gradient, state);
    of_first.update(first, std::tuple{std::get<0>(gradient)}, first_state);
    of_second.update(second, std::tuple{std::get<1>(gradient)}, second_state);
  }
  CHECK(to_host(std::get<0>(model)) == to_host(std::get<0>(first)));
  CHECK(to_host(std::get<1>(model)) == to_host(std::get<0>(second)));
}

TEST_CASE("parameters have the rate and the decay of their group") {
  check_groups([](train::Options const& o) { return train::AdamW{o}; });
  check_groups([](train::Options const& o) { return train::Sgd{o, 0.9}; });
  check_groups([](train::Options const& o) { return train::Lion{o}; });
  check_groups([](train::Options const& o) { return train::Adafactor{o}; });
  check_groups([](train::Options const& o) { return train::Muon<>{o, train::AdamW{{}}}; });
  // of those that Muon leaves to AdamW, the groups of AdamW
  check_groups(
      [](train::Options const& o) { return train::Muon<train::Except<S>>{{}, train::AdamW{o}}; });
  train::AdamW const wrong{{.groups = [](std::string_view, int) { return train::Group{-1, 1}; }}};
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = two_parameters(mesh, 10);
  auto state = wrong.init(model);
  CHECK(code_of([&] { wrong.update(model, two_parameters(mesh, 20), state); }) == "E85");
}

TEST_CASE("groups are the same in a planned step") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const loss = [](auto const& m, auto const& x) {
    return sum(square(std::get<0>(m) * x)) + sum(square(std::get<1>(m)));
  };
  train::AdamW const adam{{.rate = 0.1, .decay = 0.5, .groups = &slow_first}};
  auto model = two_parameters(mesh, 10);
  auto planned = two_parameters(mesh, 10);
  auto const x = normal<First>(mesh, {5, 3}, RandomKey{30});
  auto state = adam.init(model);
  auto planned_state = adam.init(planned);
  for (int step = 0; step < 2; ++step) {
    auto const& [w, u] = model;
    std::tuple const gradient{(2.0 * w * x * x).tensor(), (2.0 * u).tensor()};
    adam.update(model, gradient, state);
    evaluate(mesh, train::step(adam, value_and_grad<0>(loss)), planned, planned_state, x);
  }
  CHECK(distance(std::get<0>(model), std::get<0>(planned)) < 1e-12);
  CHECK(distance(std::get<1>(model), std::get<1>(planned)) < 1e-12);
}

TEST_CASE("a rate rises, stays and falls") {
  auto const rate = train::Rate::stable(0.5, 4, 20, 8, 0.1);
  auto const expected = [](std::int64_t step) {
    if (step < 4) return 0.125 * static_cast<double>(step + 1);
    if (step < 12) return 0.5;
    return step < 20 ? 0.5 - 0.05 * static_cast<double>(step - 12) : 0.1;
  };
  for (std::int64_t step = 0; step < 30; ++step)
    CHECK(std::abs(rate(step) - expected(step)) < 1e-15);
  // no room to stay, and no fall
  auto const linear = train::Rate::linear(0.5, 4, 20, 0.1);
  auto const early = train::Rate::stable(0.5, 4, 20, 30, 0.1);
  auto const never = train::Rate::stable(0.5, 4, 20, 0, 0.1);
  for (std::int64_t step = 0; step < 30; ++step) {
    CHECK(early(step) == linear(step));
    CHECK(never(step) == (step < 4 ? linear(step) : step < 20 ? 0.5 : 0.1));
  }
  CHECK(code_of([] { (void)train::Rate::stable(0.5, 4, 20, -1); }) == "E85");
}

TEST_CASE("first values by numbers of features") {
  using train::Initial;
  auto const mesh = on_ranks::two_axes<X, Y>();
  using W = Tensor<double, Dim<B, X>, Dim<S, Y>>;
  struct Case {
    Initial first;
    double variance;
    bool uniform;
  };
  std::int64_t const in = 90, out = 60;
  for (Case const& c : {Case{Initial::glorot_normal(in, out), 2.0 / 150, false},
                        Case{Initial::glorot_uniform(in, out), 2.0 / 150, true},
                        Case{Initial::he_normal(in), 2.0 / 90, false},
                        Case{Initial::he_uniform(in), 2.0 / 90, true}}) {
    auto const model = train::initialize<std::array<W, 1>>(
        mesh, RandomKey{8}, [&](auto, auto) { return c.first; }, train::Extent<B>{in},
        train::Extent<S>{out});
    double sum = 0, most = 0;
    for (double const x : to_host(model[0])) {
      sum += x * x;
      most = std::max(most, std::abs(x));
    }
    CHECK(std::abs(sum / (90.0 * 60.0) / c.variance - 1) < 0.06);
    CHECK((most <= std::sqrt(3 * c.variance)) == c.uniform);
  }
  CHECK(code_of([] { (void)Initial::he_normal(0); }) == "E85");
  CHECK(code_of([] { (void)Initial::glorot_uniform(3, -1); }) == "E85");
}

}  // namespace
