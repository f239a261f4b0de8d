// A mixture of experts learns a function that is another one on each of eight clusters of points.
// Tokens and experts are split over X, so that each token travels to the ranks of its two experts
// and back. Prints the loss, the rows that each expert gets. The argument is the number of steps,
// 60 if there is none. At the end it prints what a larger one would send on 100,000 ranks, by its
// plan.
// SHOWN: docs
// RANKS: 1 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct S : Index<"S"> {};      // tokens
struct D : Index<"D", 8> {};   // features
struct E : Index<"E", 8> {};   // experts
struct F : Index<"F", 16> {};  // hidden features of an expert
struct C : Index<"cluster", 8> {};
using Tokens = Tensor<double, Dim<S, X>, Dim<D>>;

// docs: mixture
// Logits of the router, and the mixture.
inline constexpr auto model = [](auto const& x, auto const& r, auto const& w, auto const& v) {
  auto const logits = matmul(x, used_as<Reduced<X>>(r));
  auto const routes = nn::router<E>(logits, 2);
  return std::tuple(nn::moe(x, routes, w, v), logits, routes);
};
inline constexpr auto loss = [](auto const& r, auto const& w, auto const& v, auto const& x,
                                auto const& y) {
  auto const [out, logits, routes] = model(x, r, w, v);
  auto const error = sum<Tensor<double>>(square(out - y)) / static_cast<double>(x.extents()[0]);
  return (error + 0.05 * nn::load_balance_loss<E>(logits, routes) + 0.001 * nn::z_loss<E>(logits))
      .tensor();
};
// docs: end

// docs: gated
// Gated experts, with the functions of SwiGLU; rows travel once for both products: counts, there,
// back.
template <class... Parts>
using T = Tensor<double, Parts...>;
struct Four : Axis<"X", 4> {};
struct Rows : Index<"S", 512> {};
constexpr auto gated = [](auto const& x, auto const& r, auto const& gate, auto const& up,
                          auto const& down) {
  auto const routes = nn::router<E>(matmul(x, r), 2);
  return nn::moe(x, routes, nn::Gated{gate, up}, down, nn::Ragged{}, nn::Silu{});
};
using Into = T<Dim<E, Four>, Dim<D>, Dim<F>>;
static_assert(plan(gated, type<T<Dim<Rows, Four>, Dim<D>>>, type<T<Dim<D>, Dim<E>>>, type<Into>,
                   type<Into>, type<T<Dim<E, Four>, Dim<F>, Dim<D>>>)
                  .count(Collective::all_to_all) == 3);
// docs: end

// docs: large
// 100,000 ranks: a part of each expert on 8 ranks, one expert and 4096 tokens on each 8.
namespace large {
struct X : Axis<"X", 12500> {};
struct Y : Axis<"Y", 8> {};
struct S : Index<"S", 12500 * 4096> {};
struct D : Index<"D", 4096> {};
struct E : Index<"E", 12500> {};
struct F : Index<"F", 8192> {};
using Tokens = Tensor<bfloat16, Dim<S, X>, Dim<D, Y>>;
using Router = Tensor<bfloat16, Dim<D, Y>, Dim<E>>;
using Into = Tensor<bfloat16, Dim<E, X>, Dim<D>, Dim<F, Y>>;
using From = Tensor<bfloat16, Dim<E, X>, Dim<F, Y>, Dim<D>>;
template <class Form>
struct Mixture {
  constexpr auto operator()(auto const& x, auto const& r, auto const& gate, auto const& up,
                            auto const& down) const {
    auto const routes = nn::router<E>(einsum<Dim<S, X>, Dim<E>>(x, r), 2);
    return nn::moe(x, routes, nn::Gated{gate, up}, down, Form{}, nn::Silu{});
  }
};
template <class Form>
inline constexpr auto planned =
    plan(Mixture<Form>{}, type<Tokens>, type<Router>, type<Into>, type<Into>, type<From>);
static_assert(planned<nn::Ragged>.peak_bytes() * 20 < planned<nn::Gathered>.peak_bytes());
static_assert(planned<nn::Ragged>.bytes_per_rank() * 100 < planned<nn::Gathered>.bytes_per_rank());
}  // namespace large
// docs: end

int main(int argc, char** argv) {
  Environment env(argc, argv);
  int const steps = argc > 1 ? std::atoi(argv[1]) : 60;
  Mesh<X> const mesh(env.world());
  bool const prints = env.rank() == 0;

  // points around eight centres, of which each turns its points in a way of its own
  auto const cluster = integers<std::int64_t, Dim<S, X>>(mesh, {510}, RandomKey{1}, 0, 8);
  auto const centres = normal<double, Dim<C>, Dim<D>>(mesh, RandomKey{2}, 0.0, 2.0);
  auto const turns = normal<double, Dim<C>, Dim<D>>(mesh, RandomKey{3});
  auto const noise = normal<Tokens>(mesh, {510, 8}, RandomKey{4}, 0.0, 0.5);
  auto const x = (take<C>(centres, cluster) + noise).tensor();
  auto const y = (noise * take<C>(turns, cluster)).tensor();

  auto r = normal<double, Dim<D>, Dim<E>>(mesh, RandomKey{5}, 0.0, 0.1);
  auto w = normal<double, Dim<E, X>, Dim<D>, Dim<F>>(mesh, RandomKey{6}, 0.0, 0.3);
  auto v = normal<double, Dim<E, X>, Dim<F>, Dim<D>>(mesh, RandomKey{7}, 0.0, 0.3);

  double first = 0, last = 0;
  for (int step = 0; step <= steps; ++step) {
    auto const [value, gradients] = value_and_grad<0, 1, 2>(loss)(r, w, v, x, y);
    auto const& [to_r, to_w, to_v] = gradients;
    last = item(value);
    if (step == 0) first = last;
    if (step % 20 == 0) {
      auto const load = to_host(nn::expert_load<E>(std::get<2>(model(x, r, w, v)), 8));
      if (prints) {
        std::printf("step %3d  loss %.3f  rows of experts", step, last);
        for (std::int64_t const n : load) std::printf(" %4lld", static_cast<long long>(n));
        std::printf("\n");
      }
    }
    r = r - 0.1 * to_r;
    w = w - 0.1 * to_w;
    v = v - 0.1 * to_v;
  }
  if (prints) {
    std::printf("== large\n%s", explain(large::planned<nn::Ragged>).c_str());
    std::string const gathered = explain(large::planned<nn::Gathered>);
    std::printf("gathered: %s\n", gathered.substr(0, gathered.find('\n')).c_str());
  }
  if (!(last < 0.8 * first)) throw Error("example", "the loss did not fall", FailedOn::every_rank);
  return 0;
}
