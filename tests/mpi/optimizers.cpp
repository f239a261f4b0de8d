// Steps of optimizers on parameters with all shardings, beside the formulas on one rank; the norm
// of a gradient; clipping; steps that are left out; models in bfloat16; first values; paths.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/replicas.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I", 13> {};
struct J : Index<"J", 6> {};

template <class T>
struct Of {
  template <template <class> class As>
  struct Layer {
    As<Tensor<T, Dim<I, X>, Dim<J, Y>>> split;
    As<Tensor<T, Dim<J, X>>> bias;
  };
  template <template <class> class As>
  struct Model {
    std::array<Layer<As>, 2> layers;
    As<Tensor<T, Dim<I>, Dim<J>>> whole;
    std::tuple<As<Tensor<T>>, As<Tensor<T, Dim<I, Y, X>>>> others;
    As<Tensor<std::int64_t, Dim<I>>> places;
  };
};

using train::Initial;

struct Free : Index<"free"> {};
template <class N>
struct Sized {
  template <template <class> class As>
  struct Model {
    As<Tensor<float, Dim<N, X>, Dim<I>>> w;
    std::array<As<Tensor<float, Dim<N>>>, 2> each;
  };
};

template <class T>
auto model_of(Mesh<X, Y> const& mesh, std::uint64_t key, double deviation) {
  using M = typename Of<T>::template Model<value_t>;
  return train::initialize<M>(mesh, RandomKey{key}, [&]<class A>(std::string_view, Type<A>) {
    return train::is_trained<A> ? Initial::normal(deviation) : Initial::zeros();
  });
}

// All elements of all tensors, in their order; the same on all ranks.
template <class M>
std::vector<double> elements(M const& model) {
  std::vector<double> out;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (train::is_trained<A>)
          for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
      },
      model);
  return out;
}

// The formulas, element by element, as PyTorch's pages have them.
struct Reference {
  std::vector<double> x, m, v;
  int step = 0;
  void adamw(std::vector<double> const& g, double rate, double decay) {
    ++step;
    for (std::size_t k = 0; k < x.size(); ++k) {
      m[k] = 0.9 * m[k] + 0.1 * g[k];
      v[k] = 0.999 * v[k] + 0.001 * g[k] * g[k];
      x[k] -= rate * decay * x[k];
      double const mean = m[k] / (1 - std::pow(0.9, step));
      double const root = std::sqrt(v[k] / (1 - std::pow(0.999, step)));
      x[k] -= rate * mean / (root + 1e-8);
    }
  }
  void sgd(std::vector<double> const& g, double rate, double momentum, bool nesterov,
           double decay) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      double const whole = g[k] + decay * x[k];
      v[k] = momentum * v[k] + whole;
      x[k] -= rate * (nesterov ? whole + momentum * v[k] : v[k]);
    }
  }
  void lion(std::vector<double> const& g, double rate, double decay) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      double const u = 0.9 * m[k] + 0.1 * g[k];
      x[k] -= rate * decay * x[k];
      x[k] -= rate * static_cast<double>((u > 0) - (u < 0));
      m[k] = 0.99 * m[k] + 0.01 * g[k];
    }
  }
};
template <class M>
Reference reference_of(M const& model) {
  Reference out;
  out.x = elements(model);
  out.m = out.v = std::vector<double>(out.x.size(), 0.0);
  return out;
}
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k)
    out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

template <class Optimizer, class Step>
void follows(Optimizer const& optimizer, Step step) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  auto state = optimizer.init(model);
  auto reference = reference_of(model);
  for (std::uint64_t k = 0; k < 5; ++k) {
    auto const gradient = model_of<double>(mesh, 10 + k, 2.0);
    auto const stepped = optimizer.update(model, gradient, state);
    CHECK(stepped.applied);
    step(reference, elements(gradient), stepped.rate);
    CHECK(distance(elements(model), reference.x) < 1e-13);
  }
  CHECK(state.step == 5);
  CHECK(harness::replicas_agree(model));
}

}  // namespace

TEST_CASE("steps follow the formulas") {
  SECTION("AdamW") {
    follows(train::AdamW{{.rate = train::Rate::cosine(0.1, 2, 4, 0.01), .decay = 0.3}},
            [](Reference& r, auto const& g, double rate) { r.adamw(g, rate, 0.3); });
  }
  SECTION("descent") {
    follows(train::Sgd{{.rate = 0.1}},
            [](Reference& r, auto const& g, double rate) { r.sgd(g, rate, 0, false, 0); });
    follows(train::Sgd{{.rate = 0.1, .decay = 0.2}, 0.9},
            [](Reference& r, auto const& g, double rate) { r.sgd(g, rate, 0.9, false, 0.2); });
    follows(train::Sgd{{.rate = 0.1}, 0.9, true},
            [](Reference& r, auto const& g, double rate) { r.sgd(g, rate, 0.9, true, 0); });
  }
  SECTION("Lion") {
    follows(train::Lion{{.rate = train::Rate::linear(0.1, 0, 5), .decay = 0.1}},
            [](Reference& r, auto const& g, double rate) { r.lion(g, rate, 0.1); });
  }
}

