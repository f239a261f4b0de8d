// A transformer block and its layers whose products are overlapped with their communication, beside
// the same layers on whole tensors: values and gradients, uneven and empty, in each Overlap; plans,
// and what is sent.
// RANKS: 1 2 3 4 8
// TIMEOUT: 300
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct G : Index<"G"> {};
struct F : Index<"F"> {};
struct M : Index<"M"> {};

constexpr std::array ways{Overlap::none, Overlap::ring, Overlap::bidirectional, Overlap::shared,
                          Overlap::automatic};

// The gradients of parameters are summed over both axes, or nobody says so.
using Summed = nn::Overlapped<Reduced<X, Y>>;
using Unsummed = nn::Overlapped<>;

// Types of a block; `Ys` split heads and hidden features.
template <class E, class... Ys>
struct Types {
  using Vec = Tensor<E, Dim<D>>;
  using Heads = Tensor<E, Dim<D>, Dim<H, Ys...>, Dim<F>>;
  using Groups = Tensor<E, Dim<D>, Dim<G, Ys...>, Dim<F>>;
  using Out = Tensor<E, Dim<H, Ys...>, Dim<F>, Dim<D>>;
  using Up = Tensor<E, Dim<D>, Dim<M, Ys...>>;
  using Hidden = Tensor<E, Dim<M, Ys...>>;
  using Down = Tensor<E, Dim<M, Ys...>, Dim<D>>;
  template <template <class> class As>
  struct Block {
    nn::Norm<As, Vec> norm1;
    nn::Attention<As, Heads, Heads, Out> attention;
    nn::Norm<As, Vec> norm2;
    nn::Mlp<As, Up, Hidden, Down, Vec> mlp;
  };
  // norms without bias, grouped queries, a gated mlp
  template <template <class> class As>
  struct Gain {
    As<Vec> gain;
  };
  template <template <class> class As>
  struct Gated {
    Gain<As> norm1;
    nn::Attention<As, Heads, Groups, Out> attention;
    Gain<As> norm2;
    nn::GatedMlp<As, Up, Down> mlp;
  };
};
template <class E>
using Rows = Tensor<E, Dim<B, X>, Dim<S, Y>, Dim<D>>;
template <class E>
using Whole = Tensor<E, Dim<B>, Dim<S>, Dim<D>>;

struct Case {
  std::int64_t b, s, d, h, g, f, m;
};
std::array<std::int64_t, 3> rows(Case const& c) { return {c.b, c.s, c.d}; }

template <class A, class M>
A draw(M const& mesh, std::array<std::int64_t, A::rank> const& extents, std::uint64_t key) {
  using E = typename A::element;
  return normal<A>(mesh, extents, RandomKey{key}, E(0), E(0.5));
}
template <class T, class M>
auto block_of(M const& mesh, Case const& c) {
  using P = typename T::template Block<value_t>;
  auto const vec = [&](std::uint64_t key) { return draw<typename T::Vec>(mesh, {c.d}, key); };
  auto const heads = [&](std::uint64_t key) {
    return draw<typename T::Heads>(mesh, {c.d, c.h, c.f}, key);
  };
  return P{{vec(1), vec(2)},
           {heads(3), heads(4), heads(5), draw<typename T::Out>(mesh, {c.h, c.f, c.d}, 6)},
           {vec(7), vec(8)},
           {draw<typename T::Up>(mesh, {c.d, c.m}, 9), draw<typename T::Hidden>(mesh, {c.m}, 10),
            draw<typename T::Down>(mesh, {c.m, c.d}, 11), vec(12)}};
}
template <class T, class M>
auto gated_of(M const& mesh, Case const& c) {
  using P = typename T::template Gated<value_t>;
  auto const groups = [&](std::uint64_t key) {
    return draw<typename T::Groups>(mesh, {c.d, c.g, c.f}, key);
  };
  auto const up = [&](std::uint64_t key) { return draw<typename T::Up>(mesh, {c.d, c.m}, key); };
  return P{{draw<typename T::Vec>(mesh, {c.d}, 1)},
           {draw<typename T::Heads>(mesh, {c.d, c.h, c.f}, 3), groups(4), groups(5),
            draw<typename T::Out>(mesh, {c.h, c.f, c.d}, 6)},
           {draw<typename T::Vec>(mesh, {c.d}, 7)},
           {up(9), up(10), draw<typename T::Down>(mesh, {c.m, c.d}, 11)}};
}

