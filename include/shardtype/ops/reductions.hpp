#pragma once
/// Reductions over labels, and what combines each element with a reduction of its row (softmax):
/// functions, and the objects of the latter. Those of reductions are in check/reduction.hpp.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/abstract.hpp>
#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/counted.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

namespace execute {
/// A temporary expression is passed unevaluated (execute/fused.hpp).
template <class A>
constexpr decltype(auto) passed(A&& a);  // NOLINT(readability-redundant-declaration)
}  // namespace execute

/// Asks a sum or norm to be reproducible: `sum<Dim<J>>(a, reproducible)`.
struct Reproducible {};
inline constexpr Reproducible reproducible{};

namespace detail {

/// Sums of integers are reproducible in any order.
template <class A, bool = is_tensor<A>>
inline constexpr bool sums_exactly = !is_floating<element_t<A>>;
template <class A>
inline constexpr bool sums_exactly<A, false> = false;
template <class A>
using reproducible_sum =
    std::conditional_t<sums_exactly<operand_t<A>>, reductions::Sum, reductions::ReproducibleSum>;

/// Both results by their names.
template <class Values, class Counts>
constexpr Counted<Values, Counts> counted(std::tuple<Values, Counts> const& both) {
  return {std::get<0>(both), std::get<1>(both)};
}

/// The labels of `s` that are not among those of `from`; none if these are none. Refuses labels
/// that `s` lacks, and no labels of several dims.
constexpr Verdict kept_labels(Spec const& s, Spec const& from, Labels& kept) {
  // no default: JAX's is the last dim, that of reductions all dims
  if (from.rank == 0 && s.rank > 1) return refuse(Code::S06_which_dims, s.dims[s.rank - 1].label);
  Labels over;
  for (int d = 0; d < from.rank; ++d) {
    int const label = from.dims[d].label;
    if (s.find(label) < 0) return refuse(Code::S01_no_such_index);
    if (over.contains(label)) return refuse(Code::T02_index_twice, label);
    over.push(label);
  }
  for (int d = 0; d < s.rank; ++d)
    if (from.rank > 0 && !over.contains(s.dims[d].label)) kept.push(s.dims[d].label);
  return {};
}

/// The object of labels, which come first, and a named result.
template <class Op, class Labels, class Result>
struct NormalizeOf;
template <class Op, class... Ls, class... Out>
struct NormalizeOf<Op, Pack<Ls...>, Pack<Out...>> {
  using type = op::MaybeNamed<typename Op::template over<Ls...>, Out...>;
};

}  // namespace detail

