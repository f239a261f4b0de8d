// Plans of automatic mode printed as strict code: the printed functions of mpi/frozen_plans.inc
// are what to_source prints, and give the same bits with the same bytes sent. Compiled with
// -DPRINT_FROZEN_PLANS, the test prints that file.
// RANKS: 8
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/freeze/to_source.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

// The examples of docs/automatic.md.
struct X : Axis<"X", 8> {};
struct S : Index<"S", 128> {};  // samples
struct D : Index<"D", 512> {};
struct F : Index<"F", 2048> {};
using Samples = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F>>;
using Down = Tensor<float, Dim<F, X>, Dim<D>>;
using Hidden = Tensor<float, Dim<S, X>, Dim<F>>;

struct FarApart {
  static constexpr Machine machine{.latency = 1e-2};
  static constexpr std::int64_t memory_limit = 16'000'000;
};

auto leaky(auto const& z) { return where(z > 0.0F, z, 0.125F * z); }
constexpr auto normalized = [](auto const& a) {
  auto const centred = a - mean<D>(a);
  return centred / sqrt(mean<D>(centred * centred) + 1e-5F);
};
constexpr auto bounded = [](float v) { return v / (1.0F + std::abs(v)); };

// The classes, queries and keys of attention with a cross-entropy loss.
struct Data : Axis<"data", 8> {};
struct Sequence : Index<"S", 16> {};
struct Query : Index<"Q", 12> {};
struct Key : Index<"K", 12> {};
struct Feature : Index<"F", 8> {};
struct Class : Index<"C", 10> {};
using Queries = Tensor<float, Dim<Sequence, Data>, Dim<Query>, Dim<Feature>>;
using Keys = Tensor<float, Dim<Sequence, Data>, Dim<Key>, Dim<Feature>>;
using Weights = Tensor<float, Dim<Feature>, Dim<Class>>;
using Labels = Tensor<std::int64_t, Dim<Sequence, Data>, Dim<Query>>;
using Losses = Tensor<float, Dim<Sequence, Data>, Dim<Query>>;
constexpr auto attention = [](auto const& q, auto const& k, auto const& v) {
  auto const scores = einsum<Sequence, Query, Key>(q, k) / std::sqrt(8.0F);
  return einsum<Sequence, Query, Feature>(softmax<Key>(scores), v);
};
constexpr auto losses = [](auto const& q, auto const& k, auto const& v, auto const& weights,
                           auto const& labels) {
  auto const logits = matmul(attention(q, k, v), weights);
  return -sum<Class>(log_softmax<Class>(logits) * one_hot<Class, float>(labels, Class::extent));
};

// On two axes; names of indices and axes are not those of their types.
struct Rows : Axis<"x", 2> {};
struct Columns : Axis<"y", 4> {};
struct Batch : Index<"S", 36> {};
struct In : Index<"D", 20> {};
struct Wide : Index<"F", 44> {};
struct Out : Index<"E", 28> {};

/// The loss of `scripts/bench plans`.
struct SumLoss {
  auto operator()(auto const& x, auto const& up, auto const& down) const {
    return sum(matmul(max(matmul(x, up), 0.0F), down));
  }
};
/// That of docs/automatic.md.
struct SquaredLoss {
  auto operator()(auto const& x, auto const& up, auto const& down, auto const& target) const {
    auto const off = matmul(tanh(matmul(x, up)), down) - target;
    return mean(off * off);
  }
};
template <template <class...> class Use>
struct Layouts {
  using X = Rows;
  using Y = Columns;
  using dp = Use<Tensor<float, Dim<Batch, X, Y>, Dim<In>>, Tensor<float, Dim<In>, Dim<Wide>>,
                 Tensor<float, Dim<Wide>, Dim<Out>>>;
  using megatron = Use<Tensor<float, Dim<Batch, X>, Dim<In>>, Tensor<float, Dim<In>, Dim<Wide, Y>>,
                       Tensor<float, Dim<Wide, Y>, Dim<Out>>>;
  using fsdp =
      Use<Tensor<float, Dim<Batch, X, Y>, Dim<In>>, Tensor<float, Dim<In, X, Y>, Dim<Wide>>,
          Tensor<float, Dim<Wide, X, Y>, Dim<Out>>>;
  using two = Use<Tensor<float, Dim<Batch, X>, Dim<In, Y>>, Tensor<float, Dim<In, X>, Dim<Wide, Y>>,
                  Tensor<float, Dim<Wide, Y>, Dim<Out, X>>>;
  using fsdp_tensor =
      Use<Tensor<float, Dim<Batch, X>, Dim<In>>, Tensor<float, Dim<In, X>, Dim<Wide, Y>>,
          Tensor<float, Dim<Wide, Y>, Dim<Out, X>>>;
};

