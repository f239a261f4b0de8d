// Gradients of automatic mode on drawn layouts of all operands, uneven extents included: values as
// in strict mode, bytes as planned, and no more held.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <array>
#include <cmath>
#include <cstdint>

#include <shardtype/nn/nn.hpp>

#include "harness/registry_gradients.hpp"

using namespace shardtype;
using registry_gradients::check;

namespace {

struct B : Index<"B"> {};
struct T : Index<"T"> {};
struct U : Index<"U"> {};
struct C : Index<"C"> {};
struct G : Index<"G"> {};
struct N : Index<"N"> {};
struct H : Index<"H"> {};
using Int = std::int64_t;

registry_costs::Grid grid() { return {MPI_COMM_WORLD, on_ranks::grids().front()}; }

template <class A>
A drawn(registry_costs::Grid const& mesh, std::array<Int, A::rank> const& n, int seed) {
  return from_function<A>(mesh, n, [=](auto... at) {
    Int hash = seed;
    for (Int const k : {static_cast<Int>(at)...}) hash = (hash * 31 + k * 17 + 5) % 1009;
    return std::sin(static_cast<double>(hash));
  });
}
using Rows = Tensor<double, Dim<B>, Dim<C>>;
using Up = Tensor<double, Dim<C>, Dim<G>>;
using Down = Tensor<double, Dim<G>, Dim<C>>;
using Bias = Tensor<double, Dim<G>>;
using Sequence = Tensor<double, Dim<B>, Dim<T>, Dim<C>>;
using Heads = Tensor<double, Dim<C>, Dim<N>, Dim<H>>;

}  // namespace

TEST_CASE("networks of two layers") {
  auto const mesh = grid();
  for (std::array<Int, 3> const n : {std::array<Int, 3>{8, 6, 4}, {7, 5, 3}, {1, 2, 9}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
    check(
        "relu",
        [](auto const& x, auto const& up, auto const& bias, auto const& down) {
          auto const h = max(matmul(x, up) + bias, 0.0);
          auto const y = matmul(h, down) + x;
          return mean(y * y);
        },
        mesh, 12, false, drawn<Rows>(mesh, {n[0], n[1]}, 1), drawn<Up>(mesh, {n[1], n[2]}, 2),
        drawn<Bias>(mesh, {n[2]}, 3), drawn<Down>(mesh, {n[2], n[1]}, 4));
    check(
        "gated",
        [](auto const& x, auto const& gate, auto const& up, auto const& down) {
          auto const h = share(silu(matmul(x, gate)) * matmul(x, up));
          return sum(log(1.0 + square(matmul(h, down)))) + 0.5 * sum(h * h);
        },
        mesh, 12, false, drawn<Rows>(mesh, {n[0], n[1]}, 1), drawn<Up>(mesh, {n[1], n[2]}, 2),
        drawn<Up>(mesh, {n[1], n[2]}, 5), drawn<Down>(mesh, {n[2], n[1]}, 4));
  }
}

TEST_CASE("attention, and norms") {
  auto const mesh = grid();
  for (std::array<Int, 5> const n : {std::array<Int, 5>{2, 4, 4, 2, 4}, {3, 5, 3, 2, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2] << " " << n[3] << " " << n[4]);
    check(
        "attention",
        [](auto const& x, auto const& wq, auto const& wk, auto const& wv) {
          auto const q = einsum<B, T, N, H>(x, wq);
          auto const k = relabel<T, U>(einsum<B, T, N, H>(x, wk));
          auto const v = relabel<T, U>(einsum<B, T, N, H>(x, wv));
          auto const weights = softmax<U>(einsum<B, N, T, U>(q, k) * 0.5);
          return sum(sin(einsum<B, T, N, H>(weights, v)));
        },
        mesh, 10, true, drawn<Sequence>(mesh, {n[0], n[1], n[2]}, 1),
        drawn<Heads>(mesh, {n[2], n[3], n[4]}, 2), drawn<Heads>(mesh, {n[2], n[3], n[4]}, 3),
        drawn<Heads>(mesh, {n[2], n[3], n[4]}, 4));
    check(
        "norms",
        [](auto const& x, auto const& gain) {
          auto const m = mean<C>(x);
          auto const centred = share(x - m);
          auto const y = centred / sqrt(mean<C>(centred * centred) + 0.01) * gain;
          return sum(nn::rms_norm<C>(y * x, gain) * x) + logsumexp(x);
        },
        mesh, 10, false, drawn<Sequence>(mesh, {n[0], n[1], n[2]}, 1),
        drawn<Tensor<double, Dim<C>>>(mesh, {n[2]}, 2));
  }
}