namespace op {

/// Exponentials of the elements, divided by their sum over the labels; `Log`: the logarithm of
/// that. Of a tensor with one dim no label need be named.
template <bool Log, class... Ls>
struct Normalize {
  using operation = Normalize;
  template <class... Js>
  using over = Normalize<Log, Js...>;
  using from = detail::Bare<Ls...>;
  static constexpr std::string_view name = Log ? "log_softmax" : "softmax";
  using row_totals = reductions::LogSumExp;
  static constexpr bool rereads_rows = true;
  static constexpr Verdict rule(rules::Question const& q) {
    Labels kept;
    Verdict const v = detail::kept_labels(q.a(), q.from, kept);
    return v ? rules::normalization(q.a(), kept) : v;
  }
  template <class A>
  static constexpr Code elements() {
    return detail::reducible_elements<reductions::LogSumExp, A>().code;
  }
  /// Bytes of what ranks send of a row, whose elements have this size: the largest element and a
  /// sum relative to it, as for logsumexp.
  static constexpr std::int64_t sent_bytes(std::int64_t element_bytes) {
    return element_bytes < 8 ? reductions::LogSumExp::sent_bytes<float>
                             : reductions::LogSumExp::sent_bytes<double>;
  }
  /// The totals of rows, one per element of the kept dims; unreduced over the axes that split rows.
  static constexpr Spec totals(Spec const& a, Spec const& from) {
    Labels kept;
    static_cast<void>(detail::kept_labels(a, from, kept));
    return rules::reduction(a, kept, ReductionKind::sum).result;
  }
  /// Flops: one per element read and one per element written. Summing rows needs room for a second
  /// set of totals, those that are summed, before the result exists.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    Spec const sums = totals(c.operands[0], c.from);
    std::int64_t const elements = c.elements(0);
    std::int64_t const rows = planning::largest_elements(sums, c.common.extents, c.common.sizes);
    std::int64_t const bytes = mul_sat(rows, sent_bytes(c.element_bytes(0)));
    std::int64_t const summed = mul_sat(rows, reductions::LogSumExp::total_bytes<double>);
    std::int64_t const room =
        std::max(bytes, add_sat(bytes, summed) - mul_sat(elements, c.element_bytes(0)));
    return {mul_sat(2, elements), sums.unreduced.empty() ? room : 0, false};
  }
  /// Slices the operand like the result where that is free, but not along its rows, because that
  /// would split them.
  static constexpr planning::LocalPlan meet(rules::Question const& q, Spec const& wanted) {
    Labels kept;
    if (Verdict v = detail::kept_labels(q.a(), q.from, kept); !v) return {v, 0, {}, {}};
    if (Verdict v = rules::refuse_any(Code::S02_other_kind, q.a().unreduced); !v)
      return {v, 0, {}, {}};
    Spec rows;
    for (int d = 0; d < wanted.rank; ++d)
      if (kept.contains(wanted.dims[d].label)) rows.add(wanted.dims[d].label, wanted.dims[d].axes);
    Spec const met = planning::sliced_as(q.a(), rows);
    return {rules::reshard(met, wanted), 1, {met}, met};
  }
  template <class Call, class... Named>
  auto block(Call const& run, Named const&... named) const;
  /// The normalized block of `a`, of totals.
  template <class T, class Space, class A>
  auto joined(execute::JoinedRows<T, Space> const& rows, A const& a) const;
};
/// Labels, then the dims and attributes of a named result, or its Tensor type.
template <class... Names>
using Softmax =
    typename detail::NormalizeOf<Normalize<false>, typename detail::LabelsFirst<Names...>::labels,
                                 typename detail::LabelsFirst<Names...>::result>::type;
template <class... Names>
using LogSoftmax =
    typename detail::NormalizeOf<Normalize<true>, typename detail::LabelsFirst<Names...>::labels,
                                 typename detail::LabelsFirst<Names...>::result>::type;

}  // namespace op

