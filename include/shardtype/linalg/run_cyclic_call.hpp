#pragma once
/// One call on one matrix of which each rank has columns.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/linalg/run_cyclic_panels.hpp>
#include <shardtype/linalg/run_cyclic_stream.hpp>
#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// Error E79 unless the host can access this memory.
template <class Space>
void check_panels_on_host() {
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    throw Error("E79",
                "a matrix over many ranks is factorized on the host, which cannot access this "
                "memory; call it on to_memory<Kokkos::HostSpace>(a), and to_memory<>(x) brings "
                "the result back: each rank copies its blocks",
                FailedOn::every_rank);
}

/// Whether the groups of ranks that have a matrix each factorize alike, or each decides for itself
/// whether it does.
enum class Groups : std::int8_t { alike, each };

/// One call on the calling rank, with the matrix `A` as its first operand; `R` is what the types
/// resolve to.
template <class R, class A>
class CyclicRun {
 public:
  using T = typename A::element;
  using Space = typename A::memory_space;
  static constexpr bool grid = false;
  static constexpr auto const& matrix = R::S::parsed[0].spec;
  static constexpr auto const& last = R::S::parsed[R::operands - 1].spec;  ///< operand
  static constexpr int rows = R::S::parsed[R::operands].spec.dims[0].label;
  static constexpr int columns = R::S::parsed[R::operands].spec.dims[1].label;
  /// Whether the rows are split too: then it is a GridRun.
  static constexpr bool over_grid = matrix.dims[matrix.find(rows)].axes.size > 0 &&
                                    matrix.dims[matrix.find(columns)].axes.size > 0;

  CyclicRun(A const& a, std::source_location const& where, char const* name)
      : mesh_(a.mesh().state()), axes_(runtime::map_axes(mesh_, R::S::names)) {
    execute::check_panels_on_host<Space>();
    Sizing z{R::S::names.extents(), axes_.sizes, sizeof(T)};
    z.extents.at[columns] = a.extents()[static_cast<std::size_t>(matrix.find(columns))];
    planning::MatrixCall const call(matrix, rows, columns, z);
    blocks_ = call.of_columns;
    group_axes_ = call.along.suffix(0);
    comm_ = &group_of(mesh_, axes_, group_axes_);
    mesh_.agreement().agree(name, where, {blocks_.n});
    runtime::fence(runtime::instance<typename Space::execution_space>());
  }

