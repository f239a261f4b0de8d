// The idle part of a pipeline, measured: the time that ranks do not spend in passes, beside the one
// that the schedule predicts from the times of the passes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

struct Stage : Axis<"Stage"> {};
struct M : Index<"M"> {};
struct C : Index<"C"> {};
struct L : Index<"L"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<float, Parts...>;
using In = T<Dim<M>, Dim<B>, Dim<D>>;
using W1 = T<Dim<C>, Dim<L, Stage>, Dim<D>, Dim<H>>;
using W2 = T<Dim<C>, Dim<L, Stage>, Dim<H>, Dim<D>>;

constexpr auto layers = [](auto const& x, auto const& w1, auto const& w2) {
  return loop(w1.template extent<L>(), x, [&](std::int64_t k, auto const& h) {
    return h + matmul(tanh(matmul(h, at<L>(w1, k))), at<L>(w2, k));
  });
};
constexpr auto loss = [](auto const& out, auto const& target) {
  return mean(square(out - target));
};

char const* const help =
    "bench_pipeline [--n=256] [--rows=256] [--layers=2] [--microbatches=8] [--rounds=9]\n"
    "Layers of n x 4 n float in a pipeline over all ranks, two chunks of --layers on each rank in\n"
    "the interleaved schedule and one of twice as many in the others. Lines: value pipeline\n"
    "SCHEDULE_idle RANKS PERCENT (measured, the median), SCHEDULE_predicted RANKS PERCENT (from "
    "the\n"
    "times of the passes, and the time that a block takes to the next rank), SCHEDULE_step RANKS\n"
    "MILLISECONDS, and ratio pipeline SCHEDULE_idle RANKS MEDIAN Q1 Q3, measured over predicted.\n";

double total(double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
// Seconds until the activations of a microbatch have arrived at the next rank.
double time_of_move(Mesh<Stage> const& mesh, int ranks, std::int64_t rows, std::int64_t n) {
  std::vector<SourceDestination> pairs;
  for (int r = 0; r + 1 < ranks; ++r) pairs.push_back({r, r + 1});
  if (pairs.empty()) return 0;
  std::vector<double> seconds;
  auto const block = from_function<T<Dim<B, Stage>, Dim<D>>>(mesh, {rows * ranks, n},
                                                             [](auto...) { return 1.0F; });
  static_cast<void>(shard_map<Dim<B, Stage>, Dim<D>>(
      [&](auto const& a) {
        for (int round = 0; round < 21; ++round) {
          static_cast<void>(total(0));  // so that all begin at once
          double const start = MPI_Wtime();
          static_cast<void>(permute<Stage>(a, pairs));
          seconds.push_back(MPI_Wtime() - start);
        }
        return a;
      },
      block));
  return total(median(seconds)) / ranks;
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "n", 256);
  std::int64_t const rows = option(argc, argv, "rows", 256);
  std::int64_t const depth = option(argc, argv, "layers", 2);
  auto const m = static_cast<int>(option(argc, argv, "microbatches", 8));
  std::int64_t const rounds = option(argc, argv, "rounds", 9);
  int const ranks = env.size();
  Mesh<Stage> const mesh(env.world());
  auto const small = [](auto... at) {
    std::int64_t number = 0;
    ((number = number * 31 + at), ...);
    return 0.01F * static_cast<float>(number % 13 - 6);
  };
  auto const x = from_function<In>(mesh, {m, rows, n}, small);
  auto const y = from_function<In>(mesh, {m, rows, n}, small);
  std::vector<std::pair<std::string, pipeline::Schedule>> schedules{
      {"gpipe", pipeline::gpipe(ranks, m)}, {"1f1b", pipeline::one_forward_one_backward(ranks, m)}};
  if (m % ranks == 0) schedules.emplace_back("interleaved", pipeline::interleaved(ranks, m, 2));
  double const move = time_of_move(mesh, ranks, rows, n);
  if (env.rank() == 0) std::printf("value pipeline move %d %.3f\n", ranks, 1e3 * move);
  for (auto const& [name, s] : schedules) {
    std::int64_t const held = depth * 2 / s.chunks;
    auto const w1 = from_function<W1>(mesh, {s.chunks, ranks * held, n, 4 * n}, small);
    auto const w2 = from_function<W2>(mesh, {s.chunks, ranks * held, 4 * n, n}, small);
    std::vector<double> measured, predicted, step;
    for (std::int64_t round = -1; round < rounds; ++round) {
      pipeline::Ran ran;
      static_cast<void>(shard_map<Outs<T<>, W1, W2>>(
          pipeline::value_and_grad<Stage, M, C>(s, layers, loss, &ran), x, y, w1, w2));
      double const all = total(ran.seconds);
      double const forward = total(ran.forward), backward = total(ran.backward);
      if (round < 0) continue;  // the first one allocates
      double const passes = static_cast<double>(ranks) * s.chunks * m;
      measured.push_back(100 * (1 - (forward + backward) / all));
      predicted.push_back(100 *
                          pipeline::predict(s, {forward / passes, backward / passes, move}).idle);
      step.push_back(1e3 * all / ranks);
    }
    if (env.rank() != 0) continue;
    std::printf("value pipeline %s_idle %d %.2f\n", name.c_str(), ranks, median(measured));
    std::printf("value pipeline %s_predicted %d %.2f\n", name.c_str(), ranks, median(predicted));
    std::printf("value pipeline %s_step %d %.2f\n", name.c_str(), ranks, median(step));
    print_ratio("ratio", "pipeline", name + "_idle", ranks, divided(measured, predicted));
  }
}
