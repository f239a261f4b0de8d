#pragma once
/// Elementwise expressions: their parts are checked and kept, and computed by one kernel.

#include <complex>
#include <source_location>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

namespace detail {

template <class T>
inline constexpr bool is_number<Kokkos::complex<T>> = true;
template <class T>
inline constexpr bool is_number<std::complex<T>> = true;

/// Whether `A` is a value of a program of automatic mode that is written while its function runs.
template <class A>
inline constexpr bool is_under_way = false;
template <class A>
  requires is_lazy<A>
inline constexpr bool is_under_way<A> = !std::is_void_v<typename A::recorder>;

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
  } else if constexpr ((is_active<A> || is_under_way<A>) && std::is_lvalue_reference_v<T>) {
    return a.tensor();
  } else {
    return A(static_cast<T&&>(a));
  }
}
/// Its type. Not by `held`, which compilers would instantiate for it.
template <class A, bool named>
struct HeldAs {
  using type = A;
};
template <class A, bool named>
  requires is_number<A>
struct HeldAs<A, named> {
  using type = Number<A>;
};
template <class T, bool named>
struct HeldAs<std::complex<T>, named> {
  using type = Number<Kokkos::complex<T>>;
};
template <class A>
  requires is_fused<A>
struct HeldAs<A, true> {
  using type = operand_t<A>;
};
template <class A>
  requires(is_active<A> || is_under_way<A>)
struct HeldAs<A, true> {
  using type = std::remove_cvref_t<decltype(std::declval<A const&>().tensor())>;
};
template <class T>
using held_t = typename HeldAs<std::remove_cvref_t<T>, std::is_lvalue_reference_v<T>>::type;
/// The base class by which an expression's argument is passed to the expression: one for many
/// types.
template <class T, class A = std::remove_cvref_t<T>>
struct Referred {
  using type = A;
};
template <class T, class A>
  requires is_tensor<A>
struct Referred<T, A> {
  using type = typename FusedArgument<A>::base;
};
template <class T, class A>
  requires(is_fused<A> && !std::is_lvalue_reference_v<T>)
struct Referred<T, A> {
  using type = typename FusedArgument<A>::base;
};
/// The argument as an expression keeps it: the tensor of a named expression, a number as `Number`.
template <class A>
constexpr decltype(auto) referred(A const& a) {
  if constexpr (is_fused<A>) {
    return a.tensor();  // it has a name
  } else if constexpr (is_number<A>) {
    return detail::held(a);
  } else {
    return (a);
  }
}

