// Compares the library (ours) with another program (the rival) under MPI. One Google Benchmark
// iteration is one round: ours, the rival, and the rival again, each timed from a barrier to the
// end of the last rank. The program that starts changes from round to round. The number of
// iterations is fixed: adaptive numbers would differ between ranks, and the ranks would deadlock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <mpi.h>
#include <sched.h>

#include <shardtype/runtime/comm.hpp>

/// Aligned memory, touched once before the timing starts.
template <class T>
class HostArray {
 public:
  explicit HostArray(std::int64_t elements)
      : size_(static_cast<std::size_t>(elements)),
        data_(static_cast<T*>(
            ::operator new(std::max<std::size_t>(size_, 1) * sizeof(T), std::align_val_t{64}))) {
    std::fill_n(data_.get(), size_, T{});
  }
  T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::size_t size_;
  std::unique_ptr<T, Free> data_;
};

inline int rank_here() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks_here() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// Prints `text` and this rank, and ends the job.
[[noreturn]] inline void stop(std::string const& text) {
  std::fprintf(stderr, "rank %d: %s\n", rank_here(), text.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// The value of the argument `--NAME=VALUE`, or `otherwise` if there is none.
inline std::string option(int argc, char** argv, std::string const& name,
                          std::string const& otherwise) {
  std::string const start = "--" + name + "=";
  for (int k = 1; k < argc; ++k)
    if (std::strncmp(argv[k], start.c_str(), start.size()) == 0) return argv[k] + start.size();
  return otherwise;
}
inline std::int64_t option(int argc, char** argv, std::string const& name, std::int64_t otherwise) {
  return std::stoll(option(argc, argv, name, std::to_string(otherwise)));
}
/// Whether `--help` is among the arguments; if so, prints `text`. Call it before MPI starts,
/// because Kokkos also reads `--help`.
inline bool asked_for_help(int argc, char** argv, char const* text) {
  for (int k = 1; k < argc; ++k)
    if (std::strcmp(argv[k], "--help") == 0) {
      std::fputs(text, stdout);
      return true;
    }
  return false;
}

/// A barrier that yields the core while it waits. Both programs use it.
inline void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) sched_yield();
  }
}

/// The maximum of `mine` over all ranks, on all ranks.
inline double greatest(double mine) {
  double most = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) sched_yield();
  }
  return most;
}

/// The seconds that `work` takes after a barrier. On one node the ranks share a clock, and the time
/// runs from the start of the first rank to the end of the last one, because ranks that share a
/// core may run one after the other. Otherwise it is the time of the slowest rank.
inline double timed(std::function<void()> const& work) {
  using Clock = std::chrono::steady_clock;
  meet();
  Clock::time_point const start = Clock::now();
  work();
  Clock::time_point const end = Clock::now();
  if (!shardtype::runtime::run_time.on_one_node)
    return greatest(std::chrono::duration<double>(end - start).count());
  double const first = -greatest(-std::chrono::duration<double>(start.time_since_epoch()).count());
  return greatest(std::chrono::duration<double>(end.time_since_epoch()).count()) - first;
}

/// The measured times of one case in seconds, one entry per round.
struct Times {
  std::vector<double> ours, rival, again;
};

/// The quantile `q` of `x`.
inline double quantile(std::vector<double> x, double q) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  double const place = q * static_cast<double>(x.size() - 1);
  auto const k = static_cast<std::size_t>(place);
  double const rest = place - static_cast<double>(k);
  return k + 1 < x.size() ? x[k] * (1 - rest) + x[k + 1] * rest : x[k];
}
inline double median(std::vector<double> const& x) { return quantile(x, 0.5); }

inline std::vector<double> divided(std::vector<double> const& a, std::vector<double> const& b) {
  std::vector<double> out;
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(a[k] / b[k]);
  return out;
}

/// Prints `WORD NAME CASE RANKS MEDIAN Q1 Q3` of `ratios` on rank 0.
inline void print_ratio(char const* word, std::string const& name, std::string const& what,
                        int ranks, std::vector<double> const& ratios) {
  if (rank_here() != 0) return;
  std::printf("%s %s %s %d %.4f %.4f %.4f\n", word, name.c_str(), what.c_str(), ranks,
              median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75));
  std::fflush(stdout);
}

/// Runs the registered benchmarks that the command line selects. Only rank 0 prints a report.
inline void run_benchmarks(int argc, char** argv) {
  class Silent : public benchmark::BenchmarkReporter {
   public:
    bool ReportContext(Context const&) override { return true; }
    void ReportRuns(std::vector<Run> const&) override {}
  };
  benchmark::Initialize(&argc, argv);
  Silent silent;
  if (rank_here() == 0) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  benchmark::Shutdown();
}

/// The cases of one program: `add` registers them, `run` runs them, and `print` prints the ratios.
class Suite {
 public:
  Suite(std::string name, std::int64_t rounds) : name_(std::move(name)), rounds_(rounds) {}

  /// Registers a case. `make` is called when the case runs and returns the two programs as a pair
  /// of functions.
  template <class Make>
  void add(std::string const& what, Make make) {
    results_.push_back({what, {}});
    Times& times = results_.back().second;
    benchmark::RegisterBenchmark((name_ + "/" + what).c_str(),
                                 [this, make, &times](benchmark::State& state) {
                                   auto const both = make();
                                   rounds(state, both.first, both.second, times);
                                 })
        ->UseManualTime()
        ->Iterations(rounds_)
        ->Unit(benchmark::kMillisecond);
  }

  /// Runs the cases that the command line selects, and prints a line per case with the ratio of the
  /// rival's two times.
  void run(int argc, char** argv) {
    run_benchmarks(argc, argv);
    for (auto const& [what, times] : results_)
      if (!times.ours.empty())
        print_ratio("itself", name_, what, ranks_here(), divided(times.again, times.rival));
  }
  /// Prints `ratio NAME CASE RANKS MEDIAN Q1 Q3` for each case.
  void print() const {
    for (auto const& [what, times] : results_)
      if (!times.ours.empty())
        print_ratio("ratio", name_, what, ranks_here(), divided(times.ours, times.rival));
  }

  std::deque<std::pair<std::string, Times>> const& results() const { return results_; }

 private:
  static void rounds(benchmark::State& state, std::function<void()> const& ours,
                     std::function<void()> const& rival, Times& times) {
    for (int warm = 0; warm < 2; ++warm) {
      timed(ours);
      timed(rival);
    }
    std::vector<double>* const into[] = {&times.ours, &times.rival, &times.again};
    std::size_t round = 0;
    for (auto _ : state) {
      for (std::size_t k = 0; k < 3; ++k) {
        std::size_t const who = (round + k) % 3;
        into[who]->push_back(timed(who == 0 ? ours : rival));
      }
      ++round;
      state.SetIterationTime(times.ours.back());
    }
    state.counters["ours_ms"] = 1e3 * median(times.ours);
    state.counters["rival_ms"] = 1e3 * median(times.rival);
    state.counters["rival_best_ms"] = 1e3 * quantile(times.rival, 0);
  }

  std::string name_;
  std::int64_t rounds_;
  std::deque<std::pair<std::string, Times>> results_;
};