constexpr nn::AttentionOptions causal{.causal = true};

// The same block on whole tensors, of the functions without Overlap.
constexpr auto dense = [](auto const& p, auto const& x) {
  auto const norm = [](auto const& a, auto const& n) {
    if constexpr (requires { n.bias; }) {
      return nn::layer_norm<D>(a, n);
    } else {
      return nn::rms_norm<D>(a, n.gain);
    }
  };
  auto const y =
      (x + nn::self_attention(norm(x, p.norm1), p.attention, nn::Use<>{}, causal)).tensor();
  if constexpr (requires { p.mlp.w1; }) {
    return (y + nn::mlp(norm(y, p.norm2), p.mlp)).tensor();
  } else {
    return (y + nn::gated_mlp(norm(y, p.norm2), p.mlp)).tensor();
  }
};

// The largest difference relative to the largest element.
template <class A, class C>
double distance(A const& a, C const& b) {
  auto const ours = to_host(a);
  auto const theirs = to_host(b);
  if (ours.size() != theirs.size()) return 1e300;
  double most = 0, scale = 1;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    double const d = std::abs(static_cast<double>(ours[k]) - static_cast<double>(theirs[k]));
    most = std::isnan(d) ? 1e300 : std::max(most, d);
    scale = std::max(scale, std::abs(static_cast<double>(theirs[k])));
  }
  return most / scale;
}
template <class N, class O>
void same_norm(N const& a, O const& b, double bound) {
  CHECK(distance(a.gain, b.gain) < bound);
  if constexpr (requires { a.bias; }) CHECK(distance(a.bias, b.bias) < bound);
}
template <class P, class Q>
void same_block(P const& a, Q const& b, double bound) {
  same_norm(a.norm1, b.norm1, bound);
  same_norm(a.norm2, b.norm2, bound);
  CHECK(distance(a.attention.q, b.attention.q) < bound);
  CHECK(distance(a.attention.k, b.attention.k) < bound);
  CHECK(distance(a.attention.v, b.attention.v) < bound);
  CHECK(distance(a.attention.out, b.attention.out) < bound);
  if constexpr (requires { a.mlp.w1; }) {
    CHECK(distance(a.mlp.w1, b.mlp.w1) < bound);
    CHECK(distance(a.mlp.b1, b.mlp.b1) < bound);
    CHECK(distance(a.mlp.w2, b.mlp.w2) < bound);
    CHECK(distance(a.mlp.b2, b.mlp.b2) < bound);
  } else {
    CHECK(distance(a.mlp.gate, b.mlp.gate) < bound);
    CHECK(distance(a.mlp.up, b.mlp.up) < bound);
    CHECK(distance(a.mlp.down, b.mlp.down) < bound);
  }
}