namespace api {

// Each reduction is a function of a variable, `Argument<A> const&`, and of a temporary,
// `Argument<A>&&` (core/dim.hpp).
#define SHARDTYPE_REDUCTION(name, ...)                                             \
  template <class... Out, class A>                                                 \
  constexpr auto name(core::Argument<A> const& a, checking::CallSite where = {}) { \
    return api::call(__VA_ARGS__{}, where, execute::passed(a.self()));             \
  }                                                                                \
  template <class... Out, class A>                                                 \
  constexpr auto name(core::Argument<A>&& a, checking::CallSite where = {}) {      \
    return api::call(__VA_ARGS__{}, where, execute::passed(std::move(a).self()));  \
  }                                                                                \
  SHARDTYPE_NOT_BY_NUMBER(name)
#define SHARDTYPE_REPRODUCIBLE(name, ...)                                                        \
  template <class... Out, class A>                                                               \
  constexpr auto name(core::Argument<A> const& a, Reproducible, checking::CallSite where = {}) { \
    return api::call(__VA_ARGS__{}, where, execute::passed(a.self()));                           \
  }                                                                                              \
  template <class... Out, class A>                                                               \
  constexpr auto name(core::Argument<A>&& a, Reproducible, checking::CallSite where = {}) {      \
    return api::call(__VA_ARGS__{}, where, execute::passed(std::move(a).self()));                \
  }
#define SHARDTYPE_MOMENT(name, Op)                                                             \
  template <class... Out, class A>                                                             \
  constexpr auto name(core::Argument<A> const& a, double ddof = 0,                             \
                      checking::CallSite where = {}) {                                         \
    return api::call(Op<Out...>{{ddof}}, where, execute::passed(a.self()));                    \
  }                                                                                            \
  template <class... Out, class A>                                                             \
  constexpr auto name(core::Argument<A>&& a, double ddof = 0, checking::CallSite where = {}) { \
    return api::call(Op<Out...>{{ddof}}, where, execute::passed(std::move(a).self()));         \
  }                                                                                            \
  SHARDTYPE_NOT_BY_NUMBER(name)

// The forms of all reductions. `sum(a)` reduces over all dims and `sum<I, J>(a)` over the named
// ones; both are strict and never communicate: over a dim split over X the result is unreduced over
// X, with the kind of the reduction. `sum<Dim<J>>(a)` names the result, reduces over the labels
// that it lacks, and reshards: one all_reduce or reduce_scatter. A temporary elementwise expression
// is computed while it is reduced. Refused: S01 an index that `a` lacks, S02 an operand unreduced
// of another kind, N01, N03 to N05 a named result that does not fit, V14 a named result of a Local.

/// The sum; for bool, the number of true elements. `A[I@X, J]` -> `sum<I>` -> `[J]{U:X}`, nothing
/// sent; `sum<Dim<J>>` -> `[J]`, one all_reduce. An unreduced sum stays unreduced. Refused: as all
/// reductions.
SHARDTYPE_REDUCTION(sum, op::Sum<Out...>)
/// The sum, with the same bits for every order of the terms: on any number of ranks, for any
/// sharding of `a` and of the result, in every run. A split dim needs a named result (S03): `A[I@X,
/// J]` -> `sum<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of 40 bytes per sum (80 for
/// complex). Each term is rounded by at most 2^-61 of the largest term, then their exact sum is
/// rounded once to double: the error is below n 2^-61 max|a| + 2^-53 |sum|, and no intermediate
/// result overflows. A NaN, or infinities of both signs, give NaN. Not with -ffast-math. An
/// unreduced tensor is refused (S02): the summands depend on the number of ranks. Integers: as
/// sum(a), whose bits never differ.
SHARDTYPE_REPRODUCIBLE(sum, op::Reduce<detail::reproducible_sum<A>, Out...>)
/// The mean, by the actual number of elements even if blocks are uneven. `A[I@X, J]` -> `mean<I>`
/// -> `[J]{U:X}`, an unreduced sum, nothing sent; `mean<Dim<J>>` -> `[J]`, one all_reduce. Same
/// forms as sum. Refused: as sum, and P12 integers.
SHARDTYPE_REDUCTION(mean, op::Mean<Out...>)
/// The product; of float, computed in double. Same forms as sum, except that a split
/// dim needs a named result (S03): `A[I@X, J]` -> `prod<Dim<J>>` -> `[J]`, one all_reduce or
/// reduce_scatter of the ranks' products. Refused: S01, S02 an unreduced operand, S03, N01, N04,
/// N05, V14.
SHARDTYPE_REDUCTION(prod, op::Prod<Out...>)
/// The largest element; a NaN if there is one, the least value of the type if there are no
/// elements. `A[I@X, J]` -> `max<I>` -> `[J]{U_max:X}`, nothing sent; `max<Dim<J>>` -> `[J]`, one
/// all_reduce. Same forms as sum. Refused: as sum, and S04 complex numbers. The
/// larger of two tensors' elements, `max(a, b)`, is in ops/math.hpp.
template <class... Out, class A>
constexpr auto max(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Max<Out...>{}, where, execute::passed(a.self()));
}
template <class... Out, class A>
constexpr auto max(core::Argument<A>&& a, checking::CallSite where = {}) {
  return api::call(op::Max<Out...>{}, where, execute::passed(std::move(a).self()));
}
/// The least element; a NaN if there is one, the largest value of the type if there are no
/// elements. `A[I@X, J]` -> `min<I>` -> `[J]{U_min:X}`, nothing sent; `min<Dim<J>>` -> `[J]`, one
/// all_reduce. As max.
template <class... Out, class A>
constexpr auto min(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Min<Out...>{}, where, execute::passed(a.self()));
}
template <class... Out, class A>
constexpr auto min(core::Argument<A>&& a, checking::CallSite where = {}) {
  return api::call(op::Min<Out...>{}, where, execute::passed(std::move(a).self()));
}
/// Whether all elements of a bool tensor are true. `A[I@X, J]` -> `all<I>` -> `[J]{U_min:X}`,
/// nothing sent; `all<Dim<J>>` -> `[J]`, one all_reduce. Same forms as sum. Refused:
/// as sum, and P11 elements that are not bool.
SHARDTYPE_REDUCTION(all, op::All<Out...>)
/// Whether any element of a bool tensor is true. `A[I@X, J]` -> `any<I>` -> `[J]{U_max:X}`, nothing
/// sent; `any<Dim<J>>` -> `[J]`, one all_reduce. Same forms as sum. Refused: as sum,
/// and P11 elements that are not bool. With both `using namespace std` and `using namespace
/// shardtype`, C++ finds std::any as well: write `using shardtype::any;`.
SHARDTYPE_REDUCTION(any, op::Any<Out...>)
/// The number of elements that are not zero, as i64; of bool the true ones, and a NaN counts.
/// `A[I@X, J]` -> `count_nonzero<I>` -> `i64[J]{U:X}`, nothing sent; `count_nonzero<Dim<J>>` ->
/// `i64[J]`, one all_reduce. Same forms as sum. Refused: as sum, and S02 any unreduced operand: a
/// sum may be zero where its summands are not. As jnp.count_nonzero.
SHARDTYPE_REDUCTION(count_nonzero, op::CountNonzero<Out...>)
/// The position of the largest element along `I` (row-major over several labels), as i64: the first
/// position if several elements are equal, -1 if there are no elements. Same forms as sum
///, except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `argmax<Dim<J>>` -> `i64[J]`, one all_reduce or reduce_scatter of (value, position) pairs.
/// Refused: as prod, and S04 complex numbers.
SHARDTYPE_REDUCTION(argmax, op::ArgMax<Out...>)
/// The position of the least element; as argmax.
SHARDTYPE_REDUCTION(argmin, op::ArgMin<Out...>)
/// log(sum(exp(a))), computed relative to the maximum so that nothing overflows; -inf for no
/// elements or only -inf, inf if an element is inf, NaN if an element is NaN. Same forms as sum
///, except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `logsumexp<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of (maximum, sum) pairs. Refused:
/// as prod, P12 integers, and S04 complex numbers.
SHARDTYPE_REDUCTION(logsumexp, op::LogSumExp<Out...>)
/// The 2-norm: the square root of the sum of squares (the Frobenius norm over several labels); real
/// for complex elements. Same forms as sum, except that a split dim needs a named
/// result (S03): `A[I@X, J]` -> `norm<Dim<J>>` -> `[J]`, one all_reduce or reduce_scatter of the
/// sums of squares. Squares of float are computed in double and cannot overflow or underflow;
/// squares of double overflow if an element exceeds 1.3e154 and vanish below 1.5e-162, as in NumPy:
/// divide by norm_inf first. Refused: as prod, and P12 integers.
SHARDTYPE_REDUCTION(norm, op::Norm<Out...>)
/// The 2-norm with the same bits on any number of ranks, as the reproducible sum.
/// Squares are computed in double, so squares of double elements overflow and vanish as in norm.
SHARDTYPE_REPRODUCIBLE(norm, op::ReproducibleNorm<Out...>)
/// The 1-norm: the sum of absolute values; real for complex elements. `A[I@X, J]` -> `norm_1<I>` ->
/// `[J]{U:X}`, nothing sent; `norm_1<Dim<J>>` -> `[J]`, one all_reduce. Refused: as sum, P12
/// integers, and S02 any unreduced operand: the sum of the summands' absolute values is not the
/// absolute value of the sum.
SHARDTYPE_REDUCTION(norm_1, op::Norm1<Out...>)
/// The infinity norm: the largest absolute value, 0 for no elements, NaN if an element is NaN; real
/// for complex elements. `A[I@X, J]` -> `norm_inf<I>` -> `[J]{U_max:X}`. Refused as norm_1.
SHARDTYPE_REDUCTION(norm_inf, op::NormInf<Out...>)
/// The variance: the sum of squared distances from the mean, divided by the actual number of
/// elements less `ddof`; real for complex elements. `var<I>(a, 1)` is the sample variance. A large
/// mean costs no accuracy. NaN if at most `ddof` elements are reduced. Same forms as sum
///, except that a split dim needs a named result (S03): `A[I@X, J]` ->
/// `var<Dim<J>>(a)` -> `[J]`, one all_reduce or reduce_scatter of counts, means and sums, 32 bytes
/// per result (48 for complex elements); no element is sent. Refused: as prod, and P12 integers. As
/// jnp.var.
SHARDTYPE_MOMENT(var, op::Var)
/// The standard deviation: the square root of var; otherwise as var. As jnp.std; the name `std` is
/// not used because it would hide namespace std.
SHARDTYPE_MOMENT(stddev, op::StdDev)

