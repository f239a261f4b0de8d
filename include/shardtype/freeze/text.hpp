#pragma once
/// Elementwise expressions and their derivatives as C++ text.

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/derivative.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/name.hpp>

namespace shardtype::freeze {

/// How tightly the outermost operator of a text binds.
enum class Binding : std::int8_t { logical, equality, order, sum, product, unary, whole };

/// A text, in brackets if it binds less than `least`.
std::string bracketed(std::string const& text, Binding binding, Binding least);
/// A number as C++ reads it back: `2.0F`, `0.1`, `3`.
std::string number_text(double value, bool single);
std::string whole_number_text(long long value, std::string_view suffix);
/// The name of a type as the compiler prints it, in its shortest form that C++ reads back: without
/// this library's namespaces, and without those that have no name; integer types as
/// `std::int64_t`, which is the same for all compilers. Empty: C++ cannot name it.
std::string spelled(std::string_view type);

template <class T>
constexpr std::string_view compiler_name() {
#if defined(__GNUC__) || defined(__clang__)
  return __PRETTY_FUNCTION__;
#else
  return {};
#endif
}
/// The name of type `T` in C++.
template <class T>
std::string type_text() {
  return freeze::spelled(freeze::compiler_name<T>());
}
template <class T>
std::string number_in_text(T const& value) {
  if constexpr (std::is_same_v<T, op::Zero>) {
    return "op::zero";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return freeze::whole_number_text(static_cast<long long>(value), sizeof(T) > 4 ? "L" : "");
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return freeze::number_text(static_cast<double>(value), std::is_same_v<T, float>);
  } else if constexpr (shardtype::detail::is_complex<T>) {
    using Real = std::remove_cvref_t<decltype(value.real())>;
    return freeze::type_text<T>() + "(" + freeze::number_in_text<Real>(value.real()) + ", " +
           freeze::number_in_text<Real>(value.imag()) + ")";
  } else {
    return freeze::type_text<T>() + "(" +
           freeze::number_text(static_cast<double>(static_cast<float>(value)), true) + ")";
  }
}

/// The functions that C++ text cannot name: they are parameters of the printed function, `fn1`,
/// `fn2`, ...
class FunctionNames {
 public:
  /// The parameter of a function of this type, whose state is these bytes (if any), or else which
  /// belongs to the part of this number.
  std::string const& parameter(core::Identity type, std::string_view type_name, void const* state,
                               std::size_t bytes, int part);
  std::size_t size() const { return all_.size(); }
  std::string const& name(std::size_t k) const { return all_[k].name; }
  std::string const& type(std::size_t k) const { return all_[k].type; }

