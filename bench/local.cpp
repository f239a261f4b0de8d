// Local operations against the time that their bytes take and against plain loops over the vector
// functions that the library calls, on the same buffers, in cache and out of it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "local_backward.hpp"
#include "local_kinds.hpp"
#include "local_kinds_backward.hpp"
#include "local_rows.hpp"
#include "local_table.hpp"

using namespace shardtype;
using namespace local;

namespace {

char const* const help =
    "bench_local [--rounds=9] [--rows=4096] [--columns=4096] [--only=OP,OP...] [--times]\n"
    "Local operations of one rank: of rows x columns numbers (memory), and of 128 x 512 (cache).\n"
    "The lower bound is the larger of a plain loop over the same vector functions, or an expert's\n"
    "passes, and of the bytes at the bandwidth of a scaled copy, measured in the same round; of\n"
    "back_OP (pullbacks) OP itself, of vg_OP (values and gradients) the values alone. Last\n"
    "lines: ratio local OP.WHERE 1 MEDIAN Q1 Q3, ours over the bound in time. With --times only\n"
    "time OP MILLISECONDS of memory's cases, the medians of ours, for scripts/bench.d/local.\n";

template <class T>
V<T> sigmoid_of(V<T> const& x) {
  V<T> const e = of<functions::Exp, T>(x < T(0) ? x : -x);
  return (x < T(0) ? e : e * T(0) + T(1)) / (T(1) + e);
}

/// logsumexp of a row in the passes of docs/functions.md: of a block the maximum, then
/// exponentials.
[[gnu::noinline]] std::pair<float, float> sum_of_exponentials(float const* x, std::int64_t n) {
  constexpr std::int64_t block = 512;
  constexpr int lanes = sizeof(V<float>) / sizeof(float);
  float largest = -HUGE_VALF;
  double total = 0;
  for (std::int64_t b = 0; b < n; b += block) {
    V<float> most = V<float>{} - HUGE_VALF;
    for (std::int64_t k = 0; k < block; k += lanes) {
      V<float> v;
      std::memcpy(&v, x + b + k, sizeof(v));
      most = v > most ? v : most;
    }
    float here = largest;
    for (int l = 0; l < lanes; ++l) here = std::max(here, most[l]);
    V<float> sum{};
    for (std::int64_t k = 0; k < block; k += lanes) {
      V<float> v;
      std::memcpy(&v, x + b + k, sizeof(v));
      sum += of<functions::Exp, float>(v - here);
    }
    double part = 0;
    for (int l = 0; l < lanes; ++l) part += static_cast<double>(sum[l]);
    total = total * std::exp(static_cast<double>(largest - here)) + part;
    largest = here;
  }
  return {largest, static_cast<float>(total)};
}
/// The same down the columns, 512 of them at a time.
[[gnu::noinline]] void sums_of_exponentials(float const* x, std::int64_t rows, std::int64_t columns,
                                            std::int64_t first, std::int64_t n, float* largest,
                                            float* total) {
  constexpr int lanes = sizeof(V<float>) / sizeof(float);
  constexpr std::int64_t together = 32;
  for (std::int64_t k = 0; k < n; ++k) {
    largest[k] = -HUGE_VALF;
    total[k] = 0;
  }
  auto const load = [](float const* p) {
    V<float> v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  };
  for (std::int64_t b = 0; b < rows; b += together)
    for (std::int64_t k = 0; k < n; k += lanes) {
      float const* const p = x + b * columns + first + k;
      V<float> most = load(largest + k);
      V<float> const before = most;
      for (std::int64_t i = 0; i < together; ++i) {
        V<float> const v = load(p + i * columns);
        most = v > most ? v : most;
      }
      V<float> sum = load(total + k) * of<functions::Exp, float>(before - most);
      for (std::int64_t i = 0; i < together; ++i)
        sum += of<functions::Exp, float>(load(p + i * columns) - most);
      std::memcpy(largest + k, &most, sizeof(most));
      std::memcpy(total + k, &sum, sizeof(sum));
    }
}

template <class T>
void squares(T const* x, std::int64_t n, double mean, double& sum, double& square) {
  double s[16] = {};
  double q[16] = {};
  for (std::int64_t k = 0; k + 16 <= n; k += 16)
    for (int l = 0; l < 16; ++l) {
      double const d = static_cast<double>(x[k + l]) - mean;
      s[l] += d;
      q[l] += d * d;
    }
  sum = std::accumulate(s, s + 16, 0.0);
  square = std::accumulate(q, q + 16, 0.0);
}

/// Arguments in which every function is defined.
template <class T>
T argument(std::int64_t k) {
  return static_cast<T>(static_cast<float>((k * 7919) % 10007 + 1) * 0.0000999F);
}

#define SHARDTYPE_LOCAL_FUNCTION(name, Tag)                            \
  table.run({std::string(#name) + suffix, [&] { use(M<T>(name(a))); }, \
             [&] { loop<T>(n, to, [](V<T> const& x) { return of<Tag, T>(x); }, pa); }, moved})

template <class T>
void run_functions(Table& table, M<T> const& a, M<T> const& b, T* to) {
  std::int64_t const n = a.local_size();
  auto const* const pa = static_cast<T const*>(a.buffer().data());
  auto const* const pb = static_cast<T const*>(b.buffer().data());
  std::string const suffix = sizeof(T) == 4 ? "" : "_double";
  double const moved = 2.0 * sizeof(T) * static_cast<double>(n);
  SHARDTYPE_LOCAL_FUNCTION(exp, functions::Exp);
  SHARDTYPE_LOCAL_FUNCTION(log, functions::Log);
  SHARDTYPE_LOCAL_FUNCTION(tanh, functions::Tanh);
  SHARDTYPE_LOCAL_FUNCTION(sin, functions::Sin);
  SHARDTYPE_LOCAL_FUNCTION(erf, functions::Erf);
  table.run({"pow" + suffix, [&] { use(M<T>(pow(a, b))); },
             [&] {
               loop<T>(
                   n, to,
                   [](V<T> const& x, V<T> const& y) { return of<functions::Power, T>(x, y); }, pa,
                   pb);
             },
             1.5 * moved});
  if constexpr (std::is_same_v<T, float>) {
    SHARDTYPE_LOCAL_FUNCTION(exp2, functions::Exp2);
    SHARDTYPE_LOCAL_FUNCTION(expm1, functions::Expm1);
    SHARDTYPE_LOCAL_FUNCTION(log2, functions::Log2);
    SHARDTYPE_LOCAL_FUNCTION(log10, functions::Log10);
    SHARDTYPE_LOCAL_FUNCTION(log1p, functions::Log1p);
    SHARDTYPE_LOCAL_FUNCTION(sinh, functions::Sinh);
    SHARDTYPE_LOCAL_FUNCTION(cosh, functions::Cosh);
    SHARDTYPE_LOCAL_FUNCTION(cos, functions::Cos);
    SHARDTYPE_LOCAL_FUNCTION(tan, functions::Tan);
    SHARDTYPE_LOCAL_FUNCTION(asin, functions::Asin);
    SHARDTYPE_LOCAL_FUNCTION(acos, functions::Acos);
    SHARDTYPE_LOCAL_FUNCTION(atan, functions::Atan);
    SHARDTYPE_LOCAL_FUNCTION(erfc, functions::Erfc);
    SHARDTYPE_LOCAL_FUNCTION(cbrt, functions::Cbrt);
    SHARDTYPE_LOCAL_FUNCTION(sqrt, functions::Sqrt);
    SHARDTYPE_LOCAL_FUNCTION(rsqrt, functions::Rsqrt);
    table.run({"atan2", [&] { use(M<T>(atan2(a, b))); },
               [&] {
                 loop<T>(
                     n, to,
                     [](V<T> const& x, V<T> const& y) { return of<functions::Atan2, T>(x, y); }, pa,
                     pb);
               },
               1.5 * moved});
    table.run({"sigmoid", [&] { use(M<T>(sigmoid(a))); },
               [&] { loop<T>(n, to, [](V<T> const& x) { return sigmoid_of<T>(x); }, pa); }, moved});
    table.run({"silu", [&] { use(M<T>(silu(a))); },
               [&] { loop<T>(n, to, [](V<T> const& x) { return x * sigmoid_of<T>(x); }, pa); },
               moved});
    table.run({"gelu", [&] { use(M<T>(gelu(a))); },
               [&] {
                 loop<T>(
                     n, to,
                     [](V<T> const& x) {
                       return x * T(0.5) * of<functions::Erfc, T>(x * T(-0.70710678118654752));
                     },
                     pa);
               },
               moved});
    table.run({"gelu_tanh", [&] { use(M<T>(gelu_tanh(a))); },
               [&] {
                 loop<T>(
                     n, to,
                     [](V<T> const& x) {
                       return x * sigmoid_of<T>(T(1.5957691216) * (x + T(0.044715) * x * x * x));
                     },
                     pa);
               },
               moved});
    table.run({"fused", [&] { use(M<T>(exp(a) * b + tanh(a))); },
               [&] {
                 loop<T>(
                     n, to,
                     [](V<T> const& x, V<T> const& y) {
                       return of<functions::Exp, T>(x) * y + of<functions::Tanh, T>(x);
                     },
                     pa, pb);
               },
               1.5 * moved});
  }
}

void run_passes(Table& table, M<float> const& a, float* to) {
  std::int64_t const n = a.local_size();
  std::int64_t const rows = a.extents()[0];
  std::int64_t const columns = a.extents()[1];
  auto const* const x = static_cast<float const*>(a.buffer().data());
  double const moved = 2.0 * sizeof(float) * static_cast<double>(n);
  table.run({"cumsum_I", [&] { use(cumsum<I>(a)); }, nullptr, moved});
  table.run({"cumsum_J", [&] { use(cumsum<J>(a)); }, nullptr, moved});
  table.run({"cummax_I", [&] { use(cummax<I>(a)); }, nullptr, moved});
  table.run({"cummax_J", [&] { use(cummax<J>(a)); }, nullptr, moved});
  std::int64_t const part = std::min<std::int64_t>(columns, 512);
  Work const rows_of_exponentials = [=] {
    for (std::int64_t i = 0; i < rows; ++i) {
      float total = 0;
      float largest = 0;
      for (std::int64_t b = 0; b < columns; b += 512) {
        auto const [most, sum] = sum_of_exponentials(x + i * columns + b, part);
        largest = std::max(most, largest);
        total += sum;
      }
      to[i] = largest + std::log(total);
    }
  };
  Work const columns_of_exponentials = [=] {
    float total[512];
    for (std::int64_t b = 0; b < columns; b += 512)
      sums_of_exponentials(x, rows, columns, b, part, to + b, total);
  };
  auto const minus = [](V<float> const& v) { return of<functions::Exp, float>(v - 1.0F); };
  table.run({"logsumexp_J", [&] { use(logsumexp<J>(a)); }, rows_of_exponentials, moved / 2});
  table.run({"logsumexp_I", [&] { use(logsumexp<I>(a)); }, columns_of_exponentials, moved / 2});
  table.run({"softmax_J", [&] { use(softmax<J>(a)); },
             [&, rows_of_exponentials] {
               rows_of_exponentials();
               loop<float>(n, to, minus, x);
             },
             moved});
  table.run({"softmax_I", [&] { use(softmax<I>(a)); },
             [&, columns_of_exponentials] {
               columns_of_exponentials();
               loop<float>(n, to, minus, x);
             },
             1.5 * moved});
  double sum = 0;
  double square = 0;
  table.run({"norm", [&] { use(norm(a)); },
             [=, &sum, &square] {
               squares(x, n, 0.0, sum, square);
               benchmark::DoNotOptimize(square);
             },
             moved / 2});
  table.run({"norm_1_J", [&] { use(norm_1<J>(a)); },
             [=] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 float lanes[64] = {};
                 for (std::int64_t k = 0; k < columns; k += 64)
                   for (int l = 0; l < 64; ++l) lanes[l] += std::fabs(x[i * columns + k + l]);
                 to[i] = std::accumulate(lanes, lanes + 64, 0.0F);
               }
             },
             moved / 2});
  table.run({"norm_inf_I", [&] { use(norm_inf<I>(a)); },
             [=] {
               std::fill(to, to + columns, 0.0F);
               for (std::int64_t i = 0; i < rows; ++i)
                 for (std::int64_t k = 0; k < columns; ++k) {
                   float const size = std::fabs(x[i * columns + k]);
                   to[k] = size > to[k] ? size : to[k];
                 }
             },
             moved / 2});
  // a mean, then distances from it, of a row that stays in cache
  table.run({"var_J", [&] { use(var<J>(a)); },
             [=, &sum, &square] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 squares(x + i * columns, columns, 0.0, sum, square);
                 squares(x + i * columns, columns, sum / static_cast<double>(columns), sum, square);
                 to[i] = static_cast<float>(square);
               }
             },
             moved / 2});
  table.run({"var_I", [&] { use(var<I>(a)); },
             [=] {
               // 512 columns at a time, 32 rows of which stay in cache: their means, then distances
               double mean[512];
               double distances[512];
               for (std::int64_t b = 0; b < columns; b += part)
                 for (std::int64_t i = 0; i < rows; i += 32) {
                   std::fill(mean, mean + part, 0.0);
                   std::fill(distances, distances + part, 0.0);
                   for (std::int64_t r = i; r < i + 32; ++r)
                     for (std::int64_t k = 0; k < part; ++k)
                       mean[k] += static_cast<double>(x[r * columns + b + k]);
                   for (std::int64_t r = i; r < i + 32; ++r)
                     for (std::int64_t k = 0; k < part; ++k) {
                       double const d = static_cast<double>(x[r * columns + b + k]) - mean[k] / 32;
                       distances[k] += d * d;
                     }
                   for (std::int64_t k = 0; k < part; ++k)
                     to[b + k] = static_cast<float>(distances[k]);
                 }
             },
             moved / 2});
}