TEST_CASE("the norm of a gradient counts each element once") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto gradient = model_of<double>(mesh, 5, 1.0);
  double sum = 0;
  for (double const x : elements(gradient)) sum += x * x;
  double const norm = train::global_norm(gradient);
  CHECK(std::abs(norm - std::sqrt(sum)) < 1e-12 * norm);
  auto const before = elements(gradient);
  CHECK(train::clip_by_global_norm(gradient, 2 * norm) == norm);
  CHECK(distance(elements(gradient), before) == 0);
  CHECK(train::clip_by_global_norm(gradient, norm / 4) == norm);
  CHECK(std::abs(train::global_norm(gradient) - norm / 4) < 1e-12 * norm);
}

TEST_CASE("clipping, scaled gradients and steps that are left out") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  train::AdamW const adam{{.rate = 0.1, .clip = 1, .skip_not_finite = true}};
  auto state = adam.init(model);
  auto reference = reference_of(model);
  auto gradient = model_of<double>(mesh, 4, 3.0);
  auto const norm = train::global_norm(gradient);
  auto const stepped = adam.update(model, gradient, state, 0.5);
  CHECK(std::abs(stepped.norm - norm / 2) < 1e-12 * norm);
  auto clipped = elements(gradient);
  for (double& x : clipped) x /= norm;
  reference.adamw(clipped, 0.1, 0);
  CHECK(distance(elements(model), reference.x) < 1e-13);
  // one element of one rank
  auto const kept = elements(model);
  harness::write_block(gradient.layers[1].split, [&](auto const& block) {
    if (mesh.coordinate<X>() == 0 && mesh.coordinate<Y>() == 0)
      block.data()[0] = std::numeric_limits<double>::infinity();
  });
  auto const left = adam.update(model, gradient, state);
  CHECK(!left.applied);
  CHECK(std::isinf(left.norm));
  CHECK(state.step == 1);
  CHECK(distance(elements(model), kept) == 0);
}

TEST_CASE("a model in bfloat16 has its parameters in float too") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<bfloat16>(mesh, 3, 0.5);
  train::Sgd const sgd{{.rate = 1e-4}};
  auto state = sgd.init(model);
  REQUIRE(state.master.has_value());
  auto const first = elements(model);
  auto const gradient = model_of<bfloat16>(mesh, 4, 1.0);
  auto const g = elements(gradient);
  // each step alone would be lost by rounding
  for (int k = 0; k < 200; ++k) sgd.update(model, gradient, state);
  auto const x = elements(model);
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    double const wanted = first[k] - 0.02 * g[k];
    worst = std::max(worst, std::abs(x[k] - wanted) / (std::abs(wanted) + 1e-3));
  }
  CHECK(worst < 0x1p-8 + 1e-3);
  CHECK(harness::replicas_agree(model));
}

TEST_CASE("parameters that do not decay") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<double>(mesh, 3, 0.5);
  train::AdamW const adam{{.rate = 0.1, .decay = 0.5, .decays = &train::matrices_decay}};
  auto state = adam.init(model);
  auto const zeros = model_of<double>(mesh, 4, 0.0);
  auto const before = model;
  // the copy shares the memory
  CHECK(on_ranks::code_of([&] { adam.update(model, zeros, state); }) == "E21");
  auto const bias = to_host(before.layers[0].bias);
  auto const whole = to_host(before.whole);
  model.layers[0].split = before.layers[0].split.clone();
  auto fresh = model_of<double>(mesh, 3, 0.5);
  auto other = adam.init(fresh);
  adam.update(fresh, zeros, other);
  CHECK(to_host(fresh.layers[0].bias) == bias);
  auto const decayed = to_host(fresh.whole);
  for (std::size_t k = 0; k < whole.size(); ++k)
    CHECK(std::abs(decayed[k] - whole[k] * 0.95) < 1e-15);
}

