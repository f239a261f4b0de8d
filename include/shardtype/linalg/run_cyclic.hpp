#pragma once
/// Runs the factorizations and solves of one matrix over many ranks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/linalg/run_cyclic_panels.hpp>
#include <shardtype/linalg/run_cyclic_ring.hpp>
#include <shardtype/linalg/types_cyclic.hpp>

namespace shardtype::execute {

/// What `lu_factor` of one matrix over many ranks gives: the factors, and the pivots, `i32[J]`.
template <class Factors, class Pivots>
struct CyclicFactors {
  Factors factors;
  Pivots pivots;
};

/// Error E79 unless the host can access this memory.
template <class Space>
void check_panels_on_host() {
  if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    throw Error("E79",
                "a matrix over many ranks is factorized on the host, which cannot access this "
                "memory; copy it to Memory<Kokkos::HostSpace> first",
                FailedOn::every_rank);
}

/// One call on the calling rank, with the matrix `A` as its first operand; `R` is what the types resolve to.
template <class R, class A>
class CyclicRun {
 public:
  using T = typename A::element;
  using Space = typename A::memory_space;
  static constexpr auto const& matrix = R::S::readings[0].spec;
  static constexpr int rows = R::S::readings[R::operands].spec.dims[0].label;
  static constexpr int columns = R::S::readings[R::operands].spec.dims[1].label;
  /// The dim of the right-hand sides, the last operand, that runs along the matrix.
  template <bool transposed>
  static constexpr int right_dim =
      R::S::readings[R::operands - 1].spec.find(transposed ? columns : rows);

  CyclicRun(A const& a, std::source_location const& where, char const* name)
      : mesh_(a.mesh().state()), axes_(map_axes(mesh_, R::S::names)) {
    check_panels_on_host<Space>();
    Sizing z{R::S::names.extents(), axes_.sizes, sizeof(T)};
    z.extents.at[columns] = a.extents()[static_cast<std::size_t>(matrix.find(columns))];
    planning::CyclicCall const call(matrix, rows, columns, z);
    blocks_ = call.blocks;
    comm_ = &group_of(mesh_, axes_, call.group());
    mesh_.agreement().agree(name, where, {blocks_.n});
    typename Space::execution_space().fence();
  }

  CyclicBlocks const& blocks() const { return blocks_; }
  Comm& comm() const { return *comm_; }
  /// The ranks that differ along these axes.
  Comm& group(AxisList const& axes) const { return group_of(mesh_, axes_, axes); }
  bool owns(std::int64_t k) const { return blocks_.owner(k) == comm_->rank(); }

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
  /// The block of right-hand sides or solutions in `memory`: rows along `label`, the other dim as columns.
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

