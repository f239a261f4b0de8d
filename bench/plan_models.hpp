#pragma once
// Programs of automatic mode on a mesh of 2 x 4 whose values have several readers: models, their
// gradients by hand, and operations on split rows. bench/plans.cpp prints their plans beside JAX's,
// tests/unit/proven_plans.cpp checks which of them are proven the best.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

#include "plan_sizes.hpp"

namespace plan_models {

using namespace shardtype;

template <class Use>
void gated(Use const& use) {
  using In = Tensor<float, Dim<S, X>, Dim<D, Y>>;
  using Up = Tensor<float, Dim<D, X>, Dim<F, Y>>;
  using Down = Tensor<float, Dim<F, Y>, Dim<E, X>>;
  plan_models::planned<In, Up, Up, Down>(use, "gated_mlp", [](auto x, auto g, auto u, auto d) {
    return evaluate<Dim<S, X>, Dim<E, Y>>(silu(x * g) * (x * u) * d);
  });
  plan_models::planned<In, Up, Up, Down>(
      use, "gated_mlp_shared", [](auto given, auto g, auto u, auto d) {
        auto const x = share(given);
        return evaluate<Dim<S, X>, Dim<E, Y>>(silu(x * g) * (x * u) * d);
      });
  using Rows = Tensor<float, Dim<S, X, Y>, Dim<D>>;
  using UpRows = Tensor<float, Dim<D, X, Y>, Dim<F>>;
  using DownRows = Tensor<float, Dim<F, X, Y>, Dim<E>>;
  plan_models::planned<Rows, UpRows, UpRows, DownRows>(
      use, "gated_mlp_fsdp", [](auto x, auto g, auto u, auto d) {
        return evaluate<Dim<S, X, Y>, Dim<E>>(silu(x * g) * (x * u) * d);
      });
}

/// The gradients of relu(x u) d with respect to u and d, by hand.
template <class In, class Up, class Down, class Use>
void gradients(Use const& use, char const* name) {
  plan_models::planned<In, Up, Down, Tensor<float, Dim<S, X>, Dim<E>>>(
      use, name, [](auto x, auto u, auto d, auto g) {
        auto const z = share(einsum<S, F>(x, u));
        auto const h = share(max(z, 0.0F));
        auto const dh = einsum<S, F>(g, d);
        auto const dz = share(where(z > 0.0F, dh, 0.0F * dh));
        return evaluate<Outs<Up, Down>>(std::tuple(einsum<D, F>(x, dz), einsum<F, E>(h, g)));
      });
}
template <class Use>
void all_gradients(Use const& use) {
  using InRows = Tensor<float, Dim<S, X, Y>, Dim<D>>;
  plan_models::gradients<InRows, Tensor<float, Dim<D>, Dim<F>>, Tensor<float, Dim<F>, Dim<E>>>(
      use, "grad_dp");
  plan_models::gradients<Tensor<float, Dim<S, X>, Dim<D>>, Tensor<float, Dim<D>, Dim<F, Y>>,
                         Tensor<float, Dim<F, Y>, Dim<E>>>(use, "grad_megatron");
  plan_models::gradients<InRows, Tensor<float, Dim<D, X, Y>, Dim<F>>,
                         Tensor<float, Dim<F, X, Y>, Dim<E>>>(use, "grad_fsdp");
  plan_models::gradients<Tensor<float, Dim<S, X>, Dim<D, Y>>, Tensor<float, Dim<D, X>, Dim<F, Y>>,
                         Tensor<float, Dim<F, Y>, Dim<E, X>>>(use, "grad_2d");
}

template <class Use>
void regression(Use const& use) {
  auto const f = [](auto a, auto b) {
    auto const gram = einsum<P, Q>(a, relabel<P, Q>(a));
    return linalg::solve<P, Q>(gram, einsum<P>(a, b));
  };
  plan_models::planned<Tensor<float, Dim<N, X, Y>, Dim<P>>, Tensor<float, Dim<N, X, Y>>>(
      use, "ridge_rows", [f](auto a, auto b) { return evaluate<Dim<Q>>(f(a, b)); });
  plan_models::planned<Tensor<float, Dim<N, X>, Dim<P, Y>>, Tensor<float, Dim<N, X>>>(
      use, "ridge_2d", [f](auto a, auto b) { return evaluate<Dim<Q, Y>>(f(a, b)); });
}

template <class Use>
void clusters(Use const& use) {
  auto const f = [](auto x, auto c) {
    auto const distance = sum<P>(c * c) - 2.0F * einsum<N, K>(x, c);
    auto const hot = share(one_hot<K>(argmin<K>(distance), 256));
    return einsum<K, P>(hot, x) / sum<N>(hot);
  };
  plan_models::planned<Tensor<float, Dim<N, X, Y>, Dim<P>>, Tensor<float, Dim<K>, Dim<P>>>(
      use, "kmeans_rows", [f](auto x, auto c) { return evaluate<Dim<K>, Dim<P>>(f(x, c)); });
  plan_models::planned<Tensor<float, Dim<N, X>, Dim<P, Y>>, Tensor<float, Dim<K, X>, Dim<P, Y>>>(
      use, "kmeans_2d", [f](auto x, auto c) { return evaluate<Dim<K, X>, Dim<P, Y>>(f(x, c)); });
}

struct Two : Index<"B1", 2> {};

/// Attention of groups of queries that share keys and values.
template <class B, class Use>
void grouped_queries(Use const& use, char const* name) {
  using Queries = Tensor<float, Dim<B, X>, Dim<T, Y>, Dim<G>, Dim<M>, Dim<H>>;
  using Keys = Tensor<float, Dim<B, X>, Dim<U, Y>, Dim<G>, Dim<H>>;
  plan_models::planned<Queries, Keys, Keys>(use, name, [](auto q, auto k, auto v) {
    auto const s = share(einsum<B, G, M, T, U>(q, k) * 0.125F);
    auto const w = share(exp(s - max<U>(s)));
    return evaluate<Dim<B, X>, Dim<T, Y>, Dim<G>, Dim<M>, Dim<H>>(
        einsum<B, T, G, M, H>(w / sum<U>(w), v));
  });
}

struct Z : Index<"Z", 1024> {};
struct I : Index<"I", 1024> {};
struct J : Index<"J", 1024> {};

/// One step of a long short-term memory: the new output and the new cell.
template <class A, class B, class C, class... Ws>
auto lstm_cell(A const& x, B const& h, C const& c, Ws const&... w) {
  auto const gate = [](auto const& e) { return 1.0F / (1.0F + exp(0.0F - e)); };
  auto const ws = std::tie(w...);
  auto const i = gate(x * std::get<0>(ws) + h * std::get<1>(ws));
  auto const f = gate(x * std::get<2>(ws) + h * std::get<3>(ws));
  auto const g = tanh(x * std::get<4>(ws) + h * std::get<5>(ws));
  auto const o = gate(x * std::get<6>(ws) + h * std::get<7>(ws));
  auto const next = share(f * c + i * g);
  return std::tuple(o * tanh(next), next);
}
template <class Use>
void lstm(Use const& use) {
  using In = Tensor<float, Dim<S, X>, Dim<I, Y>>;
  using Hidden = Tensor<float, Dim<S, X>, Dim<J, Y>>;
  using Cell = Tensor<float, Dim<S, X>, Dim<Z, Y>>;
  using WI = Tensor<float, Dim<I, X>, Dim<Z, Y>>;
  using WJ = Tensor<float, Dim<J, X>, Dim<Z, Y>>;
  using Results = Outs<Cell, Cell>;
  plan_models::planned<In, Hidden, Cell, WI, WJ, WI, WJ, WI, WJ, WI, WJ>(
      use, "lstm_step", [](auto x, auto h, auto c, auto... w) {
        return evaluate<Results>(plan_models::lstm_cell(x, h, c, w...));
      });
  plan_models::planned<In, Hidden, Cell, WI, WJ, WI, WJ, WI, WJ, WI, WJ>(
      use, "lstm_step_shared", [](auto x, auto h, auto c, auto... w) {
        return evaluate<Results>(plan_models::lstm_cell(share(x), share(h), c, w...));
      });
}

template <class Use>
void graphs(Use const& use) {
  struct A : Index<"A", 16384> {};
  struct A2 : Index<"A2", 16384> {};
  struct C1 : Index<"C1", 512> {};
  struct C2 : Index<"C2", 256> {};
  struct C3 : Index<"C3", 64> {};
  plan_models::planned<Tensor<float, Dim<A, X>, Dim<A2, Y>>, Tensor<float, Dim<A, X>, Dim<C1>>,
                       Tensor<float, Dim<C1>, Dim<C2>>, Tensor<float, Dim<C2>, Dim<C3>>>(
      use, "gcn2", [](auto adjacent, auto x, auto w1, auto w2) {
        auto const h = max(einsum<A, C2>(adjacent, relabel<A, A2>(einsum<A, C2>(x, w1))), 0.0F);
        return evaluate<Dim<A, X>, Dim<C3>>(
            einsum<A, C3>(adjacent, relabel<A, A2>(einsum<A, C3>(h, w2))));
      });
  struct L1 : Index<"I", 2048> {};
  struct L2 : Index<"J", 2048> {};
  struct L3 : Index<"L", 2048> {};
  struct R : Index<"R", 64> {};
  plan_models::planned<Tensor<float, Dim<Batch, X>, Dim<L1, Y>, Dim<L2>>,
                       Tensor<float, Dim<Batch, X>, Dim<L2>, Dim<L3, Y>>,
                       Tensor<float, Dim<L3, Y>, Dim<R>>>(
      use, "batched_chain", [](auto a, auto b, auto c) {
        return evaluate<Dim<Batch, X>, Dim<L1, Y>, Dim<R>>(einsum<Batch, L1, R>(a, b, c));
      });
}

template <class Use>
void contrastive(Use const& use) {
  struct W : Index<"W", 8192> {};
  auto const f = [](auto u, auto v) {
    auto const s = share(einsum<S, W>(u, relabel<S, W>(v)) * 10.0F);
    auto const m = share(max<W>(s));
    return mean<S>(log(sum<W>(exp(s - m))) + m - 10.0F * sum<P>(u * v));
  };
  using Rows = Tensor<float, Dim<S, X, Y>, Dim<P>>;
  using Blocks = Tensor<float, Dim<S, X>, Dim<P, Y>>;
  plan_models::planned<Rows, Rows>(use, "contrastive",
                                   [f](auto u, auto v) { return evaluate<>(f(u, v)); });
  plan_models::planned<Blocks, Blocks>(use, "contrastive_2d",
                                       [f](auto u, auto v) { return evaluate<>(f(u, v)); });
}

template <class Use>
void experts(Use const& use) {
  struct E8 : Index<"E8", 8> {};
  struct C : Index<"C", 1024> {};
  struct M1 : Index<"M1", 1024> {};
  struct F1 : Index<"F1", 4096> {};
  using Mask = Tensor<float, Dim<S, X, Y>, Dim<E8>, Dim<C>>;
  plan_models::planned<Tensor<float, Dim<S, X, Y>, Dim<M1>>, Mask, Mask,
                       Tensor<float, Dim<E8, X, Y>, Dim<M1>, Dim<F1>>,
                       Tensor<float, Dim<E8, X, Y>, Dim<F1>, Dim<M1>>>(
      use, "moe_dense", [](auto x, auto mask, auto weights, auto w, auto v) {
        auto const rows = einsum<E8, C, M1>(mask, x);
        auto const h = max(einsum<E8, C, F1>(rows, w), 0.0F);
        return evaluate<Dim<S, X, Y>, Dim<M1>>(einsum<S, M1>(weights, einsum<E8, C, M1>(h, v)));
      });
}

template <class Use>
void operations(Use const& use) {
  using Logits = Tensor<float, Dim<S, X>, Dim<V, Y>>;
  plan_models::planned<Logits>(
      use, "softmax_op", [](auto x) { return evaluate<Dim<S, X>, Dim<V, Y>>(softmax<V>(x)); });
  plan_models::planned<Logits>(use, "logsumexp_op",
                               [](auto x) { return evaluate<Dim<S, X>>(logsumexp<V>(x)); });
  plan_models::planned<Logits>(use, "argmax_op",
                               [](auto x) { return evaluate<Dim<S, X>>(argmax<V>(x)); });
  plan_models::planned<Logits>(use, "cumsum_op",
                               [](auto x) { return evaluate<Dim<S, X>, Dim<V, Y>>(cumsum<V>(x)); });
  using Rows = Tensor<float, Dim<S, X>, Dim<D, Y>>;
  using Feature = Tensor<float, Dim<D, Y>>;
  plan_models::planned<Rows, Feature, Feature>(
      use, "layer_norm_op", [](auto x, auto gain, auto bias) {
        return evaluate<Dim<S, X>, Dim<D, Y>>(nn::layer_norm<D>(x, gain, bias));
      });
  auto const lookup = [](auto table, auto ids) {
    return evaluate<Dim<S, X>, Dim<D>>(nn::embedding<V>(table, ids));
  };
  using Ids = Tensor<std::int64_t, Dim<S, X>>;
  plan_models::planned<Tensor<float, Dim<V, Y>, Dim<D>>, Ids>(use, "embedding", lookup);
  plan_models::planned<Tensor<float, Dim<V, X, Y>, Dim<D>>, Ids>(use, "embedding_fsdp", lookup);
}

/// Those that send more than JAX's, in the layouts of JAX: a mean and a sum of squares one after
/// the other, and summands of all rows.
template <class Use>
void in_layouts_of_jax(Use const& use) {
  using Rows = Tensor<float, Dim<S, X>, Dim<D, Y>>;
  using Feature = Tensor<float, Dim<D, Y>>;
  plan_models::planned<Rows, Feature, Feature>(
      use, "layer_norm_op", [](auto x, auto gain, auto bias) {
        auto const centred = share(x - mean<D>(x));
        auto const variance = mean<D>(centred * centred);
        return evaluate<Dim<S, X>, Dim<D, Y>>(centred / sqrt(variance + 1e-5F) * gain + bias);
      });
  plan_models::planned<Tensor<float, Dim<V, Y>, Dim<D>>, Tensor<std::int64_t, Dim<S, X>>>(
      use, "embedding", [](auto table, auto ids) {
        return evaluate<Dim<S, X>, Dim<D>>(
            constrain<Dim<S, X>, Dim<D>, Unreduced<Y>>(nn::embedding<V>(table, ids)));
      });
}

/// Calls `use(NAME, PLAN)` for each of the programs.
template <class Use>
void for_all(Use const& use) {
  plan_models::gated(use);
  plan_models::all_gradients(use);
  plan_models::regression(use);
  plan_models::clusters(use);
  plan_models::grouped_queries<Batch>(use, "gqa_sequence");
  plan_models::grouped_queries<Two>(use, "gqa_small_batch");
  plan_models::lstm(use);
  plan_models::graphs(use);
  plan_models::contrastive(use);
  plan_models::experts(use);
  plan_models::operations(use);
}

}  // namespace plan_models
