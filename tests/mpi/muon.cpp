// Steps of Muon on parameters with all shardings, beside the formulas in double on one rank:
// matrices, stacks of them, matrices with sides of two dims, and AdamW's parameters. Models in
// float and bfloat16, replicas on all ranks, extents given at run time, plans, checkpoints,
// settings.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef SHARDTYPE_HAVE_JSON
#include <shardtype/checkpoint/checkpoint.hpp>
#endif
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/call_text.hpp"
#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/temp_dir.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct L : Index<"L", 3> {};
struct H : Index<"H", 2> {};
struct F : Index<"F", 5> {};
struct I : Index<"I", 13> {};
struct J : Index<"J", 6> {};
struct V : Index<"V", 7> {};
struct None : Index<"None", 0> {};

template <class T>
struct Of {
  template <template <class> class As>
  struct Model {
    std::array<As<Tensor<T, Dim<I, X>, Dim<J, Y>>>, 2> tall;
    As<Tensor<T, Dim<J, Y>, Dim<I>>> wide;
    As<Tensor<T, Dim<I>, Dim<J, Y, X>>> columns;
    As<Tensor<T, Dim<I, Cyclic<X, 2>>, Dim<J>>> cyclic;
    As<Tensor<T, Dim<I>, Dim<J>>> whole;
    As<Tensor<T, Dim<L, Y>, Dim<I>, Dim<J, X>>> stack;
    As<Tensor<T, Dim<J>, Dim<L, X>, Dim<I, Y>>> stack_between;
    As<Tensor<T, Dim<I, X>, Dim<H, Y>, Dim<F>>> query;
    As<Tensor<T, Dim<L>, Dim<H>, Dim<F, X>, Dim<J, Y>>> out;
    As<Tensor<T, Dim<V, X>, Dim<J, Y>>> embedding;
    As<Tensor<T, Dim<L, X>, Dim<J, Y>>> gains;
    As<Tensor<T, Dim<I>, Dim<J, X>, Dim<F>>> others;
    As<Tensor<T, Dim<J, X>>> bias;
    As<Tensor<T>> number;
    As<Tensor<T, Dim<None>, Dim<J>>> empty;
    As<Tensor<std::int64_t, Dim<I>>> places;
  };
};
template <class T>
using ModelOf = typename Of<T>::template Model<value_t>;
using Muon = train::Muon<train::Except<V>, train::Stacked<L>, train::Merged<H, F>>;
using train::MuonScale;

template <class... Dims>
using Small = Tensor<bfloat16, Dims...>;
static_assert(Muon::takes<Small<Dim<I, X>, Dim<J, Y>>>);
static_assert(Muon::takes<Small<Dim<L>, Dim<I>, Dim<H>, Dim<F>>>);
static_assert(Muon::takes<Small<Dim<H>, Dim<F>, Dim<J>, Dim<L>>>);
static_assert(!Muon::takes<Small<Dim<V>, Dim<J>>>);
static_assert(!Muon::takes<Small<Dim<I>, Dim<V>>>);
static_assert(!Muon::takes<Small<Dim<L>, Dim<J>>>);
static_assert(!Muon::takes<Small<Dim<I>>>);
static_assert(!Muon::takes<Small<>>);
static_assert(!Muon::takes<Small<Dim<I>, Dim<F>, Dim<H>>>);
static_assert(!Muon::takes<Small<Dim<H>, Dim<L>, Dim<F>, Dim<J>>>);
static_assert(!Muon::takes<Tensor<Kokkos::complex<float>, Dim<I>, Dim<J>>>);
static_assert(train::Muon<>::takes<Small<Dim<V>, Dim<J>>>);
static_assert(!train::Muon<>::takes<Small<Dim<L>, Dim<I>, Dim<J>>>);
static_assert(
    std::is_same_v<decltype(train::Muon{{.rate = 1}, train::AdamW{{.rate = 1}}}), train::Muon<>>);

