#pragma once
/// Elementwise operators and functions of tensors. Those of mathematics are in ops/math.hpp.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/operand.hpp>

namespace shardtype {

namespace detail {

/// The entry point of all elementwise functions, of `map` to a named result, and of `a = f(a, b)`
/// (ops/run_elementwise.hpp).
template <class F, class... Args>
constexpr auto fuse(F const& f, Args&&... args);
template <class... Out, class F, class... Args>
constexpr auto map_to(std::source_location const& where, F const& f, Args&&... args);
template <class F, class A, class B>
constexpr void in_place(A& a, B&& b, char const* name);

/// Whether `A` can be written in place: a tensor, a named expression, which stands for its tensor,
/// or a value whose gradient is wanted, which stands for the result from then on.
template <class A>
inline constexpr bool is_target = is_tensor<A> || is_fused<A>;
template <class A>
  requires is_active<A>
inline constexpr bool is_target<A> = requires { typename A::inner; };
template <class A>
constexpr auto& target(A& a) {
  if constexpr (is_fused<A>) {
    return a.tensor();
  } else {
    return a;
  }
}

}  // namespace detail

namespace api {

/// Applies `f` to elements with equal indices: `map(f, a, b)`. Dims are matched by index; an
/// operand that lacks a dim is broadcast along it, and the result has the dims of the operand that
/// has them all. `f` is called on the tensors' execution space. Nothing is computed until the
/// result is used; then one kernel computes it together with the expression that contains it. Never
/// communicates. Refused: P01 to P13.
///
/// `map<Dim<I, X>, Dim<J, Y>>(f, a, b)` names the result: `a[I@X]`, `b[J@Y]` give `[I@X, J@Y]` and
/// move nothing. If the operands do not fit, either they or the result are resharded. Refused: N01
/// to N05.
template <class... Out, class F, class A, detail::OperandType... Args>
  requires(sizeof...(Out) == 0 || sizeof...(Args) > 3)
constexpr auto map(F const& f, core::Argument<A> const& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, a.self(), static_cast<Args&&>(args)...);
}
template <class... Out, class F, class A, detail::OperandType... Args>
  requires(sizeof...(Out) == 0 || sizeof...(Args) > 3)
constexpr auto map(F const& f, core::Argument<A>&& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, std::move(a).self(), static_cast<Args&&>(args)...);
}
// Overloads for a named result of up to four operands, the first a tensor: errors report the line.
template <class... Out, class F, class A>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A> const& a,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, a.self());
}
template <class... Out, class F, class A>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A>&& a,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, std::move(a).self());
}
template <class... Out, class F, class A, detail::OperandType B>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A> const& a, B&& b,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, a.self(), static_cast<B&&>(b));
}
template <class... Out, class F, class A, detail::OperandType B>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A>&& a, B&& b,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, std::move(a).self(), static_cast<B&&>(b));
}
template <class... Out, class F, class A, detail::OperandType B, detail::OperandType C>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A> const& a, B&& b, C&& c,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, a.self(), static_cast<B&&>(b), static_cast<C&&>(c));
}
template <class... Out, class F, class A, detail::OperandType B, detail::OperandType C>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A>&& a, B&& b, C&& c,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, std::move(a).self(), static_cast<B&&>(b),
                                static_cast<C&&>(c));
}
template <class... Out, class F, class A, detail::OperandType B, detail::OperandType C,
          detail::OperandType D>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A> const& a, B&& b, C&& c, D&& d,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, a.self(), static_cast<B&&>(b), static_cast<C&&>(c),
                                static_cast<D&&>(d));
}
template <class... Out, class F, class A, detail::OperandType B, detail::OperandType C,
          detail::OperandType D>
  requires(sizeof...(Out) > 0)
constexpr auto map(F const& f, core::Argument<A>&& a, B&& b, C&& c, D&& d,
                   std::source_location const& where = std::source_location::current()) {
  return detail::map_to<Out...>(where, f, std::move(a).self(), static_cast<B&&>(b),
                                static_cast<C&&>(c), static_cast<D&&>(d));
}
template <class... Out, class F, detail::NumberType N, class A, detail::OperandType... Args>
constexpr auto map(F const& f, N const& n, core::Argument<A> const& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, n, a.self(), static_cast<Args&&>(args)...);
}
template <class... Out, class F, detail::NumberType N, class A, detail::OperandType... Args>
constexpr auto map(F const& f, N const& n, core::Argument<A>&& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, n, std::move(a).self(), static_cast<Args&&>(args)...);
}
template <class... Out, class F, detail::NumberType N, detail::NumberType M, class A,
          detail::OperandType... Args>
