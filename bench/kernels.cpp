// Local kernels against plain loops over the same bytes: fused elementwise expressions and
// reductions against a hand-written loop, packing and unpacking against memcpy. The bandwidth
// limits the loop, so it is the lower bound of the time.
// RANKS: 1
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_kernels [--rounds=41] [--rows=4096] [--columns=4096] [--benchmark_filter=CASE]\n"
    "Elementwise expressions, reductions and packing of float32 matrices, on one rank. Last "
    "lines:\n"
    "ratio kernels CASE 1 MEDIAN Q1 Q3, ours over a plain loop or memcpy in time; before them, as\n"
    "itself, the rival over itself.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Pair = std::pair<std::function<void()>, std::function<void()>>;
using M = Tensor<float, Dim<I>, Dim<J>>;
using Mask = Tensor<bool, Dim<I>, Dim<J>>;
using Row = Tensor<float, Dim<J>>;

/// The hand-written loops. Their pointers do not overlap, as in STREAM.
void axpy(float* __restrict out, float const* __restrict a, float const* __restrict b,
          std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) out[k] = a[k] * 3.0F + b[k];
}
void chain(float* __restrict out, float const* __restrict a, float const* __restrict b,
           float const* __restrict c, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    float const d = (a[k] - b[k]) * c[k];
    out[k] = d > 0.0F ? d : a[k];
  }
}
void add_row(float* __restrict out, float const* __restrict a, float const* __restrict row,
             std::int64_t rows, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[i * columns + j] = a[i * columns + j] + row[j];
}
void sum_columns(float* __restrict out, float const* __restrict a, std::int64_t rows,
                 std::int64_t columns) {
  std::memset(out, 0, static_cast<std::size_t>(columns) * sizeof(float));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[j] += a[i * columns + j];
}
void sum_rows(float* __restrict out, float const* __restrict a, std::int64_t rows,
              std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float lanes[32] = {};
    std::int64_t j = 0;
    for (; j + 32 <= columns; j += 32)
      for (int l = 0; l < 32; ++l) lanes[l] += a[i * columns + j + l];
    float sum = 0;
    for (float l : lanes) sum += l;
    for (; j < columns; ++j) sum += a[i * columns + j];
    out[i] = sum;
  }
}
void largest(float* __restrict out, float const* __restrict a, std::int64_t n) {
  float lanes[32];
  for (float& l : lanes) l = a[0];
  std::int64_t k = 0;
  for (; k + 32 <= n; k += 32)
    for (int l = 0; l < 32; ++l) lanes[l] = a[k + l] > lanes[l] ? a[k + l] : lanes[l];
  out[0] = lanes[0];
  for (float l : lanes) out[0] = l > out[0] ? l : out[0];
}

