// Models in automatic mode: structures of parameters, loops, values beside the loss, and training
// steps, with both passes as one program. Each is compared with strict mode.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "harness/while_set.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
struct M : Index<"M"> {};
struct V : Index<"V"> {};
struct K : Index<"K"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

/// A GPT whose parameters are split as `P` says.
template <class P>
struct Gpt {
  template <class... Is>
  using W = train::Placed<typename P::Parameters, double, Is...>;
  using Ids = train::Placed<typename P::Data, Int, B, S>;
  template <template <class> class As>
  struct Block {
    nn::Norm<As, W<D>> norm1;
    nn::Attention<As, W<D, H, F>, W<D, H, F>, W<H, F, D>> attention;
    nn::Norm<As, W<D>> norm2;
    nn::Mlp<As, W<D, M>, W<M>, W<M, D>, W<D>> mlp;
  };
  template <template <class> class As>
  struct Model {
    As<W<V, D>> table;
    std::vector<Block<As>> blocks;
    nn::Norm<As, W<D>> norm;
  };
};
using train::Split;
struct Whole {
  using Parameters = train::Shardings<>;
  using Data = train::Shardings<>;
};
struct DataParallel {
  using Parameters = train::Shardings<>;
  using Data = train::Shardings<Split<B, X, Y>>;
};
struct TensorParallel {
  using Parameters = train::Shardings<Split<H, Y>, Split<M, Y>, Split<V, Y>>;
  using Data = train::Shardings<Split<B, X>>;
};
struct FullySharded {
  using Parameters = train::Shardings<Split<D, X>, Split<H, Y>, Split<M, Y>, Split<V, Y>>;
  using Data = train::Shardings<Split<B, X>>;
};

struct Loss {
  static auto block(auto const& x, auto const& b) {
    auto const a = nn::layer_norm<D>(x, b.norm1);
    auto const q = nn::rotary<S, F>(matmul(a, b.attention.q));
    auto const k = nn::rotary<S, F>(matmul(a, b.attention.k));
    auto const mixed = nn::attention(q, k, matmul(a, b.attention.v));
    auto const y = x + einsum<B, S, D>(mixed, b.attention.out);
    return (y + nn::mlp(nn::layer_norm<D>(y, b.norm2), b.mlp)).tensor();
  }
  auto operator()(auto const& m, auto const& ids, auto const& targets) const {
    auto x = nn::embedding<V>(m.table, ids);
    for (auto const& b : m.blocks) x = block(x, b);
    return mean(nn::cross_entropy<V>(matmul(nn::layer_norm<D>(x, m.norm), m.table), targets));
  }
};

struct Sizes {
  Int b, s, d, h, f, m, v;
  int layers;
  template <class I>
  Int of() const {
    if constexpr (std::is_same_v<I, B>) return b;
    if constexpr (std::is_same_v<I, S>) return s;
    if constexpr (std::is_same_v<I, D>) return d;
    if constexpr (std::is_same_v<I, H>) return h;
    if constexpr (std::is_same_v<I, F>) return f;
    if constexpr (std::is_same_v<I, M>) return m;
    return v;
  }
};
template <class... Is>
std::array<Int, sizeof...(Is)> extents(Sizes const& n, detail::Pack<Is...>) {
  return {n.of<Is>()...};
}
template <class... Ds>
detail::Pack<detail::label_of_t<Ds>...> indices_of(Type<Tensor<double, Ds...>>);