constexpr auto map(F const& f, N const& n, M const& m, core::Argument<A> const& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, n, m, a.self(), static_cast<Args&&>(args)...);
}
template <class... Out, class F, detail::NumberType N, detail::NumberType M, class A,
          detail::OperandType... Args>
constexpr auto map(F const& f, N const& n, M const& m, core::Argument<A>&& a, Args&&... args) {
  return detail::map_to<Out...>({}, f, n, m, std::move(a).self(), static_cast<Args&&>(args)...);
}
/// Behind three numbers and more, an expression is computed by itself.
template <class... Out, class F, detail::NumberType N, detail::NumberType M, detail::NumberType L,
          class... Args>
  requires(detail::are_operands<Args...>)
constexpr auto map(F const& f, N const& n, M const& m, L const& l, Args const&... args) {
  return detail::map_to<Out...>({}, f, n, m, l, args...);
}

}  // namespace api

// Operators. `a + b` is `map(functions::Add{}, a, b)`, and so on: strict, fused, local.
// Not by a macro: clang would print its expansion with every refusal.
template <class A, detail::OperandBeside<A> B>
constexpr auto operator+(A&& a, B&& b) {
  return detail::fuse(functions::Add{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator-(A&& a, B&& b) {
  return detail::fuse(functions::Subtract{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator*(A&& a, B&& b) {
  return detail::fuse(functions::Multiply{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator/(A&& a, B&& b) {
  return detail::fuse(functions::Divide{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator%(A&& a, B&& b) {
  return detail::fuse(functions::Remainder{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator==(A&& a, B&& b) {
  return detail::fuse(functions::Equal{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator!=(A&& a, B&& b) {
  return detail::fuse(functions::NotEqual{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator<(A&& a, B&& b) {
  return detail::fuse(functions::Less{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator<=(A&& a, B&& b) {
  return detail::fuse(functions::LessEqual{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator>(A&& a, B&& b) {
  return detail::fuse(functions::Greater{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator>=(A&& a, B&& b) {
  return detail::fuse(functions::GreaterEqual{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator&&(A&& a, B&& b) {
  return detail::fuse(functions::And{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator||(A&& a, B&& b) {
  return detail::fuse(functions::Or{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
// Of integers, bit by bit (P14); `&`, `|` and `^` of bools too. Shifts by what is no number of a
// bit give 0, `>>` the sign.
template <class A, detail::OperandBeside<A> B>
constexpr auto operator&(A&& a, B&& b) {
  return detail::fuse(functions::BitAnd{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator|(A&& a, B&& b) {
  return detail::fuse(functions::BitOr{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator^(A&& a, B&& b) {
  return detail::fuse(functions::BitXor{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator<<(A&& a, B&& b) {
  return detail::fuse(functions::ShiftLeft{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, detail::OperandBeside<A> B>
constexpr auto operator>>(A&& a, B&& b) {
  return detail::fuse(functions::ShiftRight{}, static_cast<A&&>(a), static_cast<B&&>(b));
}
template <detail::FieldType A>
constexpr auto operator-(A&& a) {
  return detail::fuse(functions::Negate{}, static_cast<A&&>(a));
}
template <detail::FieldType A>
constexpr auto operator!(A&& a) {
  return detail::fuse(functions::Not{}, static_cast<A&&>(a));
}
template <detail::FieldType A>
constexpr auto operator~(A&& a) {
  return detail::fuse(functions::BitNot{}, static_cast<A&&>(a));
}

// In place. The result must have the tensor's own type (P13). Error E21 if another tensor or
// expression shares the memory.
#define SHARDTYPE_IN_PLACE(sign, F)                                                \
  template <class A, detail::OperandBeside<A> B>                                   \
    requires(detail::is_target<A>)                                                 \
  constexpr A& operator sign(A & a, B && b) {                                      \
    detail::in_place<functions::F>(detail::target(a), static_cast<B&&>(b), #sign); \
    return a;                                                                      \
  }
SHARDTYPE_IN_PLACE(+=, Add)
SHARDTYPE_IN_PLACE(-=, Subtract)
SHARDTYPE_IN_PLACE(*=, Multiply)
SHARDTYPE_IN_PLACE(/=, Divide)
#undef SHARDTYPE_IN_PLACE

}  // namespace shardtype
