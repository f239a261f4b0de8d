#pragma once
/// Runs the factorizations and solves of one matrix over many ranks, split columns or a grid.

#include <array>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/run_cyclic_call.hpp>
#include <shardtype/linalg/run_grid.hpp>

namespace shardtype::execute {

/// Result of `lu_factor` of one matrix over many ranks: the factors, and the pivots, `i32[J]`.
template <class Factors, class Pivots>
struct CyclicFactors {
  Factors factors;
  Pivots pivots;
};

/// One call on the calling rank, as the types of the matrix say.
template <class R, class A>
using OneMatrixRun = std::conditional_t<CyclicRun<R, A>::over_grid, GridRun<R, A>, CyclicRun<R, A>>;

template <class I, class J>
struct Run<op::CyclicLu<I, J>> {
  template <class R, class A>
  static auto run(op::CyclicLu<I, J> const& op, std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using Pivots = typename shardtype::detail::NamedAs<std::int32_t, A, Dim<J>>::type;
    using C = OneMatrixRun<R, A>;
    auto const extents = execute::result_extents<R>(op, a);
    CyclicFactors<Out, Pivots> out{C::template result<Out>(op, a, extents),
                                   shardtype::detail::uninitialized<Pivots>(
                                       a.mesh(), std::array<std::int64_t, 1>{extents[0]})};
    if (!a.mesh().here()) return out;
    C const run(a, where, "lu_factor");
    auto* const memory = static_cast<typename A::element*>(out.factors.buffer().data());
    run.copy_block(a, memory);
    auto* const pivots = static_cast<std::int32_t*>(out.pivots.buffer().data());
    FactorFailure const failed = run.try_factor_lu(a, memory, pivots);
    if (op.singular && failed.kind == FactorFailure::no_pivot) {
      run.copy_block(a, memory);
      pivots[0] = -1;
    } else {
      run.check(failed, run.blocks().n);
    }
    return out;
  }
};

template <class I, class J>
struct Run<op::CyclicCholesky<I, J>> : Filled<Run<op::CyclicCholesky<I, J>>> {
  template <class R, class A>
  static typename R::result run(op::CyclicCholesky<I, J> const& op,
                                std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using C = OneMatrixRun<R, A>;
    Out out = C::template result<Out>(op, a, execute::result_extents<R>(op, a));
    if (!a.mesh().here()) return out;
    C const run(a, where, "cholesky");
    auto* const memory = static_cast<typename A::element*>(out.buffer().data());
    run.copy_block(a, memory);
    run.factor_cholesky(a, memory);
    return out;
  }
};

/// Runs a call on one matrix that has a new result: allocates it and fills it by
/// `Run<Op>::fill(op, run, out, a, others...)`.
template <class Op>
struct Called {
  template <class R, class A, class... Bs>
  static typename R::result run(Op const& op, std::source_location const& where, A const& a,
                                Bs const&... bs) {
    using Out = typename R::result;
    Out out =
        shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a, bs...));
    if (!a.mesh().here()) return out;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    OneMatrixRun<R, A> const run(a, where, Op::name.data());
    Run<Op>::fill(op, run, out, a, bs...);
    return out;
  }
};
/// A solve: `Run<Op>::solve_for(op, run, a, given, made, others...)`, from the block of the
/// right-hand sides, the last operand, to that of the solution.
template <class Op>
struct Solved : Called<Op> {
  template <class C, class Out, class A, class... Bs>
  static void fill(Op const& op, C const& run, Out& out, A const& a, Bs const&... bs) {
    using T = typename A::element;
    auto const& b = std::get<sizeof...(Bs) - 1>(std::tie(bs...));
    constexpr int along = C::last.find(Op::transposed ? C::columns : C::rows);
    Run<Op>::solve_for(
        op, run, a, C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b),
        C::template right_in<along>(static_cast<T*>(out.buffer().data()), out), bs...);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicSolve<I, J, Transposed>> : Solved<op::CyclicSolve<I, J, Transposed>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.template solve<Transposed>(C::takes(op, a), a, given, made);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolve<I, J, Transposed>> : Solved<op::CyclicLuSolve<I, J, Transposed>> {
  template <class C, class A, class T, class P, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, P const& pivots, B const&) {
    run.template lu_solve<Transposed>(a, static_cast<std::int32_t const*>(pivots.buffer().data()),
                                      given, made);
  }
};

template <class I, class J>
struct Run<op::CyclicCholeskySolve<I, J>> : Solved<op::CyclicCholeskySolve<I, J>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.cholesky_solve(a, given, made);
  }
};

template <class I, class J, bool Transposed>
struct Run<op::CyclicTriangle<I, J, Transposed>> : Solved<op::CyclicTriangle<I, J, Transposed>> {
  template <class C, class A, class T, class B>
  static void solve_for(auto const& op, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, B const&) {
    run.template triangular_solve<Transposed>(op.lower, op.unit, a, given, made);
  }
};

}  // namespace shardtype::execute