// Sizes that are known when the program runs.
struct P : Axis<"p"> {};
struct Q : Axis<"q"> {};
struct A : Index<"A"> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct D2 : Index<"D2"> {};
struct Seq : Index<"T"> {};
struct Heads : Index<"N"> {};
struct Width : Index<"H"> {};
struct Inner : Index<"M"> {};
struct Tokens : Index<"V"> {};
struct Model : Index<"E"> {};

#ifdef PRINT_FROZEN_PLANS
#define FROZEN(call) [] { return 0; }
#define FROZEN_OF(name) [](auto const&...) { return 0; }
#else
#include "mpi/frozen_plans.inc"
#define FROZEN(call) [&] { return call; }
#define FROZEN_OF(name) \
  name {}
#endif

#ifndef PRINT_FROZEN_PLANS
/// The file of printed plans.
std::string file_of_plans() {
  std::string const here = __FILE__;
  std::ifstream in(here.substr(0, here.rfind('.')) + "_plans.inc");
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}
#endif

float number(std::int64_t k) {
  return static_cast<float>(std::sin(0.7 * static_cast<double>(k) + 1));
}
template <class A, class M>
A drawn(M const& mesh, int seed) {
  return from_function<A>(mesh, [=](auto... k) {
    std::int64_t at = seed;
    ((at = at * 31 + k), ...);
    if constexpr (std::is_integral_v<typename A::element>) {
      return static_cast<typename A::element>(((at % 10) + 10) % 10);
    } else {
      return number(at);
    }
  });
}

template <class A>
bool same_bits(A const& a, A const& b) {
  auto const x = harness::host_block(a);
  auto const y = harness::host_block(b);
  return std::memcmp(x.data(), y.data(),
                     static_cast<std::size_t>(a.local_size()) * sizeof(typename A::element)) == 0;
}
template <class... As>
bool same_bits(std::tuple<As...> const& a, std::tuple<As...> const& b) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return (same_bits(std::get<K>(a), std::get<K>(b)) && ...);
  }(std::index_sequence_for<As...>{});
}

template <class L, class G>
auto flat(ValueAndGradient<L, G> const& both) {
  if constexpr (requires { std::tuple_size<G>::value; }) {
    return std::tuple_cat(std::tuple(both.value), both.grad);
  } else {
    return std::tuple(both.value, both.grad);
  }
}
template <class A>
A const& flat(A const& a) {
  return a;
}

using Any = Mesh<P, Q>;
template <class T>
T any(Any const& mesh, std::array<std::int64_t, T::rank> const& n, int seed) {
  return from_function<T>(mesh, n, [=](auto... k) {
    std::int64_t at = seed;
    ((at = at * 31 + k), ...);
    if constexpr (std::is_integral_v<typename T::element>) {
      return static_cast<typename T::element>(((at % 10) + 10) % 10);
    } else {
      return static_cast<typename T::element>(number(at));
    }
  });
}
using Ab = Tensor<float, Dim<A, P>, Dim<B, Q>>;
using Bc = Tensor<float, Dim<B, P>, Dim<C>>;
using Ca = Tensor<float, Dim<C, Q>, Dim<A, P>>;

/// Whether the plan is printed as the file has it, and the printed function `frozen` gives what
/// `automatic` does, bit by bit, with the same bytes sent by each rank.
template <class Automatic, class Frozen>
void check(std::string const& source, Automatic const& automatic, Frozen const& frozen) {
#ifdef PRINT_FROZEN_PLANS
  static_cast<void>(automatic);
  static_cast<void>(frozen);
  if (on_ranks::my_rank() == 0) std::printf("\n%s", source.c_str());
#else
  static std::string const file = file_of_plans();
  INFO(source);
  CHECK(file.find(source) != std::string::npos);
  shim::reset();
  auto const expected = flat(automatic());
  std::int64_t const sent = shim::bytes();
  shim::reset();
  auto const got = frozen();
  CHECK(shim::bytes() == sent);
  static_assert(std::is_same_v<decltype(got), decltype(expected)>);
  CHECK(same_bits(got, expected));
#endif
}

