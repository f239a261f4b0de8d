#pragma once
/// Reductions on types, strict and named.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/check/plan_of.hpp>
#include <shardtype/plan/reduction_plan.hpp>
#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

/// The library's reductions as tags: their kind, the elements they accept and return, and the bytes
/// of a total, the accumulator of long reductions and of the ranks' partial results
/// (kernels/reducers.hpp).
namespace reductions {

/// The elements that a reduction accepts, and returns. `ordered`: all except complex ones; `count`:
/// i64 of bool, `place`: i64 of all.
enum class Takes : std::int8_t { numbers, booleans, floating, ordered, real };
enum class Makes : std::int8_t { same, count, place, real };

/// Bytes of the accumulator of elements `T`: double for float and bfloat16.
template <class T>
inline constexpr std::int64_t wide_bytes =
    std::is_same_v<T, bfloat16> ? sizeof(double)
                                : sizeof(T) * (std::is_same_v<detail::real_of<T>, float> ? 2 : 1);

/// Base of the tags, with their defaults.
template <ReductionKind how, Takes in = Takes::numbers, Makes out = Makes::same>
struct Tag {
  static constexpr ReductionKind kind = how;
  static constexpr Takes takes = in;
  static constexpr Makes makes = out;
  /// Whether the result is divided by `divisor` of the number of reduced elements.
  static constexpr bool divides = false;
  /// Run-time arguments of a call.
  struct Arguments {};
  /// Bytes of a total of elements `T`.
  template <class T>
  static constexpr std::int64_t total_bytes = wide_bytes<T>;
};

struct Sum : Tag<ReductionKind::sum, Takes::numbers, Makes::count> {
  static constexpr std::string_view name = "sum";
  static constexpr std::string_view running_name = "cumsum";
  template <class T>
  static constexpr std::int64_t total_bytes =
      std::is_same_v<T, bool> ? sizeof(std::int64_t) : wide_bytes<T>;
};
struct Mean : Tag<ReductionKind::sum, Takes::floating> {
  static constexpr std::string_view name = "mean";
  static constexpr bool divides = true;
  static constexpr double divisor(Arguments const&, std::int64_t n) {
    return static_cast<double>(n);
  }
};
/// A total has a count, a number near the mean, and the sums of the distances from it and of their
/// squares.
struct Variance : Tag<ReductionKind::whole, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "var";
  static constexpr bool divides = true;
  struct Arguments {
    double ddof = 0;  ///< subtracted from the number of elements to give the divisor
  };
  /// NaN unless the divisor is above 0.
  static constexpr double divisor(Arguments const& of, std::int64_t n) {
    double const left = static_cast<double>(n) - of.ddof;
    return left > 0 ? left : std::numeric_limits<double>::quiet_NaN();
  }
  template <class T>
  static constexpr std::int64_t total_bytes = detail::is_complex<T> ? 48 : 32;
  /// Of float a mean in double, a count and a deviation in float.
  template <class T>
  static constexpr std::int64_t sent_bytes =
      std::is_same_v<detail::computed_t<T>, float> ? 16 : total_bytes<T>;
};
struct Deviation : Variance {
  static constexpr std::string_view name = "stddev";
  static double divisor(Arguments const& of, std::int64_t n) {
    return std::sqrt(Variance::divisor(of, n));
  }
};
struct Product : Tag<ReductionKind::whole> {
  static constexpr std::string_view name = "prod";
  static constexpr std::string_view running_name = "cumprod";
};
struct Maximum : Tag<ReductionKind::max, Takes::ordered> {
  static constexpr std::string_view name = "max";
  static constexpr std::string_view running_name = "cummax";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(T);
};
struct Minimum : Tag<ReductionKind::min, Takes::ordered> {
  static constexpr std::string_view name = "min";
  static constexpr std::string_view running_name = "cummin";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(T);
};
struct Any : Tag<ReductionKind::max, Takes::booleans> {
  static constexpr std::string_view name = "any";
};
struct All : Tag<ReductionKind::min, Takes::booleans> {
  static constexpr std::string_view name = "all";
};
/// Refuses unreduced operands, as norm_1 does: the zeros of a sum are not those of its summands.
struct NonZeros : Tag<ReductionKind::sum_of_sizes, Takes::numbers, Makes::place> {
  static constexpr std::string_view name = "count_nonzero";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(std::int64_t);
};
/// A total is an element and its position.
struct PlaceOfMaximum : Tag<ReductionKind::whole, Takes::ordered, Makes::place> {
  static constexpr std::string_view name = "argmax";
  template <class T>
  static constexpr std::int64_t total_bytes = 2 * sizeof(std::int64_t);
};
struct PlaceOfMinimum : Tag<ReductionKind::whole, Takes::ordered, Makes::place> {
  static constexpr std::string_view name = "argmin";
  template <class T>
  static constexpr std::int64_t total_bytes = 2 * sizeof(std::int64_t);
};
struct Norm : Tag<ReductionKind::whole, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(double);
};
struct Norm1 : Tag<ReductionKind::sum_of_sizes, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm_1";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(double);
};
struct NormInf : Tag<ReductionKind::max_of_sizes, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm_inf";
  template <class T>
  static constexpr std::int64_t total_bytes = sizeof(detail::real_of<T>);
};
/// A total has the largest element and a sum relative to it.
struct LogSumExp : Tag<ReductionKind::whole, Takes::real> {
  static constexpr std::string_view name = "logsumexp";
  template <class T>
  static constexpr std::int64_t total_bytes = 2 * sizeof(double);
  template <class T>
  static constexpr std::int64_t sent_bytes = 2 * sizeof(detail::computed_t<T>);
};
/// A total is a sum in bins; for complex numbers one for each part.
struct ReproducibleSum : Tag<ReductionKind::whole, Takes::floating> {
  static constexpr std::string_view name = "reproducible_sum";
  template <class T>
  static constexpr std::int64_t total_bytes = detail::is_complex<T> ? 80 : 40;
};
struct ReproducibleNorm : Tag<ReductionKind::whole, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "reproducible_norm";
  template <class T>
  static constexpr std::int64_t total_bytes = 40;
};

}  // namespace reductions