// of a matrix the momentum alone
using Kept = Muon::StateOf<ModelOf<bfloat16>>;
static_assert(std::is_same_v<decltype(Kept::momentum.wide), Tensor<float, Dim<J, Y>, Dim<I>>>);
static_assert(std::is_same_v<decltype(Kept::squares.wide), autodiff::NoGradient>);
static_assert(std::is_same_v<decltype(Kept::squares.tall), std::array<autodiff::NoGradient, 2>>);
static_assert(std::is_same_v<decltype(Kept::squares.out), autodiff::NoGradient>);
static_assert(
    std::is_same_v<decltype(Kept::squares.embedding), Tensor<float, Dim<V, X>, Dim<J, Y>>>);
static_assert(std::is_same_v<decltype(Kept::squares.bias), Tensor<float, Dim<J, X>>>);

// Plans: a gather for each split side, nothing for a stack's dims and AdamW's parameters.
struct X2 : Axis<"X2", 2> {};
struct Y4 : Axis<"Y4", 4> {};
constexpr Muon planned{{.rate = 1}};
static_assert(
    planned.steps(type<Tensor<float, Dim<I, X2>, Dim<J>>>).count(Collective::all_gather) == 1);
static_assert(planned.steps(type<Tensor<float, Dim<I, X2>, Dim<J, Y4>>>).collectives() == 2);
static_assert(planned.steps(type<Tensor<float, Dim<L, X2>, Dim<I>, Dim<J>>>).collectives() == 0);
static_assert(planned.steps(type<Tensor<float, Dim<V, X2>, Dim<J>>>).collectives() == 0);
static_assert(planned.steps(type<Tensor<float, Dim<V, X2>, Dim<J>>>).flops() == 0);
// 6 x 13: what a rank lacks of the momentum, in float; the products of a round on the smaller side
static_assert(planned.steps(type<Small<Dim<J, X2>, Dim<I>>>).bytes_per_rank() == 3 * 13 * 4);
constexpr std::int64_t five_rounds = 5 * (2 * 6 * 6 * 13 + 2 * 6 * 6 * 6 + 2 * 6 * 6 * 13);
constexpr auto flops = planned.steps(type<Tensor<float, Dim<J, X2>, Dim<I>>>).flops();
static_assert(flops > five_rounds && flops < 5 * five_rounds / 4);
static_assert(planned.steps(type<Tensor<float, Dim<I>, Dim<J>>>).flops() < 5 * five_rounds / 4);

template <class T>
auto model_of(Mesh<X, Y> const& mesh, std::uint64_t key, double deviation) {
  return train::initialize<ModelOf<T>>(
      mesh, RandomKey{key}, [&]<class A>(std::string_view, Type<A>) {
        return train::is_trained<A> ? train::Initial::normal(deviation) : train::Initial::zeros();
      });
}

// A whole parameter: `batch` matrices of `n` rows and `m` columns, of AdamW's 0 matrices.
struct Whole {
  std::vector<double> x;
  std::size_t batch = 0, n = 0, m = 0;
  bool between = false;  // the stack's dim stands between rows and columns
  std::size_t at(std::size_t b, std::size_t i, std::size_t j) const {
    return between ? (i * batch + b) * m + j : (b * n + i) * m + j;
  }
};
template <class M>
std::vector<Whole> wholes(M const& model) {
  std::vector<Whole> out;
  train::for_each_tensor(
      [&]<class A>(std::string_view path, A const& a) {
        if constexpr (train::is_trained<A>) {
          Whole w;
          for (auto const x : to_host(a)) w.x.push_back(static_cast<double>(x));
          auto const is = [&](std::size_t batch, std::size_t n, std::size_t m) {
            w.batch = batch, w.n = n, w.m = m;
          };
          if (path == "wide") is(1, 6, 13);
          if (path == "stack") is(3, 13, 6);
          if (path == "stack_between") is(3, 6, 13), w.between = true;
          if (path == "query") is(1, 13, 10);
          if (path == "out") is(3, 10, 6);
          if (path.starts_with("tall") || path == "columns" || path == "cyclic" || path == "whole")
            is(1, 13, 6);
          out.push_back(w);
        }
      },
      model);
  return out;
}

