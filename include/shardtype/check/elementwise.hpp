#pragma once
/// Elementwise operations on types, strict and named.

#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/resolve.hpp>

namespace shardtype {

namespace op {

/// The elementwise function `F` (a tag of `functions`, or a user's) as an operation; with `Out`,
/// the result is named.
template <class F, class... Out>
struct Map {
  using operation = Map;
  static constexpr std::string_view name = "map";
  static constexpr bool resolved_by_library = true;
  F function{};
  template <class R, class... Args>
  typename R::result run(std::source_location const& where, Args const&... args) const;
};

}  // namespace op

namespace checking {

/// A C++ number as an operand; it is converted to the tensors' element type.
template <class T>
struct Number {
  T value{};
};

}  // namespace checking

namespace detail {

/// The requirement on element types that fails first.
enum class Elements : std::int8_t {
  fine,
  differ,
  number,
  condition,
  not_floating,
  not_integers,
  no_order
};

/// An operand in a scope; numbers have no dims and no axes.
template <class Operand>
using in_scope_t = std::conditional_t<is_tensor<Operand>, Operand, Mentions<>>;

/// The common element type: that of the first tensor; for a `where`, of the first after the
/// condition; for numbers alone their own.
template <class... Operands>
struct CommonElement {
  using type = void;
};
template <class Any, class... Rest>
struct CommonElement<Any, Rest...> : CommonElement<Rest...> {};
template <class A, class... Rest>
  requires(is_tensor<A>)
struct CommonElement<A, Rest...> {
  using type = element_t<A>;
};
template <class T, class... Rest>
struct CommonElement<Number<T>, Rest...> {
  using rest = typename CommonElement<Rest...>::type;
  using type = std::conditional_t<std::is_void_v<rest>, T, rest>;
};
template <class F, class... Operands>
struct ElementFor : CommonElement<Operands...> {};
template <class Condition, class... Operands>
struct ElementFor<functions::Where, Condition, Operands...> : CommonElement<Operands...> {};

/// Whether a number of type `N` converts to an element `T` without changing its kind.
template <class N, class T>
inline constexpr bool number_fits =
    std::is_same_v<N, op::Zero> || std::is_same_v<N, T> ||
    (is_complex<N> ? is_complex<T> : is_floating<T> || std::is_integral_v<N>);

/// The element type in which the function receives one operand.
template <class Operand, class T>
struct ArrivesAs {
  using type = T;
};
template <class A, class T>
  requires(is_tensor<A>)
struct ArrivesAs<A, T> {
  using type = element_t<A>;
};

template <class Operand, class T>
constexpr Elements judge_element() {
  if constexpr (is_tensor<Operand>) {
    return std::is_same_v<typename ElementOf<Operand>::type, T> ? Elements::fine : Elements::differ;
  } else {
    return []<class N>(Type<Number<N>>) {
      return number_fits<N, T> ? Elements::fine : Elements::number;
    }(Type<Operand>{});
  }
}
template <class T, class... Operands>
constexpr Elements judge_elements() {
  Elements out = Elements::fine;
  ((out = out == Elements::fine ? detail::judge_element<Operands, T>() : out), ...);
  return out;
}
/// Whether `F` accepts these elements; those of the first operand of `where` are a condition. A
/// user's function may accept any.
template <class F, class T, class First, class... Rest>
constexpr Elements judge_function() {
  if constexpr (!is_tag<F> || is_cast<F>) {
    return Elements::fine;
  } else if constexpr (std::is_same_v<F, functions::Where>) {
    bool const boolean = std::is_same_v<typename CommonElement<First>::type, bool>;
    return boolean ? detail::judge_elements<T, Rest...>() : Elements::condition;
  } else {
    if (F::gives == functions::Gives::floating && !is_floating<T>) return Elements::not_floating;
    if (wants_integers<F, T>) return Elements::not_integers;
    if (is_of_real<F> && is_complex<T>) return Elements::no_order;
    return detail::judge_elements<T, First, Rest...>();
  }
}

/// The memory of the first tensor, which all must share.
template <class... Operands>
struct FirstTensor;
template <class A, class... Rest>
  requires(is_tensor<A>)
struct FirstTensor<A, Rest...> {
  using type = A;
};
template <class N, class... Rest>
struct FirstTensor<Number<N>, Rest...> : FirstTensor<Rest...> {};

/// One floating-point operation per element of the result and function. If a dim of the result is
/// block-cyclic and the operand's is not, its rows are copied first.
constexpr planning::Work map_work(planning::CallSizing const& c) {
  std::int64_t taken = 0;
  int const d = c.result.cyclic_dim();
  Sizing const z{c.made.extents, c.common.sizes, c.made.element_bytes};
  if (d < 0 || rows_of(c.result, d, z, {}).contiguous()) return {c.result_elements(), 0, false};
  for (int k = 0; k < c.count; ++k) {
    Spec rows = c.operands[k];
    int const own = rows.find(c.result.dims[d].label);
    if (own < 0 || rows.dims[own].axes == c.result.dims[d].axes) continue;
    rows.dims[own].axes = c.result.dims[d].axes;
    taken = add_sat(taken, mul_sat(largest_elements(rows, c.given[k].extents, c.common.sizes),
                                   c.element_bytes(k)));
  }
  return {c.result_elements(), taken, false};
}

/// Shared by the strict and the named form: the operands as values, and the check of their
/// elements.
template <class F, class Extra, class... Operands>
struct ElementwiseOperands;
template <class F, class... Extra, class... Args>
struct ElementwiseOperands<F, Pack<Extra...>, Args...> {
  using S = Scope<in_scope_t<Args>..., Extra...>;
  using common = typename ElementFor<F, Args...>::type;
  using first = typename FirstTensor<Args...>::type;
  using element = typename ElementGiven<F, common, typename ArrivesAs<Args, common>::type...>::type;
  /// The type that `Out...` name, with the elements of the function.
  template <class... Out>
  using named = named_as_t<element, first, Out...>;
  static constexpr Linearity linearity = linearity_of<F, common>;