namespace execute {
/// Rows whose totals are known (execute/reduce_run.hpp).
template <class T, class Space>
struct JoinedRows;
}  // namespace execute

namespace op {

/// The reduction `F` (a tag of `reductions`) over the named labels, or over all. With dims and
/// attributes or a Tensor type: over the labels that this result lacks.
template <class F, class... Out>
struct Reduce : F::Arguments {
  using operation = Reduce;
  using reduces_by = F;
  static constexpr std::string_view name = F::name;
  /// The reduction whose totals ranks join where rows are split over them.
  using row_totals = F;
  static constexpr bool resolved_by_library = true;
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
  /// The block of the result, of totals.
  template <class T, class Space>
  auto joined(execute::JoinedRows<T, Space> const& rows) const;
};
template <class... Out>
using Sum = Reduce<reductions::Sum, Out...>;
template <class... Out>
using Mean = Reduce<reductions::Mean, Out...>;
template <class... Out>
using Var = Reduce<reductions::Variance, Out...>;
template <class... Out>
using StdDev = Reduce<reductions::Deviation, Out...>;
template <class... Out>
using Prod = Reduce<reductions::Product, Out...>;
template <class... Out>
using Max = Reduce<reductions::Maximum, Out...>;
template <class... Out>
using Min = Reduce<reductions::Minimum, Out...>;
template <class... Out>
using Any = Reduce<reductions::Any, Out...>;
template <class... Out>
using All = Reduce<reductions::All, Out...>;
template <class... Out>
using CountNonzero = Reduce<reductions::NonZeros, Out...>;
template <class... Out>
using ArgMax = Reduce<reductions::PlaceOfMaximum, Out...>;
template <class... Out>
using ArgMin = Reduce<reductions::PlaceOfMinimum, Out...>;
template <class... Out>
using Norm = Reduce<reductions::Norm, Out...>;
template <class... Out>
using Norm1 = Reduce<reductions::Norm1, Out...>;
template <class... Out>
using NormInf = Reduce<reductions::NormInf, Out...>;
template <class... Out>
using LogSumExp = Reduce<reductions::LogSumExp, Out...>;
template <class... Out>
using ReproducibleSum = Reduce<reductions::ReproducibleSum, Out...>;
template <class... Out>
using ReproducibleNorm = Reduce<reductions::ReproducibleNorm, Out...>;

}  // namespace op

