// Rows of bench_local: pullbacks of the kinds of local_kinds.hpp beside the forward operation
// (back_).
#pragma once

#include <cstdint>
#include <string>

#include "local_backward.hpp"
#include "local_kinds.hpp"

namespace local {

inline void run_back_width(Table& table, Mesh<X> const& mesh, std::int64_t elements,
                           std::int64_t width) {
  auto const name = [&](char const* op) {
    return std::string(op) + "_of_" + std::to_string(width);
  };
  auto const back = [&](char const* op) { return "back_" + name(op); };
  if (!table.wants(back("sum"), back("max"), back("var"), back("softmax"), back("bias"),
                   back("unit")))
    return;
  std::int64_t const rows = elements / 4 / width;
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, width}, RandomKey{41});
  auto const b = normal<float, Dim<J>>(mesh, {width}, RandomKey{42});
  run_back_own(table, name("sum"), [](auto const& v) { return sum<J>(v); }, a);
  run_back_own(table, name("max"), [](auto const& v) { return max<J>(v); }, a);
  run_back_own(table, name("var"), [](auto const& v) { return var<J>(v); }, a);
  run_back_own(table, name("softmax"), [](auto const& v) { return softmax<J>(v); }, a);
  run_back_own(
      table, name("bias"), [](auto const& v, auto const& w) { return (v + w).tensor(); }, a, b);
  run_back_own(
      table, name("unit"),
      [](auto const& v) { return (v * rsqrt(sum<J>(v * v).tensor())).tensor(); }, a);
}

inline void run_back_thin_products(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                                   std::int64_t columns) {
  if (!table.wants("back_matmul_by_4", "back_matmul_by_32", "back_matvec_bfloat16")) return;
  auto const product = [](auto const& v, auto const& w) { return matmul(v, w).tensor(); };
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{43});
  for (std::int64_t const n : {std::int64_t{4}, std::int64_t{32}}) {
    auto const b = normal<float, Dim<J>, Dim<K>>(mesh, {columns, n}, RandomKey{44});
    run_back_own(table, "matmul_by_" + std::to_string(n), product, a, b);
  }
  M<bfloat16> const h = cast<bfloat16>(a);
  auto const v = normal<bfloat16, Dim<J>>(mesh, {columns}, RandomKey{45});
  run_back_own(table, "matvec_bfloat16", product, h, v);
}

inline void run_back_ids(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                         std::int64_t columns) {
  std::int64_t const n = rows * columns / 4;
  auto const numbers = normal<float, Dim<Wide>>(mesh, {n / 4}, RandomKey{46});
  auto const updates = normal<float, Dim<Named>>(mesh, {n}, RandomKey{47});
  auto const ids = integers<std::int32_t, Dim<Named>>(mesh, {n}, RandomKey{48}, 0, n / 4);
  run_back_own(
      table, "take_numbers", [&](auto const& v) { return take<Wide>(v, ids).tensor(); }, numbers);
  run_back_own(
      table, "scatter_add_numbers",
      [&](auto const& v) { return scatter_add<Wide, Dim<Wide>>(v, ids, n / 4); }, updates);
  if (table.wants("back_scatter_add_rows")) {
    auto const wide = normal<float, Dim<Named>, Dim<J>>(mesh, {rows, columns}, RandomKey{49});
    auto const to = integers<std::int32_t, Dim<Named>>(mesh, {rows}, RandomKey{50}, 0, rows);
    run_back_own(
        table, "scatter_add_rows",
        [&](auto const& v) { return scatter_add<Wide, Dim<Wide>, Dim<J>>(v, to, rows); }, wide);
  }
  if (table.wants("back_take_along_J")) {
    M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{51});
    auto const along =
        integers<std::int32_t, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{52}, 0, columns);
    run_back_own(table, "take_along_J", [&](auto const& v) { return take_along<J>(v, along); }, a);
  }
}

inline void run_back_neighbours(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                                std::int64_t columns) {
  if (!table.wants("back_add_transposed", "back_nine_slices", "back_pool_2_by_2",
                   "back_sum_middle_4"))
    return;
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{53});
  auto const turned = normal<float, Dim<J>, Dim<I>>(mesh, {columns, rows}, RandomKey{54});
  run_back_own(
      table, "add_transposed", [](auto const& v, auto const& w) { return (v + w).tensor(); }, a,
      turned);
  run_back_own(
      table, "nine_slices",
      [rows, columns](auto const& v) {
        auto const p = pad<J, Wide>(pad<I, Named>(v, 1, 1), 1, 1).tensor();
        auto const part = [&](std::int64_t i, std::int64_t j) {
          return slice<Wide, J>(slice<Named, I>(p, i, i + rows), j, j + columns).tensor();
        };
        return (part(0, 0) * 0.1F + part(0, 1) * 0.2F + part(0, 2) * 0.3F + part(1, 0) * 0.4F +
                part(1, 1) * 0.5F + part(1, 2) * 0.6F + part(2, 0) * 0.7F + part(2, 1) * 0.8F +
                part(2, 2) * 0.9F)
            .tensor();
      },
      a);
  run_back_own(
      table, "pool_2_by_2",
      [rows, columns](auto const& v) {
        auto const halves =
            split_dim<J, K, Pair>(split_dim<I, Half, Named>(v, {rows / 2, 2}), {columns / 2, 2});
        return max<Pair>(max<Named>(halves)).tensor();
      },
      a);
  auto const m =
      normal<float, Dim<I>, Dim<Pair>, Dim<J>>(mesh, {rows / 4, 4, columns}, RandomKey{55});
  run_back_own(table, "sum_middle_4", [](auto const& v) { return sum<Pair>(v); }, m);
}

inline void run_back_kinds(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                           std::int64_t columns) {
  for (std::int64_t const width : {3, 4, 8, 16, 64})
    run_back_width(table, mesh, rows * columns, width);
  run_back_thin_products(table, mesh, rows, columns);
  run_back_ids(table, mesh, rows, columns);
  run_back_neighbours(table, mesh, rows, columns);
}

}  // namespace local
