#pragma once
/// LU, Cholesky and solves of one matrix over many ranks, whose columns, or rows, or both are
/// block-cyclic, each over a mesh axis: the functions of linalg.hpp for such types; and solves by
/// factors of half the precision. docs/linalg_cyclic.md has the algorithms and what they send.

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/linalg/factors.hpp>
#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/run_cyclic_refined.hpp>
#include <shardtype/linalg/triangular.hpp>
#include <shardtype/ops/collectives.hpp>

namespace shardtype::linalg {

namespace detail {

/// Whether the rows I and the columns J of a matrix of type `A` are block-cyclic.
template <class I, class J, class A>
struct CyclicSplit {
  using S = core::Scope<A, shardtype::detail::Bare<I, J>>;
  static constexpr bool cyclic(int k) {
    Spec const& a = S::parsed[0].spec;
    int const d = a.find(S::parsed[1].spec.dims[k].label);
    return d >= 0 && a.dims[d].axes.cyclic != 0;
  }
  static constexpr bool rows = cyclic(0);
  static constexpr bool columns = cyclic(1);
};
template <class I, class J, class A, bool tensor = is_tensor<A>>
inline constexpr bool cyclic_rows = false;
template <class I, class J, class A>
inline constexpr bool cyclic_rows<I, J, A, true> = CyclicSplit<I, J, A>::rows;
template <class I, class J, class A, bool tensor = is_tensor<A>>
inline constexpr bool cyclic_columns = false;
template <class I, class J, class A>
inline constexpr bool cyclic_columns<I, J, A, true> = CyclicSplit<I, J, A>::columns;

/// The tensor of which a value is, or has, or stands for; of an expression one in its sharding.
template <class A>
using tensor_behind =
    shardtype::detail::laid_out_t<autodiff::tensor_of<shardtype::detail::operand_t<A>>>;

/// Whether I or J of a matrix is block-cyclic: then it is one matrix over many ranks, else a stack
/// of whole ones.
template <class I, class J, class A>
concept OneMatrix = cyclic_rows<I, J, tensor_behind<A>> || cyclic_columns<I, J, tensor_behind<A>>;
/// Whether such a matrix is a tensor, which can be given away.
template <class I, class J, class A>
concept OneTensor = OneMatrix<I, J, A> && is_tensor<A>;
/// Whether only the rows are.
template <class I, class J, class A>
inline constexpr bool by_rows =
    cyclic_rows<I, J, tensor_behind<A>> && !cyclic_columns<I, J, tensor_behind<A>>;

/// Whether both are: a matrix over a grid of ranks.
template <class I, class J, class A>
inline constexpr bool on_grid =
    cyclic_rows<I, J, tensor_behind<A>> && cyclic_columns<I, J, tensor_behind<A>>;

/// Columns per block where a named solve chooses.
inline constexpr std::int64_t block_columns = 64;

/// The dim of the columns J that a named solve factorizes with, from the dims of its result:
/// `Dim<J, X>` -> `Dim<J, Cyclic<X, 64>>`, a block-cyclic one is kept. void: none of them splits J
/// over one axis.
template <class J, class... Parts>
struct SolvedColumns {
  using type = void;
};
template <class J, class Part, class... More>
struct SolvedColumns<J, Part, More...> : SolvedColumns<J, More...> {};
template <class J, MeshAxis X, class... More>
struct SolvedColumns<J, Dim<J, X>, More...> {
  using type = Dim<J, Cyclic<X, block_columns>>;
};
template <class J, class X, std::int64_t n, class... More>
struct SolvedColumns<J, Dim<J, Cyclic<X, n>>, More...> {
  using type = Dim<J, Cyclic<X, n>>;
};
/// A dim of the result as one of the right-hand sides: J becomes I, whole; and as one of the
/// solution by cyclic columns.
template <class I, class J, class Part>
struct SolvedRows {
  using type = Part;
};
template <class I, class J, class... Xs>
struct SolvedRows<I, J, Dim<J, Xs...>> {
  using type = Dim<I>;
};

/// The result of `lu_factor`, from the results of its operation.
template <class I, class J, class F, class P>
constexpr LU<I, J, F, P> factors_of(std::tuple<F, P> const& out) {
  return {std::get<0>(out), std::get<1>(out)};
}

}  // namespace detail

namespace api {

/// The factors P a = L U of one matrix over many ranks: `a[I, J@X%n]` -> `LU{factors, pivots}`, the
/// factors typed as a, the pivots `i32[J]`, whole on each rank, from 0 on. Rows are exchanged, the
/// first of equal candidates is the pivot. Each panel of n columns is sent once to all ranks of X,
/// nothing is gathered: n^2 / 2 numbers arrive in all, but for the own. Over a grid of ranks,
/// `a[I@X%n, J@Y%n]`, the ranks of X factorize a panel together, with one message in turn for each
/// pivot, and fewer numbers arrive from 8 ranks on. Refused: D01, D06, Q01 to Q05, P12; the rows
/// block-cyclic, Q04: `lu_factor<J, I>(a)`, whose `lu_solve<I, J>(lu, b)` is right. Errors, on all
/// ranks alike: E41 not square, E80 no pivot, E82 a NaN. No gradient, X03: solve has one. Source:
/// Dongarra, van de Geijn and Walker, "Scalability issues affecting the design of a dense linear
/// algebra library", 1994.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto lu_factor(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::factors_of<I, J>(shardtype::call(op::CyclicLu<I, J>{}, where, a.self()));
}

/// The same of a matrix that is given away, `lu_factor<I, J>(std::move(a))`, or a temporary: the
/// factors take its memory, unless another tensor shares it. After an Error its elements are lost.
template <class I, class J, class A>
  requires detail::OneTensor<I, J, A>
constexpr auto lu_factor(core::Argument<A>&& a, checking::CallSite where = {}) {
  A const taken = std::move(a).self();
  return detail::factors_of<I, J>(shardtype::call(op::CyclicLu<I, J>{true}, where, taken));
}

/// The solution of a x = b by the factors of one matrix: `lu_solve<I, J>(lu, b)`, `b[I]` or `b[I,
/// K]` -> `[J@X%n]`,
/// `[J@X%n, K]`, by two rings of sums; of the transposed matrix `lu_solve<J, I>(lu, b)`, `b[J@X%n,
/// K]` -> `[I, K]`, in which each block of the solution is sent to all ranks. Over a grid `b[I@X%n,
/// K]` -> `[J@Y%n, K]`, transposed the other way round. K may be split over other axes, b may be
/// unreduced over them. Refused: as lu_factor, D02, Q05. Errors: E24, E41.
template <class I, class J, class R, class C, class F, class P, class B>
  requires detail::OneMatrix<R, C, F>
constexpr auto lu_solve(LU<R, C, F, P> const& lu, B const& b, checking::CallSite where = {}) {
  constexpr bool turned = detail::exchanged<I, J, R, C>();
  return shardtype::call(op::CyclicLuSolve<R, C, turned>{}, where, lu.factors, lu.pivots, b);
}

/// The solution of a x = b for one matrix over many ranks: `a[I, J@X%n]`, `b[I]` or `b[I, K]` ->
/// `[J@X%n]`, `[J@X%n, K]`, in any order of the dims. Sends what lu_factor sends, and the sums of a
/// ring. With the rows block-cyclic, `a[I@X%n, J]`, the transposed matrix is factorized: `b[I@X%n,
/// K]` -> `[J, K]`; over a grid `b[I@X%n, K]` -> `[J@Y%n, K]`. K may be split over other axes, b
/// may be unreduced over them. Refused, errors: as lu_factor and lu_solve.
///
///     auto x = linalg::solve<I, J>(a, b);   // a: f64[I, J@X%64], b: f64[I]
template <class I, class J, class A, class B>
  requires detail::OneMatrix<I, J, A>
constexpr auto solve(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  if constexpr (detail::by_rows<I, J, A>) {
    return shardtype::call(op::CyclicSolve<J, I, true>{}, where, a.self(), b);
  } else {
    return shardtype::call(op::CyclicSolve<I, J>{}, where, a.self(), b);
  }
}

/// The same of a matrix that is given away, `solve<I, J>(std::move(a), b)`, or a temporary: it is
/// factorized in its own memory, unless another tensor shares it.
template <class I, class J, class A, class B>
  requires detail::OneTensor<I, J, A>
constexpr auto solve(core::Argument<A>&& a, B const& b, checking::CallSite where = {}) {
  if constexpr (is_tensor<B>) {
    A const taken = std::move(a).self();
    if constexpr (detail::by_rows<I, J, A>) {
      return shardtype::call(op::CyclicSolve<J, I, true>{true}, where, taken, b);
    } else {
      return shardtype::call(op::CyclicSolve<I, J>{true}, where, taken, b);
    }
  } else {
    return api::solve<I, J>(a.self(), b, where);
  }
}

/// The same from any sharding, with a named result: `solve<I, J, Dim<J, X>>(a, b)`, `a[I@X, J]`,
/// `b[I@X]` -> `[J@X]`. The matrix is resharded to `[I, J@X%64]`, or to the block size that the
/// result names (`Dim<J, Cyclic<X, 96>>`), b to whole rows, and the solution back: an all_to_all of
/// the matrix and one of the solution, and what each rank lacks of b. The result names all its
/// dims, and splits J over one axis. Refused: also R01 to R04. Gradients as those of its parts.
template <class I, class J, class Out, class... Outs, class A, class B>
  requires(!std::is_void_v<typename detail::SolvedColumns<J, Out, Outs...>::type>)
constexpr auto solve(core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  using Columns = typename detail::SolvedColumns<J, Out, Outs...>::type;
  auto const columns = shardtype::reshard<Dim<I>, Columns>(a.self(), where);
  auto const right = shardtype::reshard<typename detail::SolvedRows<I, J, Out>::type,
                                        typename detail::SolvedRows<I, J, Outs>::type...>(b, where);
  return shardtype::reshard<Out, Outs...>(
      shardtype::call(op::CyclicSolve<I, J>{}, where, columns, right), where);
}

/// The lower triangular l with a = l l^T (l l^H of complex numbers) of one matrix over many ranks:
/// `a[I, J@X%n]` -> l typed as a, zeros above the diagonal; over a grid too. Only the lower
/// triangle is read. Sends as lu_factor. Refused: as lu_factor; with the rows block-cyclic
/// `cholesky<J, I>(a)`, a being symmetric. Errors, on all ranks alike: E41, E81 not positive
/// definite, E82.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto cholesky(core::Argument<A> const& a, checking::CallSite where = {}) {
  return shardtype::call(op::CyclicCholesky<I, J>{}, where, a.self());
}
/// The same of a matrix that is given away, `cholesky<I, J>(std::move(a))`, or a temporary: l takes
/// its memory, unless another tensor shares it. After an Error its elements are lost.
template <class I, class J, class A>
  requires detail::OneTensor<I, J, A>