/// The entry point of all elementwise functions.
template <class F, class... Args>
constexpr auto fuse(F const& f, Args&&... args) {
  if constexpr ((is_poisoned<std::remove_cvref_t<Args>> || ...)) {
    return Poisoned{};
  } else if constexpr ((is_pending<std::remove_cvref_t<Args>> || ...)) {
    return Poisoned(refused<Code::A04_under_way, false, std::remove_cvref_t<Args>...>{});
  } else if constexpr ((is_active<std::remove_cvref_t<Args>> || ...) ||
                       (is_lazy<std::remove_cvref_t<Args>> || ...)) {
    constexpr bool active = (is_active<std::remove_cvref_t<Args>> || ...);
    using Next = execute::Continue<active ? execute::Above::active : execute::Above::lazy,
                                   held_t<Args&&>...>;
    if constexpr (std::is_void_v<typename Next::template refusal_of_function<F>>) {
      return Next::fuse(f, detail::held(static_cast<Args&&>(args))...);
    } else {
      static_cast<void>(alignof(typename Next::template refusal_of_function<F>));
      return Poisoned{};
    }
  } else if constexpr ((is_abstract<std::remove_cvref_t<Args>> || ...)) {
    return api::call(op::Map<F>{f}, std::source_location{},
                     detail::held(static_cast<Args&&>(args))...);
  } else {
    using R = Resolve<op::Map<F>, operand_t<held_t<Args>>...>;
    if constexpr (R::verdict) {
      return Fused<F, held_t<Args>...>(
          f, detail::referred(static_cast<typename Referred<Args>::type const&>(args))...);
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
/// Number of tensors among the first `K` arguments.
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
  return detail::run_function<Made>(f, met...);
}
/// The mesh of the first tensor.
template <class A, class... Rest>
MeshRef const& first_mesh(A const& a, Rest const&... rest) {
  if constexpr (is_tensor<A>) {
    return a.mesh();
  } else {
    return detail::first_mesh(rest...);
  }
}
/// The extents of the labels of one call. Errors: E23, E24.
template <class R, class... Args>
Sizing map_sizing(AxisMap const& axes, Args const&... args) {
  Sizing z{R::S::names.extents(), axes.sizes,
           static_cast<std::int64_t>(sizeof(typename R::first::element))};
  MeshRef const& mesh = detail::first_mesh(args...);
  int k = 0;
  auto const note = [&]<class A>(A const& a) {
    if constexpr (is_tensor<A>) {
      detail::check_one_mesh(mesh, a.mesh());
      execute::note_extents(z.extents, R::S::names, R::S::parsed[k].spec, a.extents().data(),
                            "one operand");
    }
    ++k;
  };
  (note(args), ...);
  return z;
}

/// Whether each of the types `As` is `A`.
template <class A, class As>
struct SameAs;
template <class A, class... As>
struct SameAs<A, Pack<As...>> {
  static constexpr bool each[] = {std::is_same_v<A, As>...};
};

/// `a = f(a, b)`, computed in the memory of `a`. `name`: of the operator.
template <class F, class A, class B>
constexpr void in_place(A& a, B&& b, char const* name) {
  using Other = std::remove_cvref_t<B>;
  if constexpr (is_active<A>) {
    // nothing is written: what was computed from `a` before keeps its value
    auto const made = detail::fuse(F{}, a, static_cast<B&&>(b));
    using Made = std::remove_cvref_t<decltype(made)>;
    if constexpr (any_poisoned<Made>) {
      return;
    } else if constexpr (std::is_same_v<A, std::remove_cvref_t<decltype(made.tensor())>>) {
      a = made.tensor();
    } else {
      using Next = execute::Continue<execute::Above::active, A, held_t<B>>;
      refused<Code::P13_in_place, false, typename Next::template tensor_of<A>,
              typename Next::template tensor_of<Other>>{};
    }
  } else if constexpr (is_pending<Other>) {
    refused<Code::A04_under_way, false, A, Other>{};
  } else if constexpr (is_lazy<Other>) {
    refused<Code::L01_not_recorded, false, A, Other>{};
  } else if constexpr (is_active<Other>) {
    refused<Code::P13_in_place, false, A, Other>{};
  } else {
    using R = Resolve<op::Map<F>, A, operand_t<held_t<B>>>;
    if constexpr (!R::verdict) {
      static_cast<void>(refusal<R, A, operand_t<held_t<B>>>{});
    } else if constexpr (!std::is_same_v<typename R::result, A>) {
      refused<Code::P13_in_place, false, A, operand_t<held_t<B>>>{};
    } else {
      using E = FusedFunction<F, A, held_t<B>>;
      Fused<F, A, held_t<B>> const e(
          F{}, a, detail::referred(static_cast<typename Referred<B>::type const&>(b)));
      bool const* const alike = SameAs<A, typename E::tensors>::each;
      if (a.buffer().holders() > 1 + detail::readers(e.operands, alike, a.buffer(), name))
        detail::throw_not_writable(a.buffer(), name, {});
      FusedParts<typename E::part> const& parts = e;
      detail::run_fused_into(a, {e.operands, &parts, e.kernel, e.dims}, name);
    }
  }
}

template <class... Out, class F, class... Args>
constexpr auto map_to(std::source_location const& where, F const& f, Args&&... args) {
  if constexpr (sizeof...(Out) == 0 || (is_pending<std::remove_cvref_t<Args>> || ...)) {
    return detail::fuse(f, static_cast<Args&&>(args)...);
  } else {
    return api::call(op::Map<F, Out...>{f}, where, detail::held(static_cast<Args&&>(args))...);
  }
}

}  // namespace detail

namespace op {

template <class F, class... Out>
template <class R, class... Args>
typename R::result Map<F, Out...>::run([[maybe_unused]] std::source_location const& where,
                                       Args const&... args) const {
  if constexpr (sizeof...(Out) == 0) {
    return detail::fuse(function, args...).tensor();
  } else {
    runtime::AxisMap const axes =
        runtime::map_axes(detail::first_mesh(args...).state(), R::S::names);
    Sizing const z = detail::map_sizing<R>(axes, args...);
    execute::NamedRun const steps{execute::plan_of<R>(z), axes, where};
    auto const compute = [&]<int... K>(std::integer_sequence<int, K...>) {
      return detail::named_map<R>(
          function, detail::brought<R, detail::tensors_before<K, Args...>()>(steps, args)...);
    };
    // frees operands that were moved before the result is resharded
    auto made = compute(std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>{});
    return steps.template arrived<typename R::result>(std::move(made));
  }
}

}  // namespace op

}  // namespace shardtype