  CyclicBlocks const& blocks() const { return blocks_; }
  Comm& comm() const { return *comm_; }
  /// The ranks that differ along these axes.
  Comm& group(AxisList const& axes) const { return group_of(mesh_, axes_, axes); }
  bool owns(std::int64_t k) const { return blocks_.owner(k) == comm_->rank(); }
  /// The ranks that hold the matrix together.
  Comm& everyone() const { return *comm_; }
  /// Calls `visit(i, d)` for the elements d of the diagonal that this rank holds.
  template <class Visit>
  void for_diagonal(A const& a, Visit visit) const {
    Matrix<T const> const mine = matrix_in(static_cast<T const*>(a.buffer().data()), a);
    for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      for (std::int64_t i = 0; i < width; ++i)
        visit(begin + i, linalg::kernels::at(mine, begin + i, local + i));
    });
  }

  template <class U = T>
  Buffer take(std::int64_t elements) const {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(elements) * sizeof(U));
  }
  static T* writable(Buffer const& b) { return static_cast<T*>(b.data()); }

  /// The block of the matrix in `memory`.
  template <class U, class Tensor>
  static Matrix<U> matrix_in(U* memory, Tensor const& a) {
    return seen<matrix.find(rows), matrix.find(columns)>(memory, a);
  }
  template <class U>
  CyclicColumns<U> columns_in(U* memory, A const& a) const {
    return {*comm_, blocks_, matrix_in(memory, a)};
  }
  /// A copy of the block of `a` at `to`, unless it is there.
  static void copy_block(A const& a, T* to) {
    auto const* const from = static_cast<T const*>(a.buffer().data());
    if (from != to) std::copy_n(from, a.local_size(), to);
  }
  /// Whether the memory of `a` may be taken: nobody else reads it.
  static bool takes(shardtype::detail::InPlace const& op, A const& a) {
    return op.in_place && !a.shared();
  }
  /// The factors' tensor: its memory is that of `a`, or new.
  template <class Out, class Extents>
  static Out result(shardtype::detail::InPlace const& op, A const& a, Extents const& extents) {
    return takes(op, a) ? Out(a.mesh(), extents, Buffer(a.buffer()))
                        : shardtype::detail::uninitialized<Out>(a.mesh(), extents);
  }
  /// The block of right-hand sides or solutions in `memory`: rows along `label`, the other dim as
  /// columns.
  template <int along, class U, class Tensor>
  static Matrix<U> right_in(U* memory, Tensor const& b) {
    static_assert(Tensor::rank <= 2);
    if constexpr (Tensor::rank == 1) {
      return {memory, b.rows()[0].size(), 1, 1, 1, 0};
    } else {
      return seen<along, 1 - along>(memory, b);
    }
  }
  /// Copies the own blocks of rows between the whole of `y` and those of a block-cyclic dim.
  template <class Copy>
  void for_own_blocks(Copy copy) const {
    for (std::int64_t k = comm_->rank(); k < blocks_.count(); k += blocks_.ranks)
      copy(blocks_.begin(k), blocks_.local(k), blocks_.width(k));
  }
  void gather_own(Matrix<T const> const& from, Matrix<T> const& y) const {
    for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t n) {
      linalg::kernels::copy<T>(from.block(local, 0, n, y.cols), y.block(begin, 0, n, y.cols));
    });
  }
  void leave_own(Matrix<T> const& y, Matrix<T> const& to) const {
    for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t n) {
      linalg::kernels::copy<T>(y.block(begin, 0, n, y.cols), to.block(local, 0, n, y.cols));
    });
  }
  /// Zeros in the blocks of `y` that other ranks own.
  template <class U>
  void clear_others(Matrix<U> const& y) const {
    for (std::int64_t k = 0; k < blocks_.count(); ++k)
      if (!owns(k))
        std::fill_n(&y.data[blocks_.begin(k) * y.cols], blocks_.width(k) * y.cols, U(0));
  }

  /// `elements` of memory where panels lie: in the shared window of the mesh where that is
  /// possible, else in memory of this rank, which `own` then holds. The same on all ranks of a
  /// group. All ranks of the mesh use the window equally often, so not where groups may decide
  /// differently whether they factorize.
  template <class U>
  PanelSlots<U> panel_slots(Buffer& own, std::int64_t elements, Groups groups) const {
    std::int64_t const ranks = comm_->size();
    bool const usable = run_time.settings.linalg.window && mesh_.window().possible() &&
                        (groups == Groups::alike || ranks == mesh_.size());
    if (usable && ranks > 1 && elements > 0) {
      constexpr std::int64_t line = 128;  // that each group's part begins at one
      std::int64_t const part =
          mul_sat(ceil_div(mul_sat(elements, std::int64_t{sizeof(U)}), line), line);
      std::int64_t const all = mul_sat(mesh_.size() / ranks, part);
      if (all < planning::saturated && mesh_.window().reserve(all)) {
        std::int64_t const at = number_of_group(mesh_, axes_, group_axes_) * part;
        auto* const begin = static_cast<std::byte*>(mesh_.window().data()) + at;
        return {reinterpret_cast<U*>(begin), &mesh_.window(),
                &members_of(mesh_, axes_, group_axes_, mesh_.scratch().members)};
      }
    }
    return own_slots<U>(own, elements);
  }
  template <class U>
  PanelSlots<U> own_slots(Buffer& own, std::int64_t elements) const {
    own = take<U>(elements);
    return {static_cast<U*>(own.data()), nullptr, nullptr};
  }
  /// For LU and Cholesky: slots of the first panel's length, which is the largest.
  template <class U>
  PanelSlots<U> factor_slots(Buffer& own, Groups groups = Groups::alike) const {
    return panel_slots<U>(own, planning::panel_memory(blocks_, sizeof(U)) / std::int64_t{sizeof(U)},
                          groups);
  }

  template <class U>
  void solve_by_ring(CyclicTriangleOf<U> const& t, Matrix<U> const& y) const {
    Buffer const wires = take<U>(2 * std::min(blocks_.n, blocks_.ranks * blocks_.block) * y.cols);
    execute::solve_by_ring(t, y, static_cast<U*>(wires.data()));
  }

  /// Pivots that are relative to each panel's first row, as rows of the matrix.
  void count_pivots_from_0(std::int32_t* pivots) const {
    for (std::int64_t k = 0; k < blocks_.count(); ++k)
      for (std::int64_t i = blocks_.begin(k); i < blocks_.begin(k) + blocks_.width(k); ++i)
        pivots[i] += static_cast<std::int32_t>(blocks_.begin(k));
  }

  /// Error E80, E81 or E82, on all ranks.
  static void check(FactorFailure const& f, std::int64_t n) {
    if (f.kind == FactorFailure::none) return;
    std::string const column = "column " + std::to_string(f.column) + " of " +
                               std::string(R::S::names.label_name[columns]);
    if (f.kind == FactorFailure::no_pivot)
      throw Error(
          "E80",
          "the matrix is singular: " + column + " has no pivot, all its remaining elements are 0",
          FailedOn::every_rank);
    if (f.kind == FactorFailure::not_positive)
      throw Error("E81",
                  "the matrix is not positive definite: its first " + std::to_string(f.column + 1) +
                      " of " + std::to_string(n) + " rows and columns are not, up to " + column,
                  FailedOn::every_rank);
    throw Error("E82",
                "the matrix is not a number in " + column +
                    ": a NaN of its own, or from numbers that were too large",
                FailedOn::every_rank);
  }

  /// LU in `memory`, which has a copy of the matrix; `pivots` relative to each panel's first row.
  /// `right`: right-hand sides that go along, or none.
  FactorFailure try_factor(A const& a, T* memory, std::int32_t* pivots, Matrix<T> const& right,
                           bool keeps_factors, Groups groups = Groups::alike) const {
    CyclicColumns<T> const mine = columns_in(memory, a);
    Buffer own;
    LuMethod<T> method{mine, pivots, right};
    FactorFailure const failed = execute::run_panels(mine, method, factor_slots<T>(own, groups));
    if (failed.kind == FactorFailure::none && keeps_factors) method.finish();
    return failed;
  }
  /// The same of no right-hand sides; the pivots from 0 on.
  FactorFailure try_factor_lu(A const& a, T* memory, std::int32_t* pivots) const {
    FactorFailure const failed = try_factor(a, memory, pivots, Matrix<T>{}, true);
    if (failed.kind == FactorFailure::none) count_pivots_from_0(pivots);
    return failed;
  }
  void factor_lu(A const& a, T* memory, std::int32_t* pivots) const {
    check(try_factor_lu(a, memory, pivots), blocks_.n);
  }
  /// Cholesky, or what is like it, in `memory`, which has a copy of the matrix.
  template <class Triangle = CholeskyTriangle<T>>
  FactorFailure try_factor_cholesky(A const& a, T* memory, Triangle const& triangle = {}) const {
    CyclicColumns<T> const mine = columns_in(memory, a);
    Buffer own;
    Buffer const scratch = take(planning::cholesky_scratch(blocks_));
    CholeskyMethod<T, Triangle> method{mine, writable(scratch), triangle};
    FactorFailure const failed = execute::run_panels(mine, method, factor_slots<T>(own));
    if (failed.kind == FactorFailure::none) method.finish();
    return failed;
  }

  /// a^T x = b by the factors of P a = L U, in place of y, of which each rank has its own blocks of
  /// b.
  static void solve_transposed(CyclicColumns<T const> const& factors, std::int32_t const* pivots,
                               Matrix<T> const& y) {
    execute::solve_by_spread<T>({factors, false, false}, y);
    execute::solve_by_spread<T>({factors, true, true}, y);
    linalg::kernels::exchange_rows(y, pivots, y.rows, true);
  }
  /// a x = b, or a^T x = b, by LU of a, in the memory of a if `takes`.
  template <bool Transposed>
  void solve(bool takes, A const& a, Matrix<T const> const& given, Matrix<T> const& made,
             Groups groups = Groups::alike) const {
    Buffer const factors = takes ? Buffer(a.buffer()) : take(a.local_size());
    Buffer const right = take(blocks_.n * given.cols);
    Buffer const pivots = take(planning::pivot_elements(blocks_.n, sizeof(T)));
    auto* const row_of = static_cast<std::int32_t*>(pivots.data());
    copy_block(a, writable(factors));
    Matrix<T> const y = linalg::kernels::row_major(writable(right), blocks_.n, given.cols);
    CyclicColumns<T const> const held = columns_in(static_cast<T const*>(factors.data()), a);
    if constexpr (Transposed) {
      factor_lu(a, writable(factors), row_of);
      gather_own(given, y);
      solve_transposed(held, row_of, y);
      linalg::kernels::copy<T>(y, made);
    } else {
      // the right-hand sides go along at the rank where the way back begins
      bool const carries = blocks_.count() > 0 && owns(blocks_.count() - 1);
      if (carries) {
        linalg::kernels::copy<T>(given, y);
      } else {
        std::fill_n(y.data, blocks_.n * given.cols, T(0));
      }
      check(try_factor(a, writable(factors), row_of, carries ? y : Matrix<T>{}, false, groups),
            blocks_.n);
      solve_by_ring<T>({held, false, false}, y);
      leave_own(y, made);
    }
  }
  /// The same by factors and pivots that are given.
  template <bool Transposed>
  void lu_solve(A const& a, std::int32_t const* pivots, Matrix<T const> const& given,
                Matrix<T> const& made) const {
    in_place<Transposed>(a, given, made, [&](auto const& held, Matrix<T> const& y) {
      if constexpr (Transposed) {
        solve_transposed(held, pivots, y);
      } else {
        linalg::kernels::exchange_rows(y, pivots, y.rows);
        clear_others(y);
        solve_by_ring<T>({held, true, true}, y);
        solve_by_ring<T>({held, false, false}, y);
      }
    });
  }
  /// L L^H x = b; `between(i, rows)` changes the solutions y of L y = b, of each own block of rows,
  /// the first one i.
  template <class Between>
  void cholesky_solve(A const& a, Matrix<T const> const& given, Matrix<T> const& made,
                      Between between) const {
    in_place<false>(a, given, made, [&](auto const& held, Matrix<T> const& y) {
      clear_others(y);
      solve_by_ring<T>({held, true, false}, y);
      for_own_blocks([&](std::int64_t begin, std::int64_t, std::int64_t width) {
        between(begin, y.block(begin, 0, width, y.cols));
      });
      // L^H x = y, as L^T conj(x) = conj(y)
      linalg::kernels::conjugate_all(y);
      execute::solve_by_spread<T>({held, true, false}, y);
      linalg::kernels::conjugate_all(y);
    });
  }
  template <bool Transposed>
  void triangular_solve(bool lower, bool unit, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made) const {
    in_place<Transposed>(a, given, made, [&](auto const& held, Matrix<T> const& y) {
      if constexpr (Transposed) {
        execute::solve_by_spread<T>({held, lower, unit}, y);
      } else {
        clear_others(y);
        solve_by_ring<T>({held, lower, unit}, y);
      }
    });
  }

 private:
  /// `solve(held, y)` in place of y, the right-hand sides on all ranks, of which then each has
  /// its own blocks of the solution; transposed the other way round.
  template <bool Transposed, class Solve>
  void in_place(A const& a, Matrix<T const> const& given, Matrix<T> const& made,
                Solve solve) const {
    Buffer const right = take(blocks_.n * given.cols);
    Matrix<T> const y = linalg::kernels::row_major(writable(right), blocks_.n, given.cols);
    CyclicColumns<T const> const held = columns_in(static_cast<T const*>(a.buffer().data()), a);
    if constexpr (Transposed) {
      gather_own(given, y);
      solve(held, y);
      linalg::kernels::copy<T>(y, made);
    } else {
      linalg::kernels::copy<T>(given, y);
      solve(held, y);
      leave_own(y, made);
    }
  }
  template <int row_dim, int column_dim, class U, class Tensor>
  static Matrix<U> seen(U* memory, Tensor const& a) {
    kernels::Layout const l = shardtype::detail::block_layout(a.rows());
    return {
        memory, l.extent[row_dim], l.extent[column_dim], l.stride[row_dim], l.stride[column_dim],
        0};
  }

  MeshState& mesh_;
  AxisMap axes_;
  CyclicBlocks blocks_{};
  AxisList group_axes_{};
  Comm* comm_ = nullptr;
};

}  // namespace shardtype::execute
