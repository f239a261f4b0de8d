// Steps of Adafactor on parameters with all shardings, beside the formulas on one rank, as
// torch.optim.Adafactor has them; what is kept of each parameter; models in bfloat16; replicas.
// RANKS: 1 2 4 6 8
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/call_text.hpp"
#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/replicas.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct H : Index<"H", 3> {};
struct I : Index<"I", 13> {};
struct J : Index<"J", 6> {};
struct None : Index<"None", 0> {};

template <class T>
struct Of {
  template <template <class> class As>
  struct Model {
    std::array<As<Tensor<T, Dim<I, X>, Dim<J, Y>>>, 2> split;
    As<Tensor<T, Dim<H, Y>, Dim<I>, Dim<J, X>>> stack;
    As<Tensor<T, Dim<I>, Dim<J, Y, X>>> columns;
    As<Tensor<T, Dim<I, Cyclic<X, 2>>, Dim<J>>> cyclic;
    As<Tensor<T, Dim<J, X>>> bias;
    As<Tensor<T>> number;
    As<Tensor<T, Dim<None>, Dim<J>>> empty;
    As<Tensor<std::int64_t, Dim<I>>> places;
  };
};

using Kept = train::FactoredState<Of<bfloat16>::Model<value_t>>;
static_assert(std::is_same_v<decltype(Kept::rows.split), std::array<Tensor<float, Dim<I, X>>, 2>>);
static_assert(
    std::is_same_v<decltype(Kept::columns.split), std::array<Tensor<float, Dim<J, Y>>, 2>>);
static_assert(std::is_same_v<decltype(Kept::rows.stack), Tensor<float, Dim<H, Y>, Dim<I>>>);
static_assert(std::is_same_v<decltype(Kept::columns.stack), Tensor<float, Dim<H, Y>, Dim<J, X>>>);
static_assert(std::is_same_v<decltype(Kept::rows.bias), Tensor<float, Dim<J, X>>>);
static_assert(std::is_same_v<decltype(Kept::columns.bias), autodiff::NoGradient>);

template <class T>
auto model_of(Mesh<X, Y> const& mesh, std::uint64_t key, double deviation) {
  using M = typename Of<T>::template Model<value_t>;
  return train::initialize<M>(mesh, RandomKey{key}, [&]<class A>(std::string_view, Type<A>) {
    return train::is_trained<A> ? train::Initial::normal(deviation) : train::Initial::zeros();
  });
}

// A whole parameter: `batch` matrices of `n` rows and `m` columns; of a vector n is 0.
struct Whole {
  std::vector<double> x;
  std::size_t batch, n, m;
};
template <class M>
std::vector<Whole> wholes(M const& model) {
  std::vector<Whole> out;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (train::is_trained<A>) {
          Whole w{{}, 1, 0, 1};
          for (auto const x : to_host(a)) w.x.push_back(static_cast<double>(x));
          for (std::size_t d = 0; d < A::rank; ++d) {
            auto const e = static_cast<std::size_t>(a.extents()[d]);
            (d + 1 == A::rank ? w.m : d + 2 == A::rank ? w.n : w.batch) = e;
          }
          out.push_back(w);
        }
      },
      model);
  return out;
}

// The formulas, as the page of torch.optim.Adafactor has them.
struct Reference {
  std::vector<Whole> parameters, rows, columns;
  int step = 0;
  explicit Reference(std::vector<Whole> const& p) : parameters(p), rows(p), columns(p) {
    for (auto* all : {&rows, &columns})
      for (Whole& w : *all) w.x.assign(w.x.size() + 1, 0.0);
  }
  void change(std::vector<Whole> const& gradient, double rate, double decay, double scale) {
    double const root = std::numeric_limits<double>::epsilon();
    double const part = std::pow(++step, -0.8);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      Whole& w = parameters[p];
      if (w.x.empty()) continue;
      std::vector<double> g = gradient[p].x;
      for (double& x : g) x *= scale;
      std::vector<double>& r = rows[p].x;
      std::vector<double>& c = columns[p].x;
      std::vector<double> v(g.size());
      if (w.n == 0) {
        for (std::size_t k = 0; k < g.size(); ++k) v[k] = r[k] += part * (g[k] * g[k] - r[k]);
      } else {
        auto const at = [&](std::size_t b, std::size_t i, std::size_t j) {
          return (b * w.n + i) * w.m + j;
        };
        for (std::size_t b = 0; b < w.batch; ++b) {
          double mean_of_rows = 0;
          for (std::size_t i = 0; i < w.n; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < w.m; ++j) sum += g[at(b, i, j)] * g[at(b, i, j)];
            double& row = r[b * w.n + i];
            row += part * (sum / static_cast<double>(w.m) - row);
            mean_of_rows += row / static_cast<double>(w.n);
          }
          for (std::size_t j = 0; j < w.m; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < w.n; ++i) sum += g[at(b, i, j)] * g[at(b, i, j)];
            double& column = c[b * w.m + j];
            column += part * (sum / static_cast<double>(w.n) - column);
            for (std::size_t i = 0; i < w.n; ++i)
              v[at(b, i, j)] = r[b * w.n + i] * column / std::max(mean_of_rows, root);
          }
        }
      }
      double changes = 0, sizes = 0;
      std::vector<double> u(g.size());
      for (std::size_t k = 0; k < g.size(); ++k) {
        u[k] = g[k] / std::sqrt(std::max(v[k], root * root));
        changes += u[k] * u[k], sizes += w.x[k] * w.x[k];
      }
      auto const n = static_cast<double>(g.size());
      double const own = std::max(1e-3, std::sqrt(sizes / n)) * std::min(rate, 1 / std::sqrt(step));
      double const less = std::max(1.0, std::sqrt(changes / n));
      for (std::size_t k = 0; k < g.size(); ++k)
        w.x[k] = w.x[k] * (1 - rate * decay) - own / less * u[k];
    }
  }
};
double distance(std::vector<Whole> const& a, std::vector<Whole> const& b) {
  double out = 0;
  for (std::size_t p = 0; p < a.size(); ++p)
    for (std::size_t k = 0; k < a[p].x.size(); ++k)
      out = std::max(out, std::abs(a[p].x[k] - b[p].x[k]));
  return out;
}

}  // namespace

