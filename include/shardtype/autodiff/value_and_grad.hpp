#pragma once
/// Gradients of functions of tensors.

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/aux.hpp>
#include <shardtype/autodiff/block_moves.hpp>
#include <shardtype/autodiff/counted.hpp>
#include <shardtype/autodiff/extreme_rows.hpp>
#include <shardtype/autodiff/named.hpp>
#include <shardtype/autodiff/normalizations.hpp>
#include <shardtype/autodiff/parameters.hpp>
#include <shardtype/autodiff/products.hpp>
#include <shardtype/autodiff/record.hpp>
#include <shardtype/autodiff/reductions.hpp>
#include <shardtype/autodiff/running.hpp>
#include <shardtype/autodiff/shard_map.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/autodiff/windows.hpp>
#include <shardtype/check/callable.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/core/dim.hpp>

namespace shardtype {

namespace autodiff {

/// Whether argument `J` is among the numbers `Ks`.
template <int... Ks>
constexpr bool wanted(int j) {
  int const each[] = {Ks..., -1};
  for (int const k : each)
    if (k == j) return true;
  return false;
}
/// An argument as a tensor or a structure of them.
template <class A>
constexpr auto const& argument_of(A const& a) {
  if constexpr (shardtype::detail::is_fused<A> || is_active<A>) {
    return a.tensor();
  } else {
    return a;
  }
}
template <class A>
using argument_value =
    std::remove_cvref_t<decltype(autodiff::argument_of(std::declval<A const&>()))>;

/// An argument of number `J`; on the tape if its gradient is wanted.
template <bool wanted, class P>
struct Lifted {
  using type = P const&;
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): arguments outlive the call
  static constexpr P const& make(P const& p, Tape*) { return p; }
};
template <class P>
struct Lifted<true, P> {
  using type = active_t<P>;
  static constexpr type make(P const& p, Tape* tape) { return Parameters<P>::lift(p, tape); }
};
/// Lets the last movements of the cotangents of these arguments be started, and those of small ones
/// be joined in `buckets`, if any.
template <class P>
constexpr void let_start(P const& lifted, Buckets* buckets) {
  autodiff::each_value(
      [=]<class A>(A const& a) {
        if constexpr (level<A> > 0) {
          a.slot()->starts = true;
          a.slot()->buckets = buckets;
        }
      },
      lifted);
}
/// The gradients of the arguments `Ks`: of one itself, of several a tuple.
template <int... Ks, class... Ps, class Args>
constexpr auto gradients_of(shardtype::detail::Pack<Ps...>, Args const& args) {
  if constexpr (sizeof...(Ks) == 1) {
    return (Parameters<nth_t<Ks, Ps...>>::take(autodiff::kept<Ks>(args)), ...);
  } else {
    return std::tuple<gradient_t<nth_t<Ks, Ps...>>...>{
        Parameters<nth_t<Ks, Ps...>>::take(autodiff::kept<Ks>(args))...};
  }
}

/// Whether a value of type `L` may be a loss. A constant may: its gradient is 0, as in JAX.
template <class L>
constexpr bool is_loss() {
  if constexpr (level<L> == 0 && !is_tensor<shardtype::detail::operand_t<L>>) {
    return false;
  } else {
    using A = tensor_of<L>;
    constexpr Spec s = Scope<A>::template spec<0>;
    return s.rank == 0 && rules::has_cotangent(s) &&
           shardtype::detail::is_real_floating<element_t<A>>;
  }
}
template <class L>
struct ShownLoss {
  using type = L;
};
template <class L>
  requires(level<L> > 0)
struct ShownLoss<L> {
  using type = tensor_of<L>;
};

/// The form in which a struct holds the members of a refused gradient.
template <class>
using missing_t = Poisoned;

}  // namespace autodiff

/// A function's value and its gradient.
template <class V, class G>
struct ValueAndGradient {
  V value;
  G grad;
};

/// The result of a refused value_and_grad, which `auto [value, grad] = ...` takes apart.
template <class G>
inline constexpr bool detail::is_poisoned<ValueAndGradient<checking::Poisoned, G>> = true;
template <template <template <class> class> class M>
inline constexpr bool detail::is_poisoned<M<autodiff::missing_t>> = true;

