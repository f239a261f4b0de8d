// Rows of bench_local that are kinds of shapes: short rows, thin products, gathers and sums by ids,
// transposed operands, and blocks that come and go. Beside the bytes they read and write.
#pragma once

#include <cstdint>
#include <string>

#include <shardtype/nn/pool.hpp>

#include "local_table.hpp"

namespace local {

struct Wide : Index<"wide"> {};
struct Named : Index<"named"> {};
struct Half : Index<"half"> {};
struct Pair : Index<"pair"> {};

/// Reductions, softmax and elementwise functions of rows of `width` numbers, of as many numbers as
/// a fourth of the others.
inline void run_width(Table& table, Mesh<X> const& mesh, std::int64_t elements,
                      std::int64_t width) {
  auto const name = [&](char const* op) {
    return std::string(op) + "_of_" + std::to_string(width);
  };
  if (!table.wants(name("sum"), name("max"), name("argmax"), name("var"), name("softmax"),
                   name("bias"), name("unit")))
    return;
  std::int64_t const rows = elements / 4 / width;
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, width}, RandomKey{41});
  auto const b = normal<float, Dim<J>>(mesh, {width}, RandomKey{42});
  double const read = 4.0 * static_cast<double>(rows * width);
  double const reduced = read + 4.0 * static_cast<double>(rows);
  table.run({name("sum"), [&] { use(sum<J>(a)); }, nullptr, reduced});
  table.run({name("max"), [&] { use(max<J>(a)); }, nullptr, reduced});
  table.run({name("argmax"), [&] { use(argmax<J>(a)); }, nullptr, reduced});
  table.run({name("var"), [&] { use(var<J>(a)); }, nullptr, reduced});
  table.run({name("softmax"), [&] { use(softmax<J>(a)); }, nullptr, 2 * read});
  table.run({name("bias"), [&] { use(M<float>(a + b)); }, nullptr, 2 * read});
  table.run({name("unit"), [&] { use(M<float>(a * rsqrt(sum<J>(a * a)))); }, nullptr, 2 * read});
}

inline void run_thin_products(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                              std::int64_t columns) {
  if (!table.wants("matmul_by_4", "matmul_by_32", "matvec_bfloat16")) return;
  auto const bytes = static_cast<double>(rows * columns);
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{43});
  for (std::int64_t const n : {std::int64_t{4}, std::int64_t{32}}) {
    auto const b = normal<float, Dim<J>, Dim<K>>(mesh, {columns, n}, RandomKey{44});
    table.run({"matmul_by_" + std::to_string(n), [&] { use(matmul(a, b)); }, nullptr, 4 * bytes});
  }
  M<bfloat16> const h = cast<bfloat16>(a);
  auto const v = normal<bfloat16, Dim<J>>(mesh, {columns}, RandomKey{45});
  table.run({"matvec_bfloat16", [&] { use(matmul(h, v)); }, nullptr, 2 * bytes});
}

/// Elements and rows by random ids.
inline void run_ids(Table& table, Mesh<X> const& mesh, std::int64_t rows, std::int64_t columns) {
  std::int64_t const n = rows * columns / 4;
  double const bytes = 4.0 * static_cast<double>(n);
  if (table.wants("take_numbers", "scatter_add_numbers")) {
    auto const numbers = normal<float, Dim<Wide>>(mesh, {n / 4}, RandomKey{46});
    auto const updates = normal<float, Dim<Named>>(mesh, {n}, RandomKey{47});
    auto const ids = integers<std::int32_t, Dim<Named>>(mesh, {n}, RandomKey{48}, 0, n / 4);
    table.run({"take_numbers", [&] { use(take<Wide>(numbers, ids)); }, nullptr, 2.25 * bytes});
    table.run({"scatter_add_numbers",
               [&] { use(scatter_add<Wide, Dim<Wide>>(updates, ids, n / 4)); }, nullptr,
               2.25 * bytes});
  }
  if (table.wants("scatter_add_rows")) {
    std::int64_t const many = rows;
    auto const updates = normal<float, Dim<Named>, Dim<J>>(mesh, {many, columns}, RandomKey{49});
    auto const ids = integers<std::int32_t, Dim<Named>>(mesh, {many}, RandomKey{50}, 0, many);
    table.run({"scatter_add_rows",
               [&] { use(scatter_add<Wide, Dim<Wide>, Dim<J>>(updates, ids, many)); }, nullptr,
               8 * bytes});
  }
  if (table.wants("take_along_J")) {
    M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{51});
    auto const ids =
        integers<std::int32_t, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{52}, 0, columns);
    table.run({"take_along_J", [&] { use(take_along<J>(a, ids)); }, nullptr, 12 * bytes});
  }
}

