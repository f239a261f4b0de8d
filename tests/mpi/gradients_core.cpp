// Gradients against central differences in double: data-parallel, Megatron, FSDP, named products,
// reductions, moves, shapes, elementwise functions, fan-out, loops, structures of parameters,
// second order; uneven, empty and extent 1.
// RANKS: 1 2 4 8
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

using Xs = T<Dim<B, X>, Dim<D>>;
using Ys = T<Dim<B, X>, Dim<J>>;
using Xr = T<Dim<B>, Dim<D>>;
using Yr = T<Dim<B>, Dim<J>>;
using W1 = T<Dim<D>, Dim<H>>;
using W2 = T<Dim<H>, Dim<J>>;
using W1R = T<Dim<D>, Dim<H>, Reduced<X>>;
using W2R = T<Dim<H>, Dim<J>, Reduced<X>>;
using W1S = T<Dim<D, X>, Dim<H>>;
using W2S = T<Dim<H, X>, Dim<J>>;
using W1C = T<Dim<D>, Dim<H, X>>;
using W2C = T<Dim<H, X>, Dim<J>>;

struct DataParallel {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(x, reduced<X>(w1)));
    auto p = matmul(h, reduced<X>(w2));
    return all_reduce<X>(sum(square(p - y)));
  }
};
struct ReducedWeights {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(x, w1));
    return sum(square(matmul(h, w2) - y));
  }
};
struct Megatron {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(reduced<X>(x), w1));
    return sum(square(all_reduce<X>(matmul(h, w2)) - y));
  }
};
struct MegatronNamed {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(reduced<X>(x), w1));
    return sum(square(matmul<Dim<B>, Dim<J>>(h, w2) - y));
  }
};
struct Fsdp {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(x, reshard<Dim<D>, Dim<H>, Reduced<X>>(w1)));
    return sum(square(matmul(h, reshard<Dim<H>, Dim<J>, Reduced<X>>(w2)) - y));
  }
};
struct FsdpNamed {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul<Dim<B, X>, Dim<H>>(x, w1));
    return sum(square(matmul<Dim<B, X>, Dim<J>>(h, w2) - y));
  }
};

template <class A1, class A2, class AX, class AY, int... Ks, class F>
void mlp(std::string const& name, F const& f, std::int64_t b, std::int64_t h) {
  Mesh<X> mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  auto const grads =
      check<Ks...>(name, mesh, f, make<A1>(mesh, {5, h}, 1), make<A2>(mesh, {h, 3}, 2),
                   make<AX>(mesh, {b, 5}, 3), make<AY>(mesh, {b, 3}, 4));
  static_assert(std::is_same_v<std::tuple_element_t<0, std::remove_cvref_t<decltype(grads)>>,
                               cotangent_t<A1>>);
}

}  // namespace

TEST_CASE("one MLP in every parallelism") {
  for (std::int64_t const b : {7, 1, 0})
    for (std::int64_t const h : {6, 1}) {
      mlp<W1, W2, Xs, Ys, 0, 1>("data parallel", DataParallel{}, b, h);
      mlp<W1R, W2R, Xs, Ys, 0, 1>("Reduced weights", ReducedWeights{}, b, h);
      mlp<W1C, W2C, Xr, Yr, 0, 1, 2>("Megatron", Megatron{}, b, h);
      mlp<W1C, W2C, Xr, Yr, 0, 1, 2>("Megatron, named", MegatronNamed{}, b, h);
      mlp<W1S, W2S, Xs, Ys, 0, 1>("FSDP", Fsdp{}, b, h);
      mlp<W1S, W2S, Xs, Ys, 0, 1, 2>("FSDP, named", FsdpNamed{}, b, h);
      mlp<W1, W2, Xs, Ys, 0, 1>("the cast on replicated weights", Fsdp{}, b, h);
      mlp<W1R, W2R, Xs, Ys, 0, 1>("the cast on Reduced weights", Fsdp{}, b, h);
    }
}

TEST_CASE("products") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto batched = [](auto a, auto b) { return sum(square(einsum<B, D, J>(a, b))); };
  check<0, 1>("batch", mesh, batched, make<T<Dim<B, X>, Dim<D>, Dim<H>>>(mesh, {5, 3, 4}, 1),
              make<T<Dim<B, X>, Dim<H>, Dim<J>>>(mesh, {5, 4, 2}, 2));
  auto contracted = [](auto a, auto b) { return sum(square(all_reduce<Y>(einsum<J, D>(a, b)))); };
  check<0, 1>("contracted over a split index", mesh, contracted,
              make<T<Dim<D>, Dim<H, Y>>>(mesh, {3, 5}, 1),
              make<T<Dim<H, Y>, Dim<J>>>(mesh, {5, 4}, 2));
  auto alone = [](auto a, auto b) { return sum(square(all_reduce<X>(einsum<D, J>(a, b)))); };
  check<0, 1>("an index summed over in one operand", mesh, alone,
              make<T<Dim<B, X>, Dim<D>>>(mesh, {5, 3}, 1),
              make<T<Dim<D>, Dim<J>, Reduced<X>>>(mesh, {3, 4}, 2));
  auto dot = [](auto a, auto b) { return square(all_reduce<X>(einsum<>(a, b))); };
  check<0, 1>("dot", mesh, dot, make<T<Dim<B, X>>>(mesh, {5}, 1), make<T<Dim<B, X>>>(mesh, {5}, 2));
  auto scatter = [](auto a, auto b) { return sum(square(matmul<Dim<D, Y>, Dim<J>>(a, b))); };
  check<0, 1>("named, reduce_scatter", mesh, scatter, make<T<Dim<D>, Dim<H, Y>>>(mesh, {5, 6}, 1),
              make<T<Dim<H, Y>, Dim<J>>>(mesh, {6, 4}, 2));
  auto turned = [](auto a, auto b) { return sum(square(einsum<Dim<J>, Dim<D, X>>(a, b))); };
  check<0, 1>("named, its dims in another order", mesh, turned,
              make<T<Dim<D, X>, Dim<H>>>(mesh, {5, 6}, 1),
              make<T<Dim<H>, Dim<J>, Reduced<X>>>(mesh, {6, 4}, 2));
}