namespace autodiff {

/// The type in place of the gradient for a `P` of a refused call: a struct for a struct, a tuple or
/// pair for such, as `auto [v, w] = ...` and std::get take it apart.
template <class P>
struct Missing {
  using type = Poisoned;
};
template <template <template <class> class> class M>
struct Missing<M<value_t>> {
  using type = M<missing_t>;
};
template <class... Ps>
struct Missing<std::tuple<Ps...>> {
  using type = std::tuple<typename Missing<Ps>::type...>;
};
template <class P, class H>
struct Missing<std::pair<P, H>> {
  using type = std::pair<typename Missing<P>::type, typename Missing<H>::type>;
};
template <class... Gs>
struct MissingOfAll {
  using type = std::tuple<typename Missing<Gs>::type...>;
};
template <class G>
struct MissingOfAll<G> : Missing<G> {};
/// The value in place of the result of a refused call with arguments `Ps`.
template <bool value, int... Ks, class... Ps>
constexpr auto no_gradient(shardtype::detail::Pack<Ps...>) {
  using G = typename MissingOfAll<nth_t<Ks, Ps...>...>::type;
  if constexpr (value) {
    return ValueAndGradient<Poisoned, G>{};
  } else {
    return G{};
  }
}

/// The refusal if `Made` says that a function did not accept its arguments. Of a type, and no
/// branch: where the body of the function is refused, clang does not know `Made`, and would compile
/// both branches.
template <class Made, class... Ps>
using Untaken =
    std::conditional_t<shardtype::detail::not_taken<std::remove_const_t<Made>>,
                       refused<Code::T11_not_callable, false, Ps...>, shardtype::detail::NotTaken>;

template <class F, bool value, int... Ks>
struct Gradient;
template <int n>
using Numbers = std::make_integer_sequence<int, n>;

/// The call of a gradient with as many arguments as there are numbers `J`. A class for each count,
/// because a function that made the numbers would stand, in messages, above each refusal in `f`.
template <class G, class J>
struct CalledWith;
template <class F, bool value, int... Ks, int... J>
struct CalledWith<Gradient<F, value, Ks...>, std::integer_sequence<int, J...>> {
  template <class... As>
    requires(sizeof...(As) == sizeof...(J))
  constexpr auto operator()(As const&... as) const {
    using G = Gradient<F, value, Ks...>;
    if constexpr (!((!autodiff::wanted<Ks...>(J) || is_known<argument_value<As>>) && ...)) {
      checking::refused<rules::Code::X10_no_parameters, false, argument_value<As>...>{};
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<argument_value<As>...>{});
    } else {
      Tape tape;
      KeptIn<std::integer_sequence<int, J...>,
             typename Lifted<autodiff::wanted<Ks...>(J), argument_value<As>>::type...> const args{
          {Lifted<autodiff::wanted<Ks...>(J), argument_value<As>>::make(autodiff::argument_of(as),
                                                                        &tape)}...};
      if constexpr (overlaps<F>)
        (autodiff::let_start(autodiff::kept<Ks>(args), joins<F> ? &tape.buckets() : nullptr), ...);
      auto const made = static_cast<G const&>(*this).f(autodiff::kept<J>(args)...);
      static_cast<void>(Untaken<decltype(made), argument_value<As>...>{});
      return G::template with_result<argument_value<As>...>(tape, args, made, [](std::int64_t) {});
    }
  }
};
/// The calls with 1 to sizeof...(N) arguments.
template <class G, class N>
struct CalledWithUpTo;
template <class G, int... N>
struct CalledWithUpTo<G, std::integer_sequence<int, N...>> : CalledWith<G, Numbers<N + 1>>... {
  using CalledWith<G, Numbers<N + 1>>::operator()...;
};
inline constexpr int most_numbered_arguments = 6;