TEST_CASE("steps of Adafactor follow the formulas") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  train::Adafactor const adafactor{{.rate = 0.3, .decay = 0.1}};
  auto state = adafactor.init(model);
  Reference reference(wholes(model));
  CHECK(wholes(model).size() == 8);
  for (std::uint64_t k = 0; k < 4; ++k) {
    auto const gradient = model_of<double>(mesh, 10 + k, k == 3 ? 0.0 : 2.0);
    double const scale = k == 1 ? 0.25 : 1;
    CHECK(adafactor.update(model, gradient, state, scale).applied);
    reference.change(wholes(gradient), 0.3, 0.1, scale);
    CHECK(distance(wholes(model), reference.parameters) < 1e-13);
  }
  CHECK(state.step == 4);
  CHECK(harness::replicas_agree(model));
}

TEST_CASE("a step of Adafactor that is not finite changes nothing") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  train::Adafactor const adafactor{{.rate = 0.3, .clip = 1, .skip_not_finite = true}};
  auto state = adafactor.init(model);
  auto gradient = model_of<double>(mesh, 4, 2.0);
  auto const before = wholes(model);
  harness::write_block(gradient.split[1], [&](auto const& block) {
    if (mesh.coordinate<X>() == 0 && mesh.coordinate<Y>() == 0)
      block.data()[0] = std::numeric_limits<double>::quiet_NaN();
  });
  CHECK(!adafactor.update(model, gradient, state).applied);
  CHECK(distance(wholes(model), before) == 0);
  CHECK(state.step == 0);
}

TEST_CASE("Adafactor of a model in bfloat16 changes its float parameters") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<bfloat16>(mesh, 3, 0.5);
  train::Adafactor const adafactor{{.rate = 1e-4}};
  auto state = adafactor.init(model);
  REQUIRE(state.master.has_value());
  auto const first = wholes(*state.master);
  auto const gradient = model_of<bfloat16>(mesh, 4, 1.0);
  for (int k = 0; k < 20; ++k) adafactor.update(model, gradient, state);
  // each step alone would be lost by rounding
  auto const last = wholes(*state.master);
  auto const rounded = wholes(model);
  CHECK(distance(first, last) > 1e-4);
  for (std::size_t p = 0; p < last.size(); ++p)
    for (std::size_t k = 0; k < last[p].x.size(); ++k)
      CHECK(std::abs(rounded[p].x[k] - last[p].x[k]) <= std::abs(last[p].x[k]) * 0x1p-8);
  CHECK(harness::replicas_agree(model));
}

TEST_CASE("An error in a step names the program's line") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  Mesh<X, Y> const other(MPI_COMM_WORLD, {on_ranks::rank_total(), 1});
  using W = Tensor<float, Dim<I, X>, Dim<J>>;
  W model = zeros<W>(mesh);
  W const grad = ones<W>(other);
  train::Adafactor const adafactor{{.rate = 0.01}};
  auto state = adafactor.init(model);
  std::string text;
  try {
    adafactor.update(model, grad, state);
  } catch (Error const& e) {
    text = e.what();
  }
  CHECK(harness::before_call(text, "Adafactor", "adafactor.cpp") ==
        "[shardtype E23] the operands live on two meshes; tensors of two meshes do not mix");
}