std::int64_t all_bytes() {
  std::int64_t const mine = shim::bytes() + runtime::run_time.exchanged_in_windows;
  std::int64_t all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Values, gradients and bytes of a block in each Overlap, beside it on whole tensors.
template <class E, class Model, class DenseModel>
void check_block(Mesh<X, Y> const& mesh, Case const& c, Model const& model, DenseModel const& whole,
                 double bound) {
  CAPTURE(c.b, c.s, c.d, c.h, c.m);
  auto const x = draw<Rows<E>>(mesh, rows(c), 20);
  auto const in = draw<Whole<E>>(mesh, rows(c), 20);
  auto const expected = dense(whole, in);
  auto const [value, expected_gradients] = value_and_grad<0, 1>(
      [](auto const& p, auto const& a) { return sum<Tensor<E>>(square(dense(p, a))); })(whole, in);
  auto const& [of_whole, of_in] = expected_gradients;
  std::int64_t bytes = 0;
  for (Overlap const how : ways) {
    CAPTURE(static_cast<int>(how));
    auto const y = nn::transformer_block(x, model, Summed{how}, causal);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, Rows<E>>);
    CHECK(distance(y, expected) < bound);
    auto const both = value_and_grad<0, 1>([&](auto const& p, auto const& a) {
      return sum<Tensor<E>>(square(nn::transformer_block(a, p, Summed{how}, causal)));
    });
    if (how == Overlap::shared)
      (void)both(model, x);  // the ranks agree on a larger window by messages
    shim::reset();
    runtime::run_time.exchanged_in_windows = 0;
    auto const [loss, gradients] = both(model, x);
    std::int64_t const sent = all_bytes();
    auto const& [of_model, of_x] = gradients;
    CHECK(distance(of_x, of_in) < bound);
    same_block(of_model, of_whole, bound);
    CHECK(distance(loss, value) < bound);
    if (how == Overlap::none) bytes = sent;
    CHECK(sent == bytes);
  }
}

// Types and plans, on types alone: 2 x 4 ranks.
namespace proofs {
struct X2 : Axis<"X2", 2> {};
struct Y4 : Axis<"Y4", 4> {};
struct Bs : Index<"Bs", 6> {};
struct Ss : Index<"Ss", 10> {};
struct Ds : Index<"Ds", 16> {};
struct Hs : Index<"Hs", 8> {};
struct Fs : Index<"Fs", 2> {};
struct Ms : Index<"Ms", 30> {};
using In = Tensor<float, Dim<Bs, X2>, Dim<Ss, Y4>, Dim<Ds>>;
using Vec = Tensor<float, Dim<Ds>>;
using Heads = Tensor<float, Dim<Ds>, Dim<Hs, Y4>, Dim<Fs>>;
using Out = Tensor<float, Dim<Hs, Y4>, Dim<Fs>, Dim<Ds>>;
template <template <class> class As>
struct Block {
  nn::Norm<As, Vec> norm1;
  nn::Attention<As, Heads, Heads, Out> attention;
  nn::Norm<As, Vec> norm2;
  nn::Mlp<As, Tensor<float, Dim<Ds>, Dim<Ms, Y4>>, Tensor<float, Dim<Ms, Y4>>,
          Tensor<float, Dim<Ms, Y4>, Dim<Ds>>, Vec>
      mlp;
};
inline constexpr auto block = [](auto const& x, auto const& p) {
  return nn::transformer_block(x, p, nn::Overlapped<Reduced<X2, Y4>>{Overlap::ring}, causal);
};
inline constexpr auto loss = [](auto const& p, auto const& x) {
  return sum<Tensor<float>>(square(block(x, p)));
};
inline constexpr auto both = plan(value_and_grad<0, 1>(loss), type<Block<value_t>>, type<In>);
static_assert(both.forward.count(Collective::all_gather) == 2);
static_assert(both.forward.count(Collective::reduce_scatter) == 2);
static_assert(both.forward.collectives() == 6);  // and the loss, over two axes
static_assert(both.backward.count(Collective::all_gather) == 4);
static_assert(both.backward.count(Collective::reduce_scatter) == 2);
// of q, k and v together, out, w1, b1 and w2 over X2; of five vectors over both axes
static_assert(both.backward.count(Collective::all_reduce) == 5 + 2 * 5);

// what x w is, where w splits the features over the axis that splits x
template <class A, class W>
using made = nn::detail::layer_features<A, W>;
using Wide = Tensor<float, Dim<Ds>, Dim<Ms, Y4>>;
static_assert(std::is_same_v<made<In, Wide>, Tensor<float, Dim<Bs, X2>, Dim<Ss>, Dim<Ms, Y4>>>);
static_assert(std::is_same_v<made<Tensor<float, Dim<Bs, X2>, Dim<Ds, Y4>>, Wide>,
                             Tensor<float, Dim<Bs, X2>, Dim<Ms, Y4>>>);
static_assert(std::is_same_v<made<In, Tensor<float, Dim<Ds>, Dim<Ms>>>,
                             Tensor<float, Dim<Bs, X2>, Dim<Ss, Y4>, Dim<Ms>>>);
static_assert(std::is_same_v<made<Tensor<float, Dim<Ss, X2, Y4>, Dim<Ds>>, Wide>,
                             Tensor<float, Dim<Ss, X2>, Dim<Ms, Y4>>>);
}  // namespace proofs

}  // namespace