namespace detail {

template <class F, class T>
using reduced_element =
    std::conditional_t<F::makes == reductions::Makes::place ||
                           (F::makes == reductions::Makes::count && std::is_same_v<T, bool>),
                       std::int64_t,
                       std::conditional_t<F::makes == reductions::Makes::real, real_of<T>, T>>;

/// Bytes of what ranks send of a total of elements `T`.
template <class F, class T>
inline constexpr std::int64_t sent_bytes = F::template total_bytes<T>;
template <class F, class T>
  requires requires { F::template sent_bytes<T>; }
inline constexpr std::int64_t sent_bytes<F, T> = F::template sent_bytes<T>;
/// Bytes per output that the ranks exchange for a reduction of elements `T`: the result, or the
/// total if no unreduced kind represents a partial result.
template <class F, class T>
inline constexpr std::int64_t carried_bytes =
    F::kind == ReductionKind::whole ? sent_bytes<F, T> : sizeof(reduced_element<F, T>);

template <class F, class A>
constexpr Verdict reducible_elements() {
  using T = element_t<A>;
  if (F::takes == reductions::Takes::booleans && !std::is_same_v<T, bool>)
    return refuse(Code::P11_condition);
  if ((F::takes == reductions::Takes::floating || F::takes == reductions::Takes::real) &&
      !is_floating<T>)
    return refuse(Code::P12_not_floating);
  if ((F::takes == reductions::Takes::ordered || F::takes == reductions::Takes::real) &&
      is_complex<T>)
    return refuse(Code::S04_no_order);
  return {};
}

template <class F, class A, class... Ls>
struct StrictReduction {
  using S = Scope<A>;
  static constexpr bool communicates = false;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::parsed, 1); !v) return v;
    if (Verdict v = detail::reducible_elements<F, A>(); !v) return v;
    constexpr Spec s = S::template spec<0>;
    Labels over;
    constexpr int numbers[] = {detail::label_number<S, Ls>()..., 0};
    for (std::size_t k = 0; k < sizeof...(Ls); ++k) {
      if (numbers[k] == max_labels) return refuse(Code::S01_no_such_index);
      if (over.contains(numbers[k])) return rules::refuse(Code::T02_index_twice, numbers[k]);
      over.push(numbers[k]);
    }
    Labels kept;
    for (int d = 0; d < s.rank; ++d)
      if (sizeof...(Ls) > 0 && !over.contains(s.dims[d].label)) kept.push(s.dims[d].label);
    return rules::in_manual_mode(rules::reduction(s, kept, F::kind), S::parsed, 1);
  }
  static constexpr Verdict verdict = decide();
};
/// Shared by both forms. `Self` provides the sharding of the result, `wanted()`, its elements, and
/// the plan after the local reduction.
template <class Self, class S, class F, class A, class Out>
struct ReductionCall {
  static constexpr int operands = 1;

  /// The result's extents: those of the kept dims.
  static constexpr void set_extents(auto const&, Sizes const&, std::int64_t const* const* given,
                                    std::int64_t* out) {
    Spec const s = Self::wanted();
    for (int d = 0; d < s.rank; ++d) out[d] = given[0][S::parsed[0].spec.find(s.dims[d].label)];
  }
  /// The plan of one call on an operand of these extents.
  static constexpr Plan plan_call(auto const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    set_extents(op, sizes, given, made);
    std::int64_t const bytes[] = {sizeof(element_t<A>), sizeof(Out)};
    CallValues<1> const values(S::names, S::parsed, Self::wanted(), sizes, given, made, bytes);
    return Self::plan_of(values.call);
  }
};

