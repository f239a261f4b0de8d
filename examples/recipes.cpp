// The program of docs/recipes.md: one layer or two trained in four parallelisms, an optimizer, a
// function with a derivative of its own, rows in another order. Each recipe checks itself. On 4
// ranks.
// SHOWN: docs
// ALONE: it specialises a template of the library
// RANKS: 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 4> {};
struct B : Index<"B", 64> {};  // samples
struct D : Index<"D", 16> {};  // features
struct H : Index<"H", 32> {};  // hidden features
template <class... Parts>
using Real = Tensor<double, Parts...>;
// docs: end

// docs: data-parallel
// The batch is split, every rank has the whole weights.
constexpr auto loss = [](auto const& w, auto const& x, auto const& y) {
  auto const error = matmul(x, used_as<Dim<D>, Dim<H>, Reduced<X>>(w)) - y;
  return sum<Real<>>(square(error)) / 64.0;
};
using W = Real<Dim<D>, Dim<H>>;
using In = Real<Dim<B, X>, Dim<D>>;
using Out = Real<Dim<B, X>, Dim<H>>;
constexpr auto data_parallel = plan(value_and_grad<0>(loss), type<W>, type<In>, type<Out>);
static_assert(data_parallel.backward.count(Collective::all_reduce) == 1);
// docs: end

// docs: fsdp
// The same loss; each rank stores a quarter of the weights.
using SplitW = Real<Dim<D, X>, Dim<H>>;
constexpr auto fsdp = plan(value_and_grad<0>(loss), type<SplitW>, type<In>, type<Out>);
static_assert(fsdp.forward.count(Collective::all_gather) == 1);
static_assert(fsdp.backward.count(Collective::reduce_scatter) == 1);
static_assert(fsdp.backward.count(Collective::all_reduce) == 0);
// docs: end

// docs: tensor-parallel
// Every rank has the whole batch, and a quarter of the hidden features.
constexpr auto two_layers = [](auto const& w1, auto const& w2, auto const& x) {
  auto const hidden = tanh(matmul(used_as<Dim<B>, Dim<D>, Reduced<X>>(x), w1));
  return matmul<Dim<B>, Dim<D>>(hidden, w2);
};
using W1 = Real<Dim<D>, Dim<H, X>>;
using W2 = Real<Dim<H, X>, Dim<D>>;
constexpr auto tensor_parallel = plan(two_layers, type<W1>, type<W2>, type<Real<Dim<B>, Dim<D>>>);
static_assert(tensor_parallel.count(Collective::all_reduce) == 1 &&
              tensor_parallel.collectives() == 1);
// docs: end

// docs: sequence-parallel
// Between such layers the rows are split: the same bytes, a quarter of the memory.
constexpr auto rows_split = [](auto const& w1, auto const& w2, auto const& x) {
  auto const hidden = tanh(matmul(used_as<Dim<B>, Dim<D>, Reduced<X>>(x), w1));
  return matmul<Dim<B, X>, Dim<D>>(hidden, w2);
};
constexpr auto sequence_parallel = plan(rows_split, type<W1>, type<W2>, type<In>);
static_assert(sequence_parallel.count(Collective::all_gather) == 1);
static_assert(sequence_parallel.count(Collective::reduce_scatter) == 1);
// docs: end

// docs: own-function
// x^3, with the derivative 3 x^2. A functor with a name: a lambda has none to specialise.
struct Cube {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a) const {
    return a * a * a;
  }
};
template <>
struct shardtype::autodiff::Derivative<Cube> : shardtype::autodiff::Using<uses_a> {
  // the cotangent of the argument `a`, of that of the result
  template <int, class Ct, class Result, class A>
  KOKKOS_FUNCTION static constexpr auto pull(Ct const& ct, Result const&, A const& a) {
    return ct * a * a * 3;
  }
};
// docs: end

// docs: own-pieces
// Huber's loss of a difference: a square near 0, a line elsewhere.
struct Huber {
  template <class T>
  KOKKOS_FUNCTION T operator()(T a) const {
    T const size = a < T(0) ? -a : a;
    return size < T(1) ? a * a / 2 : size - T(1) / 2;
  }
};
template <>
struct shardtype::autodiff::Derivative<Huber> : shardtype::autodiff::Using<uses_a> {
  template <int, class Ct, class Result, class A>
  KOKKOS_FUNCTION static constexpr auto pull(Ct const& ct, Result const&, A const& a) {
    return where(a > 1, ct, where(a < -1, -ct, ct * a));
  }
};
// docs: end

