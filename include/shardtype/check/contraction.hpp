#pragma once
/// Products on types: matmul and einsum, strict and named. Their objects are in ops/products.hpp.

#include <utility>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/resolve.hpp>
#include <shardtype/plan/contraction_plan.hpp>
#include <shardtype/plan/overlap.hpp>

namespace shardtype {

namespace op {
template <class... Out>
struct Matmul;
template <class... Out>
struct Einsum;
}  // namespace op

namespace detail {

/// The code with which a product refuses the operands' element types, or `ok`.
template <class A, class B>
inline constexpr Code product_elements =
    !same_element<A, B>                  ? Code::C10_element_types_differ
    : std::is_same_v<element_t<A>, bool> ? Code::C11_not_numbers
                                         : Code::ok;

/// Time of a multiply-add of elements relative to one of float.
template <class T>
constexpr int multiply_add_work() {
  if constexpr (is_complex<T>) {
    return static_cast<int>(sizeof(T) / 2);  // four multiply-adds of its parts
  } else {
    return sizeof(T) < 4 ? 1 : static_cast<int>(sizeof(T) / 4);
  }
}
/// Properties of element type `T` in a local product: floating and complex elements use BLAS,
/// bfloat16 as copies in float; sums of single precision are accumulated in double.
template <class T>
constexpr planning::ProductElements product_element() {
  constexpr int work = detail::multiply_add_work<T>();
  if constexpr (std::is_integral_v<T>) {
    return {sizeof(T), true, 0, work};
  } else if constexpr (is_converted<T>) {
    return {8, true, sizeof(computed_t<T>), work};
  } else {
    return {is_complex<T> ? 16 : 8, false, 0, work};
  }
}
/// The verdict on a strict product of two types; `ask` returns the labels of the result for their
/// Specs.
template <class Ask>
constexpr Verdict strict_product(Names const& names, ParsedType const* types, Code elements,
                                 Ask const& ask) {
  if (Verdict v = rules::lawful(names, types, 2); !v) return v;
  if (elements != Code::ok) return refuse(elements);
  Labels out;
  if (Verdict v = ask(types[0].spec, types[1].spec, out); !v) return v;
  return rules::in_manual_mode(rules::contraction(types[0].spec, types[1].spec, out), types, 2);
}

template <class A, class B, class Out, bool Sums>
struct NamedContraction {
  using S = Scope<A, B, Out>;
  static constexpr bool communicates = true;
  static constexpr Verdict decide() {
    if (rules::any_of_manual_mode(S::parsed, 2)) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::parsed, 3); !v) return v;
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
                                      z, m, {}, detail::product_element<element_t<A>>());
  }
  /// A part of the search for the plan, for one evaluation by a compiler; continues from `before`.
  static constexpr auto progress(Sizing const& z, planning::Progress const& before) {
    return planning::contraction_progress(S::template spec<0>, S::template spec<1>,
                                          S::template spec<2>, z, before,
                                          detail::product_element<element_t<A>>());
  }
  static constexpr Plan finish_plan(Sizing const& z, planning::Progress const& before) {
    return planning::contraction_plan(S::template spec<0>, S::template spec<1>, S::template spec<2>,
                                      z, {}, before, detail::product_element<element_t<A>>());
  }
};

template <class A, class B>
struct StrictMatmul {
  using S = Scope<A, B>;
  static constexpr Verdict verdict =
      detail::strict_product(S::names, S::parsed, product_elements<A, B>, rules::matmul_labels);
};

/// The scope's number of label `L`, or one past the last if no operand has it.
template <class S, class L>
constexpr int label_number() {
  int const k = S::names.find_label(identity<L>);
  return k < 0 ? max_labels : k;
}

/// The labels of an einsum's result, by number.
struct NamedLabels {
  int const* numbers;
  int count;
  constexpr Verdict operator()(Spec const&, Spec const&, Labels& out) const {
    for (int k = 0; k < count; ++k) {
      if (numbers[k] == max_labels) return refuse(Code::N01_unknown_index);
      if (out.contains(numbers[k])) return refuse(Code::T02_index_twice, numbers[k]);
      out.push(numbers[k]);
    }
    return {};
  }
};

template <class A, class B, class... Ls>
struct StrictEinsum {
  using S = Scope<A, B>;
  static constexpr int numbers[] = {detail::label_number<S, Ls>()..., 0};
  static constexpr Verdict verdict =
      detail::strict_product(S::names, S::parsed, product_elements<A, B>,
                             NamedLabels{numbers, static_cast<int>(sizeof...(Ls))});
};

/// The strict form: the verdict first; result and plan only if it accepts.
template <class Strict, class A, class B>
struct Strictly : Strict {
  using S = typename Strict::S;
  static constexpr bool communicates = false;
  // not accepted_t, whose class would be one more for each product
  static constexpr auto const& value = Strict::verdict.result;
  using result = tensor_from_spec<S, Strictly, element_t<A>, A>;
  static constexpr Plan make_plan(Sizing const& z, Machine const& = {}) {
    return planning::strict_contraction_plan(S::parsed[0].spec, S::parsed[1].spec,
                                             Strict::verdict.result, z,
                                             detail::product_element<element_t<A>>());
  }
};