void largest_columns(float* __restrict out, float const* __restrict a, std::int64_t rows,
                     std::int64_t columns) {
  std::memcpy(out, a, static_cast<std::size_t>(columns) * sizeof(float));
  for (std::int64_t i = 1; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      out[j] = a[i * columns + j] > out[j] ? a[i * columns + j] : out[j];
}
/// bool elements as bytes, because compilers do not vectorize loads of bool.
using Byte = unsigned char;
void select(float* __restrict out, Byte const* __restrict p, float const* __restrict a,
            float const* __restrict b, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) out[k] = p[k] != 0 ? a[k] : b[k];
}
void both(Byte* __restrict out, Byte const* __restrict a, Byte const* __restrict b,
          std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) out[k] = a[k] & b[k];
}
void count(std::int64_t* out, Byte const* __restrict a, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < n; k += 4096) {
    int part = 0;
    for (std::int64_t l = k; l < (k + 4096 < n ? k + 4096 : n); ++l) part += a[l];
    sum += part;
  }
  *out = sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  if (env.size() != 1) stop("kernels are local: start one rank");
  std::int64_t const rows = option(argc, argv, "rows", 4096);
  std::int64_t const columns = option(argc, argv, "columns", 4096);
  std::int64_t const n = rows * columns;
  Mesh<X> const mesh(env.world(), {1});
  auto const value = [](std::int64_t i, std::int64_t j) {
    return static_cast<float>((i * 7 + j * 3) % 11 - 5);
  };
  M const a = from_function<M>(mesh, {rows, columns}, value);
  M const b = a.clone();
  M const c = b.clone();
  M target = c.clone();
  Row const row = from_function<Row>(mesh, {columns}, [&](std::int64_t j) { return value(1, j); });
  auto* const pa = static_cast<float const*>(a.buffer().data());
  auto* const pb = static_cast<float const*>(b.buffer().data());
  auto* const pc = static_cast<float const*>(c.buffer().data());
  auto* const pr = static_cast<float const*>(row.buffer().data());
  Mask const p = a > b * 2.0F;
  Mask const q = a < b * 2.0F;
  auto* const pp = static_cast<Byte const*>(p.buffer().data());
  auto* const pq = static_cast<Byte const*>(q.buffer().data());
  auto* const to = static_cast<float*>(target.buffer().data());

  Suite suite("kernels", option(argc, argv, "rounds", 41));
  suite.add("axpy", [&] {
    return Pair{[&] { benchmark::DoNotOptimize((a * 3.0F + b).local_size()); },
                [&] { axpy(to, pa, pb, n); }};
  });
  suite.add("chain", [&] {
    return Pair{
        [&] { benchmark::DoNotOptimize(where((a - b) * c > 0.0F, (a - b) * c, a).local_size()); },
        [&] { chain(to, pa, pb, pc, n); }};
  });
  suite.add("add_row", [&] {
    return Pair{[&] { benchmark::DoNotOptimize((a + row).local_size()); },
                [&] { add_row(to, pa, pr, rows, columns); }};
  });
  suite.add("sum_over_I", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(sum<I>(a).local_size()); },
                [&] { sum_columns(to, pa, rows, columns); }};
  });
  suite.add("sum_over_J", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(sum<J>(a).local_size()); },
                [&] { sum_rows(to, pa, rows, columns); }};
  });
  suite.add("sum_all", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(sum(a).local_size()); },
                [&] { sum_rows(to, pa, 1, n); }};
  });
  suite.add("max_all", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(max(a).local_size()); },
                [&] { largest(to, pa, n); }};
  });
  suite.add("max_over_I", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(max<I>(a).local_size()); },
                [&] { largest_columns(to, pa, rows, columns); }};
  });
  // the hand-written loop reads the same elements, but does not compute indices
  suite.add("argmax_over_J", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(argmax<J>(a).local_size()); },
                [&] {
                  for (std::int64_t i = 0; i < rows; ++i)
                    largest(to + i, pa + i * columns, columns);
                }};
  });
  suite.add("select", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(where(p, a, b).local_size()); },
                [&] { select(to, pp, pa, pb, n); }};
  });
  suite.add("both", [&] {
    return Pair{[&] { benchmark::DoNotOptimize((p && q).local_size()); },
                [&] { both(reinterpret_cast<Byte*>(to), pp, pq, n); }};
  });
  suite.add("count", [&] {
    return Pair{[&] { benchmark::DoNotOptimize(sum(p).local_size()); },
                [&] { count(reinterpret_cast<std::int64_t*>(to), pp, n); }};
  });
  // what 8 ranks send and receive if J is split
  std::vector<std::int64_t> cuts;
  for (std::int64_t k = 0; k <= 8; ++k) cuts.push_back(columns * k / 8);
  Kokkos::DefaultHostExecutionSpace const exec{};
  auto const copy = [&] { std::memcpy(to, pa, static_cast<std::size_t>(n) * sizeof(float)); };
  suite.add("pack", [&] {
    return Pair{[&] {
                  kernels::move_segments<kernels::Packing::split>(exec, pa, to, cuts.data(), 8,
                                                                  rows, columns, 1);
                },
                copy};
  });
  suite.add("unpack", [&] {
    return Pair{[&] {
                  kernels::move_segments<kernels::Packing::join>(exec, pa, to, cuts.data(), 8, rows,
                                                                 columns, 1);
                },
                copy};
  });
  suite.run(argc, argv);
  suite.print();
  return 0;
}