template <class Strict, class F, class A>
struct ReductionResult : Strict,
                         ReductionCall<ReductionResult<Strict, F, A>, typename Strict::S, F, A,
                                       reduced_element<F, element_t<A>>> {
  using result = accepted_t<Strict, reduced_element<F, element_t<A>>, A>;
  static constexpr Spec wanted() { return Strict::verdict.result; }
  static constexpr Plan plan_of(planning::CallSizing const& c) {
    return planning::reduction_plan(F::name, c, F::template total_bytes<element_t<A>>);
  }
  static constexpr int open_count(auto const&, Collective) { return 0; }
};

template <class F, class A, class Out>
struct NamedReduction
    : ReductionCall<NamedReduction<F, A, Out>, Scope<A, Out>, F, A, element_t<Out>> {
  using S = Scope<A, Out>;
  static constexpr bool communicates = true;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Spec wanted() { return S::template spec<1>; }
  static constexpr Verdict decide() {
    if (rules::any_of_manual_mode(S::parsed, 1)) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::parsed, 2); !v) return v;
    if (Verdict v = detail::reducible_elements<F, A>(); !v) return v;
    if (!std::is_same_v<element_t<Out>, reduced_element<F, element_t<A>>> ||
        S::parsed[0].memory != S::parsed[1].memory)
      return refuse(Code::N05_element_type);
    return rules::named_reduction(given, wanted(), F::kind);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;

  /// The labels of the result, in the operand's order.
  static constexpr Labels kept() {
    Labels out;
    for (int d = 0; d < given.rank; ++d)
      if (wanted().find(given.dims[d].label) >= 0) out.push(given.dims[d].label);
    return out;
  }
  /// The sharding of the partial results of the local reduction, before they are resharded. If no
  /// unreduced kind represents the reduction, they are totals, which count as an unreduced sum.
  struct Met {
    static constexpr Spec value =
        rules::reduction(given, kept(),
                         F::kind == ReductionKind::whole ? ReductionKind::sum : F::kind)
            .result;
  };
  static constexpr std::int64_t bytes = carried_bytes<F, element_t<A>>;
  /// The reshard of the partial results, which the executor runs.
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::reshard_plan(Met::value, wanted(), z, m);
  }

  // The plan of the whole call, and the largest number of collectives for any sizes.
  static constexpr Plan plan_of(planning::CallSizing const& c) {
    return planning::reduction_plan(F::name, c, F::template total_bytes<element_t<A>>,
                                    reshard_for(c.common), bytes, F::kind == ReductionKind::whole);
  }
  static constexpr int open_count(auto const&, Collective c) {
    return PlanSet<NamedReduction, moved_t<NamedReduction, A>>::count(c);
  }
  static constexpr int open_collectives(auto const&) {
    return PlanSet<NamedReduction, moved_t<NamedReduction, A>>::collectives();
  }

 private:
  /// The reshard that the executor chooses.
  static constexpr Plan reshard_for(Sizing z) {
    using Moved = moved_t<NamedReduction, A>;
    if constexpr (S::names.all_static()) {
      return detail::shared_plan<NamedReduction, StaticSizing<S, Moved>>();
    } else {
      z.element_bytes = bytes;
      return PlanSet<NamedReduction, Moved>::choose(z);
    }
  }
};

/// A reduction by the form of its template arguments: a named result, a mistake, or labels.
template <class F, class A, class... Out>
struct Reduction : NamedReduction<F, A, named_as_t<reduced_element<F, element_t<A>>, A, Out...>> {};
template <class F, class A, class... Out>
  requires(names_axis<Out> || ...)
struct Reduction<F, A, Out...> : Plainly<Code::S05_axis_named> {};
template <class F, class A, class... Ls>
  requires all_labels_named<Ls...>
struct Reduction<F, A, Ls...> : resolved_t<ReductionResult, StrictReduction<F, A, Ls...>, F, A> {};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class F, class... Out, class A>
  requires is_tensor<A>
struct Resolve<op::Reduce<F, Out...>, A> : detail::Reduction<F, A, Out...> {};

}  // namespace shardtype::checking