/// A tensor of numbers that depend on their places and on `seed` alone.
template <class A>
A drawn(Grid const& mesh, std::array<Int, A::rank> const& n, int seed) {
  return from_function<A>(mesh, n, [=](auto... at) {
    Int k = seed;
    ((k = 31 * k + static_cast<Int>(at)), ...);
    return 0.3 * std::sin(static_cast<double>(k % 10'007));
  });
}
template <class P>
auto model(Grid const& mesh, Sizes const& n) {
  using Of = Gpt<P>;
  int seed = 1;
  auto const one = [&]<class A>(Type<A> type) {
    return drawn<A>(mesh, extents(n, decltype(indices_of(type)){}), seed++);
  };
  auto const norm = [&] {
    using Gain = typename Of::template W<D>;
    auto const gain = one(Type<Gain>{});
    return nn::Norm<value_t, Gain>{gain, one(Type<Gain>{})};
  };
  using Head = typename Of::template W<D, H, F>;
  typename Of::template Model<value_t> out{one(Type<typename Of::template W<V, D>>{}), {}, norm()};
  for (int k = 0; k < n.layers; ++k) {
    auto const norm1 = norm();
    auto const norm2 = norm();
    auto const q = one(Type<Head>{});
    auto const key = one(Type<Head>{});
    auto const v = one(Type<Head>{});
    auto const mix = one(Type<typename Of::template W<H, F, D>>{});
    auto const up = one(Type<typename Of::template W<D, M>>{});
    auto const b1 = one(Type<typename Of::template W<M>>{});
    auto const down = one(Type<typename Of::template W<M, D>>{});
    auto const b2 = one(Type<typename Of::template W<D>>{});
    out.blocks.push_back({norm1, {q, key, v, mix}, norm2, {up, b1, down, b2}});
  }
  return out;
}
template <class Ids>
Ids ids(Grid const& mesh, Sizes const& n, Int ahead) {
  return from_function<Ids>(
      mesh, {n.b, n.s}, [=](Int b, Int s) { return (7 * b + (s + ahead) * (s + ahead)) % n.v; });
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
template <class A, class C>
double differences(A const& a, C const& b) {
  double most = 0;
  autodiff::each_value(
      [&](auto const& x, auto const& y) { most = std::max(most, difference(x, y)); }, a, b);
  return most;
}
template <class P>
void compare(Grid const& mesh, Sizes const& n) {
  using Ids = typename Gpt<P>::Ids;
  using Plain = Gpt<Whole>::Ids;
  auto const m = model<P>(mesh, n);
  auto const got =
      evaluate(mesh, value_and_grad<0>(Loss{}), m, ids<Ids>(mesh, n, 0), ids<Ids>(mesh, n, 1));
  auto const want = value_and_grad<0>(Loss{})(model<Whole>(mesh, n), ids<Plain>(mesh, n, 0),
                                              ids<Plain>(mesh, n, 1));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(got.grad)>,
                               typename Gpt<P>::template Model<gradient_t>>);
  CHECK(std::abs(item(got.value) - item(want.value)) <= 1e-12);
  CHECK(got.grad.blocks.size() == m.blocks.size());
  CHECK(differences(got.grad, want.grad) <= 1e-12);
}

}  // namespace

TEST_CASE("gradients of a GPT, a structure with a vector of layers") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Sizes const n : {Sizes{4, 6, 8, 4, 4, 12, 16, 2}, Sizes{3, 5, 6, 3, 2, 7, 11, 3},
                        Sizes{1, 2, 2, 1, 2, 3, 5, 1}, Sizes{2, 3, 4, 2, 2, 4, 6, 0}}) {
    INFO(n.layers << " layers");
    compare<DataParallel>(mesh, n);
    compare<TensorParallel>(mesh, n);
    compare<FullySharded>(mesh, n);
  }
}

TEST_CASE("gradients of a GPT by messages alone") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  harness::WhileSet<bool> const on_one_node{runtime::run_time.on_one_node, false};
  Sizes const n{3, 5, 6, 3, 2, 7, 11, 2};
  compare<DataParallel>(mesh, n);
  compare<TensorParallel>(mesh, n);
  compare<FullySharded>(mesh, n);
}

