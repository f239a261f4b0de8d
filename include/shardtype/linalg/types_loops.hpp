#pragma once
/// The algorithms on one matrix over many ranks, each once, as a loop over its blocks of verbs. Who
/// runs it (run_*, with MPI and BLAS) does what a verb says; who plans it (types_cyclic_steps.hpp)
/// counts bytes, messages, flops and memory. A run calls the whole loop, a plan one round of it, so
/// both have the same verbs in the same order. Columns are a grid with one row of processes:
/// verbs that have nothing to do there do nothing. And what kernels and plans both name of
/// conditions and determinants.

#include <cstdint>

namespace shardtype::planning::loops {

/// Factorizations by panels, the rounds from, ..., to - 1: LU with partial pivoting, Cholesky.
/// `panel(k)` factorizes the block column k where it is, and sends it; elsewhere it is expected.
/// `arrive(k)` waits for it: false, on all ranks alike, if there are no factors. `row_panel(k)`
/// brings the rows that belong to the panel to the columns behind it: those that pivots exchange,
/// or the panel's own. `update(k, first, last)` applies both to these block columns, the last ones
/// up to `end()`; `release(k)`: that was all. With look-ahead (`ahead()`) the next panel is on its
/// way before the rest of an update. Dongarra, van de Geijn and Walker, "Scalability issues
/// affecting the design of a dense linear algebra library", 1994.
template <class On>
constexpr void panels(std::int64_t from, std::int64_t to, On& on) {
  if (from < to) on.panel(from);
  for (std::int64_t k = from; k < to; ++k) {
    if (!on.arrive(k)) break;
    on.row_panel(k);
    bool const more = k + 1 < to;
    if (more) {
      on.update(k, k + 1, k + 2);
      if (on.ahead()) on.panel(k + 1);
    }
    on.update(k, more ? k + 2 : k + 1, on.end());
    if (more && !on.ahead()) on.panel(k + 1);
    on.release(k);
  }
  on.finish();
}

/// Solutions with a triangle, its blocks in turn: `solve(t)` by the block on the diagonal, where
/// the sums for it are or come together; `spread(t)`, to who needs the solution, or the sums;
/// `subtract(t)`, the products with the blocks behind it.
template <class On>
constexpr void triangle(std::int64_t from, std::int64_t to, On& on) {
  for (std::int64_t t = from; t < to; ++t) {
    on.solve(t);
    on.spread(t);
    on.subtract(t);
  }
  on.finish();
}

/// Factors come by to the right-hand sides, which stay: `start(t)` sends a panel of them or expects
/// it, the next one while one is used; `arrive(t)` waits for it; `apply(t)` solves with it.
template <class On>
constexpr void come_by(std::int64_t from, std::int64_t to, On& on) {
  if (from < to) on.start(from);
  for (std::int64_t t = from; t < to; ++t) {
    if (t + 1 < to) on.start(t + 1);
    on.arrive(t);
    on.apply(t);
  }
  on.finish();
}

}  // namespace shardtype::planning::loops

namespace shardtype::linalg {

/// The most rounds of a solution and one of the adjoint matrix. After them comes one solution more.
inline constexpr int condition_rounds = 5;

}  // namespace shardtype::linalg

namespace shardtype::linalg::detail {

/// The quantity computed from the pivots: their product, the logarithm of its modulus, or its sign.
enum class Product { whole, logarithm, sign };

}  // namespace shardtype::linalg::detail