TEST_CASE("a transformer block is that of whole tensors, and so are its gradients") {
  int number = 0;
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (Case const& c :
         {Case{3, 7, 6, 4, 4, 2, 9}, Case{2, 16, 4, 8, 8, 3, 16}, Case{1, 5, 3, 3, 3, 2, 5},
          Case{4, 1, 4, 2, 2, 2, 3}, Case{5, 33, 8, 5, 5, 4, 21}}) {
      if (on_ranks::rank_total() > 4 && number++ % 2 == 1) continue;
      check_block<double>(mesh, c, block_of<Types<double, Y>>(mesh, c),
                          block_of<Types<double>>(mesh, c), 1e-11);
    }
  }
}

TEST_CASE("layers that send nothing, in automatic mode, and by their former names") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Case const c{3, 7, 6, 4, 4, 2, 9};
  auto const whole = block_of<Types<double>>(mesh, c);
  auto const in = draw<Whole<double>>(mesh, rows(c), 20);
  auto const expected = dense(whole, in);
  CHECK(distance(nn::transformer_block(in, whole, nn::Use<>{}, causal), expected) < 1e-13);
  CHECK(distance(nn::transformer_block(in, whole, Unsummed{}, causal), expected) < 1e-13);
  // the planner chooses what is sent, whatever the layer says
  CHECK(distance(evaluate<Rows<double>>(mesh, nn::mlp(lazy(in), whole.mlp, Summed{})),
                 nn::mlp(in, whole.mlp)) < 1e-12);
  CHECK(distance(evaluate<Rows<double>>(
                     mesh, nn::gated_mlp(lazy(in), gated_of<Types<double>>(mesh, c).mlp, Summed{})),
                 nn::gated_mlp(in, gated_of<Types<double>>(mesh, c).mlp)) < 1e-12);
  auto const mixed = nn::self_attention(in, whole.attention, nn::Use<>{}, causal);
  CHECK(distance(evaluate<Rows<double>>(
                     mesh, nn::self_attention(lazy(in), whole.attention, Summed{}, causal)),
                 mixed) < 1e-12);
  auto const x = draw<Rows<double>>(mesh, rows(c), 20);
  auto const model = block_of<Types<double, Y>>(mesh, c);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  auto const former = value_and_grad<0>([](auto const& p, auto const& a) {
    return sum<Tensor<double>>(square(nn::transformer_block(a, p, Overlap::ring, causal)));
  })(model, x);
#pragma GCC diagnostic pop
  auto const now = value_and_grad<0>([](auto const& p, auto const& a) {
    return sum<Tensor<double>>(square(nn::transformer_block(a, p, Summed{Overlap::ring}, causal)));
  })(model, x);
  auto const& [former_loss, former_gradient] = former;
  auto const& [loss, gradient] = now;
  CHECK(item(former_loss) == item(loss));
  same_block(former_gradient, gradient, 1e-15);
}