TEST_CASE("reductions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = T<Dim<B, X>, Dim<D>, Dim<H, Y>>;
  auto const a = make<A>(mesh, {5, 3, 7}, 1);
  check<0>("sum", mesh, [](auto v) { return sum(square(all_reduce<X>(sum<B, D>(v)))); }, a);
  check<0>("sum, named", mesh, [](auto v) { return sum(square(sum<Dim<H, Y>, Dim<B>>(v))); }, a);
  check<0>("mean", mesh, [](auto v) { return sum(exp(mean<D>(v))); }, a);
  check<0>("mean of all", mesh, [](auto v) { return mean(square(v)); }, a);
  check<0>("mean, named", mesh, [](auto v) { return sum(square(mean<Dim<D>>(v))); }, a);
  check<0>("logsumexp", mesh, [](auto v) { return sum(square(logsumexp<D>(v))); }, a);
  check<0>(
      "logsumexp, named", mesh, [](auto v) { return sum(square(logsumexp<Dim<D>, Dim<B, X>>(v))); },
      a);
  check<0>(
      "logsumexp, scattered", mesh,
      [](auto v) { return sum(square(logsumexp<Dim<D, Y>, Dim<B, X>>(v))); }, a);
  check<0>(
      "softmax over a split dim", mesh,
      [](auto v) {
        auto lse = logsumexp<Dim<B, X>, Dim<D>, Reduced<Y>>(v);
        return sum(square(exp(v - lse)) * v);
      },
      a);
  check<0>(
      "sum of an unreduced one", mesh,
      [](auto v) { return sum(square(all_reduce<X>(all_reduce<Y>(sum<H>(sum<B>(v)))))); }, a);
}

TEST_CASE("moves") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using I = T<Dim<B>, Dim<D>>;
  using A = T<Dim<B, X>, Dim<D>>;
  using AB = T<Dim<B, X, Y>, Dim<D>>;
  auto const i = make<I>(mesh, {7, 5}, 1);
  auto const s = make<A>(mesh, {7, 5}, 2);
  auto const xy = make<AB>(mesh, {7, 5}, 3);
  check<0>("reduced", mesh, [&](auto v) { return sum(square(reduced<X>(v)) * s); }, i);
  check<0>(
      "to_partial", mesh, [](auto v) { return sum(square(all_reduce<X>(to_partial<X>(v)))); }, i);
  check<0>(
      "to_partial of blocks", mesh,
      [](auto v) { return sum(square(all_reduce<X>(to_partial<X>(v)))); }, s);
  check<0>("all_gather", mesh, [](auto v) { return sum(exp(all_gather<Y>(v))); }, xy);
  check<0>("all_to_all", mesh, [](auto v) { return sum(exp(all_to_all<X, B, D>(v))); }, s);
  check<0>(
      "reduce_scatter", mesh, [](auto v) { return sum(exp(reduce_scatter<X, D>(sum<B>(v)))); }, s);
  check<0>(
      "slice by name", mesh, [](auto v) { return sum(exp(reshard<Dim<B, X>, Dim<D>>(v))); }, i);
  check<0>("gather by name", mesh, [](auto v) { return sum(exp(reshard<Dim<D>, Dim<B>>(v))); }, xy);
  check<0>(
      "another order of axes", mesh,
      [](auto v) { return sum(exp(reshard<Dim<B, Y, X>, Dim<D>>(v))); }, xy);
  check<0>(
      "to block-cyclic", mesh,
      [](auto v) { return sum(exp(reshard<Dim<B, Cyclic<X, 2>>, Dim<D>>(v))); }, s);
  check<0>(
      "from block-cyclic to Reduced", mesh,
      [](auto v) { return sum(exp(reshard<Dim<B>, Dim<D>, Reduced<X>>(v))); },
      reshard<Dim<B, Cyclic<X, 2>>, Dim<D>>(s));
  check<0>(
      "Reduced to a split that does not nest", mesh,
      [](auto v) { return sum(exp(reshard<Dim<B, X, Y>, Dim<D>>(v))); },
      make<T<Dim<B, Y>, Dim<D>, Reduced<X>>>(mesh, {7, 5}, 1));
  check<0>(
      "unreduced to Reduced", mesh, [](auto v) { return sum(exp(reshard<Dim<D>, Reduced<X>>(v))); },
      make<T<Dim<D>, Unreduced<X>>>(mesh, {5}, 1));
}

TEST_CASE("shapes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = make<T<Dim<B, X>, Dim<D>>>(mesh, {7, 5}, 1);
  check<0>("transpose", mesh, [&](auto v) { return sum(exp(transpose<D, B>(v)) * a); }, a);
  check<0>("relabel", mesh, [](auto v) { return sum(exp(relabel<D, H, B, D>(v))); }, a);
  check<0>(
      "expand, squeeze", mesh,
      [](auto v) { return sum(exp(squeeze<J>(transpose<B, J, D>(expand<J>(v))))); }, a);
  check<0>("broadcast", mesh, [](auto v) { return sum(exp(broadcast<K>(v, {3}))); }, a);
  check<0>(
      "broadcast, split", mesh,
      [](auto v) { return sum(exp(broadcast<Dim<K, Y>>(reduced<Y>(v), {3}))); }, a);
}