/// The gradient of `f` with respect to arguments `Ks`, and with `value` its value, as a function of
/// the arguments.
template <class F, bool value, int... Ks>
struct Gradient : core::GradientFunction,
                  CalledWithUpTo<Gradient<F, value, Ks...>, Numbers<most_numbered_arguments>> {
  shardtype::detail::OrWithout<F> f;

  constexpr explicit Gradient(F of) : f(std::move(of)) {}
  using CalledWithUpTo<Gradient, Numbers<most_numbered_arguments>>::operator();
  template <class... As>
    requires(sizeof...(As) > most_numbered_arguments)
  constexpr auto operator()(As const&... as) const {
    return run(
        Numbers<static_cast<int>(sizeof...(As))>{}, [](std::int64_t) {},
        autodiff::argument_of(as)...);
  }
  /// The same; `forward_done(bytes of the loss)` is called between the passes.
  template <int... J, class Hook, class... Ps>
  constexpr auto run(std::integer_sequence<int, J...>, Hook const& forward_done,
                     Ps const&... ps) const {
    Tape tape;
    KeptIn<std::integer_sequence<int, J...>,
           typename Lifted<autodiff::wanted<Ks...>(J), Ps>::type...> const args{
        {Lifted<autodiff::wanted<Ks...>(J), Ps>::make(ps, &tape)}...};
    if constexpr (overlaps<F>)
      (autodiff::let_start(autodiff::kept<Ks>(args), joins<F> ? &tape.buckets() : nullptr), ...);
    auto const made = f(autodiff::kept<J>(args)...);
    static_cast<void>(Untaken<decltype(made), Ps...>{});
    return with_result<Ps...>(tape, args, made, forward_done);
  }

 private:
  template <class, class>
  friend struct CalledWith;
  /// The backward pass from what `f` gave.
  template <class... Ps, class Args, class Made, class Hook>
  static constexpr auto with_result(Tape& tape, Args const& args, Made const& made,
                                    Hook const& forward_done) {
    // NOLINTNEXTLINE(bugprone-branch-clone): what is not taken must not be asked for more
    if constexpr (shardtype::detail::not_taken<Made>) {
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<Ps...>{});
    } else if constexpr (!gives_aux<F>) {
      return with_loss<Ps...>(tape, args, made, forward_done);
    } else if constexpr (any_poisoned<Made>) {
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<Ps...>{});
    } else if constexpr (!LossIn<Made>::is_pair) {
      static_cast<void>(alignof(refused<Code::X04_loss, false, typename ShownLoss<Made>::type>));
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<Ps...>{});
    } else {
      constexpr int top = structure_level<Made>;
      refuse_captured<top>(tape, made);
      // before the backward pass, which ends the tape
      return with_loss<Ps...>(tape, args, std::get<0>(made), forward_done,
                              autodiff::aux_of<top>(made));
    }
  }
  /// The backward pass, for arguments of types `Ps`. They are no function argument: compilers would
  /// print its type above a refusal.
  /// `aux`: what `f` gave beside its loss, if any.
  template <class... Ps, class Args, class L, class Hook, class... Aux>
  static constexpr auto with_loss(Tape& tape, Args const& args, L const& result,
                                  Hook const& forward_done, Aux const&... aux) {
    if constexpr (any_poisoned<L>) {
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<Ps...>{});
    } else if constexpr (!autodiff::is_loss<L>()) {
      static_cast<void>(alignof(refused<Code::X04_loss, false, typename ShownLoss<L>::type>));
      return autodiff::no_gradient<value, Ks...>(shardtype::detail::Pack<Ps...>{});
    } else {
      auto const& loss = autodiff::argument_of(result);
      auto const& value_of_loss = value_in(loss);
      using V = std::remove_cvref_t<decltype(value_of_loss)>;
      forward_done(static_cast<std::int64_t>(sizeof(typename V::element)));
      if constexpr (level<L> > 0) begin(tape, loss);
      tape.backward();
      if constexpr (joins<F>) tape.buckets().begin();
      auto grads = autodiff::gradients_of<Ks...>(shardtype::detail::Pack<Ps...>{}, args);
      if constexpr (value && sizeof...(Aux) > 0) {
        using Both = std::pair<V, Aux...>;
        return ValueAndGradient<Both, decltype(grads)>{Both(value_of_loss, aux...),
                                                       std::move(grads)};
      } else if constexpr (value) {
        return ValueAndGradient<V, decltype(grads)>{value_of_loss, std::move(grads)};
      } else if constexpr (sizeof...(Aux) > 0) {
        return std::pair<decltype(grads), Aux...>(std::move(grads), aux...);
      } else {
        return grads;
      }
    }
  }
  /// A loss without its gradient.
  template <class L>
  static constexpr auto const& value_in(L const& loss) {
    if constexpr (level<L> > 0) {
      return loss.value();
    } else {
      return loss;
    }
  }
  /// Error E73: a value beside the loss has a gradient of an outer differentiation, which would be
  /// lost here.
  template <int Top, class Made>
  static constexpr void refuse_captured(Tape const& tape, Made const& made) {
    int k = 0;
    autodiff::each_value(
        [&]<class A>([[maybe_unused]] A const& a) {
          if constexpr (level<A> == Top) {
            auto const* const slot = a.tensor().slot();
            if (k > 0 && slot != nullptr && slot->tape != &tape)
              throw_other_differentiation("value " + std::to_string(k) + " beside the loss",
                                          "this one's arguments, whose gradient would be lost");
          }
          ++k;
        },
        made);
  }
  /// The cotangent of the loss is 1.
  template <class L>
  static constexpr void begin(Tape const& tape, L const& loss) {
    using Ct = cotangent_value<typename L::inner>;
    if (loss.slot() == nullptr) return;
    if (loss.slot()->tape != &tape) throw_other_differentiation("the loss", "this one's arguments");
    loss.slot()->add(autodiff::filled<Ct>(loss.value(), 1));
  }
};

