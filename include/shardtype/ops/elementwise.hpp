#pragma once
/// Elementwise operators and functions of tensors.

#include <complex>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/ops/reshard.hpp>

namespace shardtype {

namespace detail {

/// A C++ number as an operand.
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16> || std::is_same_v<T, op::Zero>;
template <class T>
inline constexpr bool is_number<Kokkos::complex<T>> = true;
template <class T>
inline constexpr bool is_number<std::complex<T>> = true;

/// Types accepted by operators and functions. Poisoned and Pending operands are accepted so that
/// they can be diagnosed.
template <class T>
inline constexpr bool is_field = is_tensor<T> || is_dry<T> || is_fused<T> || is_pending<T> ||
                                 is_lazy<T> || is_active<T> || std::is_same_v<T, Poisoned>;
template <class T>
inline constexpr bool is_operand = is_field<T> || is_number<T> || is_poisoned<T>;
template <class... Ts>
inline constexpr bool are_operands =
    (is_field<std::remove_cvref_t<Ts>> || ...) && (is_operand<std::remove_cvref_t<Ts>> && ...);

/// An argument as stored in an expression. A temporary expression becomes part of the new one; a
/// named expression is computed now, once, because it may be used again.
template <class T>
constexpr auto held(T&& a) {
  using A = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<A, std::complex<float>> || std::is_same_v<A, std::complex<double>>) {
    using C = Kokkos::complex<typename A::value_type>;
    return Number<C>{C(a.real(), a.imag())};
  } else if constexpr (is_number<A>) {
    return Number<A>{a};
  } else if constexpr (is_fused<A> && std::is_lvalue_reference_v<T>) {
    return operand_t<A>(a.tensor());
  } else if constexpr (is_active<A> && std::is_lvalue_reference_v<T>) {
    return a.tensor();
  } else {
    return A(std::forward<T>(a));
  }
}
template <class T>
using held_t = decltype(held(std::declval<T>()));

/// The entry point of all elementwise functions.
template <class F, class... Args>
constexpr auto fuse(F const& f, Args&&... args) {
  if constexpr ((is_poisoned<std::remove_cvref_t<Args>> || ...)) {
    return Poisoned{};
  } else if constexpr ((is_pending<std::remove_cvref_t<Args>> || ...)) {
    return Poisoned(refused<Code::A04_under_way, false, std::remove_cvref_t<Args>...>{});
  } else if constexpr ((is_active<std::remove_cvref_t<Args>> || ...)) {
    using Next = execute::Continue<execute::Above::active, held_t<Args>...>;
    if constexpr (std::is_void_v<typename Next::template refusal_of_function<F>>) {
      return Next::fuse(f, held(std::forward<Args>(args))...);
    } else {
      static_cast<void>(alignof(typename Next::template refusal_of_function<F>));
      return Poisoned{};
    }
  } else if constexpr ((is_lazy<std::remove_cvref_t<Args>> || ...)) {
    return execute::Continue<execute::Above::lazy, held_t<Args>...>::call(
        op::Map<F>{f}, std::source_location{}, held(std::forward<Args>(args))...);
  } else if constexpr ((is_dry<std::remove_cvref_t<Args>> || ...)) {
    return call(op::Map<F>{f}, std::source_location{}, held(std::forward<Args>(args))...);
  } else {
    using R = Resolve<op::Map<F>, operand_t<held_t<Args>>...>;
    if constexpr (R::verdict) {
      return Fused<F, held_t<Args>...>(f, held(std::forward<Args>(args))...);
    } else {
      return Poisoned(refusal<R, operand_t<held_t<Args>>...>{});
    }
  }
}

/// An operand of a named result in the sharding that the plan requires; a `Number` is returned
/// unchanged.
template <class R, int Tensor, class A>
auto brought(execute::NamedRun const& run, A const& a) {
  if constexpr (is_tensor<A>) {
    return run.template moved<typename R::met::template operand<Tensor, A>>(operand_slot(Tensor),
                                                                            a);
  } else {
    return a;
  }
}
/// How many of the first `K` are tensors.
template <int K, class... Args>
constexpr int tensors_before() {
  bool const each[] = {is_tensor<Args>..., false};
  int n = 0;
  for (int k = 0; k < K; ++k) n += each[k] ? 1 : 0;
  return n;
}

/// The function applied to operands that have the shardings of the plan.
template <class R, class F, class... Met>
auto named_map(F const& f, Met const&... met) {
  using Made = std::conditional_t<R::direct, typename R::result, typename R::met::result>;
  return run_fused<Made>(Expression<F, Met...>(f, met...), nullptr);
}
/// The mesh of the first tensor.
template <class A, class... Rest>
MeshRef const& first_mesh(A const& a, Rest const&... rest) {
  if constexpr (is_tensor<A>) {
    return a.mesh();
  } else {
    return first_mesh(rest...);
  }
}
/// The extents of the labels of one call. Errors: E23, E24.
template <class R, class... Args>
Sizing map_sizing(AxisMap const& axes, Args const&... args) {
  Sizing z{R::S::names.extents(), axes.sizes,
           static_cast<std::int64_t>(sizeof(typename R::first::element))};
  MeshRef const& mesh = first_mesh(args...);
  int k = 0;
  auto const note = [&]<class A>(A const& a) {
    if constexpr (is_tensor<A>) {
      check_one_mesh(mesh, a.mesh());
      execute::note_extents(z.extents, R::S::names, R::S::readings[k].spec, a.extents().data(),
                            "one operand");
    }
    ++k;
  };
  (note(args), ...);
  return z;
}

/// Number of arguments of the expression `e` that use the memory of `a`. Error E21 if one of them
/// has other dims: writing `a` would then change elements that are still to be read.
template <class E, class A>
int readers(E const& e, A const& a, char const* name) {
  int n = 0;
  Lowered<E, 0, char>::visit(e, [&]<int Slot, class B>(B const& b) {
    if (b.buffer().data() != a.buffer().data()) return;
    if (!std::is_same_v<A, B> && b.local_size() > 0)
      throw_shared(name, {},
                   "an in-place operation reads the tensor's memory with other dims; use a.clone() "
                   "for one of them");
    ++n;
  });
  return n;
}

/// `a = f(a, b)`, computed in the memory of `a`. `name`: of the operator.
template <class F, class A, class B>
A& in_place(A& a, B&& b, char const* name) {
  if constexpr (is_pending<std::remove_cvref_t<B>>) {
    refused<Code::A04_under_way, false, A, std::remove_cvref_t<B>>{};
  } else if constexpr (is_lazy<std::remove_cvref_t<B>>) {
    refused<Code::L01_not_recorded, false, A, std::remove_cvref_t<B>>{};
  } else if constexpr (is_active<std::remove_cvref_t<B>>) {
    refused<Code::P13_in_place, false, A, std::remove_cvref_t<B>>{};
  } else {
    using R = Resolve<op::Map<F>, A, operand_t<held_t<B>>>;
    if constexpr (!R::verdict) {
      static_cast<void>(refusal<R, A, operand_t<held_t<B>>>{});
    } else if constexpr (!std::is_same_v<typename R::result, A>) {
      refused<Code::P13_in_place, false, A, operand_t<held_t<B>>>{};
    } else {
      Expression<F, A, held_t<B>> const e(F{}, a, held(std::forward<B>(b)));
      if (a.buffer().holders() > 1 + readers(e, a, name)) throw_shared(name, {});
      run_fused<A>(e, &a, name);
    }
  }
  return a;
}

}  // namespace detail

