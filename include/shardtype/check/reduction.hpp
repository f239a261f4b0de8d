#pragma once
/// Reductions on types, strict and named.

#include <type_traits>

#include <shardtype/check/contraction.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype {

/// The reductions the library knows, as tags: what is owed after them, and the element type they give.
namespace reductions {

/// Which elements a reduction takes, and gives.
enum class Takes : std::int8_t { numbers, booleans, floating };
enum class Makes : std::int8_t { same, count, place };

template <ReductionKind how, Takes in = Takes::numbers, Makes out = Makes::same>
struct Tag {
  static constexpr ReductionKind kind = how;
  static constexpr Takes takes = in;
  static constexpr Makes makes = out;
};

struct Sum : Tag<ReductionKind::sum, Takes::numbers, Makes::count> {};
struct Mean : Tag<ReductionKind::sum, Takes::floating> {};
struct Product : Tag<ReductionKind::whole> {};
struct Maximum : Tag<ReductionKind::max> {};
struct Minimum : Tag<ReductionKind::min> {};
struct Any : Tag<ReductionKind::max, Takes::booleans> {};
struct All : Tag<ReductionKind::min, Takes::booleans> {};
struct PlaceOfMaximum : Tag<ReductionKind::whole, Takes::numbers, Makes::place> {};
struct PlaceOfMinimum : Tag<ReductionKind::whole, Takes::numbers, Makes::place> {};

}  // namespace reductions

/// The reduction `F` as an operation: over the labels named, or over all; or, with dims and attributes
/// or a Tensor type, over the labels that this result lacks.
template <class F, class... Out>
struct ReduceOver {};

namespace detail {

template <class F, class T>
using reduced_element =
    std::conditional_t<F::makes == reductions::Makes::place ||
                           (F::makes == reductions::Makes::count && std::is_same_v<T, bool>),
                       std::int64_t, T>;

template <class F, class A>
constexpr Verdict reducible_elements() {
  using T = element_t<A>;
  if (F::takes == reductions::Takes::booleans && !std::is_same_v<T, bool>)
    return refuse(Code::P11_condition);
  if (F::takes == reductions::Takes::floating && !is_floating<T>)
    return refuse(Code::P12_not_floating);
  return {};
}

template <class F, class A, class... Ls>
struct StrictReduction {
  using S = Scope<A>;
  static constexpr bool communicates = false;
  static constexpr Verdict decide() {
    if (Verdict v = lawful<S>(std::make_integer_sequence<int, 1>{}); !v) return v;
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
    return rules::reduction(s, kept, F::kind);
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
    if (Verdict v = lawful<S>(std::make_integer_sequence<int, 2>{}); !v) return v;
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
  /// Where no owed kind says the reduction: the operand with its reduced dims whole.
  struct Whole {
    static constexpr Spec gathered() {
      Spec s = given;
      for (int d = 0; d < s.rank; ++d)
        if (wanted.find(s.dims[d].label) < 0) s.dims[d].axes = {};
      return s;
    }
    static constexpr Spec value = F::kind == ReductionKind::whole ? gathered() : given;
  };
  using operand = tensor_from_spec<S, Whole, element_t<A>, A>;
  struct Met {
    static constexpr Spec value = rules::reduction(Whole::value, kept(), F::kind).result;
  };
  /// What the local reduction gives, before it is resharded to the result.
  using met = tensor_from_spec<S, Met, element_t<Out>, A>;
};

template <class F, class A, class... Out>
constexpr auto resolve_reduction() {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor>{};
  } else if constexpr (all_labels_named<Out...>) {
    return Type<ReductionResult<StrictReduction<F, A, Out...>, F, A>>{};
  } else {
    return Type<NamedReduction<
        F, A, typename NamedAs<reduced_element<F, element_t<A>>, A, Out...>::type>>{};
  }
}

}  // namespace detail

template <class F, class... Out, class A>
struct Resolve<ReduceOver<F, Out...>, A>
    : decltype(detail::resolve_reduction<F, A, Out...>())::type {};

}  // namespace shardtype
