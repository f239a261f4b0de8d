// Rows of bench_local on random numbers: bfloat16 along rows, short rows, products, compositions,
// copies, random integers and files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <shardtype/io/npy.hpp>

#include "local_backward.hpp"
#include "local_table.hpp"

namespace local {

struct Quad : Index<"quad"> {};
struct Item : Index<"item"> {};

/// bfloat16 beside the same operation on float.
inline void run_bfloat16(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                         std::int64_t columns) {
  auto const n = static_cast<double>(rows * columns);
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{20});
  M<bfloat16> const h = cast<bfloat16>(a);
  auto const row = [&](std::string const& name, double written, auto const& f) {
    table.run({name + "_J_bfloat16", [&] { use(f(h)); }, [&] { use(f(a)); }, 2 * n + written});
  };
  row("max", 0.0, [](auto const& v) { return max<J>(v); });
  row("argmax", 0.0, [](auto const& v) { return argmax<J>(v); });
  row("norm_inf", 0.0, [](auto const& v) { return norm_inf<J>(v); });
  row("logsumexp", 0.0, [](auto const& v) { return logsumexp<J>(v); });
  row("softmax", 2 * n, [](auto const& v) { return softmax<J>(v); });
  row("log_softmax", 2 * n, [](auto const& v) { return log_softmax<J>(v); });
}

/// Reductions of rows of four numbers, of as many numbers as the others.
inline void run_short_rows(Table& table, Mesh<X> const& mesh, std::int64_t elements) {
  auto const a = normal<float, Dim<I>, Dim<Quad>>(mesh, {elements / 4, 4}, RandomKey{21});
  HostArray<float> const to(elements / 4);
  float* __restrict const y = to.data();
  auto const* __restrict const x = static_cast<float const*>(a.buffer().data());
  std::int64_t const n = elements / 4;
  double const bytes = 5.0 * static_cast<double>(elements);
  table.run({"sum_4", [&] { use(sum<Quad>(a)); },
             [=] {
               for (std::int64_t k = 0; k < n; ++k)
                 y[k] = (x[4 * k] + x[4 * k + 1]) + (x[4 * k + 2] + x[4 * k + 3]);
             },
             bytes});
  table.run({"max_4", [&] { use(max<Quad>(a)); },
             [=] {
               auto const larger = [](float p, float q) { return p > q ? p : q; };
               for (std::int64_t k = 0; k < n; ++k)
                 y[k] = larger(larger(x[4 * k], x[4 * k + 1]), larger(x[4 * k + 2], x[4 * k + 3]));
             },
             bytes});
}

inline void run_products(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                         std::int64_t columns) {
  auto const bytes = 4.0 * static_cast<double>(rows * columns);
  if (table.wants("matvec")) {
    M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{22});
    auto const v = normal<float, Dim<J>>(mesh, {columns}, RandomKey{23});
    table.run({"matvec", [&] { use(matmul(a, v)); }, nullptr, bytes});
  }
  if (table.wants("matmul_bfloat16")) {
    std::int64_t const n = rows / 2;
    auto const a = normal<bfloat16, Dim<I>, Dim<J>>(mesh, {n, n}, RandomKey{24});
    auto const b = normal<bfloat16, Dim<J>, Dim<K>>(mesh, {n, n}, RandomKey{25});
    auto const of_float = [](auto const& v) { return cast<float>(v).tensor(); };
    auto const c = of_float(a);
    auto const d = of_float(b);
    table.run({"matmul_bfloat16", [&] { use(matmul(a, b)); }, [&] { use(matmul(c, d)); },
               6.0 * static_cast<double>(n * n)});
  }
}

inline void run_compositions(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                             std::int64_t columns) {
  std::int64_t const n = rows * columns;
  double const moved = 8.0 * static_cast<double>(n);
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{26});
  auto const mu = normal<float, Dim<I>>(mesh, {rows}, RandomKey{27});
  auto const s = uniform<float, Dim<I>>(mesh, {rows}, RandomKey{28});
  auto const g = normal<float, Dim<J>>(mesh, {columns}, RandomKey{29});
  auto const b = normal<float, Dim<J>>(mesh, {columns}, RandomKey{30});
  HostArray<float> const to(2 * n);
  auto const* const x = static_cast<float const*>(a.buffer().data());
  auto const* const of_row = static_cast<float const*>(mu.buffer().data());
  auto const* const scale = static_cast<float const*>(s.buffer().data());
  auto const* const gain = static_cast<float const*>(g.buffer().data());
  auto const* const bias = static_cast<float const*>(b.buffer().data());
  float* const y = to.data();
  table.run({"affine", [&] { use(M<float>((a - mu) * s * g + b)); },
             [=] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 float* __restrict const out = y + i * columns;
                 float const* const in = x + i * columns;
                 for (std::int64_t k = 0; k < columns; ++k)
                   out[k] = (in[k] - of_row[i]) * scale[i] * gain[k] + bias[k];
               }
             },
             moved});
  table.run({"layer_norm", [&] { use(layer_norm(a, g, b)); }, nullptr, moved});
  if (table.wants("masked_softmax")) {
    auto const kept = uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{31});
    M<float> const masked = where(kept < 0.5F, a, -1e30F);
    table.run(
        {"masked_softmax", [&] { use(softmax<J>(masked)); }, [&] { use(softmax<J>(a)); }, moved});
  }
  table.run({"sort_J_random", [&] { use(sort<J>(a)); },
             [=] {
               for (std::int64_t i = 0; i < rows; ++i) {
                 std::copy_n(x + i * columns, columns, y);
                 std::sort(y, y + columns);
               }
             },
             moved});
  table.run({"repeat_J", [&] { use(repeat<J, K>(a, 2)); },
             [=] {
               float* __restrict const out = y;
               for (std::int64_t k = 0; k < n; ++k) out[2 * k] = out[2 * k + 1] = x[k];
             },
             1.5 * moved});
  table.run({"flip_J", [&] { use(flip<J>(a)); },
             [=] {
               for (std::int64_t i = 0; i < rows; ++i)
                 std::reverse_copy(x + i * columns, x + (i + 1) * columns, y + i * columns);
             },
             moved});
  if (table.wants("save_npy")) {
    std::string const path =
        (std::filesystem::temp_directory_path() / ("bench_local." + std::to_string(getpid())))
            .string();
    table.run({"save_npy", [&] { save_npy(a, path); },
               [=] {
                 std::FILE* const file = std::fopen(path.c_str(), "wb");
                 std::fwrite(x, sizeof(float), static_cast<std::size_t>(n), file);
                 std::fclose(file);
               },
               moved});
    std::filesystem::remove(path);
  }
}