void run_orders(Table& table, M<float> const& a, float* to) {
  std::int64_t const rows = a.extents()[0];
  std::int64_t const columns = a.extents()[1];
  auto const* const x = static_cast<float const*>(a.buffer().data());
  auto const bytes = static_cast<double>(a.local_size()) * sizeof(float);
  using Item = std::pair<float, std::int64_t>;
  std::vector<Item> items(static_cast<std::size_t>(columns));
  auto const pairs = [=, &items](std::int64_t i) {
    for (std::int64_t k = 0; k < columns; ++k)
      items[static_cast<std::size_t>(k)] = {x[i * columns + k], k};
  };
  table.run({"sort_J", [&] { use(sort<J>(a)); },
             [=] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 std::memcpy(to, x + i * columns,
                             static_cast<std::size_t>(columns) * sizeof(float));
                 std::sort(to, to + columns);
               }
             },
             2 * bytes});
  table.run({"argsort_J", [&] { use(argsort<J>(a)); },
             [=, &items] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 pairs(i);
                 std::sort(items.begin(), items.end());
                 for (std::int64_t k = 0; k < columns; ++k)
                   to[k] = static_cast<float>(items[static_cast<std::size_t>(k)].second);
               }
             },
             3 * bytes});
  for (std::int64_t const keep : {std::int64_t{8}, std::int64_t{100}})
    table.run({"top_k_" + std::to_string(keep), [&, keep] { use(top_k<J, K>(a, keep).values); },
               [=, &items] {
                 for (std::int64_t i = 0; i < rows; ++i) {
                   pairs(i);
                   std::nth_element(items.begin(), items.begin() + keep, items.end(),
                                    std::greater<>{});
                   std::sort(items.begin(), items.begin() + keep, std::greater<>{});
                   to[i] = items[0].first;
                 }
               },
               bytes});
}