 private:
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
  Comm* comm_ = nullptr;
};

/// The factorization in `memory`, which has a copy of the matrix; `pivots` relative to each panel's first row.
template <class C, class A, class T>
void factor_lu(C const& run, A const& a, T* memory, std::int32_t* pivots, Matrix<T> const& right,
               bool keeps_factors) {
  CyclicColumns<T> const columns = run.columns_in(memory, a);
  Buffer const panels = run.take(PanelStream<T>::memory(run.blocks()));
  LuMethod<T> method{columns, pivots, right};
  C::check(run_panels(columns, method, C::writable(panels)), run.blocks().n);
  if (keeps_factors) method.finish();
}

/// a^T x = b by the factors of P a = L U, in place of y, of which each rank has its own blocks of b.
template <class T>
void solve_transposed(CyclicColumns<T const> const& factors, std::int32_t const* pivots,
                      Matrix<T> const& y) {
  solve_by_spread<T>({factors, false, false}, y);
  solve_by_spread<T>({factors, true, true}, y);
  linalg::kernels::exchange_rows(y, pivots, y.rows, true);
}

template <class I, class J>
struct Run<op::CyclicLu<I, J>> {
  template <class R, class A>
  static auto run(op::CyclicLu<I, J> const& op, std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using Pivots = typename shardtype::detail::NamedAs<std::int32_t, A, Dim<J>>::type;
    using T = typename A::element;
    auto const extents = result_extents<R>(op, a);
    std::int64_t const n = extents[0];
    CyclicFactors<Out, Pivots> out{
        CyclicRun<R, A>::template result<Out>(op, a, extents),
        shardtype::detail::uninitialized<Pivots>(a.mesh(), std::array<std::int64_t, 1>{n})};
    if (!a.mesh().here()) return out;
    CyclicRun<R, A> const run(a, where, "lu_factor");
    auto* const memory = static_cast<T*>(out.factors.buffer().data());
    auto* const pivots = static_cast<std::int32_t*>(out.pivots.buffer().data());
    run.copy_block(a, memory);
    factor_lu(run, a, memory, pivots, Matrix<T>{}, true);
    run.count_pivots_from_0(pivots);
    return out;
  }
};

template <class I, class J>
struct Run<op::CyclicCholesky<I, J>> : Filled<Run<op::CyclicCholesky<I, J>>> {
  template <class R, class A>
  static typename R::result run(op::CyclicCholesky<I, J> const& op,
                                std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using T = typename A::element;
    using C = CyclicRun<R, A>;
    Out out = C::template result<Out>(op, a, result_extents<R>(op, a));
    if (!a.mesh().here()) return out;
    C const run(a, where, "cholesky");
    auto* const memory = static_cast<T*>(out.buffer().data());
    run.copy_block(a, memory);
    CyclicColumns<T> const columns = run.columns_in(memory, a);
    Buffer const panels = run.take(PanelStream<T>::memory(run.blocks()));
    Buffer const scratch = run.take(planning::cholesky_scratch(run.blocks()));
    CholeskyMethod<T> method{columns, C::writable(scratch)};
    C::check(run_panels(columns, method, C::writable(panels)), run.blocks().n);
    method.finish();
    return out;
  }
};

/// a x = b, or a^T x = b, by LU of a, in the memory of a if `takes`.
template <bool Transposed, class C, class A, class B, class Out>
void solve_by_lu(C const& run, bool takes, A const& a, B const& b, Out& out) {
  using T = typename A::element;
  constexpr int along = C::template right_dim<Transposed>;
  CyclicBlocks const& blocks = run.blocks();
  Matrix<T const> const given =
      C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b);
  Matrix<T> const made = C::template right_in<along>(static_cast<T*>(out.buffer().data()), out);
  Buffer const factors = takes ? Buffer(a.buffer()) : run.take(a.local_size());
  Buffer const right = run.take(blocks.n * given.cols);
  Buffer const pivots = run.take(planning::pivot_elements(blocks.n, sizeof(T)));
  auto* const row_of = static_cast<std::int32_t*>(pivots.data());
  run.copy_block(a, C::writable(factors));
  Matrix<T> const y = linalg::kernels::row_major(C::writable(right), blocks.n, given.cols);
  CyclicColumns<T const> const columns = run.columns_in(static_cast<T const*>(factors.data()), a);
  if constexpr (Transposed) {
    factor_lu(run, a, C::writable(factors), row_of, Matrix<T>{}, true);
    run.count_pivots_from_0(row_of);
    run.gather_own(given, y);
    solve_transposed<T>(columns, row_of, y);
    linalg::kernels::copy<T>(y, made);
  } else {
    // the right-hand sides go along at the rank where the way back begins
    bool const carries = blocks.count() > 0 && run.owns(blocks.count() - 1);
    if (carries) {
      linalg::kernels::copy<T>(given, y);
    } else {
      std::fill_n(y.data, blocks.n * given.cols, T(0));
    }
    factor_lu(run, a, C::writable(factors), row_of, carries ? y : Matrix<T>{}, false);
    run.template solve_by_ring<T>({columns, false, false}, y);
    run.leave_own(y, made);
  }
}

template <class I, class J, bool Transposed>
struct Run<op::CyclicSolve<I, J, Transposed>> {
  template <class R, class A, class B>
  static typename R::result run(op::CyclicSolve<I, J, Transposed> const& op,
                                std::source_location const& where, A const& a, B const& b) {
    using Out = typename R::result;
    using C = CyclicRun<R, A>;
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), result_extents<R>(op, a, b));
    if (!a.mesh().here()) return out;
    C const run(a, where, "solve");
    solve_by_lu<Transposed>(run, C::takes(op, a), a, b, out);
    return out;
  }
};

