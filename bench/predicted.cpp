// The predicted time of plans against the measured time of their programs. The programs are whole
// expressions of automatic mode that bench_calibrate does not measure, planned with the rates that
// it wrote.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_predicted [--rounds=15]\n"
    "Predicted and measured milliseconds of programs on n x n float32 matrices, n = 768 and 1536, "
    "with\n"
    "the rates that SHARDTYPE_MACHINE names. Lines: value predicted CASE RANKS ERROR, the error as "
    "a "
    "part\n"
    "of the measured time.\n";

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

using Grid = Mesh<X, Y>;

/// Measures programs and prints their relative error against the predicted time.
class Predictions {
 public:
  Predictions(Grid const& mesh, std::int64_t rounds) : mesh_(mesh), rounds_(rounds) {}

  template <class... Out, class E>
  void add(std::string const& name, E const& e) {
    double const predicted = planned(evaluate_to<Out...>, mesh_, e).seconds();
    std::vector<double> times;
    for (std::int64_t k = -2; k < rounds_; ++k) {
      double const t =
          timed([&] { benchmark::DoNotOptimize(evaluate<Out...>(mesh_, e).local_size()); });
      if (k >= 0) times.push_back(t);
    }
    double const measured = median(times);
    if (rank_here() != 0) return;
    std::printf("%-14s %8.3f ms predicted %8.3f ms measured\n", name.c_str(), 1e3 * predicted,
                1e3 * measured);
    errors_.emplace_back(name, std::abs(predicted - measured) / measured);
  }
  void print() const {
    for (auto const& [name, error] : errors_)
      std::printf("value predicted %s %d %.3f\n", name.c_str(), ranks_here(), error);
  }

 private:
  Grid const& mesh_;
  std::int64_t rounds_;
  std::vector<std::pair<std::string, double>> errors_;
};

template <class... Dims>
auto matrix(Grid const& mesh, std::int64_t rows, std::int64_t columns) {
  return from_function<float, Dims...>(mesh, {rows, columns}, [](std::int64_t i, std::int64_t j) {
    return (i * 7 + j * 3) % 11 - 5;
  });
}

void measure(Predictions& out, Grid const& mesh, std::int64_t n) {
  auto const a = matrix<Dim<I, X>, Dim<J, Y>>(mesh, n, n);
  auto const b = matrix<Dim<J, Y>, Dim<K>>(mesh, n, n);
  auto const c = matrix<Dim<K>, Dim<L, Y>>(mesh, n, n);
  auto const up = matrix<Dim<J>, Dim<K, Y>>(mesh, n, n);
  auto const down = matrix<Dim<K, Y>, Dim<L, X>>(mesh, n, n);
  auto const rows = matrix<Dim<I, X>, Dim<J>>(mesh, n, n);
  auto const columns = matrix<Dim<I>, Dim<J, X>>(mesh, n, n);
  auto const v =
      from_function<float, Dim<K, Y>>(mesh, {n}, [](std::int64_t k) { return k % 3 - 1; });
  std::string const at = "_" + std::to_string(n);

  out.add<Dim<I, X>, Dim<K, Y>>("product" + at, lazy(a) * lazy(b));
  out.add<Dim<I>, Dim<K>>("whole" + at, lazy(a) * lazy(b));
  out.add<Dim<I, X>, Dim<L, Y>>("chain" + at, lazy(a) * lazy(b) * lazy(c));
  out.add<Dim<I, X>, Dim<L>>("layers" + at, max(lazy(a) * lazy(up), 0.0F) * lazy(down));
  out.add<Dim<I, X>, Dim<K>>("scaled" + at, lazy(a) * lazy(b) * lazy(v));
  out.add<Dim<I, X, Y>, Dim<J>>("map" + at, lazy(a) * lazy(rows) + lazy(a));
  out.add<Dim<I, X>, Dim<J>>("moved" + at, lazy(rows) + lazy(columns));
  out.add<Dim<I>>("rows" + at, sum<J>(lazy(a) * lazy(columns)));
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  int const p = env.size();
  Grid const mesh(env.world(), {p >= 4 ? 2 : 1, p >= 4 ? p / 2 : p});
  Predictions out(mesh, option(argc, argv, "rounds", std::int64_t{15}));
  for (std::int64_t n : {768, 1536}) measure(out, mesh, n);
  out.print();
  return 0;
}