template <class T>
void run_transpose(Table& table, Mesh<X> const& mesh, char const* name, std::int64_t rows,
                   std::int64_t columns) {
  if (!table.wants(name)) return;
  M<T> const a = full<M<T>>(mesh, {rows, columns}, T(1));
  table.run({name, [&] { use(transpose<J, I>(a)); }, nullptr,
             2.0 * sizeof(T) * static_cast<double>(rows * columns)});
}

void run_random(Table& table, Mesh<X> const& mesh, std::int64_t rows, std::int64_t columns) {
  RandomKey const key{7};
  auto const written = static_cast<double>(rows * columns) * sizeof(float);
  Work const floats = [=, &mesh] {
    use(uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, key));
  };
  Work const doubles = [=, &mesh] {
    use(uniform<double, Dim<I>, Dim<J>>(mesh, {rows, columns}, key));
  };
  table.run({"uniform", floats, nullptr, written});
  // beside uniform numbers
  table.run({"normal",
             [=, &mesh] { use(normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, key)); }, floats,
             written});
  table.run({"normal_double",
             [=, &mesh] { use(normal<double, Dim<I>, Dim<J>>(mesh, {rows, columns}, key)); },
             doubles, 2 * written});
  table.run(
      {"truncated_normal",
       [=, &mesh] {
         use(truncated_normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, key, -1.0F, 2.0F));
       },
       floats, written});
}

