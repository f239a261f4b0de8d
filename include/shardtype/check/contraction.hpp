#pragma once
/// Products on types: matmul and einsum, strict and named.

#include <shardtype/check/resolve.hpp>
#include <shardtype/plan/contraction_plan.hpp>

namespace shardtype {

/// `matmul` (no `Out`) or `matmul<Out...>` as an object, for plan() and probing.
template <class... Out>
struct MatmulTo {};
/// `einsum<Out...>` as an object: index labels (strict), or dims and attributes (named).
template <class... Out>
struct EinsumTo {};

template <class... Out>
inline constexpr MatmulTo<Out...> matmul_to{};
template <class... Out>
inline constexpr EinsumTo<Out...> einsum_to{};

namespace detail {

/// A strict product whose result has the labels that `labels(Labels&)` writes.
template <class A, class B, class Self>
struct StrictContraction {
  using S = Scope<A, B>;
  static constexpr Verdict decide() {
    if (Verdict v = lawful<S>(std::make_integer_sequence<int, 2>{}); !v) return v;
    if (!same_element<A, B>) return refuse(Code::C10_element_types_differ);
    if (std::is_same_v<element_t<A>, bool>) return refuse(Code::C11_not_numbers);
    Labels out;
    if (Verdict v = Self::labels(out); !v) return v;
    return in_manual_mode<S, 2>(rules::contraction(S::template spec<0>, S::template spec<1>, out));
  }
};

template <class A, class B, class Out, bool Sums>
struct NamedContraction {
  using S = Scope<A, B, Out>;
  static constexpr bool communicates = true;
  static constexpr Verdict decide() {
    if (is_local<A> || is_local<B>) return refuse(Code::V14_named_result);
    if (Verdict v = lawful<S>(std::make_integer_sequence<int, 3>{}); !v) return v;
    if (!same_element<A, B>) return refuse(Code::C10_element_types_differ);
    if (std::is_same_v<element_t<A>, bool>) return refuse(Code::C11_not_numbers);
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    if (!Sums) {
      Labels out;
      if (Verdict v = rules::matmul_labels(S::template spec<0>, S::template spec<1>, out); !v)
        return v;
    }
    return rules::named_contraction(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                    Sums);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::contraction_plan(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                      z, m);
  }
  /// The same in parts, for compilers.
  static constexpr auto progress(Sizing const& z, planning::detail::Progress const& before) {
    return planning::contraction_progress(S::template spec<0>, S::template spec<1>,
                                          S::template spec<2>, z, before);
  }
  static constexpr Plan finish_plan(Sizing const& z, planning::detail::Progress const& before) {
    return planning::contraction_plan(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                      z, {}, before);
  }
};

template <class A, class B, class Self>
struct StrictResult {
  static constexpr bool communicates = false;
  struct Holder {
    static constexpr Spec value = Self::verdict.result;
  };
  using result = tensor_from_spec<Scope<A, B>, Holder, element_t<A>, A>;
  static constexpr Plan make_plan(Sizing const& z, Machine const& = {}) {
    using S = Scope<A, B>;
    return planning::strict_contraction_plan(S::template spec<0>, S::template spec<1>,
                                             Holder::value, z);
  }
};

template <class A, class B>
struct StrictMatmul : StrictContraction<A, B, StrictMatmul<A, B>> {
  using Base = StrictContraction<A, B, StrictMatmul<A, B>>;
  static constexpr Verdict labels(Labels& out) {
    return rules::matmul_labels(Base::S::template spec<0>, Base::S::template spec<1>, out);
  }
  static constexpr Verdict verdict = Base::decide();
};

/// The scope's number of label `L`, or one past the last if no operand has it.
template <class S, class L>
constexpr int label_number() {
  int const k = S::names.find_label(identity<L>);
  return k < 0 ? max_dims : k;
}

template <class A, class B, class... Ls>
struct StrictEinsum : StrictContraction<A, B, StrictEinsum<A, B, Ls...>> {
  using Base = StrictContraction<A, B, StrictEinsum<A, B, Ls...>>;
  static constexpr Verdict labels(Labels& out) {
    constexpr int numbers[] = {label_number<typename Base::S, Ls>()..., 0};
    for (std::size_t k = 0; k < sizeof...(Ls); ++k) {
      if (numbers[k] == max_dims) return refuse(Code::N01_unknown_index);
      if (out.contains(numbers[k])) return refuse(Code::T02_index_twice, numbers[k]);
      out.push(numbers[k]);
    }
    return {};
  }
  static constexpr Verdict verdict = Base::decide();
};

/// The strict form: verdict first, result and plan only when it accepts.
template <class Strict, class A, class B, bool ok = bool(Strict::verdict)>
struct Strictly : Strict, StrictResult<A, B, Strict> {};
template <class Strict, class A, class B>
struct Strictly<Strict, A, B, false> : Strict {};

/// A Tensor type may be incomplete here, and is no label.
template <class T, bool tensor = is_tensor<T>>
inline constexpr bool names_label = IndexLabel<T>;
template <class T>
inline constexpr bool names_label<T, true> = false;
template <class... Out>
inline constexpr bool all_labels_named = (names_label<Out> && ...);

template <bool Sums, class A, class B, class... Out>
constexpr auto resolve_contraction() {
  if constexpr (!is_tensor<A> || !is_tensor<B>) {
    return Type<NotATensor<A, B>>{};
  } else if constexpr (Sums && all_labels_named<Out...>) {
    return Type<Strictly<StrictEinsum<A, B, Out...>, A, B>>{};
  } else if constexpr (sizeof...(Out) == 0) {
    return Type<Strictly<StrictMatmul<A, B>, A, B>>{};
  } else {
    return Type<NamedContraction<A, B, named_t<A, Out...>, Sums>>{};
  }
}

}  // namespace detail

template <class... Out, class A, class B>
struct Resolve<MatmulTo<Out...>, A, B>
    : decltype(detail::resolve_contraction<false, A, B, Out...>())::type {};
template <class... Out, class A, class B>
struct Resolve<EinsumTo<Out...>, A, B>
    : decltype(detail::resolve_contraction<true, A, B, Out...>())::type {};

/// Whether `matmul(a, b)` compiles for tensors of these types.
template <class A, class B>
concept Contractible = bool(Resolve<MatmulTo<>, A, B>::verdict);

}  // namespace shardtype