struct Settings {
  double rate = 0.3, decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  int rounds = 5;
  MuonScale scale = MuonScale::rows_over_columns;
};
// The formulas, as the pages of torch.optim.Muon and AdamW have them.
struct Reference {
  std::vector<Whole> parameters, means, squares;
  int step = 0;
  explicit Reference(std::vector<Whole> const& p) : parameters(p), means(p), squares(p) {
    for (auto* all : {&means, &squares})
      for (Whole& w : *all) w.x.assign(w.x.size(), 0.0);
  }
  static double factor(double n, double m, MuonScale scale) {
    if (scale == MuonScale::rows_over_columns) return std::sqrt(std::max(1.0, n / m));
    if (scale == MuonScale::columns_over_rows) return std::sqrt(std::max(1.0, m / n));
    return 0.2 * std::sqrt(std::max(n, m));
  }
  // x (a + b x'x + c (x'x)^2) of n x m
  static std::vector<double> orthogonal(std::vector<double> x, std::size_t n, std::size_t m,
                                        int rounds) {
    double norm = 0;
    for (double const e : x) norm += e * e;
    norm = std::max(std::sqrt(norm), 1e-7);
    for (double& e : x) e /= norm;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> gram(m * m, 0.0), square(m * m, 0.0), next(n * m);
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j)
          for (std::size_t k = 0; k < n; ++k) gram[i * m + j] += x[k * m + i] * x[k * m + j];
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j)
          for (std::size_t k = 0; k < m; ++k)
            square[i * m + j] += gram[i * m + k] * gram[k * m + j];
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) {
          double sum = 3.4445 * x[i * m + j];
          for (std::size_t k = 0; k < m; ++k)
            sum += x[i * m + k] * (-4.7750 * gram[k * m + j] + 2.0315 * square[k * m + j]);
          next[i * m + j] = sum;
        }
      x = next;
    }
    return x;
  }
  void change(std::vector<Whole> const& gradient, Settings const& s, double scale) {
    ++step;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      Whole& w = parameters[p];
      std::vector<double> g = gradient[p].x;
      for (double& x : g) x *= scale;
      std::vector<double>& m = means[p].x;
      if (w.batch == 0) {
        std::vector<double>& v = squares[p].x;
        for (std::size_t k = 0; k < g.size(); ++k) {
          m[k] = 0.8 * m[k] + 0.2 * g[k];
          v[k] = 0.9 * v[k] + 0.1 * g[k] * g[k];
          double const mean = m[k] / (1 - std::pow(0.8, step));
          double const root = std::sqrt(v[k] / (1 - std::pow(0.9, step)));
          w.x[k] = w.x[k] * (1 - 0.05 * 0.01) - 0.05 * mean / (root + 1e-8);
        }
        continue;
      }
      for (std::size_t k = 0; k < g.size(); ++k) m[k] = s.momentum * m[k] + (1 - s.momentum) * g[k];
      for (std::size_t b = 0; b < w.batch; ++b) {
        std::vector<double> one(w.n * w.m);
        for (std::size_t i = 0; i < w.n; ++i)
          for (std::size_t j = 0; j < w.m; ++j) {
            std::size_t const k = w.at(b, i, j);
            one[i * w.m + j] = s.nesterov ? s.momentum * m[k] + (1 - s.momentum) * g[k] : m[k];
          }
        one = orthogonal(one, w.n, w.m, s.rounds);
        double const by = s.rate * factor(double(w.n), double(w.m), s.scale);
        for (std::size_t i = 0; i < w.n; ++i)
          for (std::size_t j = 0; j < w.m; ++j) {
            double& x = w.x[w.at(b, i, j)];
            x = x * (1 - s.rate * s.decay) - by * one[i * w.m + j];
          }
      }
    }
  }
};
double distance(std::vector<Whole> const& a, std::vector<Whole> const& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t p = 0; p < a.size() && p < b.size(); ++p)
    for (std::size_t k = 0; k < a[p].x.size(); ++k)
      out = std::max(out, std::abs(a[p].x[k] - b[p].x[k]));
  return out;
}