namespace execute {
template <class F, class... Out>
struct Run<op::Map<F, Out...>> {
  template <class R, class... Args>
  static auto run(op::Map<F, Out...> const& op, std::source_location const& where,
                  Args const&... args) {
    if constexpr (sizeof...(Out) == 0) {
      return shardtype::detail::fuse(op.function, args...).tensor();
    } else {
      using shardtype::detail::tensors_before;
      AxisMap const axes = map_axes(shardtype::detail::first_mesh(args...).state(), R::S::names);
      Sizing const z = shardtype::detail::map_sizing<R>(axes, args...);
      NamedRun const run{plan_of<R>(z), axes, where};
      auto const compute = [&]<int... K>(std::integer_sequence<int, K...>) {
        return shardtype::detail::named_map<R>(
            op.function, shardtype::detail::brought<R, tensors_before<K, Args...>()>(run, args)...);
      };
      // frees operands that were moved before the result is resharded
      auto made = compute(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
      return run.template arrived<typename R::result>(std::move(made));
    }
  }
};
}  // namespace execute

namespace detail {

/// `map` with a named result, called at `where`.
template <class... Out, class F, class... Args>
constexpr auto named_map_at(std::source_location const& where, F const& f, Args&&... args) {
  if constexpr ((is_pending<std::remove_cvref_t<Args>> || ...)) {
    return fuse(f, std::forward<Args>(args)...);
  } else {
    return call(op::Map<F, Out...>{f}, where, held(std::forward<Args>(args))...);
  }
}

}  // namespace detail

/// Applies `f` to elements with equal indices: `map(f, a, b)`. Dims are matched by index; an
/// operand that lacks a dim is broadcast along it, and the result has the dims of the operand that
/// has them all. `f` is called on the tensors' execution space. Nothing is computed until the
/// result is used; then one kernel computes it together with the expression that contains it. Never
/// communicates. Refused: P01 to P13.
///
/// `map<Dim<I, X>, Dim<J, Y>>(f, a, b)` names the result: `a[I@X]`, `b[J@Y]` give `[I@X, J@Y]` and
/// move nothing. If the operands do not fit, either they or the result are resharded. Refused: N01
/// to N05.
template <class F, class... Args>
  requires(sizeof...(Args) > 0 && detail::are_operands<Args...>)
constexpr auto map(F const& f, Args&&... args) {
  return detail::fuse(f, std::forward<Args>(args)...);
}
template <class... Out, class F, class A>
  requires(sizeof...(Out) > 0 && detail::are_operands<A>)
constexpr auto map(F const& f, A&& a,
                   std::source_location const& where = std::source_location::current()) {
  return detail::named_map_at<Out...>(where, f, std::forward<A>(a));
}
template <class... Out, class F, class A, class B>
  requires(sizeof...(Out) > 0 && detail::are_operands<A, B>)
constexpr auto map(F const& f, A&& a, B&& b,
                   std::source_location const& where = std::source_location::current()) {
  return detail::named_map_at<Out...>(where, f, std::forward<A>(a), std::forward<B>(b));
}
template <class... Out, class F, class A, class B, class C>
  requires(sizeof...(Out) > 0 && detail::are_operands<A, B, C>)
constexpr auto map(F const& f, A&& a, B&& b, C&& c,
                   std::source_location const& where = std::source_location::current()) {
  return detail::named_map_at<Out...>(where, f, std::forward<A>(a), std::forward<B>(b),
                                      std::forward<C>(c));
}
template <class... Out, class F, class A, class B, class C, class D>
  requires(sizeof...(Out) > 0 && detail::are_operands<A, B, C, D>)
constexpr auto map(F const& f, A&& a, B&& b, C&& c, D&& d,
                   std::source_location const& where = std::source_location::current()) {
  return detail::named_map_at<Out...>(where, f, std::forward<A>(a), std::forward<B>(b),
                                      std::forward<C>(c), std::forward<D>(d));
}
// of more a line cannot be known
template <class... Out, class F, class... Args>
  requires(sizeof...(Out) > 0 && sizeof...(Args) > 4 && detail::are_operands<Args...>)
constexpr auto map(F const& f, Args&&... args) {
  return detail::named_map_at<Out...>({}, f, std::forward<Args>(args)...);
}

// Operators. `a + b` is `map(functions::Add{}, a, b)`, and so on: strict, fused, local.
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator+(A&& a, B&& b) {
  return detail::fuse(functions::Add{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator-(A&& a, B&& b) {
  return detail::fuse(functions::Subtract{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator*(A&& a, B&& b) {
  return detail::fuse(functions::Multiply{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator/(A&& a, B&& b) {
  return detail::fuse(functions::Divide{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator%(A&& a, B&& b) {
  return detail::fuse(functions::Remainder{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator==(A&& a, B&& b) {
  return detail::fuse(functions::Equal{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator!=(A&& a, B&& b) {
  return detail::fuse(functions::NotEqual{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator<(A&& a, B&& b) {
  return detail::fuse(functions::Less{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator<=(A&& a, B&& b) {
  return detail::fuse(functions::LessEqual{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator>(A&& a, B&& b) {
  return detail::fuse(functions::Greater{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator>=(A&& a, B&& b) {
  return detail::fuse(functions::GreaterEqual{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator&&(A&& a, B&& b) {
  return detail::fuse(functions::And{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires(detail::are_operands<A, B>)
constexpr auto operator||(A&& a, B&& b) {
  return detail::fuse(functions::Or{}, std::forward<A>(a), std::forward<B>(b));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto operator-(A&& a) {
  return detail::fuse(functions::Negate{}, std::forward<A>(a));
}
template <class A>
  requires(detail::are_operands<A>)
constexpr auto operator!(A&& a) {
  return detail::fuse(functions::Not{}, std::forward<A>(a));
}

// In place. The result must have the tensor's own type (P13). Error E21 if another tensor or
// expression shares the memory.
template <class A, class B>
  requires(is_tensor<A> && detail::are_operands<A, B>)
A& operator+=(A& a, B&& b) {
  return detail::in_place<functions::Add>(a, std::forward<B>(b), "+=");
}
template <class A, class B>
  requires(is_tensor<A> && detail::are_operands<A, B>)
A& operator-=(A& a, B&& b) {
  return detail::in_place<functions::Subtract>(a, std::forward<B>(b), "-=");
}
template <class A, class B>
  requires(is_tensor<A> && detail::are_operands<A, B>)
A& operator*=(A& a, B&& b) {
  return detail::in_place<functions::Multiply>(a, std::forward<B>(b), "*=");
}
template <class A, class B>
  requires(is_tensor<A> && detail::are_operands<A, B>)
A& operator/=(A& a, B&& b) {
  return detail::in_place<functions::Divide>(a, std::forward<B>(b), "/=");
}

// Writing to a named expression writes to the tensor that it stands for.
template <class F, class... Args, class B>
  requires(detail::are_operands<execute::Fused<F, Args...>, B>)
execute::Fused<F, Args...>& operator+=(execute::Fused<F, Args...>& a, B&& b) {
  detail::in_place<functions::Add>(a.tensor(), std::forward<B>(b), "+=");
  return a;
}
template <class F, class... Args, class B>
  requires(detail::are_operands<execute::Fused<F, Args...>, B>)
execute::Fused<F, Args...>& operator-=(execute::Fused<F, Args...>& a, B&& b) {
  detail::in_place<functions::Subtract>(a.tensor(), std::forward<B>(b), "-=");
  return a;
}
template <class F, class... Args, class B>
  requires(detail::are_operands<execute::Fused<F, Args...>, B>)
execute::Fused<F, Args...>& operator*=(execute::Fused<F, Args...>& a, B&& b) {
  detail::in_place<functions::Multiply>(a.tensor(), std::forward<B>(b), "*=");
  return a;
}
template <class F, class... Args, class B>
  requires(detail::are_operands<execute::Fused<F, Args...>, B>)
execute::Fused<F, Args...>& operator/=(execute::Fused<F, Args...>& a, B&& b) {
  detail::in_place<functions::Divide>(a.tensor(), std::forward<B>(b), "/=");
  return a;
}

}  // namespace shardtype