constexpr auto cholesky(core::Argument<A>&& a, checking::CallSite where = {}) {
  A const taken = std::move(a).self();
  return shardtype::call(op::CyclicCholesky<I, J>{true}, where, taken);
}
/// The upper triangular u with a = u^H u of one matrix with its rows block-cyclic: `a[I@X%n, J]` ->
/// u typed as a. Otherwise as above; with the columns block-cyclic Q04.
template <class I, class J, class A>
  requires detail::OneMatrix<I, J, A>
constexpr auto cholesky(core::Argument<A> const& a, Upper, checking::CallSite where = {}) {
  return shardtype::call(op::CyclicCholesky<J, I>{}, where, a.self());
}

/// The solution of a x = b by l = cholesky<I, J>(a): `b[I, K]` -> `[J@X%n, K]`, by a ring of sums,
/// and each block of x to all.
template <class I, class J, class A, class B>
  requires detail::OneMatrix<I, J, A>
constexpr auto cholesky_solve(core::Argument<A> const& l, B const& b,
                              checking::CallSite where = {}) {
  return shardtype::call(op::CyclicCholeskySolve<I, J>{}, where, l.self(), b);
}

/// The solution of l x = b for a triangle of one matrix over many ranks: `l[I, J@X%n]`, `b[I, K]`
/// -> `[J@X%n, K]` by a ring of sums; with the rows block-cyclic, or the labels exchanged for the
/// transposed matrix, `l[I@X%n, J]`, `b[I@X%n, K]` ->
/// `[J, K]`, each block of x to all. A 0 on the diagonal gives an infinity or NaN. Refused: as
/// lu_solve.
template <class I, class J, class A, class B>
  requires detail::OneMatrix<I, J, A>