inline void run_elements(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                         std::int64_t columns) {
  std::int64_t const n = rows * columns;
  double const moved = 8.0 * static_cast<double>(n);
  HostArray<float> const to(n);
  float* const y = to.data();
  if (table.wants("pow_negative")) {
    M<float> const a =
        uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{32}, -1.0F, 1.0F);
    auto const* const x = static_cast<float const*>(a.buffer().data());
    table.run({"pow_negative", [&] { use(M<float>(pow(a, 3.0F))); },
               [=] {
                 float* __restrict const out = y;
                 for (std::int64_t k = 0; k < n; ++k) out[k] = x[k] * x[k] * x[k];
               },
               moved});
  }
  if (table.wants("abs_complex")) {
    using Complex = Kokkos::complex<float>;
    auto const a = normal<Complex, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{33});
    auto const* const x = static_cast<Complex const*>(a.buffer().data());
    table.run({"abs_complex", [&] { use(M<float>(abs(a))); },
               [=] {
                 for (std::int64_t k = 0; k < n; ++k) y[k] = std::hypot(x[k].real(), x[k].imag());
               },
               1.5 * moved});
  }
  if (table.wants("floor_divide")) {
    M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{34});
    M<float> const b =
        uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{35}, 0.1F, 1.0F);
    auto const* const p = static_cast<float const*>(a.buffer().data());
    auto const* const q = static_cast<float const*>(b.buffer().data());
    table.run({"floor_divide", [&] { use(M<float>(floor_divide(a, b))); },
               [=] {
                 float* __restrict const out = y;
                 for (std::int64_t k = 0; k < n; ++k) out[k] = std::floor(p[k] / q[k]);
               },
               1.5 * moved});
  }
  if (table.wants("floor_divide_integers")) {
    auto const drawn = [&](std::uint64_t key, std::int64_t low, std::int64_t high) {
      return integers<std::int32_t, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{key}, low,
                                                    high);
    };
    M<std::int32_t> const a = drawn(36, -1000000, 1000000);
    M<std::int32_t> const b = drawn(37, 1, 1000);
    auto const* const p = static_cast<std::int32_t const*>(a.buffer().data());
    auto const* const q = static_cast<std::int32_t const*>(b.buffer().data());
    auto* const out = reinterpret_cast<std::int32_t*>(y);
    table.run({"floor_divide_integers", [&] { use(M<std::int32_t>(floor_divide(a, b))); },
               [=] {
                 for (std::int64_t k = 0; k < n; ++k) {
                   std::int32_t const whole = p[k] / q[k];
                   out[k] = whole - (whole * q[k] > p[k] ? 1 : 0);
                 }
               },
               1.5 * moved});
  }
  table.run(
      {"integers",
       [&] {
         use(integers<std::int32_t, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{38}, 0, 1000));
       },
       [&] { use(uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{38})); },
       moved / 2});
  if (table.wants("permutation")) {
    auto const drawn = uniform<float, Dim<Item>>(mesh, {n / 4}, RandomKey{39});
    // beside the order of as many random numbers
    table.run({"permutation",
               [&] { use(permutation<std::int64_t, Dim<Item>>(mesh, {n / 4}, RandomKey{40})); },
               [&] { use(argsort<Item>(drawn)); }, moved / 4});
  }
}

inline void run_rows(Table& table, Mesh<X> const& mesh, std::int64_t rows, std::int64_t columns) {
  if (table.wants("max_J_bfloat16", "argmax_J_bfloat16", "norm_inf_J_bfloat16",
                  "logsumexp_J_bfloat16", "softmax_J_bfloat16", "log_softmax_J_bfloat16"))
    run_bfloat16(table, mesh, rows, columns);
  if (table.wants("sum_4", "max_4")) run_short_rows(table, mesh, rows * columns);
  run_products(table, mesh, rows, columns);
  if (table.wants("affine", "layer_norm", "masked_softmax", "sort_J_random", "repeat_J", "flip_J",
                  "save_npy"))
    run_compositions(table, mesh, rows, columns);
  run_elements(table, mesh, rows, columns);
}

}  // namespace local