#undef SHARDTYPE_REDUCTION
#undef SHARDTYPE_REPRODUCIBLE
#undef SHARDTYPE_MOMENT

/// The largest element and the number of elements that equal it, as real numbers: `A[I@X, J]` ->
/// `auto [most, ties] = counted_max<Dim<J>>(a)` -> `[J]` each, one all_reduce or reduce_scatter of
/// pairs; `counted_max<J>(a)` -> `[I@X]` each, nothing sent. The gradient of the maximum is
/// `where(a == most, ct / ties, 0)`. With a NaN: NaN, and the number of these; of no elements: the
/// least number, and 0. Same forms as sum, except that a split dim needs a named result
/// (S03). Refused: as prod, P12 integers, and S04 complex numbers.
template <class... Out, class A>
constexpr auto counted_max(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::counted(api::call(op::CountedMax<Out...>{}, where, a.self()));
}

/// The least element and the number of elements that equal it; as counted_max.
template <class... Out, class A>
constexpr auto counted_min(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::counted(api::call(op::CountedMin<Out...>{}, where, a.self()));
}

/// The product of the elements that are not zero, and the number of those that are: `A[I@X, J]` ->
/// `auto [rest, zeros] = counted_prod<Dim<J>>(a)` -> `[J]` each, one all_reduce or reduce_scatter
/// of pairs. The product is `where(zeros == 0, rest, 0)`; its gradient is `ct rest / a` without
/// zeros, `ct rest` where `a` is the only zero, and 0 elsewhere. Products of float are computed in
/// double. Forms and refusals as counted_max, but complex numbers are accepted.
template <class... Out, class A>
constexpr auto counted_prod(core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::counted(api::call(op::CountedProd<Out...>{}, where, a.self()));
}

