// What the rows of bench_local share: how one is measured, and plain loops over vector functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"

namespace local {

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
template <class T>
using M = Tensor<T, Dim<I>, Dim<J>>;
using Work = std::function<void()>;

inline double seconds(Work const& work, int repeats) {
  using Clock = std::chrono::steady_clock;
  auto const start = Clock::now();
  for (int r = 0; r < repeats; ++r) work();
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

/// One case: ours, the plain loop or none, and the bytes that must be read and written.
struct Case {
  std::string name;
  Work ours, loop;
  double bytes;
};

/// Measures cases one by one, alternating.
class Table {
 public:
  Table(std::string where, std::int64_t elements, int rounds, std::string only, bool times)
      : where_(std::move(where)),
        rounds_(rounds),
        only_(std::move(only)),
        times_(times),
        elements_(elements),
        from_(elements),
        to_(elements) {}

  /// Whether one of these is measured.
  template <class... Names>
  bool wants(Names const&... names) const {
    std::string const only = "," + only_ + ",";
    return only_.empty() ||
           (... || (only.find("," + std::string(names) + ",") != std::string::npos));
  }

  /// Whether one that begins so is measured.
  bool wants_any(std::string const& prefix) const {
    return only_.empty() || ("," + only_).find("," + prefix) != std::string::npos;
  }

  void run(Case const& c) {
    if (!wants(c.name)) return;
    Work const copy = [this] {
      float* __restrict const to = to_.data();
      float const* __restrict const from = from_.data();
      for (std::int64_t k = 0; k < elements_; ++k) to[k] = from[k] * 3.0F;
      benchmark::ClobberMemory();
    };
    c.ours();
    int const repeats = std::max(1, static_cast<int>(2e-4 / seconds(c.ours, 1)));
    double const copied = 2.0 * sizeof(float) * static_cast<double>(elements_);
    std::vector<double> ours;
    std::vector<double> loop;
    std::vector<double> bytes;
    std::vector<double> ratios;
    if (!times_) {
      if (c.loop) c.loop();
      copy();
    }
    for (int r = 0; r < rounds_; ++r) {
      if (r % 2 == 0) ours.push_back(seconds(c.ours, repeats));
      if (!times_) {
        loop.push_back(c.loop ? seconds(c.loop, repeats) : 0.0);
        bytes.push_back(seconds(copy, repeats) * c.bytes / copied);
      }
      if (r % 2 != 0) ours.push_back(seconds(c.ours, repeats));
      if (!times_) ratios.push_back(ours.back() / std::max(loop.back(), bytes.back()));
    }
    if (times_) {
      std::printf("time %s %.5f\n", c.name.c_str(), 1e3 * median(ours));
    } else {
      std::printf("local %-24s %-6s ours %10.4f ms  loop %10.4f  bytes %10.4f  ratio %6.3f\n",
                  c.name.c_str(), where_.c_str(), 1e3 * median(ours), 1e3 * median(loop),
                  1e3 * median(bytes), median(ratios));
      lines_.push_back({c.name + "." + where_, ratios});
    }
    std::fflush(stdout);
  }
  void print() const {
    for (auto const& [name, ratios] : lines_) print_ratio("ratio", "local", name, 1, ratios);
  }

 private:
  std::string where_;
  int rounds_;
  std::string only_;
  bool times_;
  std::int64_t elements_;
  HostArray<float> from_, to_;
  std::vector<std::pair<std::string, std::vector<double>>> lines_;
};

template <class T>
using V = kernels::detail::vector_of<T>;
template <class F, class T>
V<T> of(V<T> const& x) {
  return kernels::vectors::Library<F, T>::call(x);
}
template <class F, class T>
V<T> of(V<T> const& x, V<T> const& y) {
  return kernels::vectors::Library<F, T>::call(x, y);
}
/// The plain loop: to[k] = f(from[k]...), a vector at a time; the number of elements has no rest.
template <class T, class F, class... From>
[[gnu::noinline]] void loop(std::int64_t n, T* to, F const& f, From const*... from) {
  constexpr auto lanes = static_cast<std::int64_t>(sizeof(V<T>) / sizeof(T));
  auto const at = [](T const* p) {
    V<T> v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  };
  for (std::int64_t k = 0; k < n; k += lanes) {
    V<T> const v = f(at(from + k)...);
    std::memcpy(to + k, &v, sizeof(v));
  }
}
template <class Made>
void use(Made const& made) {
  benchmark::DoNotOptimize(made.buffer().data());
}

}  // namespace local