inline void run_neighbours(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                           std::int64_t columns) {
  if (!table.wants("add_transposed", "nine_slices", "pool_2_by_2", "sum_middle_4")) return;
  auto const bytes = 4.0 * static_cast<double>(rows * columns);
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{53});
  auto const turned = normal<float, Dim<J>, Dim<I>>(mesh, {columns, rows}, RandomKey{54});
  table.run({"add_transposed", [&] { use(M<float>(a + turned)); }, nullptr, 3 * bytes});
  table.run({"nine_slices",
             [&] {
               auto const p = pad<J, Wide>(pad<I, Named>(a, 1, 1), 1, 1);
               auto const part = [&](std::int64_t i, std::int64_t j) {
                 return slice<Wide, J>(slice<Named, I>(p, i, i + rows), j, j + columns);
               };
               use(M<float>(part(0, 0) * 0.1F + part(0, 1) * 0.2F + part(0, 2) * 0.3F +
                            part(1, 0) * 0.4F + part(1, 1) * 0.5F + part(1, 2) * 0.6F +
                            part(2, 0) * 0.7F + part(2, 1) * 0.8F + part(2, 2) * 0.9F));
             },
             nullptr, 2 * bytes});
  table.run({"pool_2_by_2",
             [&] {
               auto const halves = split_dim<J, K, Pair>(
                   split_dim<I, Half, Named>(a, {rows / 2, 2}), {columns / 2, 2});
               use(max<Pair>(max<Named>(halves)));
             },
             nullptr, 1.25 * bytes});
  auto const m =
      normal<float, Dim<I>, Dim<Pair>, Dim<J>>(mesh, {rows / 4, 4, columns}, RandomKey{55});
  table.run({"sum_middle_4", [&] { use(sum<Pair>(m)); }, nullptr, 1.25 * bytes});
}

/// Pools of images, 2 x 2, with the channels last, and the value with its gradient.
inline void run_pools(Table& table, Mesh<X> const& mesh, std::int64_t images) {
  if (!table.wants("max_pool", "avg_pool", "vg_max_pool")) return;
  using Images = Tensor<float, Dim<I>, Dim<J>, Dim<K>, Dim<Wide>>;
  using Rows = nn::Pool<J, 2>;
  using Columns = nn::Pool<K, 2>;
  Images const a =
      normal<float, Dim<I>, Dim<J>, Dim<K>, Dim<Wide>>(mesh, {images, 112, 112, 64}, RandomKey{56});
  double const bytes = 4.0 * static_cast<double>(a.local_size());
  table.run({"max_pool", [&] { use(nn::max_pool<Rows, Columns>(a)); }, nullptr, 1.25 * bytes});
  table.run({"avg_pool", [&] { use(nn::avg_pool<Rows, Columns>(a)); }, nullptr, 1.25 * bytes});
  auto const loss = [](auto const& x) { return sum(nn::max_pool<Rows, Columns>(x)); };
  table.run({"vg_max_pool", [&] { use(value_and_grad<0>(loss)(a).grad); }, nullptr, 3 * bytes});
}

inline void run_kinds(Table& table, Mesh<X> const& mesh, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t const width : {3, 4, 8, 16, 64}) run_width(table, mesh, rows * columns, width);
  run_thin_products(table, mesh, rows, columns);
  run_ids(table, mesh, rows, columns);
  run_neighbours(table, mesh, rows, columns);
  run_pools(table, mesh, rows / 64);
}

}  // namespace local