// Attention with biases, of three weights or of one.
struct Q : Index<"Q", 3> {};
template <class E, class... Ys>
struct Biased {
  using T = Types<E, Ys...>;
  using Bias = Tensor<E, Dim<H, Ys...>, Dim<F>>;
  using W = Tensor<E, Dim<Q>, Dim<D>, Dim<H, Ys...>, Dim<F>>;
  template <template <class> class As>
  using Separate = nn::Attention<As, typename T::Heads, typename T::Heads, typename T::Out, Bias,
                                 Bias, typename T::Vec>;
  template <template <class> class As>
  using Fused = nn::FusedAttention<As, W, typename T::Out, Tensor<E, Dim<Q>, Dim<H, Ys...>, Dim<F>>,
                                   typename T::Vec>;
  static auto separate(Mesh<X, Y> const& mesh, Case const& c) {
    auto const heads = [&](std::uint64_t key) {
      return draw<typename T::Heads>(mesh, {c.d, c.h, c.f}, key);
    };
    auto const bias = [&](std::uint64_t key) { return draw<Bias>(mesh, {c.h, c.f}, key); };
    return Separate<value_t>{
        heads(3), heads(4), heads(5), draw<typename T::Out>(mesh, {c.h, c.f, c.d}, 6),
        bias(7),  bias(8),  bias(9),  draw<typename T::Vec>(mesh, {c.d}, 10)};
  }
  static auto fused(Separate<value_t> const& p) {
    return Fused<value_t>{stack<Q>(p.q, p.k, p.v), p.out, stack<Q>(p.q_bias, p.k_bias, p.v_bias),
                          p.out_bias};
  }
};

TEST_CASE("attention with biases, of separate and of fused weights") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& c : {Case{3, 7, 6, 5, 5, 2, 9}, Case{1, 2, 4, 3, 3, 4, 2}}) {
    auto const whole = Biased<double>::separate(mesh, c);
    auto const model = Biased<double, Y>::separate(mesh, c);
    auto const fused = Biased<double, Y>::fused(model);
    auto const in = draw<Whole<double>>(mesh, rows(c), 20);
    auto const x = draw<Rows<double>>(mesh, rows(c), 20);
    auto const of_functions = [](auto const& p, auto const& a) {
      auto const mixed = nn::attention(matmul(a, p.q) + p.q_bias, matmul(a, p.k) + p.k_bias,
                                       matmul(a, p.v) + p.v_bias, causal);
      return einsum<B, S, D>(mixed, p.out) + p.out_bias;
    };
    auto const expected = of_functions(whole, in).tensor();
    auto const [loss, of_whole] = value_and_grad<0>([&](auto const& p, auto const& a) {
      return sum<Tensor<double>>(square(of_functions(p, a)));
    })(whole, in);
    auto const same_gradient = [&, &g = of_whole](auto const& a) {
      CHECK(distance(a.q, g.q) < 1e-11);
      CHECK(distance(a.k, g.k) < 1e-11);
      CHECK(distance(a.v, g.v) < 1e-11);
      CHECK(distance(a.out, g.out) < 1e-11);
      CHECK(distance(a.q_bias, g.q_bias) < 1e-11);
      CHECK(distance(a.v_bias, g.v_bias) < 1e-11);
      CHECK(distance(a.out_bias, g.out_bias) < 1e-11);
    };
    // the bias of keys adds the same to all scores of a query: its gradient is 0
    auto const same_fused = [&, &g = of_whole](auto const& a) {
      CHECK(distance(at<Q>(a.qkv, 0), g.q) < 1e-11);
      CHECK(distance(at<Q>(a.qkv, 1), g.k) < 1e-11);
      CHECK(distance(at<Q>(a.qkv, 2), g.v) < 1e-11);
      CHECK(distance(at<Q>(a.qkv_bias, 0), g.q_bias) < 1e-11);
      CHECK(distance(at<Q>(a.qkv_bias, 2), g.v_bias) < 1e-11);
      CHECK(distance(a.out_bias, g.out_bias) < 1e-11);
    };
    auto const of = [](auto const& how) {
      return value_and_grad<0>([how](auto const& p, auto const& a) {
        return sum<Tensor<double>>(square(nn::self_attention(a, p, how, causal)));
      });
    };
    CHECK(distance(nn::self_attention(in, whole, nn::Use<>{}, causal), expected) < 1e-13);
    same_gradient(of(nn::Use<>{})(whole, in).grad);
    same_fused(of(nn::Use<>{})(Biased<double>::fused(whole), in).grad);
    for (Overlap const how : {Overlap::none, Overlap::ring}) {
      CHECK(distance(nn::self_attention(x, model, Summed{how}, causal), expected) < 1e-13);
      CHECK(distance(nn::self_attention(x, fused, Summed{how}, causal), expected) < 1e-13);
      same_gradient(of(Summed{how})(model, x).grad);
      same_fused(of(Summed{how})(fused, x).grad);
    }
    // heads split, the result named
    nn::Use<Reduced<Y>> const use;
    CHECK(distance(nn::self_attention<Whole<double>>(use(in), model, nn::Use<>{}, causal),
                   expected) < 1e-13);
    CHECK(distance(nn::self_attention<Whole<double>>(use(in), fused, nn::Use<>{}, causal),
                   expected) < 1e-13);
    CHECK(distance(
              evaluate<Rows<double>>(mesh, nn::self_attention(lazy(in), fused, Summed{}, causal)),
              expected) < 1e-12);
    CHECK(distance(
              evaluate<Rows<double>>(mesh, nn::self_attention(lazy(in), model, Summed{}, causal)),
              expected) < 1e-12);
  }
}