template <class In, class Up, class Down>
struct Mlp {
  template <core::FixedString Name, class Frozen>
  static void run(Frozen const& frozen) {
    Mesh<Rows, Columns> const mesh(MPI_COMM_WORLD);
    auto const x = drawn<In>(mesh, 1);
    auto const up = drawn<Up>(mesh, 2);
    auto const down = drawn<Down>(mesh, 3);
    auto const g = value_and_grad<1, 2>(SumLoss{});
    check(
        to_source<Name>(mesh, g, x, up, down), [&] { return evaluate(mesh, g, x, up, down); },
        [&] { return frozen(x, up, down); });
    // from types alone
    using Grid = automatic_mode::Axes<Rows, Columns>;
    CHECK(to_source<Name, Grid, In, Up, Down>(g) == to_source<Name>(mesh, g, x, up, down));
  }
};
using Mlps = Layouts<Mlp>;

}  // namespace

TEST_CASE("examples of docs/automatic.md") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const x = drawn<Samples>(mesh, 1);
  auto const up = drawn<Up>(mesh, 2);
  auto const down = drawn<Down>(mesh, 3);
  auto const e = max(lazy(x) * up, 0.0F) * down;
  check(
      to_source<"layers">(evaluate_to<Samples>, mesh, e),
      [&] { return evaluate<Samples>(mesh, e); }, FROZEN(layers{}(x, up, down)));
  auto const by_leaky = leaky(share(lazy(x) * up)) * down;
  check(
      to_source<"leaky_layers">(evaluate_to<Samples>, mesh, by_leaky),
      [&] { return evaluate<Samples>(mesh, by_leaky); }, FROZEN(leaky_layers{}(x, up, down)));
  auto const constrained = constrain<Dim<S, X>, Dim<F>>(max(lazy(x) * up, 0.0F)) * down;
  check(
      to_source<"constrained_layers">(evaluate_to<Samples>, mesh, constrained),
      [&] { return evaluate<Samples>(mesh, constrained); },
      FROZEN(constrained_layers{}(x, up, down)));
  check(
      to_source<"few_messages">(evaluate_to<Samples>, mesh, e, FarApart{}),
      [&] { return evaluate<Samples>(mesh, e, FarApart{}); }, FROZEN(few_messages{}(x, up, down)));
  check(
      to_source<"rows">(evaluate_to<Samples>, mesh, normalized, x),
      [&] { return evaluate<Samples>(mesh, normalized, x); }, FROZEN(rows{}(x)));
  auto const z = share(lazy(x) * up);
  auto const both = std::tuple(z * 2.0F, sum<F>(z));
  using Two = Outs<Hidden, Tensor<float, Dim<S, X>>>;
  check(
      to_source<"two_results">(evaluate_to<Two>, mesh, both),
      [&] { return evaluate<Two>(mesh, both); }, FROZEN(two_results{}(x, up)));
}
TEST_CASE("functions of the user are members of what is printed") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const x = drawn<Samples>(mesh, 1);
  auto const up = drawn<Up>(mesh, 2);
  auto const e = map(bounded, lazy(x) * up) + 1.0F;
  check(
      to_source<"with_function">(evaluate_to<Hidden>, mesh, e),
      [&] { return evaluate<Hidden>(mesh, e); },
      FROZEN((with_function<decltype(bounded)>{bounded}(x, up))));
}
TEST_CASE("operations") {
  Mesh<Data> const mesh(MPI_COMM_WORLD);
  auto const q = drawn<Queries>(mesh, 1);
  auto const k = drawn<Keys>(mesh, 2);
  auto const v = drawn<Keys>(mesh, 3);
  auto const w = drawn<Weights>(mesh, 4);
  auto const labels = drawn<Labels>(mesh, 5);
  auto const e = losses(lazy(q), lazy(k), lazy(v), w, lazy(labels));
  check(
      to_source<"attention_losses">(evaluate_to<Losses>, mesh, e),
      [&] { return evaluate<Losses>(mesh, e); }, FROZEN(attention_losses{}(q, k, v, w, labels)));
}
TEST_CASE("gradients of networks of two layers") {
  Mlps::dp::run<"loss_dp">(FROZEN_OF(loss_dp));
  Mlps::megatron::run<"loss_megatron">(FROZEN_OF(loss_megatron));
  Mlps::fsdp::run<"loss_fsdp">(FROZEN_OF(loss_fsdp));
  Mlps::two::run<"loss_2d">(FROZEN_OF(loss_2d));
  Mlps::fsdp_tensor::run<"loss_fsdp_tensor">(FROZEN_OF(loss_fsdp_tensor));
}
TEST_CASE("the gradient of docs/automatic.md") {
  Mesh<Rows, Columns> const mesh(MPI_COMM_WORLD);
  auto const x = drawn<Tensor<float, Dim<Batch, Rows>, Dim<In>>>(mesh, 1);
  auto const up = drawn<Tensor<float, Dim<In, Rows>, Dim<Wide, Columns>>>(mesh, 2);
  auto const down = drawn<Tensor<float, Dim<Wide, Columns>, Dim<Out, Rows>>>(mesh, 3);
  auto const target = drawn<Tensor<float, Dim<Batch, Rows>, Dim<Out>>>(mesh, 4);
  auto const g = value_and_grad<1, 2>(SquaredLoss{});
  check(
      to_source<"squared_loss">(mesh, g, x, up, down, target),
      [&] { return evaluate(mesh, g, x, up, down, target); },
      FROZEN(squared_loss{}(x, up, down, target)));
}