/// A solve by triangles that are given: `Self::solve(op, run, columns, y, others...)` does it in place of y, the right-hand
/// sides on all ranks, or, if `Self::given_own`, of the own blocks; if `Self::leaves_own`, the result is its own blocks.
template <class Self, class Op>
struct CyclicSolved {
  template <class R, class A, class... Bs>
  static typename R::result run(Op const& op, std::source_location const& where, A const& a,
                                Bs const&... bs) {
    using Out = typename R::result;
    using T = typename A::element;
    using C = CyclicRun<R, A>;
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), result_extents<R>(op, a, bs...));
    if (!a.mesh().here()) return out;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    C const run(a, where, Op::name.data());
    auto const& b = last(bs...);
    constexpr int from = Self::given_own ? C::columns : C::rows;
    constexpr int along = R::S::readings[R::operands - 1].spec.find(from);
    std::int64_t const n = run.blocks().n;
    Matrix<T const> const given =
        C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b);
    Matrix<T> const made = C::template right_in<along>(static_cast<T*>(out.buffer().data()), out);
    Buffer const right = run.take(n * given.cols);
    Matrix<T> const y = linalg::kernels::row_major(C::writable(right), n, given.cols);
    if constexpr (Self::given_own) {
      run.gather_own(given, y);
    } else {
      linalg::kernels::copy<T>(given, y);
    }
    CyclicColumns<T const> const columns =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    Self::solve(op, run, columns, y, bs...);
    if constexpr (Self::leaves_own) {
      run.leave_own(y, made);
    } else {
      linalg::kernels::copy<T>(y, made);
    }
    return out;
  }

 private:
  template <class B>
  static B const& last(B const& b) {
    // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): operands outlive the call
    return b;
  }
  template <class B, class... More>
  static auto const& last(B const&, More const&... more) {
    return last(more...);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolve<I, J, Transposed>>
    : CyclicSolved<Run<op::CyclicLuSolve<I, J, Transposed>>, op::CyclicLuSolve<I, J, Transposed>> {
  static constexpr bool given_own = Transposed;
  static constexpr bool leaves_own = !Transposed;
  template <class C, class T, class P, class B>
  static void solve(op::CyclicLuSolve<I, J, Transposed> const&, C const& run,
                    CyclicColumns<T const> const& columns, Matrix<T> const& y, P const& pivots,
                    B const&) {
    auto const* const rows = static_cast<std::int32_t const*>(pivots.buffer().data());
    if constexpr (Transposed) {
      solve_transposed<T>(columns, rows, y);
    } else {
      linalg::kernels::exchange_rows(y, rows, y.rows);
      run.clear_others(y);
      run.template solve_by_ring<T>({columns, true, true}, y);
      run.template solve_by_ring<T>({columns, false, false}, y);
    }
  }
};

template <class I, class J>
struct Run<op::CyclicCholeskySolve<I, J>>
    : CyclicSolved<Run<op::CyclicCholeskySolve<I, J>>, op::CyclicCholeskySolve<I, J>> {
  static constexpr bool given_own = false;
  static constexpr bool leaves_own = true;
  template <class C, class T, class B>
  static void solve(op::CyclicCholeskySolve<I, J> const&, C const& run,
                    CyclicColumns<T const> const& columns, Matrix<T> const& y, B const&) {
    run.clear_others(y);
    run.template solve_by_ring<T>({columns, true, false}, y);
    // L^H x = y, as L^T conj(x) = conj(y)
    conjugate(y);
    solve_by_spread<T>({columns, true, false}, y);
    conjugate(y);
  }

 private:
  template <class T>
  static void conjugate(Matrix<T> const& y) {
    if constexpr (linalg::kernels::is_complex<T>)
      for (std::int64_t k = 0; k < y.rows * y.cols; ++k)
        y.data[k] = linalg::kernels::conjugate(y.data[k]);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicTriangle<I, J, Transposed>>
    : CyclicSolved<Run<op::CyclicTriangle<I, J, Transposed>>,
                   op::CyclicTriangle<I, J, Transposed>> {
  static constexpr bool given_own = Transposed;
  static constexpr bool leaves_own = !Transposed;
  template <class C, class T, class B>
  static void solve(op::CyclicTriangle<I, J, Transposed> const& op, C const& run,
                    CyclicColumns<T const> const& columns, Matrix<T> const& y, B const&) {
    if constexpr (Transposed) {
      solve_by_spread<T>({columns, op.lower, op.unit}, y);
    } else {
      run.clear_others(y);
      run.template solve_by_ring<T>({columns, op.lower, op.unit}, y);
    }
  }
};

}  // namespace shardtype::execute