// Whether ranks that hold the same block of a tensor have the same bits of it.
template <class M>
bool blocks_agree(Mesh<X, Y> const& mesh, M const& model) {
  bool same = true;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (train::is_trained<A>) {
          auto const has = []<class Named>(Type<Named>) {
            return core::Scope<A>::names.find_axis(core::identity<Named>) >= 0;
          };
          auto const block = harness::host_block(a);
          std::uint64_t hash = 14695981039346656037U;
          auto const* const bytes = reinterpret_cast<unsigned char const*>(block.data());
          auto const n = static_cast<std::size_t>(a.local_size()) * sizeof(typename A::element);
          for (std::size_t k = 0; k < n; ++k) hash = (hash ^ bytes[k]) * 1099511628211U;
          std::array<std::uint64_t, 2> const mine{
              static_cast<std::uint64_t>((has(type<X>) ? 1000 * mesh.coordinate<X>() : 0) +
                                         (has(type<Y>) ? mesh.coordinate<Y>() : 0)),
              hash};
          std::vector<std::array<std::uint64_t, 2>> all(
              static_cast<std::size_t>(on_ranks::rank_total()));
          MPI_Allgather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD);
          for (auto const& one : all) same = same && (one[0] != mine[0] || one[1] == hash);
        }
      },
      model);
  return same;
}

Muon muon_of(Settings const& s, double clip = 0) {
  return Muon({.rate = s.rate, .decay = s.decay, .clip = clip, .skip_not_finite = clip > 0},
              train::AdamW{{.rate = 0.05, .decay = 0.01}, 0.8, 0.9}, s.scale, s.momentum,
              s.nesterov, s.rounds);
}
// The distance of four steps from the formulas.
template <class T>
double distance_of_steps(Settings const& s) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<T>(mesh, 3, 0.5);
  auto const muon = muon_of(s);
  auto state = muon.init(model);
  Reference reference(wholes(model));
  CHECK(reference.parameters.size() == 16);
  for (std::uint64_t k = 0; k < 4; ++k) {
    auto const gradient = model_of<T>(mesh, 10 + k, k == 3 ? 0.0 : 2.0);
    double const scale = k == 1 ? 0.25 : 1;
    auto const did = muon.update(model, gradient, state, scale);
    CHECK((did.applied && did.rate == s.rate));
    reference.change(wholes(gradient), s, scale);
  }
  CHECK(state.step == 4);
  CHECK(blocks_agree(mesh, model));
  CHECK(blocks_agree(mesh, state.momentum));
  return std::max(distance(wholes(model), reference.parameters),
                  distance(wholes(state.momentum), reference.means));
}

}  // namespace

TEST_CASE("steps of Muon follow the formulas") {
  CHECK(distance_of_steps<double>({}) < 1e-11);
  CHECK(distance_of_steps<double>({.scale = MuonScale::columns_over_rows}) < 1e-11);
  CHECK(distance_of_steps<double>(
            {.decay = 0, .momentum = 0.5, .nesterov = false, .scale = MuonScale::as_adamw}) <
        1e-11);
  CHECK(distance_of_steps<double>({.rounds = 2}) < 1e-11);
  CHECK(distance_of_steps<float>({}) < 2e-3);
}

TEST_CASE("the singular values of a step of Muon are near 1") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<I, X>, Dim<J, Y>>;
  A model = zeros<A>(mesh);
  A const gradient = normal<double, Dim<I, X>, Dim<J, Y>>(mesh, RandomKey{4});
  train::Muon const muon{{.rate = 1}, train::AdamW{{}}, MuonScale::columns_over_rows};
  auto state = muon.init(model);
  muon.update(model, gradient, state);
  // the trace of x'x is the sum of six squares
  auto const squares = item(sum<Tensor<double>>((model * model).tensor()));
  CHECK(squares > 6 * 0.7 * 0.7);
  CHECK(squares < 6 * 1.2 * 1.2);
}