TEST_CASE("a training step") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Sizes const n{4, 5, 6, 2, 4, 7, 11, 2};
  using Ids = Gpt<FullySharded>::Ids;
  using Plain = Gpt<Whole>::Ids;
  auto mine = model<FullySharded>(mesh, n);
  auto theirs = model<Whole>(mesh, n);
  train::AdamW const adam{{.rate = 0.01, .clip = 0.5}};
  auto const step = train::step(adam, value_and_grad<0>(Loss{}));
  auto state = adam.init(mine);
  auto other = adam.init(theirs);
  for (int k = 0; k < 4; ++k) {
    auto const got =
        evaluate(mesh, step, mine, state, ids<Ids>(mesh, n, k), ids<Ids>(mesh, n, k + 1));
    auto const want = step(theirs, other, ids<Plain>(mesh, n, k), ids<Plain>(mesh, n, k + 1));
    CHECK(std::abs(item(got.loss) - item(want.loss)) <= 1e-12);
    CHECK(std::abs(got.norm - want.norm) <= 1e-12 * std::max(1.0, want.norm));
    CHECK(got.applied);
    CHECK(differences(mine, theirs) <= 1e-11);
  }
  // a policy is the last argument
  auto const got = evaluate(mesh, step, mine, state, ids<Ids>(mesh, n, 4), ids<Ids>(mesh, n, 5),
                            MemoryLimit<1'000'000'000>{});
  auto const want = step(theirs, other, ids<Plain>(mesh, n, 4), ids<Plain>(mesh, n, 5));
  CHECK(std::abs(item(got.loss) - item(want.loss)) <= 1e-12);
}

TEST_CASE("values beside the loss") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  using W = Tensor<double, Dim<D>, Dim<H, Y>>;
  auto const a = drawn<A>(mesh, {7, 5}, 1);
  auto const w = drawn<W>(mesh, {5, 3}, 2);
  auto const f = [](auto const& x, auto const& up) {
    auto const h = tanh(matmul(x, up)).tensor();
    return std::tuple(sum(h * h), max(h), std::pair(argmax<H>(h), 42),
                      constrain<Dim<S, X, Y>, Dim<H>>(exp(h)));
  };
  auto const strict = [](auto const& x, auto const& up) {
    auto const h = tanh(matmul(x, up)).tensor();
    return std::tuple(sum(h * h), max(h), std::pair(argmax<H>(h), 42), exp(h).tensor());
  };
  auto const whole_a = reshard<Dim<S>, Dim<D>>(a);
  auto const whole_w = reshard<Dim<D>, Dim<H>>(w);
  auto const [both, grads] = evaluate(mesh, value_and_grad<0, 1>(f, has_aux), a, w);
  auto const want = value_and_grad<0, 1>(strict, has_aux)(whole_a, whole_w);
  auto const& [loss, aux] = both;
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<2>(aux))>,
                               Tensor<double, Dim<S, X, Y>, Dim<H>>>);
  CHECK(std::abs(item(loss) - item(want.value.first)) <= 1e-12);
  CHECK(difference(std::get<0>(aux), std::get<0>(want.value.second)) <= 1e-12);
  CHECK(difference(std::get<1>(aux).first, std::get<1>(want.value.second).first) == 0);
  CHECK(std::get<1>(aux).second == 42);
  CHECK(difference(std::get<2>(aux), std::get<2>(want.value.second)) <= 1e-12);
  CHECK(differences(grads, want.grad) <= 1e-12);
  // of one value beside the loss, and without the loss
  auto const one = [](auto const& x) { return std::pair(sum(x * x), sum<D>(x)); };
  auto const [g, rows] = evaluate(mesh, grad<0>(one, has_aux), a);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(g)>, A>);
  CHECK(difference(g, (2.0 * a).tensor()) <= 1e-12);
  CHECK(difference(rows, sum<D>(whole_a)) <= 1e-12);
}

TEST_CASE("loops and branches are those of the call, and so is its plan") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  using W = Tensor<double, Dim<D>, Dim<K>>;
  auto const a = drawn<A>(mesh, {6, 4}, 1);
  auto const w = drawn<W>(mesh, {4, 4}, 2);
  int rounds = 0;
  bool soft = false;
  auto const f = [&](auto const& x, auto const& u) {
    auto h = (x * 1.0).tensor();
    for (int k = 0; k < rounds; ++k) {
      auto const next = relabel<K, D>(matmul(h, u));
      if (soft)
        h = softmax<D>(next) + h;
      else
        h = tanh(next) * 0.5;
    }
    return sum(h * h);
  };
  for (int k : {0, 1, 3, 1}) {
    for (bool const s : {false, true}) {
      rounds = k;
      soft = s;
      INFO(k << " rounds");
      auto const got = evaluate(mesh, value_and_grad<0, 1>(f), a, w);
      auto const want = value_and_grad<0, 1>(f)(reshard<Dim<S>, Dim<D>>(a), w);
      CHECK(std::abs(item(got.value) - item(want.value)) <= 1e-12);
      CHECK(differences(got.grad, want.grad) <= 1e-12);
    }
  }
}