/// Whether T is a label; false for a Tensor type, which may be incomplete here.
template <class T, bool tensor = is_tensor<T>>
inline constexpr bool names_label = IndexLabel<T>;
template <class T>
inline constexpr bool names_label<T, true> = false;
template <class T, bool tensor = is_tensor<T>>
inline constexpr bool names_axis = MeshAxis<T>;
template <class T>
inline constexpr bool names_axis<T, true> = false;
template <class... Out>
inline constexpr bool all_labels_named = (names_label<Out> && ...);

/// A product by the form of its template arguments: a named result, a mistake, labels, or none.
template <bool Sums, class A, class B, class... Out>
struct Product : NamedContraction<A, B, named_t<A, Out...>, Sums> {};
template <bool Sums, class A, class B, class... Out>
  requires(names_axis<Out> || ...)
struct Product<Sums, A, B, Out...> : Plainly<Code::S05_axis_named> {};
template <class A, class B, class... Ls>
  requires all_labels_named<Ls...>
struct Product<true, A, B, Ls...> : resolved_t<Strictly, StrictEinsum<A, B, Ls...>, A, B> {};
template <class A, class B>
struct Product<false, A, B> : resolved_t<Strictly, StrictMatmul<A, B>, A, B> {};

// Products of three and more operands: of pairs, from left to right.

/// Label `L` where the first or the second type of scope `S` has it, and a later one too.
template <class S, int L>
constexpr auto label_of_pair() {
  constexpr bool needed = [] {
    for (int k = 2; k < S::types; ++k)
      if (S::parsed[k].spec.find(L) >= 0) return true;
    return false;
  }();
  if constexpr (needed && (S::parsed[0].spec.find(L) >= 0 || S::parsed[1].spec.find(L) >= 0)) {
    return detail::label_type<S, L>();
  } else {
    return Pack<>{};
  }
}
template <class... Ls>
constexpr Type<op::Einsum<Ls...>> einsum_to(Pack<Ls...>) {
  return {};
}
/// The product of the first two operands, which has the labels that the result or a later operand
/// has, in the order in which the two have them.
template <class S, int... L>
constexpr auto pair_product(std::integer_sequence<int, L...>) {
  return detail::einsum_to((Pack<>{} | ... | decltype(detail::label_of_pair<S, L>()){}));
}
template <class S>
using pair_product_t = typename decltype(detail::pair_product<S>(
    std::make_integer_sequence<int, S::names.labels>{}))::type;

template <class Scoped, int Types>
struct UnlawfulProducts {
  using S = Scoped;
  static constexpr Verdict verdict = rules::lawful(S::names, S::parsed, Types);
};
/// A pair that is refused, told with the types of its two operands.
template <class Pair, class A, class B>
struct RefusedPair : Pair {
  using sentence = refusal<Pair, A, B>;
};
/// The product of the first pair, then `Next`: that of what it gives and the rest.
template <class Pair, class Product, class Next>
struct PairFirst : Next {
  using pair = Pair;
  using pair_operation = Product;
  using next = Next;
};
/// Named results of three and more operands: planned as a program (lazy/einsum.hpp).
template <class Out, class... As>
struct NamedProducts;

template <class... Ls, class A, class B, class... Rest>
constexpr auto resolve_pairs(Pack<Ls...> out, Type<A>, Type<B>, Type<Rest>... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    using Last = Resolve<op::Einsum<Ls...>, A, B>;
    if constexpr (!Last::verdict) {
      return Type<RefusedPair<Last, A, B>>{};
    } else {
      return Type<Last>{};
    }
  } else {
    using Product = pair_product_t<Scope<A, B, Mentions<Dim<Ls>...>, Rest...>>;
    using Pair = Resolve<Product, A, B>;
    if constexpr (!Pair::verdict) {
      return Type<RefusedPair<Pair, A, B>>{};
    } else {
      using Next = typename decltype(detail::resolve_pairs(out, Type<typename Pair::result>{},
                                                           rest...))::type;
      return Type<PairFirst<Pair, Product, Next>>{};
    }
  }
}
template <class... Out, class... As>
constexpr auto resolve_products(Pack<Out...> out, Type<As>... as) {
  if constexpr ((names_axis<Out> || ...)) {
    return Type<Plainly<Code::S05_axis_named>>{};
  } else if constexpr (all_labels_named<Out...>) {
    constexpr int types = static_cast<int>(sizeof...(As) + 1);
    using S = Scope<As..., Mentions<Dim<Out>...>>;
    if constexpr (!rules::lawful(S::names, S::parsed, types)) {
      return Type<UnlawfulProducts<S, types>>{};
    } else {
      return detail::resolve_pairs(out, as...);
    }
  } else {
    return Type<NamedProducts<Pack<Out...>, As...>>{};
  }
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class... Out, class A, class B>
  requires(is_tensor<A> && is_tensor<B>)
struct Resolve<op::Matmul<Out...>, A, B> : detail::Product<false, A, B, Out...> {};
template <class... Out, class A, class B>
  requires(is_tensor<A> && is_tensor<B>)
struct Resolve<op::Einsum<Out...>, A, B> : detail::Product<true, A, B, Out...> {};
template <class... Out, class A, class B, class C, class... More>
  requires(is_tensor<A> && is_tensor<B> && is_tensor<C> && (is_tensor<More> && ...))
struct Resolve<op::Einsum<Out...>, A, B, C, More...>
    : decltype(detail::resolve_products(detail::Pack<Out...>{}, Type<A>{}, Type<B>{}, Type<C>{},
                                        Type<More>{}...))::type{};

}  // namespace shardtype::checking