/// exp(a) divided by its sum over the named labels; computed relative to the largest element, so
/// that nothing overflows. Of a tensor with one dim no label need be named (of others S06; without
/// an axis JAX runs over the last dim). `A[I@X, J]` -> `softmax<J>(a)` -> `A[I@X, J]`, local. A row
/// that contains NaN or inf, or only -inf, becomes NaN.
///
/// Over a split dim, the result is named after the labels: `A[I, J@Y]` -> `softmax<J, Dim<I>,
/// Dim<J, Y>>(a)` -> `A[I, J@Y]`, one all_reduce of a (maximum, sum) pair for each row. No element
/// is sent, unless the named sharding differs from the operand's: then the result is resharded.
/// Refused: S01 an index that `a` lacks, S02 an unreduced operand, S03 strict over a split dim, P12
/// integers, S04 complex numbers, S06, N05, R01 to R03, V14. As jax.nn.softmax.
template <class... Names, class A>
constexpr auto softmax(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Softmax<Names...>{}, where, a.self());
}

/// The logarithm of softmax, a - logsumexp(a); otherwise as softmax. As jax.nn.log_softmax.
template <class... Names, class A>
constexpr auto log_softmax(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::LogSoftmax<Names...>{}, where, a.self());
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_BY_NUMBER(softmax)
SHARDTYPE_NOT_BY_NUMBER(log_softmax)

}  // namespace api

}  // namespace shardtype
