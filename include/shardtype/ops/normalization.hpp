#pragma once
/// Operations that combine each element with a reduction of its row: softmax and its logarithm. Objects
/// and functions.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

namespace detail {

/// The labels of `s` that are not among those of `from`; none if these are none. Refuses labels that
/// `s` lacks, and no labels of several dims.
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

/// Exponentials of the elements, divided by their sum over the labels; `Log`: the logarithm of that. Of
/// a tensor with one dim no label need be named.
template <bool Log, class... Ls>
struct Normalize {
  using operation = Normalize;
  template <class... Js>
  using over = Normalize<Log, Js...>;
  using from = detail::Bare<Ls...>;
  static constexpr std::string_view name = Log ? "log_softmax" : "softmax";
  static constexpr Verdict rule(rules::Question const& q) {
    Labels kept;
    Verdict const v = detail::kept_labels(q.a(), q.from, kept);
    return v ? rules::normalization(q.a(), kept) : v;
  }
  template <class A>
  static constexpr Code elements() {
    return detail::reducible_elements<reductions::LogSumExp, A>().code;
  }
  /// Bytes of a total: the largest element of a row and a sum relative to it, as for logsumexp.
  static constexpr std::int64_t total_bytes = reductions::LogSumExp::total_bytes<double>;
  /// The totals of rows, one per element of the kept dims; unreduced over the axes that split rows.
  static constexpr Spec totals(Spec const& a, Spec const& from) {
    Labels kept;
    static_cast<void>(detail::kept_labels(a, from, kept));
    return rules::reduction(a, kept, ReductionKind::sum).result;
  }
  /// Flops: one per element read and one per element written. Summing rows needs room for a second set
  /// of totals, before the result exists.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    Spec const sums = totals(c.operands[0], c.from);
    std::int64_t const elements = c.elements(0);
    std::int64_t const bytes =
        mul_sat(planning::largest_elements(sums, c.common.extents, c.common.sizes), total_bytes);
    std::int64_t const room =
        std::max(bytes, add_sat(bytes, bytes) - mul_sat(elements, c.element_bytes(0)));
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

/// exp(a) divided by its sum over the named labels; computed relative to the largest element, so that
/// nothing overflows. Of a tensor with one dim no label need be named (of others S06; without an axis
/// JAX runs over the last dim). `A[I@X, J]` -> `softmax<J>(a)` -> `A[I@X, J]`,
/// local. A row that contains NaN or inf, or only -inf, becomes NaN.
///
/// Over a split dim, the result is named after the labels: `A[I, J@Y]` -> `softmax<J, Dim<I>,
/// Dim<J, Y>>(a)` -> `A[I, J@Y]`, one all_reduce of a (maximum, sum) pair for each row. No element
/// is sent, unless the named sharding differs from the operand's: then the result is resharded.
/// Refused: S01 an index that `a` lacks, S02 an unreduced operand, S03 strict over a split dim, P12
/// integers, S04 complex numbers, S06, N05, R01 to R03, V14. As jax.nn.softmax.
template <class... Names, class A>
constexpr auto softmax(core::Argument<A> const& a,
                       checking::CallSite where = std::source_location::current()) {
  return call(op::Softmax<Names...>{}, where, a.self());
}

/// The logarithm of softmax, a - logsumexp(a); otherwise as softmax. As jax.nn.log_softmax.
template <class... Names, class A>
constexpr auto log_softmax(core::Argument<A> const& a,
                           checking::CallSite where = std::source_location::current()) {
  return call(op::LogSoftmax<Names...>{}, where, a.self());
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_BY_NUMBER(softmax)
SHARDTYPE_NOT_BY_NUMBER(log_softmax)

}  // namespace api

}  // namespace shardtype
