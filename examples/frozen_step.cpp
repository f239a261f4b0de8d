// From one line to a frozen step: a network is trained by one call of automatic mode, the plan of
// both passes is printed as strict code, and the printed code trains the same network with the same
// bits. On 4 ranks.
// SHOWN: docs
// RANKS: 4
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/freeze/to_source.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct S : Index<"S", 64> {};   // samples
struct D : Index<"D", 24> {};   // features
struct F : Index<"F", 160> {};  // hidden units
struct E : Index<"E", 10> {};   // outputs
using In = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F, Y>>;
using Down = Tensor<float, Dim<F, Y>, Dim<E, X>>;
using Out = Tensor<float, Dim<S, X>, Dim<E>>;
// docs: end

// docs: loss
struct Loss {
  auto operator()(auto const& x, auto const& up, auto const& down, auto const& target) const {
    auto const off = matmul(tanh(matmul(x, up)), down) - target;
    return mean(off * off);
  }
};
// docs: end

// docs: frozen
// T19[] of A[S@X, D], B[D@X, F@Y], C[F@Y, E@X], D[S@X, E]
//   on X = 2, Y = 2; S = 64, D = 24, F = 160, E = 10
//   6 collectives, 13.4 kB/rank, peak 43.1 kB, 399 kFLOP/rank, 39 µs predicted, optimal
struct Step {
  constexpr auto operator()(auto const& a, auto const& b, auto const& c, auto const& d) const {
    using namespace shardtype;
    auto const b_2 = all_gather<X>(b);                     // 3.84 kB
    auto const t3 = einsum<Dim<S, X>, Dim<F, Y>>(a, b_2);  // 123 kFLOP
    auto const t4 = tanh(t3).tensor();
    auto const c_2 = all_gather<X>(c);                                 // 1.6 kB
    auto const t5 = einsum<Dim<S, X>, Dim<E>, Unreduced<Y>>(t4, c_2);  // 51.2 kFLOP
    auto const t5_2 = all_reduce<Y>(t5);                               // 1.28 kB
    auto const t6 = (t5_2 - d).tensor();
    auto const t16 = (t6 * t6).tensor();
    auto const t16_2 = all_gather<X>(t16);  // 1.28 kB
    auto const t17 = mean<Tensor<float>>(t16_2);
    auto const t1 = ones_like(t17);
    auto const t2 = (broadcast<Dim<S, X>, Dim<E>>(t1) * 0.0015625).tensor();
    auto const t7 = (t2 * t6).tensor();
    auto const t8 = (t2 * t6).tensor();
    auto const t9 = (t7 + t8).tensor();
    auto const t10 = einsum<Dim<S, X>, Dim<F, Y>>(t9, c_2);  // 51.2 kFLOP
    auto const t11 = (t10 * (1 - t4 * t4)).tensor();
    auto const t12 = einsum<Dim<D>, Dim<F, Y>, Unreduced<X>>(a, t11);  // 123 kFLOP
    auto const t12_2 = reduce_scatter<X, D>(t12);                      // 3.84 kB
    auto const t14 = einsum<Dim<F, Y>, Dim<E>, Unreduced<X>>(t4, t9);  // 51.2 kFLOP
    auto const t14_2 = reduce_scatter<X, E>(t14);                      // 1.6 kB
    return std::tuple(t17, t12_2, t14_2);
  }
};
static_assert([] {
  using namespace shardtype;
  return plan(Step{}, type<Tensor<float, Dim<S, X>, Dim<D>>>,
              type<Tensor<float, Dim<D, X>, Dim<F, Y>>>, type<Tensor<float, Dim<F, Y>, Dim<E, X>>>,
              type<Tensor<float, Dim<S, X>, Dim<E>>>)
      .bytes_per_rank();
}() <= 13440);
// docs: end

// Trains for some steps, and returns the losses.
template <class Step>
std::vector<float> train(Mesh<X, Y> const& mesh, Step const& step) {
  auto const x = normal<In>(mesh, RandomKey(1));
  auto const target = tanh(normal<Out>(mesh, RandomKey(2))).tensor();
  auto up = (normal<Up>(mesh, RandomKey(3)) * 0.3F).tensor();
  auto down = (normal<Down>(mesh, RandomKey(4)) * 0.3F).tensor();
  std::vector<float> losses;
  for (int k = 0; k < 20; ++k) {
    auto const [loss, up_grad, down_grad] = step(x, up, down, target);
    up = (up - up_grad * 0.5F).tensor();
    down = (down - down_grad * 0.5F).tensor();
    losses.push_back(item(loss));
  }
  return losses;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  // docs: print
  std::string const source = to_source<"Step", In, Up, Down, Out>(value_and_grad<1, 2>(Loss{}));
  // docs: end
  if (env.rank() == 0) std::printf("== source\n%s\n", source.c_str());

  std::vector<float> const automatic =
      train(mesh, [&](auto const& x, auto const& up, auto const& down, auto const& target) {
        // docs: one-line
        auto const [loss, grads] =
            evaluate(mesh, value_and_grad<1, 2>(Loss{}), x, up, down, target);
        // docs: end
        return std::tuple(loss, std::get<0>(grads), std::get<1>(grads));
      });
  std::vector<float> const frozen = train(mesh, Step{});
  if (std::memcmp(automatic.data(), frozen.data(), frozen.size() * sizeof(float)) != 0)
    throw Error("example", "the printed step computes other losses");
  if (!(frozen.back() < 0.8F * frozen.front())) throw Error("example", "the loss does not fall");
  if (env.rank() == 0)
    std::printf("== trained\nloss %.2f -> %.2f in both\n", frozen.front(), frozen.back());
}