TEST_CASE("sizes that are known at run time") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 21}, 1);
  auto const b = any<Bc>(mesh, {21, 19}, 2);
  auto const c = any<Ca>(mesh, {19, 37}, 3);
  auto const g = value_and_grad<0, 1>([](auto const& x, auto const& y, auto const& z) {
    return mean(square(matmul(x, y) - transpose<A, C>(z)));
  });
  check(
      to_source<"open_gradient">(mesh, g, a, b, c), [&] { return evaluate(mesh, g, a, b, c); },
      FROZEN(open_gradient{}(a, b, c)));
  using Named =
      Outs<Tensor<float>, Tensor<float, Dim<B>, Dim<A, Q>>, Tensor<float, Dim<C, P>, Dim<B>>>;
  check(
      to_source<"named_gradient">(evaluate_to<Named>, mesh, g, a, b, c),
      [&] { return evaluate<Named>(mesh, g, a, b, c); }, FROZEN(named_gradient{}(a, b, c)));
  using Square = Tensor<float, Dim<A>, Dim<D2, P>>;
  auto const chain = matmul(matmul(lazy(a), b), relabel<A, D2>(lazy(c)));
  check(
      to_source<"chain_of_three">(evaluate_to<Square>, mesh, chain),
      [&] { return evaluate<Square>(mesh, chain); }, FROZEN(chain_of_three{}(a, b, c)));
}
TEST_CASE("shapes and reductions") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 21}, 1);
  auto const gram = [](auto const& x) { return matmul(x, relabel<A, D2>(transpose<B, A>(x))); };
  using Gram = Tensor<float, Dim<D2, Q>, Dim<A, P>>;
  check(
      to_source<"gram_of">(evaluate_to<Gram>, mesh, gram, a),
      [&] { return evaluate<Gram>(mesh, gram, a); }, FROZEN(gram_of{}(a)));
  auto const scaled = [](auto const& x) {
    auto const most = max<B>(abs(x));
    return x / most + mean<A>(x) + cast<float>(all<A>(x > 2.0F));
  };
  check(
      to_source<"scaled_rows">(evaluate_to<Ab>, mesh, scaled, a),
      [&] { return evaluate<Ab>(mesh, scaled, a); }, FROZEN(scaled_rows{}(a)));
}
TEST_CASE("functions of elements") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 21}, 1);
  auto const d = any<Tensor<double, Dim<A>, Dim<B, P>>>(mesh, {37, 21}, 2);
  auto const n = any<Tensor<std::int64_t, Dim<A, P>, Dim<B>>>(mesh, {37, 21}, 3);
  auto const e = [](auto const& x) {
    return where(x > 0.25F && !(x == 1.0F), (x - (x - 2.0F)) * (x / (x * 3.0F)),
                 clip(-x, -0.5F, 0.75F)) +
           pow(abs(x) + 0.1F, 1.7F) % 0.3F;
  };
  check(
      to_source<"of_floats">(evaluate_to<Ab>, mesh, e, a), [&] { return evaluate<Ab>(mesh, e, a); },
      FROZEN(of_floats{}(a)));
  using Doubles = Tensor<double, Dim<A, Q>, Dim<B>>;
  auto const f = [](auto const& x, auto const& k) {
    return 1.0 / 3.0 + log(x * x + 1e-300) - cast<double>(k) * 0.1;
  };
  check(
      to_source<"of_doubles">(evaluate_to<Doubles>, mesh, f, d, n),
      [&] { return evaluate<Doubles>(mesh, f, d, n); }, FROZEN(of_doubles{}(d, n)));
  using Integers = Tensor<std::int64_t, Dim<A, Q>, Dim<B>>;
  auto const m = [](auto const& x, auto const& k) {
    return where(isclose(x, 0.5, 0.2), floor_divide(k * 7, 3), -k % 4);
  };
  check(
      to_source<"of_integers">(evaluate_to<Integers>, mesh, m, d, n),
      [&] { return evaluate<Integers>(mesh, m, d, n); }, FROZEN(of_integers{}(d, n)));
}
TEST_CASE("operations on split dims") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 2100}, 1);
  auto const s = softmax<B>(lazy(a));
  check(
      to_source<"softmax_rows">(evaluate_to<Ab>, mesh, s), [&] { return evaluate<Ab>(mesh, s); },
      FROZEN(softmax_rows{}(a)));
  auto const c = cumsum<B>(lazy(a));
  check(
      to_source<"sums_so_far">(evaluate_to<Ab>, mesh, c), [&] { return evaluate<Ab>(mesh, c); },
      FROZEN(sums_so_far{}(a)));
  using Row = Tensor<float, Dim<A, P>>;
  auto const l = [](auto const& x) { return logsumexp<B>(x) + var<B>(x); };
  check(
      to_source<"row_totals">(evaluate_to<Row>, mesh, l, a),
      [&] { return evaluate<Row>(mesh, l, a); }, FROZEN(row_totals{}(a)));
}
TEST_CASE("many results, and values beside a loss") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 21}, 1);
  auto const x = share(lazy(a));
  auto const ten = std::tuple(x + 1.0F, x + 2.0F, x + 3.0F, x + 4.0F, x + 5.0F, x + 6.0F, x + 7.0F,
                              x + 8.0F, x + 9.0F, x * 2.0F);
  using Ten = Outs<Ab, Ab, Ab, Ab, Ab, Ab, Ab, Ab, Ab, Tensor<float, Dim<B>, Dim<A>>>;
  check(
      to_source<"ten_results">(evaluate_to<Ten>, mesh, ten),
      [&] { return evaluate<Ten>(mesh, ten); }, FROZEN(ten_results{}(a)));
}