void run_all(Table& table, Mesh<X> const& mesh, std::int64_t rows, std::int64_t columns) {
  auto const made = [&]<class T>(T) {
    return from_function<M<T>>(mesh, {rows, columns}, [columns](std::int64_t i, std::int64_t j) {
      return argument<T>(i * columns + j);
    });
  };
  M<float> const a = made(0.0F);
  M<float> const b = made(0.0F);
  HostArray<float> const to(rows * columns);
  run_functions<float>(table, a, b, to.data());
  {
    M<double> const x = made(0.0);
    M<double> const y = made(0.0);
    HostArray<double> const result(rows * columns);
    run_functions<double>(table, x, y, result.data());
  }
  run_passes(table, a, to.data());
  run_orders(table, a, to.data());
  run_transpose<bool>(table, mesh, "transpose_bool", rows, columns);
  run_transpose<bfloat16>(table, mesh, "transpose_bfloat16", rows, columns);
  run_transpose<float>(table, mesh, "transpose", rows, columns);
  run_transpose<double>(table, mesh, "transpose_double", rows, columns);
  run_random(table, mesh, rows, columns);
  run_rows(table, mesh, rows, columns);
  run_kinds(table, mesh, rows, columns);
  run_backward(table, mesh, rows, columns);
  run_back_kinds(table, mesh, rows, columns);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  if (env.size() != 1) stop("these operations are local: start one rank");
  std::int64_t const rows = option(argc, argv, "rows", 4096);
  std::int64_t const columns = option(argc, argv, "columns", 4096);
  int const rounds = static_cast<int>(option(argc, argv, "rounds", 9));
  std::string const only = option(argc, argv, "only", "");
  bool times = false;
  for (int k = 1; k < argc; ++k) times = times || std::strcmp(argv[k], "--times") == 0;
  Mesh<X> const mesh(env.world(), {1});
  Table memory("memory", rows * columns, rounds, only, times);
  run_all(memory, mesh, rows, columns);
  if (times) return 0;
  constexpr std::int64_t few = 128;
  constexpr std::int64_t wide = 512;
  Table cache("cache", few * wide, 3 * rounds, only, times);
  run_all(cache, mesh, few, wide);
  memory.print();
  cache.print();
  return 0;
}