TEST_CASE("grouped queries, gated mlps, norms without bias") {
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    std::int64_t const p = sizes[1];
    for (Case const& c : {Case{3, 7, 6, 4 * p, 2 * p, 2, 9}, Case{2, 9, 5, 3 * p, p, 4, 7}})
      check_block<double>(mesh, c, gated_of<Types<double, Y>>(mesh, c),
                          gated_of<Types<double>>(mesh, c), 1e-11);
    if (p == 1) continue;
    // groups whose heads do not lie on one rank
    Case const odd{2, 4, 3, 2 * (p + 1), p + 1, 2, 4};
    auto const model = gated_of<Types<double, Y>>(mesh, odd);
    auto const x = draw<Rows<double>>(mesh, rows(odd), 20);
    CHECK(on_ranks::code_of(
              [&] { (void)nn::transformer_block(x, model, Summed{Overlap::ring}); }) == "E40");
  }
}

TEST_CASE("float, and bfloat16") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Case const c{3, 10, 6, 5, 5, 2, 11};
  check_block<float>(mesh, c, block_of<Types<float, Y>>(mesh, c), block_of<Types<float>>(mesh, c),
                     2e-4);
  auto const x = cast<bfloat16>(draw<Rows<float>>(mesh, rows(c), 20));
  auto const model = block_of<Types<float, Y>>(mesh, c);
  auto const w1 = cast<bfloat16>(model.mlp.w1);
  auto const w2 = cast<bfloat16>(model.mlp.w2);
  auto const run = [&](Overlap how) {
    return nn::linear<Dim<B, X>, Dim<S, Y>, Dim<D>>(nn::linear(x, w1, Unsummed{how}), w2,
                                                    Unsummed{how});
  };
  for (Overlap const how : ways) CHECK(distance(run(how), run(Overlap::none)) < 0.02);
}

namespace {

using Split = Tensor<double, Dim<B, X>, Dim<D, Y>>;
using Up = Tensor<double, Dim<D>, Dim<M, Y>>;
using Down = Tensor<double, Dim<M, Y>, Dim<D>>;
using Hidden = Tensor<double, Dim<M, Y>>;
using Bias = Tensor<double, Dim<D, Y>>;

}  // namespace