namespace {
// A transformer block between an embedding and a loss.
constexpr auto block_loss = [](auto const& table, auto const& gain, auto const& wq, auto const& wk,
                               auto const& wv, auto const& wo, auto const& up, auto const& down,
                               auto const& bias, auto const& ids, auto const& targets) {
  auto const x = nn::embedding<Tokens>(table, ids);
  auto const a = nn::rms_norm<Model>(x, gain);
  auto const q = nn::rotary<Seq, Width>(einsum<B, Seq, Heads, Width>(a, wq));
  auto const k = nn::rotary<Seq, Width>(einsum<B, Seq, Heads, Width>(a, wk));
  auto const v = einsum<B, Seq, Heads, Width>(a, wv);
  auto const mixed = nn::attention(q, k, v, {.causal = true});
  auto const h = (einsum<B, Seq, Model>(mixed, wo) + x).tensor();
  auto const wide = gelu(matmul(nn::layer_norm<Model>(h, gain, bias), up)).tensor();
  auto const y = (matmul(wide, down) + h).tensor();
  return mean(nn::cross_entropy<Tokens>(matmul(softmax<Model>(y), transpose<Model, Tokens>(table)),
                                        targets));
};
}  // namespace

TEST_CASE("a block of a transformer with its gradient") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  using Ids = Tensor<std::int64_t, Dim<B, P>, Dim<Seq>>;
  auto const table = any<Tensor<double, Dim<Tokens, Q>, Dim<Model>>>(mesh, {11, 12}, 1);
  auto const gain = any<Tensor<double, Dim<Model>>>(mesh, {12}, 2);
  using Head = Tensor<double, Dim<Model, P>, Dim<Heads, Q>, Dim<Width>>;
  auto const wq = any<Head>(mesh, {12, 4, 6}, 3);
  auto const wk = any<Head>(mesh, {12, 4, 6}, 4);
  auto const wv = any<Head>(mesh, {12, 4, 6}, 5);
  auto const wo =
      any<Tensor<double, Dim<Heads, Q>, Dim<Width>, Dim<Model, P>>>(mesh, {4, 6, 12}, 6);
  auto const up = any<Tensor<double, Dim<Model, P>, Dim<Inner, Q>>>(mesh, {12, 26}, 7);
  auto const down = any<Tensor<double, Dim<Inner, Q>, Dim<Model, P>>>(mesh, {26, 12}, 8);
  auto const bias = any<Tensor<double, Dim<Model>>>(mesh, {12}, 9);
  auto const ids = any<Ids>(mesh, {6, 9}, 10);
  auto const targets = any<Ids>(mesh, {6, 9}, 11);
  auto const g = value_and_grad<0, 1, 2, 3, 4, 5, 6, 7, 8>(block_loss);
  check(
      to_source<"block">(mesh, g, table, gain, wq, wk, wv, wo, up, down, bias, ids, targets),
      [&] { return evaluate(mesh, g, table, gain, wq, wk, wv, wo, up, down, bias, ids, targets); },
      FROZEN(block{}(table, gain, wq, wk, wv, wo, up, down, bias, ids, targets)));
}
TEST_CASE("what has no text as strict code") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  auto const a = any<Ab>(mesh, {37, 40'000}, 1);
  auto const gain = any<Tensor<float, Dim<B>>>(mesh, {40'000}, 2);
  // its totals are exchanged: gathered rows would be 74,000 times larger
  auto const normed = [](auto const& x, auto const& w) { return nn::rms_norm<B>(x, w); };
  CHECK(planned(evaluate_to<Ab>, mesh, normed(lazy(a), lazy(gain)))
            .plan.count(Collective::all_reduce) == 1);
  CHECK(on_ranks::code_of([&] {
          static_cast<void>(to_source<"none">(evaluate_to<Ab>, mesh, normed, a, gain));
        }) == "E86");
  // a cotangent of a sum over ranks begins like no other value
  auto const g = value_and_grad<0>([](auto const& x) { return sum(x); });
  using Unfinished = Outs<Tensor<float, Unreduced<P>>, Tensor<float, Dim<A, P>, Dim<B, Q>>>;
  CHECK(on_ranks::code_of([&] {
          static_cast<void>(to_source<"none">(evaluate_to<Unfinished>, mesh, g, a));
        }) == "E86");
}
TEST_CASE("variables are not called as indices and axes are") {
  Any const mesh(MPI_COMM_WORLD, {2, 4});
  struct a_2 : Index<"small"> {};
  struct t1 : Index<"t"> {};
  using Small = Tensor<float, Dim<a_2, P>, Dim<t1>>;
  auto const x = any<Small>(mesh, {12, 7}, 1);
  using Whole = Tensor<float, Dim<a_2>, Dim<t1>>;
  std::string const text =
      to_source<"small">(evaluate_to<Whole>, mesh, [](auto const& v) { return exp(v); }, x);
  INFO(text);
  CHECK(text.find("auto const t1_ = exp(") != std::string::npos);
  CHECK(text.find("type<Tensor<float, Dim<a_2, P>, Dim<t1>>>") != std::string::npos);
  CHECK(text.find("auto const a_2 =") == std::string::npos);
}