  static constexpr shardtype::rules::Operands operands() {
    shardtype::rules::Operands in;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (in.push(S::template spec<K>, std::is_same_v<Args, Number<op::Zero>>), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
    return in;
  }
  static constexpr bool is_tensor_at(int k) {
    bool const each[] = {is_tensor<Args>...};
    return each[k];
  }
  /// The Specs of the tensors among the operands; returns their number.
  static constexpr int tensors(Spec* out) {
    int n = 0;
    for (int k = 0; k < static_cast<int>(sizeof...(Args)); ++k)
      if (is_tensor_at(k)) out[n++] = S::parsed[k].spec;
    return n;
  }
  /// The element sizes of the operands, then that of the result.
  struct ElementBytes {
    std::int64_t at[sizeof...(Args) + 1]{};
  };
  static constexpr ElementBytes sizes_of_elements(std::size_t of_result) {
    ElementBytes out;
    int n = 0;
    int k = 0;
    ((is_tensor_at(k++) ? void(out.at[n++] = static_cast<std::int64_t>(
                                   sizeof(typename ArrivesAs<Args, common>::type)))
                        : void()),
     ...);
    out.at[n] = static_cast<std::int64_t>(of_result);
    return out;
  }
  static constexpr Verdict check() {
    constexpr int count = static_cast<int>(sizeof...(Args) + sizeof...(Extra));
    if (sizeof...(Args) > shardtype::rules::Operands::most) return refuse(Code::T07_too_many);
    if (Verdict v = rules::lawful(S::names, S::parsed, count); !v) return v;
    if (not_taken<element>) return refuse(Code::T11_not_callable);
    Elements const elements = detail::judge_function<F, common, Args...>();
    if (elements == Elements::number) return refuse(Code::P10_number_does_not_fit);
    if (elements == Elements::not_floating) return refuse(Code::P12_not_floating);
    if (elements == Elements::not_integers) return refuse(Code::P14_not_integers);
    if (elements == Elements::no_order) return refuse(Code::S04_no_order);
    if (elements == Elements::condition) return refuse(Code::P11_condition);
    if (elements == Elements::differ || !(same_memory<first, Args> && ...))
      return refuse(Code::P09_element_types_differ);
    return {};
  }
};

template <class F, class... Args>
struct StrictElementwise : ElementwiseOperands<F, Pack<>, Args...> {
  using Base = ElementwiseOperands<F, Pack<>, Args...>;
  static constexpr bool communicates = false;
  /// Whether the operands are lawful, and none has all labels of the others.
  static constexpr bool decide_apart() {
    return bool(Base::check()) && rules::covering(Base::operands()) < 0;
  }
  static constexpr Verdict decide() {
    if (Verdict v = Base::check(); !v) return v;
    return rules::in_manual_mode(rules::elementwise(Base::operands(), Base::linearity),
                                 Base::S::parsed, static_cast<int>(sizeof...(Args)));
  }
  static constexpr Verdict verdict = decide();
};

template <class Strict>
struct ElementwiseResult : Strict {
  using result = accepted_t<Strict, typename Strict::element, typename Strict::first>;
  /// Communicates nothing: operands are sliced locally.
  static constexpr Plan make_plan(Sizing const& z, Machine const& = {}) {
    Spec given[planning::max_local_operands];
    int const count = Strict::tensors(given);
    auto const bytes = Strict::sizes_of_elements(sizeof(typename Strict::element));
    planning::LabelValues const values(z, given, count, Strict::verdict.result, bytes.at);
    Plan p = planning::plan_of_call("map", values.call);
    planning::append_compute(p, map_work(values.call));
    return p;
  }
};

template <class F, class Out, class... Args>
struct NamedElementwise : ElementwiseOperands<F, Pack<Out>, Args...> {
  using Base = ElementwiseOperands<F, Pack<Out>, Args...>;
  using S = typename Base::S;
  static constexpr bool communicates = true;
  static constexpr Spec wanted = S::template spec<static_cast<int>(sizeof...(Args))>;
  static constexpr Verdict decide() {
    if (rules::any_of_manual_mode(S::parsed, static_cast<int>(sizeof...(Args))))
      return refuse(Code::V14_named_result);
    if (Verdict v = Base::check(); !v) return v;
    if (!std::is_same_v<element_t<Out>, typename Base::element> ||
        !same_memory<Out, typename Base::first>)
      return refuse(Code::N05_element_type);
    return rules::named_elementwise(Base::operands(), wanted, Base::linearity);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;

  /// The shardings to which the operands (tensors only) are resharded, and the result of the
  /// function on them.
  static constexpr planning::LocalPlan decide_local() {
    planning::LocalPlan out;
    shardtype::rules::Operands const in = Base::operands();
    shardtype::rules::Operands met_with;
    for (int k = 0; k < in.size; ++k) {
      met_with.push(rules::elementwise_operand(in, k, wanted, Base::linearity), in.zero[k]);
      if (Base::is_tensor_at(k)) out.operands[out.count++] = met_with.at[k];
    }
    Verdict const local = rules::elementwise(met_with, labels_of(wanted), Base::linearity);
    out.result = local.result;
    return out;
  }
  struct Way {
    static constexpr planning::LocalPlan value = decide_local();
  };
  using met = MetTypes<S, Way, Out>;
  /// Whether the kernel can write the named result directly, slicing its operands.
  static constexpr bool decide_direct() {
    for (int d = 0; d < wanted.rank; ++d)
      if (!wanted.dims[d].axes.starts_with(Way::value.result.dims[d].axes)) return false;
    return Way::value.result.unreduced == wanted.unreduced;
  }
  static constexpr bool direct = decide_direct();
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    Spec given[planning::max_local_operands];
    Base::tensors(given);
    auto const bytes = Base::sizes_of_elements(sizeof(element_t<Out>));
    return planning::named_plan({op::Map<F>::name, given, &Way::value, wanted, z, bytes.at}, m,
                                direct, detail::map_work);
  }
};

}  // namespace detail

namespace checking {

template <class F, class... Args>
struct Resolve<op::Map<F>, Args...>
    : detail::resolved_t<detail::ElementwiseResult, detail::StrictElementwise<F, Args...>> {};
template <class F, class Out, class... More, class... Args>
struct Resolve<op::Map<F, Out, More...>, Args...>
    : detail::NamedElementwise<F,
                               typename detail::ElementwiseOperands<
                                   F, detail::Pack<>, Args...>::template named<Out, More...>,
                               Args...> {};

}  // namespace checking

/// Whether the elementwise function `F` of tensors (or `Number`s) of these types compiles.
template <class F, class... Args>
concept Mappable = bool(checking::Resolve<op::Map<F>, Args...>::verdict);

}  // namespace shardtype