constexpr auto triangular_solve(core::Argument<A> const& l, B const& b, Triangular how = {},
                                checking::CallSite where = {}) {
  if constexpr (detail::by_rows<I, J, A>) {
    // what is lower is upper in the transposed matrix
    return shardtype::call(op::CyclicTriangle<J, I, true>(how.upper, how.unit), where, l.self(), b);
  } else {
    return shardtype::call(op::CyclicTriangle<I, J>(!how.upper, how.unit), where, l.self(), b);
  }
}

}  // namespace api

/// Asks solve for factors in half the precision: `solve<I, J>(a, b, linalg::refined)`.
struct Refined {};
inline constexpr Refined refined{};

namespace api {

/// The solution of a x = b for one matrix over many ranks by LU in float, whose solution is
/// corrected by residuals in double, with the accuracy of solve: `a[I, J@X%n]`, `b[I]` or `b[I, K]`
/// -> `[J@X%n]`, `[J@X%n, K]`, over a grid `a[I@X%n, J@Y%n]`, `b[I@X%n, K]` -> `[J@Y%n, K]`, of
/// double and complex<double>; of float it is solve. At most 30 corrections, until each residual is
/// at most |x| |a| sqrt(n) 2^-53 in the largest elements and the infinity norm of a; where it does
/// not get there, or a has no factors in float, a is factorized in double, as by solve. All ranks
/// decide alike. Faster where the condition is well below 1e7; else the time of float is lost. The
/// matrix is read, not overwritten; float factors need half of its memory more.
///
/// Sends half of solve's panels, and for each solution two rings of sums in float (over a grid what
/// lu_solve sends) and an all_reduce of the residual; the plan has 31 solutions and the steps of
/// solve. Refused: as solve; Q04 with the rows block-cyclic. Errors: as solve. No gradient, X03:
/// solve has one. Source: Langou and others, "Exploiting the performance of 32 bit floating point
/// arithmetic in obtaining 64 bit accuracy", 2006.
template <class I, class J, class A, class B>
  requires detail::OneMatrix<I, J, A>
constexpr auto solve(core::Argument<A> const& a, B const& b, Refined,
                     checking::CallSite where = {}) {
  using T = checking::element_t<detail::tensor_behind<A>>;
  if constexpr (sizeof(kernels::real_t<T>) < sizeof(double)) {
    return api::solve<I, J>(a.self(), b, where);
  } else {
    return shardtype::call(op::CyclicRefinedSolve<I, J>{}, where, a.self(), b);
  }
}

}  // namespace api

}  // namespace shardtype::linalg
