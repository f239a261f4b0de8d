// Training with microbatches: each adds to gradients that stay unreduced on the ranks, and one
// AllReduce per parameter at the end of a step adds them up, however many microbatches it has. On 4
// ranks.
// RANKS: 4
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct B : Index<"B", 16> {};
struct D : Index<"D", 8> {};
struct H : Index<"H", 12> {};
struct J : Index<"J", 3> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

using In = T<Dim<B, X>, Dim<D>>;
using Target = T<Dim<B, X>, Dim<J>>;
using W1 = T<Dim<D>, Dim<H>>;
using W2 = T<Dim<H>, Dim<J>>;
constexpr std::size_t microbatches = 6;

// The loss of one microbatch, of parameters that are Reduced: nothing is sent.
inline constexpr auto microbatch_loss = [](auto const& w1, auto const& w2, auto const& x,
                                           auto const& y) {
  return sum(square(matmul(tanh(matmul(x, w1)), w2) - y)) / 96.0;
};
using Used1 = decltype(used_as<Reduced<X>>(std::declval<W1>()));
using Used2 = decltype(used_as<Reduced<X>>(std::declval<W2>()));
constexpr auto one =
    plan(value_and_grad<0, 1>(microbatch_loss), type<Used1>, type<Used2>, type<In>, type<Target>);
static_assert(one.collectives() == 0);
static_assert(std::is_same_v<cotangent_t<Used1>, T<Dim<D>, Dim<H>, Unreduced<X>>>);

// A step as one function: the casts are outside of the loop.
inline constexpr auto step_loss = [](auto const& w1, auto const& w2, auto const& xs,
                                     auto const& ys) {
  auto const used_1 = used_as<Reduced<X>>(w1);
  auto const used_2 = used_as<Reduced<X>>(w2);
  auto total = microbatch_loss(used_1, used_2, xs[0], ys[0]).tensor();
  for (std::size_t k = 1; k < xs.size(); ++k)
    total = (total + microbatch_loss(used_1, used_2, xs[k], ys[k])).tensor();
  return all_reduce<X>(total);
};
template <std::size_t n>
constexpr auto of_step = plan(value_and_grad<0, 1>(step_loss), type<W1>, type<W2>,
                              type<std::array<In, n>>, type<std::array<Target, n>>);
static_assert(of_step<1>.forward.collectives() == 1 && of_step<1>.backward.collectives() == 2);
static_assert(of_step<6>.forward.collectives() == 1 && of_step<6>.backward.collectives() == 2);
static_assert(of_step<6>.backward.count(Collective::all_reduce) == 2);

// With a cast in each microbatch, every one reduces.
inline constexpr auto cast_in_loop = [](auto const& w1, auto const& w2, auto const& xs,
                                        auto const& ys) {
  auto total =
      microbatch_loss(used_as<Reduced<X>>(w1), used_as<Reduced<X>>(w2), xs[0], ys[0]).tensor();
  for (std::size_t k = 1; k < xs.size(); ++k)
    total =
        (total + microbatch_loss(used_as<Reduced<X>>(w1), used_as<Reduced<X>>(w2), xs[k], ys[k]))
            .tensor();
  return all_reduce<X>(total);
};
constexpr auto careless = plan(value_and_grad<0, 1>(cast_in_loop), type<W1>, type<W2>,
                               type<std::array<In, 6>>, type<std::array<Target, 6>>);
static_assert(careless.backward.count(Collective::all_reduce) == 12);

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  auto const wave = [](double speed, double from) {
    return [=](std::int64_t i, std::int64_t j) {
      return std::sin(speed * static_cast<double>(5 * i + j) + from);
    };
  };
  auto const batch = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::pair(
        std::array{from_function<In>(mesh, wave(0.31, 2.0 * static_cast<double>(K)))...},
        std::array{from_function<Target>(mesh, wave(0.77, 3.0 * static_cast<double>(K)))...});
  }(std::make_index_sequence<microbatches>{});
  auto const& [xs, ys] = batch;
  auto w1 = from_function<W1>(mesh, wave(1.3, 0));
  auto w2 = from_function<W2>(mesh, wave(0.9, 0));

  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    // By hand: the gradients of the microbatches are added up unreduced, and reduced once.
    auto const used_1 = used_as<Reduced<X>>(w1);
    auto const used_2 = used_as<Reduced<X>>(w2);
    auto sum_1 = zeros<cotangent_t<Used1>>(mesh);
    auto sum_2 = zeros<cotangent_t<Used2>>(mesh);
    for (std::size_t k = 0; k < microbatches; ++k) {
      auto const [to_1, to_2] = grad<0, 1>(microbatch_loss)(used_1, used_2, xs[k], ys[k]);
      sum_1 = sum_1 + to_1;
      sum_2 = sum_2 + to_2;
    }
    // By one function: the same.
    auto const [loss, gradients] = value_and_grad<0, 1>(step_loss)(w1, w2, xs, ys);
    auto const& [to_w1, to_w2] = gradients;
    double const off =
        item(max(abs(all_reduce<X>(sum_1) - to_w1))) + item(max(abs(all_reduce<X>(sum_2) - to_w2)));
    if (!(off < 1e-12)) throw Error("example", "the gradients differ", FailedOn::every_rank);
    w1 = w1 - 0.1 * to_w1;
    w2 = w2 - 0.1 * to_w2;
    last = item(loss);
    if (step == 0) first = last;
  }
  if (!(last < first)) throw Error("example", "the loss did not fall", FailedOn::every_rank);
  if (env.rank() == 0)
    std::printf("%zu microbatches, %d AllReduces in a step: loss %.4f, after 20 steps %.4f\n",
                microbatches, of_step<microbatches>.collectives(), first, last);
}