 private:
  struct Known {
    core::Identity id = nullptr;
    std::string state;
    int part = -1;
    std::string name;
    std::string type;
  };
  shardtype::detail::List<Known> all_;
};

/// Where an operator or a function stands in a text.
struct FunctionForm {
  enum class Kind : std::int8_t { call, infix, prefix };
  std::string_view text;
  Kind kind = Kind::call;
  Binding binding = Binding::whole;
};
/// That of the library's function `F`; no text: it has no name.
template <class F>
inline constexpr FunctionForm form_of{};
#define SHARDTYPE_FORM(F, text, kind, binding)                                        \
  template <>                                                                         \
  inline constexpr FunctionForm form_of<functions::F>{text, FunctionForm::Kind::kind, \
                                                      Binding::binding};
// clang-format off
SHARDTYPE_FORM(Add, "+", infix, sum)
SHARDTYPE_FORM(Subtract, "-", infix, sum)
SHARDTYPE_FORM(Multiply, "*", infix, product)
SHARDTYPE_FORM(Divide, "/", infix, product)
SHARDTYPE_FORM(Remainder, "%", infix, product)
SHARDTYPE_FORM(Equal, "==", infix, equality)
SHARDTYPE_FORM(NotEqual, "!=", infix, equality)
SHARDTYPE_FORM(Less, "<", infix, order)
SHARDTYPE_FORM(LessEqual, "<=", infix, order)
SHARDTYPE_FORM(Greater, ">", infix, order)
SHARDTYPE_FORM(GreaterEqual, ">=", infix, order)
SHARDTYPE_FORM(And, "&&", infix, logical)
SHARDTYPE_FORM(Or, "||", infix, logical)
SHARDTYPE_FORM(Negate, "-", prefix, unary)
SHARDTYPE_FORM(Not, "!", prefix, unary)
// clang-format on
#undef SHARDTYPE_FORM
#define SHARDTYPE_CALLED(F, name) \
  template <>                     \
  inline constexpr FunctionForm form_of<functions::F>{name};
SHARDTYPE_CALLED(Maximum, "max")
SHARDTYPE_CALLED(Minimum, "min")
SHARDTYPE_CALLED(Power, "pow")
SHARDTYPE_CALLED(Atan2, "atan2")
SHARDTYPE_CALLED(LogAddExp, "logaddexp")
SHARDTYPE_CALLED(Hypot, "hypot")
SHARDTYPE_CALLED(FloorDivide, "floor_divide")
SHARDTYPE_CALLED(Clip, "clip")
SHARDTYPE_CALLED(StopGradient, "stop_gradient")
SHARDTYPE_CALLED(Conjugate, "conj")
SHARDTYPE_CALLED(Real, "real")
SHARDTYPE_CALLED(Imaginary, "imag")
SHARDTYPE_CALLED(Absolute, "abs")
SHARDTYPE_CALLED(Sign, "sign")
SHARDTYPE_CALLED(Square, "square")
SHARDTYPE_CALLED(Sqrt, "sqrt")
SHARDTYPE_CALLED(Rsqrt, "rsqrt")
SHARDTYPE_CALLED(Exp, "exp")
SHARDTYPE_CALLED(Exp2, "exp2")
SHARDTYPE_CALLED(Expm1, "expm1")
SHARDTYPE_CALLED(Log, "log")
SHARDTYPE_CALLED(Log1p, "log1p")
SHARDTYPE_CALLED(Log2, "log2")
SHARDTYPE_CALLED(Log10, "log10")
SHARDTYPE_CALLED(Sin, "sin")
SHARDTYPE_CALLED(Cos, "cos")
SHARDTYPE_CALLED(Tan, "tan")
SHARDTYPE_CALLED(Asin, "asin")
SHARDTYPE_CALLED(Acos, "acos")
SHARDTYPE_CALLED(Atan, "atan")
SHARDTYPE_CALLED(Sinh, "sinh")
SHARDTYPE_CALLED(Cosh, "cosh")
SHARDTYPE_CALLED(Tanh, "tanh")
SHARDTYPE_CALLED(Cbrt, "cbrt")
SHARDTYPE_CALLED(Erf, "erf")
SHARDTYPE_CALLED(Erfc, "erfc")
SHARDTYPE_CALLED(ErfInv, "erfinv")
SHARDTYPE_CALLED(LogGamma, "lgamma")
SHARDTYPE_CALLED(Digamma, "digamma")
SHARDTYPE_CALLED(Relu, "relu")
SHARDTYPE_CALLED(Sigmoid, "sigmoid")
SHARDTYPE_CALLED(Silu, "silu")
SHARDTYPE_CALLED(Softplus, "softplus")
SHARDTYPE_CALLED(Gelu, "gelu")
SHARDTYPE_CALLED(GeluTanh, "gelu_tanh")
SHARDTYPE_CALLED(Elu, "elu")
SHARDTYPE_CALLED(LeakyRelu, "leaky_relu")
SHARDTYPE_CALLED(Floor, "floor")
SHARDTYPE_CALLED(Ceil, "ceil")
SHARDTYPE_CALLED(Round, "round")
SHARDTYPE_CALLED(IsNan, "isnan")
SHARDTYPE_CALLED(IsFinite, "isfinite")
SHARDTYPE_CALLED(IsInf, "isinf")
SHARDTYPE_CALLED(Where, "where")
#undef SHARDTYPE_CALLED

/// An argument of a function as text.
struct ArgumentText {
  std::string text;
  Binding binding = Binding::whole;
};
/// The text of a function of arguments.
ArgumentText called(FunctionForm const& form, shardtype::detail::List<ArgumentText> const& args);

/// What the texts of one part of an expression share.
struct TextOf {
  FunctionNames* names = nullptr;
  int part = -1;
};

/// The function itself, where it is called by `map`.
template <class F>
std::string function_text(F const& f, TextOf const& of) {
  constexpr std::string_view name = freeze::compiler_name<F>();
  if constexpr (shardtype::detail::is_tag<F> && std::is_empty_v<F>) {
    return freeze::spelled(name) + "{}";
  } else {
    // the bytes of a state that may hold addresses are compared as well
    constexpr bool plain = std::is_trivially_copyable_v<F>;
    return of.names->parameter(core::identity<F>, name, plain && !std::is_empty_v<F> ? &f : nullptr,
                               plain && !std::is_empty_v<F> ? sizeof(F) : 0, plain ? -1 : of.part);
  }
}

}  // namespace shardtype::freeze