/// Without numbers with respect to argument 0.
template <class F, bool value, int... Ks>
using GradientOf =
    std::conditional_t<sizeof...(Ks) == 0, Gradient<F, value, 0>, Gradient<F, value, Ks...>>;
/// The numbers of the arguments `Ks`; of all `n` if there are none.
template <int n, int... Ks>
using NumbersOrAll =
    std::conditional_t<sizeof...(Ks) == 0, Numbers<n>, std::integer_sequence<int, Ks...>>;

}  // namespace autodiff

namespace api {

/// The value and the gradient of a function of tensors: `value_and_grad<0, 1>(f)(a, b)` is a struct
/// of `value`, f(a, b), and `grad`, the gradients with respect to arguments 0 and 1 (a tuple; of
/// one argument its gradient itself; without numbers of argument 0). `f` calls strict and named
/// operations; its C++ loops and branches are those of this call. Arguments are tensors, or
/// vectors, arrays, tuples and structs of them (`value_t`), and the gradient has the same shape.
/// The gradient of a tensor has its type with `Unreduced` and `Reduced` swapped (cotangent_t): that
/// of an `f32[I@X]` is `f32[I@X]`, that of an `f32[I]{R:X}` is `f32[I]{U:X}`.
///
/// The loss has no dims and real floating elements; of an unreduced one the gradient is that of the
/// total. Backward, the operations communicate what `plan(value_and_grad<0, 1>(f), type<A>,
/// type<B>)` lists: named movements are moved back, shift and cumsum send as many bytes as forward,
/// and all else communicates nothing.
///
/// Inside of a shard_map it takes blocks, `f64[D, H]{V:X}`, and the loss is a block: of an
/// invariant or reduced one, which all ranks have, the gradient is that of this one loss; of an
/// unreduced one that of the total; of a varying one, `f64[]{V:X}`, that of the sum of the ranks'
/// losses. Collectives and casts are moved back by their transposes (rules::transposed); a block
/// that is invariant beside varying ones is cast by name, varying<X>(w), or refused, X01.
///
/// Refused: X01, X02 an operation whose gradient would communicate and does not say so, X03 one
/// without a gradient, X04 a loss that is none. Error E73: a value of an outer differentiation in
/// an inner one. JAX: jax.value_and_grad.
template <int... Ks, class F>
constexpr auto value_and_grad(F f) {
  if constexpr (core::TakenByFunctions<F>) {
    return checking::Poisoned(checking::refused<rules::Code::X12_no_function, false, F>{});
  } else {
    return autodiff::GradientOf<F, true, Ks...>{std::move(f)};
  }
}

/// The gradient alone: `grad<0>(f)(a, b)`. As value_and_grad.
template <int... Ks, class F>
constexpr auto grad(F f) {
  if constexpr (core::TakenByFunctions<F>) {
    return checking::Poisoned(checking::refused<rules::Code::X12_no_function, false, F>{});
  } else {
    return autodiff::GradientOf<F, false, Ks...>{std::move(f)};
  }
}

/// The same of a function that gives a pair of its loss and other values (or a tuple that begins
/// with the loss): `value` is a pair of the loss and of these, without gradients. Error E73: one of
/// them has a gradient of an outer differentiation that is no argument. JAX: has_aux=True.
template <int... Ks, class F>
constexpr auto value_and_grad(F f, core::Taken<HasAux>) {
  return api::value_and_grad<Ks...>(autodiff::WithAux<F>(std::move(f)));
}
/// A pair of the gradient and of the values beside the loss.
template <int... Ks, class F>
constexpr auto grad(F f, core::Taken<HasAux>) {
  return api::grad<Ks...>(autodiff::WithAux<F>(std::move(f)));
}

/// The same; the last movement of a parameter's gradient, such as the AllReduce of data parallelism
/// or the ReduceScatter of FSDP, is started in the backward pass and waited for at its end, or
/// where another summand of that gradient comes. The result has the same bits, and all ranks start
/// and wait in one order. Movements of blocks inside of a shard_map and gradients of gradients are
/// not started. It costs memory: a movement under way holds its operand, its result and, if it is a
/// sum, what arrives (at most another operand) until the end; `plan(...).peak_bytes()` says it. An
/// Error ends what is under way. Megatron-LM: --overlap-grad-reduce.
template <int... Ks, class F>
constexpr auto value_and_grad(F f, core::Taken<OverlapGradReduce>) {
  return api::value_and_grad<Ks...>(autodiff::Overlapped<F>(std::move(f)));
}
template <int... Ks, class F>
constexpr auto value_and_grad(F f, core::Taken<HasAux>, OverlapGradReduce overlap) {
  return api::value_and_grad<Ks...>(autodiff::WithAux<F>(std::move(f)), overlap);
}
template <int... Ks, class F>
constexpr auto grad(F f, core::Taken<OverlapGradReduce>) {
  return api::grad<Ks...>(autodiff::Overlapped<F>(std::move(f)));
}
template <int... Ks, class F>
constexpr auto grad(F f, core::Taken<HasAux>, OverlapGradReduce overlap) {
  return api::grad<Ks...>(autodiff::WithAux<F>(std::move(f)), overlap);
}

/// As with `overlap_grad_reduce`; besides, gradients whose AllReduce or ReduceScatter takes longer
/// than two copies of them (planning::joins_bucket) are reduced together, in buckets: those of the
/// same element type and memory over the same ranks. A bucket is begun when it is full, at the end
/// of the backward pass, or where another summand of one of its gradients comes. All ranks fill and
/// begin the same ones. The values are the same, but an element's place in a bucket may say in
/// which order the ranks' numbers are added. `plan(...)` lists the collectives and holds the
/// buckets. PyTorch: the buckets of DistributedDataParallel.
template <int... Ks, class F>
constexpr auto value_and_grad(F f, core::Taken<JoinGradReduce>) {
  return api::value_and_grad<Ks...>(autodiff::Joined<F>(std::move(f)));
}
template <int... Ks, class F>
constexpr auto value_and_grad(F f, core::Taken<HasAux>, JoinGradReduce join) {
  return api::value_and_grad<Ks...>(autodiff::WithAux<F>(std::move(f)), join);
}
template <int... Ks, class F>
constexpr auto grad(F f, core::Taken<JoinGradReduce>) {
  return api::grad<Ks...>(autodiff::Joined<F>(std::move(f)));
}
template <int... Ks, class F>
constexpr auto grad(F f, core::Taken<HasAux>, JoinGradReduce join) {
  return api::grad<Ks...>(autodiff::WithAux<F>(std::move(f)), join);
}

/// The value of `a`, through which no gradient flows, an expression's neither; `a` itself if it is
/// a constant. JAX: jax.lax.stop_gradient.
template <class A>
constexpr auto stop_gradient(core::Argument<A> const& given) {
  A const& a = given.self();
  if constexpr (core::is_active<A>) {
    return api::stop_gradient(a.tensor().value());
  } else if constexpr (core::is_lazy<A>) {
    return detail::fuse(functions::StopGradient{}, a);
  } else {
    return a;
  }
}

/// Refused, X12: `grad(x, w)`, `grad<0>(f, w)`.
template <int... Ks>
constexpr auto value_and_grad(checking::Anything const&, checking::Anything const&,
                              checking::Anything const& = {}, checking::Anything const& = {}) {
  checking::refused<rules::Code::X12_no_function, false, checking::NumberedDim<Ks>...>{};
  return checking::Poisoned{};
}
template <int... Ks>
constexpr auto grad(checking::Anything const&, checking::Anything const&,
                    checking::Anything const& = {}, checking::Anything const& = {}) {
  checking::refused<rules::Code::X12_no_function, false, checking::NumberedDim<Ks>...>{};
  return checking::Poisoned{};
}

}  // namespace api

}  // namespace shardtype