TEST_CASE("a plan is that of the values that the call wants") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  auto const a = drawn<A>(mesh, {6, 4}, 1);
  bool first = false;
  bool marked = false;
  auto const f = [&](auto const& x) {
    auto const square = [](auto const& y) { return (y * y).tensor(); };
    auto const sums = sum<D>(x);
    auto const squares = sum<D>(marked ? remat(square)(x) : square(x));
    return std::pair((sum(sums) + sum(squares)).tensor(), first ? sums : squares);
  };
  auto const whole_a = reshard<Dim<S>, Dim<D>>(a);
  for (bool const which : {false, true, false}) {
    for (bool const again : {false, true}) {
      first = which;
      marked = again;
      auto const got = evaluate(mesh, value_and_grad<0>(f, has_aux), a, MemoryLimit<1'000'000>{});
      CHECK(difference(got.value.second, which ? sum<D>(whole_a) : sum<D>(whole_a * whole_a)) <=
            1e-12);
      CHECK(difference(got.grad, (2.0 * whole_a + 1.0).tensor()) <= 1e-12);
    }
  }
}

TEST_CASE("a value of another program") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  auto const a = drawn<A>(mesh, {6, 4}, 1);
  CHECK(code_of([&] {
          evaluate(mesh, value_and_grad<0>([&](auto const& x) {
                     evaluate(mesh, grad<0>([&](auto const& y) { return sum(y * x); }), a);
                     return sum(x);
                   }),
                   a);
        }) == "E73");
}

TEST_CASE("a value that is named is one, whatever made it, and a temporary is part of its reader") {
  using A = Tensor<float, Dim<S, X>, Dim<D>>;
  auto const planned = [](auto const& f) {
    return dry_run<A>(value_and_grad<0>(f))
        .template extent<S>(64)
        .template extent<D>(64)
        .template ranks<X>(2)
        .planned();
  };
  auto const count = [](PlannedProgram const& p, planning::Backward how) {
    int out = 0;
    for (int k = 0; k < p.plan.program.size; ++k)
      out += p.plan.program.nodes[k].making == planning::Making::map &&
             p.plan.program.nodes[k].backward == how;
    return out;
  };
  auto const once = planned([](auto const& x) {
    auto const h = exp(x * 0.5F);
    return sum(softmax<D>(h) * h);
  });
  CHECK(count(once, planning::Backward::none) == 2);
  auto const twice =
      planned([](auto const& x) { return sum(softmax<D>(exp(x * 0.5F)) * exp(x * 0.5F)); });
  CHECK(count(twice, planning::Backward::none) == 2);
}

TEST_CASE("programs of any length") {
  using A = Tensor<float, Dim<S, X>, Dim<D>>;
  auto const deep = [](auto const& x) {
    auto h = softmax<D>(x);
    for (int k = 0; k < 1500; ++k) h = softmax<D>(h * 0.5F);
    return sum(h);
  };
  auto const p =
      dry_run<A>(value_and_grad<0>(deep)).extent<S>(64).extent<D>(64).ranks<X>(2).planned();
  CHECK(p.plan.program.size > 6000);
  CHECK(p.plan.possible);
  CHECK(p.plan.gap().value_or(1) <= 1e-9);
}

