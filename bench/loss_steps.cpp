// Losses of networks of two layers with their gradients, planned in automatic mode, beside the same
// steps written by hand in strict mode; and the predicted time beside the measured one, with the
// rates that SHARDTYPE_MACHINE names.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_loss_steps [--rounds=15]\n"
    "Milliseconds of a loss and its gradients in five layouts, automatic and by hand, in turn. "
    "Lines:\n"
    "ratio loss_steps LAYOUT RANKS MEDIAN MIN MAX of the rounds' quotients, and value "
    "loss_steps_predicted LAYOUT RANKS MEASURED-OVER-PREDICTED.\n";

struct X : Axis<"x"> {};
struct Y : Axis<"y"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
struct E : Index<"E"> {};
using Grid = Mesh<X, Y>;
using Shape = std::array<std::int64_t, 2>;  ///< ranks along X and Y

auto loss_of(auto const& x, auto const& up, auto const& down) {
  return sum(matmul(max(matmul(x, up), 0.0F), down));
}
constexpr auto automatic = [](auto const& x, auto const& up, auto const& down) {
  return loss_of(x, up, down);
};
/// By hand, of data on all ranks: each parameter is made whole, or is.
constexpr auto whole_parameters = [](auto const& x, auto const& up, auto const& down) {
  return all_reduce<X, Y>(loss_of(x, used_as<Dim<D>, Dim<F>, Reduced<X, Y>>(up),
                                  used_as<Dim<F>, Dim<E>, Reduced<X, Y>>(down)));
};
/// With hidden units split over Y.
constexpr auto split_hidden = [](auto const& x, auto const& up, auto const& down) {
  return all_reduce<X, Y>(loss_of(reshard<Dim<S, X>, Dim<D>>(x),
                                  used_as<Dim<D>, Dim<F, Y>, Reduced<X>>(up),
                                  used_as<Dim<F, Y>, Dim<E>, Reduced<X>>(down)));
};

template <class In, class Up, class Down, class ByHand>
void measure(char const* name, Shape const& shape, ByHand const& by_hand, std::int64_t rounds) {
  Grid const mesh(MPI_COMM_WORLD, shape);
  std::int64_t const s = 2048;
  std::int64_t const d = 512;
  std::int64_t const f = 2048;
  auto const x = normal<In>(mesh, {s, d}, RandomKey(1));
  auto const up = normal<Up>(mesh, {d, f}, RandomKey(2));
  auto const down = normal<Down>(mesh, {f, d}, RandomKey(3));
  auto const g = value_and_grad<1, 2>(automatic);
  auto const strict = value_and_grad<1, 2>(by_hand);
  double const predicted = dry_run<automatic_mode::Axes<X, Y>, In, Up, Down>(g)
                               .template extent<S>(s)
                               .template extent<D>(d)
                               .template extent<F>(f)
                               .template extent<E>(d)
                               .template ranks<X>(shape[0])
                               .template ranks<Y>(shape[1])
                               .on(machine_here())
                               .planned()
                               .seconds();
  std::vector<double> ratios;
  std::vector<double> times;
  for (std::int64_t k = -2; k < rounds; ++k) {
    double ours = 0;
    double theirs = 0;
    auto const run_ours = [&] {
      ours = timed([&] { benchmark::DoNotOptimize(evaluate(mesh, g, x, up, down).value); });
    };
    auto const run_theirs = [&] {
      theirs = timed([&] { benchmark::DoNotOptimize(strict(x, up, down).value); });
    };
    if (k % 2 == 0) {
      run_ours();
      run_theirs();
    } else {
      run_theirs();
      run_ours();
    }
    if (k < 0) continue;
    ratios.push_back(ours / theirs);
    times.push_back(ours);
  }
  double const measured = median(times);
  std::sort(ratios.begin(), ratios.end());
  if (rank_here() != 0) return;
  std::printf("%-24s %8.2f ms, predicted %8.2f ms\n", name, 1e3 * measured, 1e3 * predicted);
  std::printf("ratio loss_steps %s %d %.3f %.3f %.3f\n", name, ranks_here(), median(ratios),
              ratios.front(), ratios.back());
  std::printf("value loss_steps_predicted %s %d %.3f\n", name, ranks_here(), measured / predicted);
}

template <class... Xs>
using Rows = Tensor<float, Dim<S, Xs...>, Dim<D>>;

void measure_all(Shape const& mesh, std::string const& on, std::int64_t rounds) {
  auto const name = [&](char const* layout) { return layout + on; };
  measure<Rows<X, Y>, Tensor<float, Dim<D>, Dim<F>>, Tensor<float, Dim<F>, Dim<E>>>(
      name("dp").c_str(), mesh, whole_parameters, rounds);
  measure<Rows<X>, Tensor<float, Dim<D>, Dim<F, Y>>, Tensor<float, Dim<F, Y>, Dim<E>>>(
      name("megatron").c_str(), mesh, split_hidden, rounds);
  measure<Rows<X, Y>, Tensor<float, Dim<D, X, Y>, Dim<F>>, Tensor<float, Dim<F, X, Y>, Dim<E>>>(
      name("fsdp").c_str(), mesh, whole_parameters, rounds);
  measure<Tensor<float, Dim<S, X>, Dim<D, Y>>, Tensor<float, Dim<D, X>, Dim<F, Y>>,
          Tensor<float, Dim<F, Y>, Dim<E, X>>>(name("2d").c_str(), mesh, split_hidden, rounds);
  measure<Rows<X>, Tensor<float, Dim<D, X>, Dim<F, Y>>, Tensor<float, Dim<F, Y>, Dim<E, X>>>(
      name("fsdp_tensor").c_str(), mesh, split_hidden, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const rounds = option(argc, argv, "rounds", std::int64_t{15});
  measure_all({env.size(), 1}, "_x", rounds);
  measure_all({1, env.size()}, "_y", rounds);
  return 0;
}