TEST_CASE("a step of Muon that is not finite changes nothing") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  auto const muon = muon_of({}, 1);
  auto state = muon.init(model);
  auto gradient = model_of<double>(mesh, 4, 2.0);
  auto const before = wholes(model);
  {
    auto const view = gradient.tall[1].mutable_local();
    if (mesh.coordinate<X>() == 0 && mesh.coordinate<Y>() == 0)
      view.data()[0] = std::numeric_limits<double>::quiet_NaN();
  }
  CHECK(!muon.update(model, gradient, state).applied);
  CHECK(distance(wholes(model), before) == 0);
  CHECK(state.step == 0);
}

TEST_CASE("a gradient of zeros moves no matrix") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<float>(mesh, 3, 0.5);
  auto const before = wholes(model);
  auto const muon = muon_of({.decay = 0});
  auto state = muon.init(model);
  muon.update(model, model_of<float>(mesh, 4, 0), state);
  auto const after = wholes(model);
  for (std::size_t p = 0; p < after.size(); ++p)
    if (after[p].batch > 0) CHECK(after[p].x == before[p].x);
}

TEST_CASE("Muon of a model in bfloat16 changes its float parameters") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<bfloat16>(mesh, 3, 0.5);
  Settings const s{.rate = 1e-4, .decay = 0};
  auto const muon = muon_of(s);
  auto state = muon.init(model);
  REQUIRE(state.master.has_value());
  Reference reference(wholes(*state.master));
  auto const gradient = model_of<bfloat16>(mesh, 4, 1.0);
  for (int k = 0; k < 5; ++k) {
    muon.update(model, gradient, state);
    reference.change(wholes(gradient), s, 1);
  }
  // each step alone would be lost by rounding
  auto const last = wholes(*state.master);
  CHECK(distance(last, reference.parameters) < 1e-5);
  auto const rounded = wholes(model);
  for (std::size_t p = 0; p < last.size(); ++p)
    for (std::size_t k = 0; k < last[p].x.size(); ++k)
      CHECK(std::abs(rounded[p].x[k] - last[p].x[k]) <= std::abs(last[p].x[k]) * 0x1p-8);
  CHECK(blocks_agree(mesh, model));
  CHECK(blocks_agree(mesh, *state.master));
}

struct Rows : Index<"rows"> {};
struct Columns : Index<"columns"> {};
struct Depth : Index<"depth"> {};
TEST_CASE("Muon of extents that are given at run time, and its plan") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<Rows, X>, Dim<Columns, Y>, Dim<Depth>>;
  using B = Tensor<double, Dim<I, X>, Dim<J, Y>>;
  train::Muon<train::Merged<Columns, Depth>> const merged{{.rate = 1}};
  train::Muon const flat{{.rate = 1}};
  // 13 x (2 x 3), then 6 x 13
  for (bool const tall : {true, false}) {
    std::array<std::int64_t, 3> const extents{tall ? 13 : 6, tall ? 2 : 13, tall ? 3 : 1};
    A a = zeros<A>(mesh, extents);
    auto const wave = [&](std::int64_t i, std::int64_t j) {
      return std::sin(static_cast<double>(7 * i + 3 * j));
    };
    A const g =
        from_function<A>(mesh, extents, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
          return wave(i, j * extents[2] + k);
        });
    auto state = merged.init(a);
    merged.update(a, g, state);
    using C = Tensor<double, Dim<J, Y>, Dim<I, X>>;
    auto const expected = [&]<class W>(Type<W>) {
      W w = zeros<W>(mesh);
      W const of = from_function<W>(mesh, wave);
      auto kept = flat.init(w);
      flat.update(w, of, kept);
      return to_host(w);
    };
    auto const right = tall ? expected(type<B>) : expected(type<C>);
    auto const got = to_host(a);
    REQUIRE(got.size() == right.size());
    double most = 0;
    for (std::size_t k = 0; k < got.size(); ++k) most = std::max(most, std::abs(got[k] - right[k]));
    CHECK(most < 1e-12);
  }
  static constexpr auto loss = [](auto const& m) { return sum<Tensor<double>>(m); };
  constexpr auto open = plan(
      train::step(train::Muon<train::Merged<Columns, Depth>>{{.rate = 1}}, value_and_grad<0>(loss)),
      type<A>);
  static_assert(open.parameters.count(Collective::all_gather) == 2);
}