TEST_CASE("paths, numbers of parameters and first values") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const model = model_of<float>(mesh, 3, 0.5);
  std::string paths;
  train::for_each_tensor(
      [&](std::string_view path, auto const&) { paths += std::string(path) + " "; }, model);
  CHECK(
      paths ==
      "layers.0.split layers.0.bias layers.1.split layers.1.bias whole others.0 others.1 places ");
  CHECK(train::parameters(model) == 2 * (13 * 6 + 6) + 13 * 6 + 1 + 13);
  // the values of a tensor are those of its path
  auto const x = to_host(model.layers[0].split);
  auto const y = to_host(model.layers[1].split);
  CHECK(x != y);
  auto const again = train::initialize<Of<float>::Model<value_t>>(
      mesh, RandomKey{3}, []<class A>(std::string_view path, Type<A>) {
        return path == "layers.1.split" ? Initial::normal(0.5) : Initial::ones();
      });
  CHECK(to_host(again.layers[1].split) == y);
  CHECK(to_host(again.whole)[0] == 1.0F);
}

TEST_CASE("a model whose sizes are given as it is made") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  auto const init = []<class A>(std::string_view path, Type<A>) {
    return path == "w" ? Initial::normal(1) : Initial::constant(2);
  };
  auto const fixed = train::initialize<Sized<J>::Model<value_t>>(mesh, RandomKey{3}, init);
  auto const given = train::initialize<Sized<Free>::Model<value_t>>(
      mesh, RandomKey{3}, init, train::Extent<J>{6}, train::Extent<Free>{6});
  CHECK(to_host(given.w) == to_host(fixed.w));
  CHECK(given.w.extents() == std::array<std::int64_t, 2>{6, 13});
  CHECK(to_host(given.each[1]) == std::vector<float>(6, 2.0F));
}

TEST_CASE("rates") {
  auto const rate = train::Rate::cosine(1.0, 4, 10, 0.1);
  CHECK(rate(0) == 0.25);
  CHECK(rate(3) == 1.0);
  CHECK(rate(4) == 1.0);
  CHECK(std::abs(rate(7) - 0.55) < 1e-15);
  CHECK(std::abs(rate(10) - 0.1) < 1e-15);
  CHECK(std::abs(rate(1000) - 0.1) < 1e-15);
  CHECK(train::Rate::linear(1.0, 0, 4)(1) == 0.75);
  CHECK(train::Rate::warmed_up(2.0, 2)(0) == 1.0);
  CHECK(train::Rate(0.5)(123) == 0.5);
  // a warm-up as long as all steps, or longer
  for (std::int64_t const steps : {4, 3}) {
    auto const linear = train::Rate::linear(1.0, 4, steps, 0.1);
    auto const cosine = train::Rate::cosine(1.0, 4, steps, 0.1);
    for (std::int64_t k = 0; k < 8; ++k) {
      double const expected = k < steps ? 0.25 * static_cast<double>(k + 1) : 0.1;
      CHECK(linear(k) == expected);
      CHECK(cosine(k) == expected);
    }
  }
  CHECK(train::Rate::cosine(1.0, 0, 0, 0.5)(0) == 0.5);
}

TEST_CASE("settings of training that are out of range are an error on every rank") {
  using train::AdamW, train::Lion, train::Rate, train::Sgd, train::Adafactor;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  auto const refused = [](auto const& make) {
    CHECK(on_ranks::code_of([&] { (void)make(); }) == "E85");
  };
  for (double const x : {-1e-3, nan, infinity, -infinity}) {
    refused([&] { return Rate(x); });
    refused([&] { return AdamW{{.rate = x}}; });
    refused([&] { return Rate::warmed_up(x, 3); });
    refused([&] { return Rate::cosine(x, 1, 3); });
    refused([&] { return Rate::linear(x, 1, 3); });
    refused([&] { return Rate::cosine(1, 1, 3, x); });
    refused([&] { return Rate::linear(1, 1, 3, x); });
    refused([&] { return AdamW{{.decay = x}}; });
    refused([&] { return Sgd{{.decay = x}}; });
    refused([&] { return Adafactor{{.decay = x}}; });
    refused([&] { return Sgd({}, x); });
    refused([&] { return AdamW({}, 0.9, 0.99, x); });
    refused([&] { return Adafactor({}, -0.8, x); });
    refused([&] { return Adafactor({}, -0.8, 0, x); });
  }
  for (double const x : {-0.1, 1.0, nan}) {
    refused([&] { return AdamW({}, x); });
    refused([&] { return AdamW({}, 0.9, x); });
    refused([&] { return Lion({}, x); });
    refused([&] { return Lion({}, 0.9, x); });
  }
  for (double const x : {-1.0, nan}) {
    refused([&] { return AdamW{{.clip = x}}; });
    refused([&] { return Lion{{.clip = x}}; });
    refused([&] { return Adafactor({}, -0.8, 0, 1e-3, x); });
    refused([&] { return Adafactor({}, -x); });
  }
  refused([&] { return Rate::warmed_up(1, -1); });
  refused([&] { return Rate::cosine(1, -1, 3); });
  refused([&] { return Rate::linear(1, 0, -3); });
  refused([&] { return Rate(1)(-1); });
  CHECK(Rate(0)(3) == 0);
}
