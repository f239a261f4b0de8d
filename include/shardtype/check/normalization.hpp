#pragma once
/// softmax and log_softmax on types, strict and named.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/named.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/plan/normalization_plan.hpp>

namespace shardtype {

namespace op {

/// Exponentials of the elements, divided by their sum over the named labels, or over all; `Log`:
/// the logarithm of that. `Names`: labels, then the dims and attributes of a named result, or its
/// Tensor type.
template <bool Log, class... Names>
struct Normalize {
  using operation = Normalize;
  static constexpr std::string_view name = Log ? "log_softmax" : "softmax";
};
template <class... Names>
using Softmax = Normalize<false, Names...>;
template <class... Names>
using LogSoftmax = Normalize<true, Names...>;

}  // namespace op

namespace detail {

template <class... Names>
inline constexpr bool begins_with_label = false;
template <class L, class... Names>
inline constexpr bool begins_with_label<L, Names...> = names_label<L>;

/// Splits names into labels, which come first, and the rest, which is a named result.
template <bool label, class Ls, class... Names>
struct LabelsFirstIf {
  using labels = Ls;
  using result = Pack<Names...>;
};
template <class... Ls, class L, class... Names>
struct LabelsFirstIf<true, Pack<Ls...>, L, Names...>
    : LabelsFirstIf<begins_with_label<Names...>, Pack<Ls..., L>, Names...> {};
template <class... Names>
using LabelsFirst = LabelsFirstIf<begins_with_label<Names...>, Pack<>, Names...>;

/// Bytes of a total: the largest element of a row and a sum relative to it, as for logsumexp.
template <class A>
inline constexpr std::int64_t normalization_bytes =
    reductions::LogSumExp::total_bytes<element_t<A>>;

/// The labels of `s` that are not among `count` numbers; without numbers, no labels. Refuses
/// numbers that `s` lacks.
constexpr Verdict kept_labels(Spec const& s, int const* numbers, int count, Labels& kept) {
  Labels over;
  for (int k = 0; k < count; ++k) {
    if (numbers[k] == max_dims || s.find(numbers[k]) < 0) return refuse(Code::S01_no_such_index);
    if (over.contains(numbers[k])) return refuse(Code::T02_index_twice, numbers[k]);
    over.push(numbers[k]);
  }
  for (int d = 0; d < s.rank; ++d)
    if (count > 0 && !over.contains(s.dims[d].label)) kept.push(s.dims[d].label);
  return {};
}

/// Shared by the strict and the named form; `Out`: the named result, empty for the strict form.
template <bool Log, class A, class Ls, class... Out>
struct NormalizationRule;
template <bool Log, class A, class... Ls, class... Out>
struct NormalizationRule<Log, A, Pack<Ls...>, Out...> {
  using S = Scope<A, Out...>;
  static constexpr bool communicates = sizeof...(Out) > 0;
  static constexpr Spec given = S::readings[0].spec;

  static constexpr Labels kept() {
    Labels out;
    constexpr int numbers[] = {label_number<S, Ls>()..., 0};
    static_cast<void>(kept_labels(given, numbers, static_cast<int>(sizeof...(Ls)), out));
    return out;
  }
  static constexpr planning::NormalizationPlan way() {
    if constexpr (communicates) {
      return planning::normalization_plan(given, kept(), S::template spec<1>);
    } else {
      return planning::normalization_plan(given, kept(), given);
    }
  }
  static constexpr Verdict decide() {
    if (communicates && is_local<A>) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::readings, 1 + static_cast<int>(sizeof...(Out))); !v)
      return v;
    if (Verdict v = reducible_elements<reductions::LogSumExp, A>(); !v) return v;
    // no default: JAX's is the last dim, that of reductions all dims
    if (sizeof...(Ls) == 0 && given.rank > 1)
      return refuse(Code::S06_which_dims, given.dims[given.rank - 1].label);
    constexpr int numbers[] = {label_number<S, Ls>()..., 0};
    Labels keeps;
    if (Verdict v = kept_labels(given, numbers, static_cast<int>(sizeof...(Ls)), keeps); !v)
      return v;
    if constexpr (!communicates) {
      return in_manual_mode<S, 1>(rules::normalization(given, keeps));
    } else {
      if (!(std::is_same_v<element_t<Out>, element_t<A>> && ...))
        return refuse(Code::N05_element_type);
      for (int x = 0; x < max_axes; ++x)
        if (given.unreduced.contains(x)) return refuse(Code::S02_other_kind, -1, -1, x);
      return rules::reshard(way().made, S::template spec<1>);
    }
  }
  static constexpr Verdict verdict = decide();
};

template <class Rule, bool Log, class A, bool ok = bool(Rule::verdict)>
struct Normalization : Rule {
  using S = typename Rule::S;
  struct Made {
    static constexpr Spec value = Rule::way().made;
  };
  struct Wanted {
    static constexpr Spec value = Rule::communicates ? Rule::verdict.result : Rule::given;
  };
  using met = tensor_from_spec<S, Made, element_t<A>, A>;
  using result = tensor_from_spec<S, Wanted, element_t<A>, A>;
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::normalization_steps(op::Normalize<Log>::name, Rule::given, Rule::way(),
                                         Wanted::value, z, normalization_bytes<A>, m);
  }
};
template <class Rule, bool Log, class A>
struct Normalization<Rule, Log, A, false> : Rule {};

template <bool Log, class A, class Ls, class... Out>
constexpr auto resolve_normalization(Pack<Out...>) {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else if constexpr (sizeof...(Out) == 0) {
    return Type<Normalization<NormalizationRule<Log, A, Ls>, Log, A>>{};
  } else {
    using Named = typename NamedAs<element_t<A>, A, Out...>::type;
    return Type<Normalization<NormalizationRule<Log, A, Ls, Named>, Log, A>>{};
  }
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <bool Log, class... Names, class A>
struct Resolve<op::Normalize<Log, Names...>, A>
    : decltype(detail::resolve_normalization<Log, A,
                                             typename detail::LabelsFirst<Names...>::labels>(
          typename detail::LabelsFirst<Names...>::result{}))::type {};

}  // namespace shardtype::checking