TEST_CASE("features that are split between the products, and numeric gradients") {
  for (auto const& sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    auto const x = draw<Split>(mesh, {5, 7}, 1);
    nn::Mlp<value_t, Up, Hidden, Down, Bias> const p{
        draw<Up>(mesh, {7, 9}, 2), draw<Hidden>(mesh, {9}, 3), draw<Down>(mesh, {9, 7}, 4),
        draw<Bias>(mesh, {7}, 5)};
    using W = Types<double>;
    nn::Mlp<value_t, W::Up, W::Hidden, W::Down, W::Vec> const whole{
        draw<W::Up>(mesh, {7, 9}, 2), draw<W::Hidden>(mesh, {9}, 3), draw<W::Down>(mesh, {9, 7}, 4),
        draw<W::Vec>(mesh, {7}, 5)};
    auto const expected = nn::mlp(draw<Tensor<double, Dim<B>, Dim<D>>>(mesh, {5, 7}, 1), whole);
    for (Overlap const how : ways) {
      auto const y = nn::mlp(x, p, Unsummed{how});
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, Split>);
      CHECK(distance(y, expected) < 1e-12);
      // named: the sums are whole on each rank
      auto const named = nn::mlp<Dim<B, X>, Dim<D>>(
          x, nn::Mlp<value_t, Up, Hidden, Down, W::Vec>{p.w1, p.b1, p.w2, whole.b2}, Unsummed{how});
      CHECK(distance(named, expected) < 1e-12);
    }
    for (Overlap const how : {Overlap::ring, Overlap::automatic})
      check_grads(
          [&](auto const& a, auto const& w1, auto const& b1, auto const& w2, auto const& b2) {
            auto const h =
                gelu_tanh(nn::linear(a, w1, Summed{how}) + used_as<Reduced<X>>(b1)).tensor();
            return (nn::linear<Dim<B, X>, Dim<D, Y>>(h, w2, Summed{how}) + used_as<Reduced<X>>(b2))
                .tensor();
          },
          x, p.w1, p.b1, p.w2, p.b2);
  }
}

TEST_CASE("the backward pass is a ring as well") {
  int const p = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  if (p < 2) return;
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {1, p});
  std::int64_t const s = 2 * p - 1;  // the last block has one row, the others two
  auto const h = draw<Tensor<double, Dim<B, X>, Dim<S>, Dim<M, Y>>>(mesh, {3, s, 2 * p}, 1);
  auto const x = draw<Rows<double>>(mesh, {3, s, 4}, 2);
  auto const w = draw<Down>(mesh, {2 * p, 4}, 3);
  auto const up = draw<Up>(mesh, {4, 2 * p}, 4);
  std::int64_t const row = 3 * 4 * 8;  // bytes of a position
  auto const backward = [&](auto const& loss, auto const&... as) {
    auto const [value, pull] = vjp(loss, as...);
    shim::reset();
    (void)pull(full_like(value, 1.0));
    return shim::bytes();
  };
  // of a named sum: an all_gather of the cotangent, with which both operands' are made. Without a
  // ring the last rank counts what it receives, with one what it sends: all rows but those of the
  // next rank.
  auto const down = [&](Overlap how) {
    return [how](auto const& a, auto const& v) {
      return nn::linear<Dim<B, X>, Dim<S, Y>, Dim<D>>(a, v, Summed{how});
    };
  };
  std::int64_t const gathered = backward(down(Overlap::none), h, w);
  std::int64_t const ring = backward(down(Overlap::ring), h, w);
  if (me == p - 1) CHECK(gathered == row * (s - 1));
  if (me == p - 1) CHECK(ring == row * (s - 2));
  // in shared memory nothing is sent
  if (mesh.state().window().possible()) CHECK(backward(down(Overlap::shared), h, w) == 0);
  // of a gathered operand: its cotangent is a sum that is scattered, and it is gathered again for
  // that of w
  auto const into = [&](Overlap how) {
    return [how](auto const& a, auto const& v) { return nn::linear(a, v, Summed{how}); };
  };
  std::int64_t const plain = backward(into(Overlap::none), x, up);
  std::int64_t const rings = backward(into(Overlap::ring), x, up);
  if (me == p - 1) CHECK(plain == row * (s - 1) + row * (s - 1));
  if (me == p - 1) CHECK(rings == row * (s - 2) + row * (s - 1));
}