TEST_CASE("arguments that are no parameters, and captured tensors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  using Places = Tensor<Int, Dim<S, X>>;
  auto const a = drawn<A>(mesh, {6, 4}, 1);
  auto const other = drawn<Tensor<double, Dim<D, Y>>>(mesh, {4}, 2);
  auto const places = from_function<Places>(mesh, {6}, [](Int s) { return s % 4; });
  struct Scale {
    double by;
  };
  auto const f = [&](auto const& x, auto const& at, Scale const& scale) {
    return sum(where(at == 1, x * other, 0.0) * scale.by);
  };
  auto const g = evaluate(mesh, grad<0>(f), a, places, Scale{3});
  auto const want = from_function<Tensor<double, Dim<S>, Dim<D>>>(
      mesh, {6, 4}, [&](Int s, Int d) { return s % 4 == 1 && d >= 0 ? 1.0 : 0.0; });
  CHECK(difference(g, (want * reshard<Dim<D>>(other) * 3.0).tensor()) <= 1e-12);
  // a tensor of another extent
  auto const long_one = drawn<Tensor<double, Dim<D>>>(mesh, {5}, 3);
  CHECK(code_of([&] {
          evaluate(mesh, value_and_grad<0>([&](auto const& x) { return sum(x * long_one); }), a);
        }) == "E24");
}

namespace {

/// Layers of which each holds four values until its gradient.
template <template <class> class As>
struct Deep {
  std::array<As<Tensor<double, Dim<D>, Dim<K, Y>>>, 6> layers;
};
struct DeepLoss {
  static auto layer(auto const& x, auto const& w) {
    auto const h = exp(tanh(matmul(x, w))).tensor();
    return (tanh(softmax<D>(relabel<K, D>(h * h))) + x).tensor();
  }
  auto operator()(auto const& model, auto const& x) const {
    auto const again = remat([](auto const& a, auto const& b) { return layer(a, b); });
    auto h = again(x, model.layers[0]);
    for (std::size_t k = 1; k < model.layers.size(); ++k) h = again(h, model.layers[k]);
    return mean(h * h);
  }
};

}  // namespace

TEST_CASE("within a memory limit marked functions run again in the backward pass") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<S, X>, Dim<D>>;
  int const n = on_ranks::rank_total();
  constexpr Int rows = 512;
  constexpr Int features = 32;
  auto const plan = [&](std::int64_t limit) {
    auto dry = dry_run<automatic_mode::Axes<X, Y>, Deep<value_t>, A>(value_and_grad<0>(DeepLoss{}));
    dry.extent<S>(rows)
        .extent<D>(features)
        .extent<K>(features)
        .ranks<X>(n % 2 == 0 ? 2 : 1)
        .ranks<Y>(n % 2 == 0 ? n / 2 : n);
    if (limit > 0) dry.within(limit);
    return dry.planned();
  };
  PlannedProgram const kept = plan(0);
  std::int64_t const all = kept.plan.temporary_bytes();
  double seconds = kept.seconds();
  for (int percent : {85, 70, 60}) {
    INFO(percent << " % of " << all << " bytes");
    PlannedProgram const p = plan(all * percent / 100);
    CHECK(p.plan.possible);
    CHECK(p.plan.temporary_bytes() <= all * percent / 100);
    CHECK(p.seconds() >= seconds);
    seconds = p.seconds();
  }
  CHECK_FALSE(plan(1000).plan.possible);

  Deep<value_t> const model{
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 1),
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 2),
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 3),
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 4),
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 5),
      drawn<Tensor<double, Dim<D>, Dim<K, Y>>>(mesh, {features, features}, 6)};
  auto const x = drawn<A>(mesh, {rows, features}, 7);
  auto const want = evaluate(mesh, value_and_grad<0>(DeepLoss{}), model, x);
  constexpr std::int64_t limit = 2'500'000;  // on one rank less than what is kept
  auto& memory = runtime::run_time.memory;
  std::int64_t const before = memory.now();
  memory.reset();
  auto const got = evaluate(mesh, value_and_grad<0>(DeepLoss{}), model, x, MemoryLimit<limit>{});
  CHECK(memory.most() - before <= limit);
  if (n == 1) CHECK(all > limit);
  CHECK(item(got.value) == item(want.value));
  CHECK(differences(got.grad, want.grad) <= 1e-15);
  CHECK(code_of([&] {
          evaluate(mesh, value_and_grad<0>(DeepLoss{}), model, x, MemoryLimit<1000>{});
        }) == "E69");
}
