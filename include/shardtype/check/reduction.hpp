#pragma once
/// Reductions on types, strict and named.

#include <string_view>
#include <type_traits>

#include <shardtype/check/contraction.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

/// The reductions the library knows, as tags: what is owed after them, and the element type they give.
namespace reductions {

/// Which elements a reduction takes, and gives. `ordered` are all but complex ones.
enum class Takes : std::int8_t { numbers, booleans, floating, ordered, real };
enum class Makes : std::int8_t { same, count, place, real };

template <ReductionKind how, Takes in = Takes::numbers, Makes out = Makes::same>
struct Tag {
  static constexpr ReductionKind kind = how;
  static constexpr Takes takes = in;
  static constexpr Makes makes = out;
};

struct Sum : Tag<ReductionKind::sum, Takes::numbers, Makes::count> {
  static constexpr std::string_view name = "sum";
};
struct Mean : Tag<ReductionKind::sum, Takes::floating> {
  static constexpr std::string_view name = "mean";
};
struct Product : Tag<ReductionKind::whole> {
  static constexpr std::string_view name = "prod";
};
struct Maximum : Tag<ReductionKind::max, Takes::ordered> {
  static constexpr std::string_view name = "max";
};
struct Minimum : Tag<ReductionKind::min, Takes::ordered> {
  static constexpr std::string_view name = "min";
};
struct Any : Tag<ReductionKind::max, Takes::booleans> {
  static constexpr std::string_view name = "any";
};
struct All : Tag<ReductionKind::min, Takes::booleans> {
  static constexpr std::string_view name = "all";
};
struct PlaceOfMaximum : Tag<ReductionKind::whole, Takes::ordered, Makes::place> {
  static constexpr std::string_view name = "argmax";
};
struct PlaceOfMinimum : Tag<ReductionKind::whole, Takes::ordered, Makes::place> {
  static constexpr std::string_view name = "argmin";
};
struct Norm : Tag<ReductionKind::whole, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm";
};
struct Norm1 : Tag<ReductionKind::sum_of_sizes, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm_1";
};
struct NormInf : Tag<ReductionKind::max_of_sizes, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "norm_inf";
};
struct LogSumExp : Tag<ReductionKind::whole, Takes::real> {
  static constexpr std::string_view name = "logsumexp";
};
struct ReproducibleSum : Tag<ReductionKind::whole, Takes::floating> {
  static constexpr std::string_view name = "reproducible_sum";
};
struct ReproducibleNorm : Tag<ReductionKind::whole, Takes::floating, Makes::real> {
  static constexpr std::string_view name = "reproducible_norm";
};

}  // namespace reductions

namespace op {

/// The reduction `F` (a tag of `reductions`): over the labels named, or over all; or, with dims and attributes
/// or a Tensor type, over the labels that this result lacks.
template <class F, class... Out>
struct Reduce {
  using operation = Reduce;
  static constexpr std::string_view name = F::name;
};
template <class... Out>
using Sum = Reduce<reductions::Sum, Out...>;
template <class... Out>
using Mean = Reduce<reductions::Mean, Out...>;
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

/// Bytes per output that the ranks exchange for a reduction of elements `T`: the result, or what a
/// reduction that no owed kind says carries (kernels/reducers.hpp).
template <class F, class T>
constexpr std::int64_t carried_bytes() {
  constexpr bool wide = std::is_same_v<real_of<T>, float>;
  constexpr int parts = is_complex<T> ? 2 : 1;
  if (F::kind != ReductionKind::whole) return sizeof(reduced_element<F, T>);
  if (F::makes == reductions::Makes::place) return 16;
  if (std::is_same_v<F, reductions::Norm>) return sizeof(double);
  if (std::is_same_v<F, reductions::LogSumExp>) return 2 * sizeof(double);
  if (std::is_same_v<F, reductions::ReproducibleSum>) return 40 * parts;
  if (std::is_same_v<F, reductions::ReproducibleNorm>) return 40;
  return wide ? static_cast<std::int64_t>(sizeof(double)) * parts
              : static_cast<std::int64_t>(sizeof(T));
}

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
    if (Verdict v = rules::lawful(S::names, S::readings, 1); !v) return v;
    if (Verdict v = reducible_elements<F, A>(); !v) return v;
    constexpr Spec s = S::template spec<0>;
    Labels over;
    constexpr int numbers[] = {label_number<S, Ls>()..., 0};
    for (std::size_t k = 0; k < sizeof...(Ls); ++k) {
      if (numbers[k] == max_dims) return refuse(Code::S01_no_such_index);
      if (over.contains(numbers[k])) return refuse(Code::T02_index_twice, numbers[k]);
      over.push(numbers[k]);
    }
    Labels kept;
    for (int d = 0; d < s.rank; ++d)
      if (sizeof...(Ls) > 0 && !over.contains(s.dims[d].label)) kept.push(s.dims[d].label);
    return in_manual_mode<S, 1>(rules::reduction(s, kept, F::kind));
  }
  static constexpr Verdict verdict = decide();
};
template <class Strict, class F, class A, bool ok = bool(Strict::verdict)>
struct ReductionResult : Strict {
  struct Holder {
    static constexpr Spec value = Strict::verdict.result;
  };
  using result = tensor_from_spec<typename Strict::S, Holder, reduced_element<F, element_t<A>>, A>;
  static constexpr Plan make_plan(Sizing const&, Machine const& = {}) {
    Plan p;
    p.result = Holder::value;
    return p;
  }
};
template <class Strict, class F, class A>
struct ReductionResult<Strict, F, A, false> : Strict {};

template <class F, class A, class Out>
struct NamedReduction {
  using S = Scope<A, Out>;
  static constexpr bool communicates = true;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Spec wanted = S::template spec<1>;
  static constexpr Verdict decide() {
    if (is_local<A>) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::readings, 2); !v) return v;
    if (Verdict v = reducible_elements<F, A>(); !v) return v;
    if (!std::is_same_v<element_t<Out>, reduced_element<F, element_t<A>>>)
      return refuse(Code::N05_element_type);
    return rules::named_reduction(given, wanted, F::kind);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;

  /// The labels of the result in the operand's order.
  static constexpr Labels kept() {
    Labels out;
    for (int d = 0; d < given.rank; ++d)
      if (wanted.find(given.dims[d].label) >= 0) out.push(given.dims[d].label);
    return out;
  }
  /// The sharding of what the ranks hold after the local reduction, before it is resharded to the
  /// result. Where no owed kind says the reduction, what they carry is owed as a sum is.
  struct Met {
    static constexpr Spec value =
        rules::reduction(given, kept(),
                         F::kind == ReductionKind::whole ? ReductionKind::sum : F::kind)
            .result;
  };
  static constexpr std::int64_t bytes = carried_bytes<F, element_t<A>>();
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::reshard_plan(Met::value, wanted, z, m);
  }
};

template <class F, class A, class... Out>
constexpr auto resolve_reduction() {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else if constexpr (all_labels_named<Out...>) {
    return Type<ReductionResult<StrictReduction<F, A, Out...>, F, A>>{};
  } else {
    return Type<NamedReduction<
        F, A, typename NamedAs<reduced_element<F, element_t<A>>, A, Out...>::type>>{};
  }
}

}  // namespace detail

template <class F, class... Out, class A>
struct Resolve<op::Reduce<F, Out...>, A>
    : decltype(detail::resolve_reduction<F, A, Out...>())::type {};

}  // namespace shardtype