namespace shardtype::autodiff {

template <class T>
struct Text : Term {
  using element = T;
  freeze::TextOf of;
  freeze::ArgumentText is;
  Text(freeze::TextOf const& part, freeze::ArgumentText text) : of(part), is(std::move(text)) {}
};

}  // namespace shardtype::autodiff

namespace shardtype::detail {
template <class T, class... Rest>
struct CommonElement<autodiff::Text<T>, Rest...> {
  using type = T;
};
}  // namespace shardtype::detail

namespace shardtype::autodiff {

template <class A>
freeze::ArgumentText argument_in_text(A const& a) {
  if constexpr (is_text<A>) {
    return a.is;
  } else {
    return {freeze::number_in_text(a), freeze::Binding::unary};
  }
}
/// The text in whose part others stand.
template <class A, class... As>
freeze::TextOf const& part_of_texts(A const& a, As const&... as) {
  if constexpr (is_text<A>) {
    return a.of;
  } else {
    return autodiff::part_of_texts(as...);
  }
}
/// The element type of what a function of elements gives.
template <class F, class T>
struct GivenElement {
  using type = T;
};
template <class F, class T>
  requires shardtype::detail::is_cast<F>
struct GivenElement<F, T> {
  using type = decltype(kernels::apply(std::declval<F const&>(), std::declval<T const&>()));
};
template <class F, class... As>
auto text_on(F const& f, As const&... as) {
  using T = typename shardtype::detail::ElementFor<F, As...>::type;
  freeze::TextOf const of = autodiff::part_of_texts(as...);
  shardtype::detail::List<freeze::ArgumentText> args;
  freeze::FunctionForm form = freeze::form_of<F>;
  std::string name;
  if constexpr (shardtype::detail::is_cast<F>) {
    name = "cast<" + freeze::type_text<typename GivenElement<F, T>::type>() + ">";
    form.text = name;
  } else if constexpr (std::is_same_v<F, functions::Close>) {
    form.text = "isclose";
  } else if (form.text.empty()) {
    form.text = "map";
    args.push_back({freeze::function_text(f, of), freeze::Binding::whole});
  }
  (args.push_back(autodiff::argument_in_text(as)), ...);
  if constexpr (std::is_same_v<F, functions::Close>) {
    args.push_back({freeze::number_in_text(f.rtol)});
    args.push_back({freeze::number_in_text(f.atol)});
    args.push_back({freeze::number_in_text(f.equal_nan)});
  }
  return Text<typename GivenElement<F, T>::type>(of, freeze::called(form, args));
}

}  // namespace shardtype::autodiff

#ifndef SHARDTYPE_COMPILED
#include <shardtype/freeze/text.ipp>
#endif