// docs: optimizer
template <template <class> class As>
struct Model {
  As<Real<Dim<D>, Dim<H>>> weights;
  As<Real<Dim<H>>> bias;
};
constexpr auto model_loss = [](auto const& m, auto const& x, auto const& y) {
  auto const out = matmul(x, used_as<Dim<D>, Dim<H>, Reduced<X>>(m.weights)) +
                   used_as<Dim<H>, Reduced<X>>(m.bias);
  return sum<Real<>>(square(out - y)) / 64.0;
};
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  bool const first = env.rank() == 0;
  int wrong = 0;
  auto const section = [&](char const* name) {
    if (first) std::printf("== %s\n", name);
  };
  auto const say = [&](std::string const& text) {
    if (first) std::printf("%s\n", text.c_str());
  };
  auto const holds = [&](bool fact, char const* what) {
    if (fact) return;
    ++wrong;
    std::printf("does not hold: %s\n", what);
  };
  RandomKey const key{7};
  auto const x = normal<double, Dim<B, X>, Dim<D>>(mesh, key.fold_in(1));
  auto const teacher = normal<double, Dim<D>, Dim<H>>(mesh, key.fold_in(2));
  auto const y = matmul(x, teacher);

  section("data-parallel");
  // docs: data-parallel-step
  auto w = zeros<W>(mesh);
  for (int step = 0; step < 50; ++step) {
    auto const [value, gradient] = value_and_grad<0>(loss)(w, x, y);  // gradient: f64[D, H], as w
    w = w - 0.2 * gradient;
  }
  // docs: end
  say(explain(data_parallel));
  holds(allclose(w, teacher, 1e-2, 1e-2), "data parallel training finds the weights");

  // docs: overlap
  // The AllReduce of a gradient is under way while those of earlier layers are computed.
  auto const [total, behind] = value_and_grad<0>(loss, overlap_grad_reduce)(w, x, y);
  // docs: end
  holds(item(total) < 1.0 && array_equal(behind, grad<0>(loss)(w, x, y)),
        "the same bits behind the backward pass");
  // docs: joined
  // Gradients that are small beside the cost of a message are reduced together.
  auto const [sum_of_squares, together] = value_and_grad<0>(loss, join_grad_reduce)(w, x, y);
  // docs: end
  holds(item(sum_of_squares) < 1.0 && allclose(together, behind, 1e-6, 1e-6),
        "the same gradient in a bucket");

  section("fsdp");
  auto split = zeros<SplitW>(mesh);
  for (int step = 0; step < 50; ++step) {
    auto const gradient = grad<0>(loss)(split, x, y);
    split = split - 0.2 * gradient;
  }
  say(explain(fsdp));
  holds(allclose(reshard<Dim<D>, Dim<H>>(split), w, 1e-12, 1e-12), "FSDP gives the same weights");

  section("tensor-parallel");
  say(explain(tensor_parallel));
  auto const w1 = normal<W1>(mesh, key.fold_in(3));
  auto const w2 = normal<W2>(mesh, key.fold_in(4));
  auto const by_features = two_layers(w1, w2, reshard<Dim<B>, Dim<D>>(x));

  section("sequence-parallel");
  say(explain(sequence_parallel));
  holds(allclose(reshard<Dim<B>, Dim<D>>(rows_split(w1, w2, x)), by_features, 1e-12, 1e-12),
        "both give the same");

  section("optimizer");
  // docs: optimizer-steps
  auto model = train::initialize<Model<value_t>>(mesh, key, [](std::string_view path, auto) {
    return path == "bias" ? train::Initial::zeros() : train::Initial::normal(0.1);
  });
  train::AdamW const adam{{.rate = train::Rate::cosine(0.1, 5, 60, 0.01), .clip = 10}};
  auto state = adam.init(model);
  for (int step = 0; step < 60; ++step) {
    auto const [value, gradient] = value_and_grad<0>(model_loss)(model, x, y);
    adam.update(model, gradient, state);
    if (double const l = item(value); first && step % 20 == 0) std::printf("%2d %.3f\n", step, l);
  }
  // docs: end
  holds(item(model_loss(model, x, y)) < 1.0, "AdamW trains");

  section("own-function");
  // docs: own-function-call
  auto const slope = grad<0>([](auto const& a) { return sum<Real<>>(map(Cube{}, a)); })(x);
  // docs: end
  // of a second order too: sums of squares of the slopes
  auto const huber = [](auto const& a) { return sum<Real<>>(map(Huber{}, a)); };
  auto const squares = [huber](auto const& a) { return sum<Real<>>(square(grad<0>(huber)(a))); };
  holds(allclose(grad<0>(huber)(x), clip(x, -1.0, 1.0)) &&
            allclose(grad<0>(squares)(x), where(abs(x) > 1.0, 0.0, 2.0 * x)),
        "the derivative in pieces");
  holds(allclose(slope, 3.0 * x * x, 1e-14, 1e-14), "the derivative is 3 x^2");
  say(type_name(slope));

  section("own-gradient");
  // docs: own-gradient
  // The value of a, whose gradient is clipped to [-1, 1] on its way back.
  auto const clipped = custom_vjp([](auto const& a) { return a; },
                                  [](auto const& a) { return std::pair(a, std::tuple<>()); },
                                  [](auto const&, auto const& ct) { return clip(ct, -1.0, 1.0); });
  auto const held = grad<0>([&](auto const& a) { return sum<Real<>>(square(clipped(a))); })(x);
  // docs: end
  holds(item(max<Real<>>(abs(held))) <= 1.0, "no gradient is above 1");
  say(type_name(held));

  section("random");
  // docs: random
  auto const [of_weights, of_order] = RandomKey{7}.split<2>();
  auto const weights = normal<double, Dim<D, X>, Dim<H>>(mesh, of_weights, 0, 0.02);
  auto const epoch = permutation<std::int64_t, Dim<B, X>>(mesh, of_order.fold_in(3));  // the third
  // docs: end
  say(type_name(weights));
  holds(array_equal(reshard<Dim<D>, Dim<H>>(weights),
                    normal<double, Dim<D>, Dim<H>>(mesh, of_weights, 0, 0.02)),
        "the same numbers in another sharding");
  holds(item(sum<Tensor<std::int64_t>>(epoch)) == 64 * 63 / 2, "each row once");

  section("permute-rows");
  // docs: permute-rows
  auto const order = permutation<std::int64_t, Dim<B, X>>(mesh, key.fold_in(5));
  auto const shuffled = take<B, Dim<B, X>, Dim<D>>(x, order);  // x[order]
  // docs: end
  say(type_name(shuffled));
  auto const given = to_host(x);
  auto const places = to_host(order);
  auto const got = to_host(shuffled);
  bool moved = true;
  for (std::size_t i = 0; i < places.size(); ++i)
    moved = moved && got[16 * i] == given[16 * static_cast<std::size_t>(places[i])];
  holds(moved, "row i is row order[i]");
  return wrong;
}