TEST_CASE("an error in a step of Muon names the program's line") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  Mesh<X, Y> const other(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  using W = Tensor<float, Dim<I, X>, Dim<J>>;
  W model = zeros<W>(mesh);
  train::Muon const muon{{.rate = 0.01}};
  auto state = muon.init(model);
  std::string text;
  try {
    muon.update(model, ones<W>(other), state);
  } catch (Error const& e) {
    text = e.what();
  }
  CHECK(harness::before_call(text, "Muon", "muon.cpp") ==
        "[shardtype E23] the operands live on two meshes; tensors of two meshes do not mix");
  W const shares = model;
  CHECK(on_ranks::code_of([&] { muon.update(model, ones<W>(mesh), state); }) == "E21");
}

TEST_CASE("settings of Muon that are out of range are an error on every rank") {
  using train::AdamW;
  AdamW const adam{{.rate = 1}};
  auto const by = MuonScale::as_adamw;
  auto const refused = [](auto const& make) {
    CHECK(on_ranks::code_of([&] { (void)make(); }) == "E85");
  };
  for (double const x : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()})
    refused([&] { return Muon({}, adam, by, x); });
  refused([&] { return Muon({}, adam, by, 0.9, true, 0); });
  refused([&] { return Muon({}, adam, by, 0.9, true, 5, -1); });
  refused([&] { return Muon({}, AdamW{{.clip = 1}}); });
  refused([&] { return Muon({}, AdamW{{.skip_not_finite = true}}); });
  refused([&] { return Muon{{.decay = -1}}; });
  CHECK(on_ranks::code_of([&] { (void)Muon({.clip = 1}, adam, by, 0, false, 1, 0); }) == "none");
}

#ifdef SHARDTYPE_HAVE_JSON
TEST_CASE("a checkpoint of Muon goes on with the same bits, also in another sharding") {
  harness::TempDir const dir("muon");
  auto const mesh = on_ranks::two_axes<X, Y>();
  train::Muon<train::Except<V>> const muon{{.rate = 0.1}};
  auto const trained = [&]<class A, class B, class C>(Type<A>, Type<B>, Type<C>, bool resumes) {
    using Model = std::tuple<A, B, C>;
    Model model(zeros<A>(mesh), zeros<B>(mesh), zeros<C>(mesh));
    auto state = muon.init(model);
    auto const steps = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k) {
        auto const wave = [k](auto... at) {
          std::int64_t n = k;
          ((n = 13 * n + at), ...);
          return std::sin(static_cast<double>(n));
        };
        auto const of = [&]<class W>(Type<W>) {
          return from_function<W>(mesh, [&](auto... at) {
            return static_cast<typename W::element>(static_cast<float>(wave(at...)));
          });
        };
        Model const gradient(of(type<A>), of(type<B>), of(type<C>));
        muon.update(model, gradient, state);
      }
    };
    if (resumes) {
      CHECK(checkpoint::load(dir / "run", model, state).step == 3);
      CHECK(state.step == 3);
    } else {
      steps(0, 3);
      checkpoint::save(dir / "run", 3, model, state);
    }
    steps(3, 6);
    harness::meet();
    return std::tuple(to_host(std::get<0>(model)), to_host(std::get<1>(model)),
                      to_host(std::get<2>(model)));
  };
  using A = Tensor<bfloat16, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<V, X>, Dim<J>>;
  using C = Tensor<float, Dim<J, Y>>;
  auto const whole = trained(type<A>, type<B>, type<C>, false);
  CHECK(trained(type<A>, type<B>, type<C>, true) == whole);
  // the rounds do not depend on the sharding
  CHECK(trained(type<Tensor<bfloat16, Dim<I>, Dim<J, Y, X>>>, type<Tensor<float, Dim<V>, Dim<J>>>,
                type<Tensor<float, Dim<J, X>>>, true) == whole);
}
#endif
