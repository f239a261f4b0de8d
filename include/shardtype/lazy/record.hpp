#pragma once
/// Recording of expressions of automatic mode: they are written with the operations of strict mode,
/// applied to `lazy(a)`.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/reshard.hpp>
#include <shardtype/lazy/expression.hpp>
#include <shardtype/lazy/operation_properties.hpp>
#include <shardtype/lazy/part_of.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/normalization.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/run_elementwise.hpp>

namespace shardtype {

namespace detail {

/// The expression type for an operand `A`. Determined from its type alone, so that compilers know
/// it after a refusal too.
template <class A>
constexpr auto lazy_type() {
  if constexpr (any_poisoned<A> || is_pending<A>) {
    return Type<Poisoned>{};
  } else if constexpr (is_lazy<A>) {
    return Type<A>{};
  } else if constexpr (!is_tensor<operand_t<A>> || is_local<operand_t<A>>) {
    return Type<Poisoned>{};
  } else {
    return Type<LazyTensor<operand_t<A>>>{};
  }
}
template <class A>
using lazy_t = typename decltype(lazy_type<A>())::type;

}  // namespace detail

namespace api {

/// Begins an expression of automatic mode with a tensor (or an elementwise expression of tensors).
/// Operations on it are recorded, and refused by the rules for labels and elements of strict mode;
/// `evaluate` chooses the shardings. Recorded are products, elementwise functions, reductions, and
/// all operations that can run on blocks in which the dims that they work on are not split (others:
/// L01). `a * b` is the elementwise product if one operand has all labels of the other, else their
/// matmul.
template <class A>
detail::lazy_t<A> lazy(core::Argument<A> const& given) {
  A const& a = given.self();
  if constexpr (checking::any_poisoned<A>) {
    return {};
  } else if constexpr (core::is_lazy<A>) {
    return a;
  } else if constexpr (checking::any_poisoned<detail::lazy_t<A>>) {
    return checking::Poisoned(checking::refusal<detail::NotATensor<A>, A>{});
  } else {
    return detail::lazy_t<A>(detail::operand(a));
  }
}

}  // namespace api

namespace detail {

/// An argument of a recorded function: an expression, or a number.
template <class A>
lazy_t<A> recorded(A const& a) {
  return lazy(a);
}
template <class N>
Number<N> recorded(Number<N> const& n) {
  return n;
}
template <class A>
using recorded_t = decltype(recorded(std::declval<A const&>()));

/// Makes an argument a value of its own, outside of the surrounding kernel, if it is a function of
/// at least `Most` operands.
template <int Most, class A>
auto apart(A const& a) {
  if constexpr (is_lazy_map<A> && slots_of<A> >= Most) {
    return LazyTranspose<typename A::whole, A>(a);
  } else {
    return a;
  }
}
template <int Most, class... Args>
inline constexpr int operands_with =
    (slots_of<decltype(apart<Most>(std::declval<Args const&>()))> + ... + 0);
/// A map whose largest arguments are kept out of its kernel until the kernel's operands are at most
/// `max_operands`.
template <int Most, class F, class... Args>
auto fitting_map(F const& f, Args const&... args) {
  if constexpr (operands_with<Most, Args...> > max_operands && Most > 2) {
    return fitting_map<Most - 1>(f, args...);
  } else {
    return LazyMap<F, decltype(apart<Most>(args))...>(f, apart<Most>(args)...);
  }
}

template <class... Out, class E>
auto pinned(E const& e) {
  if constexpr (any_poisoned<E>) {
    return e;
  } else {
    using Pin = named_t<typename E::whole, Out...>;
    using R = Resolve<op::Reshard<whole_t<Pin>>, typename E::whole>;
    if constexpr (!bool(rules::lawful(Scope<Pin>::names, Scope<Pin>::readings, 1))) {
      return Poisoned(refusal<Resolve<op::Reshard<Pin>, typename E::whole>, typename E::whole>{});
    } else if constexpr (R::verdict) {
      return LazyConstrained<Pin, E>(e);
    } else {
      return Poisoned(refusal<R, typename E::whole>{});
    }
  }
}

/// Whether `a * b`, which `R` resolved elementwise, is a matrix product: neither operand has all
/// labels of the other.
template <class F, class R>
consteval bool multiplies_matrices() {
  if constexpr (std::is_same_v<F, functions::Multiply>) {
    return R::decide_apart();
  } else {
    return false;
  }
}

struct Untagged;

}  // namespace detail

namespace api {

/// Fixes the sharding in which an expression is computed, named by dims and attributes or by a
/// Tensor type; readers may reshard it. JAX: with_sharding_constraint. Refused as a reshard: R01.
template <class... Out, class A>
auto constrain(core::Argument<A> const& a) {
  if constexpr (checking::any_poisoned<A>) {
    return checking::Poisoned{};
  } else {
    return detail::pinned<Out...>(lazy(a.self()));
  }
}

/// Marks an expression with several readers: it is computed once, in one sharding, from which each
/// reader reshards it. Without `share` every use is computed again. Each `share` in the program
/// text is one value; in a loop each iteration needs its own `Tag`.
#ifdef __NVCC__  // accepts no lambda here: untagged shares of one expression type are one value
template <class Tag = detail::Untagged, class A>
#else
template <class Tag = decltype([] {}), class A>
#endif
auto share(core::Argument<A> const& given) {
  A const& a = given.self();
  if constexpr (checking::any_poisoned<detail::lazy_t<A>>) {
    return lazy(a);
  } else {
    return automatic_mode::LazyShared<Tag, detail::lazy_t<A>>(lazy(a));
  }
}

}  // namespace api

}  // namespace shardtype

namespace shardtype {

namespace execute {

/// Dispatch of `call` for expressions: records operations that automatic mode knows, refuses others
/// (L01). Only one function deep, because compilers print every function between the user's line
/// and the refusal.
template <class... Operands>
struct Continue<Above::lazy, Operands...> {
  using Where = std::source_location;

  /// What `fuse` refuses itself, or void: a function less in the compiler's message.
  template <class F>
  static constexpr auto refuse_function() {
    using shardtype::detail::argument_t;
    using shardtype::detail::recorded_t;
    if constexpr (any_poisoned<recorded_t<Operands>...>) {
      return Type<void>{};
    } else {
      using R = Resolve<op::Map<F>, argument_t<recorded_t<Operands>>...>;
      if constexpr (R::verdict || shardtype::detail::multiplies_matrices<F, R>()) {
        return Type<void>{};
      } else {
        return Type<refusal<R, argument_t<recorded_t<Operands>>...>>{};
      }
    }
  }
  template <class F>
  using refusal_of_function = typename decltype(refuse_function<F>())::type;

  template <class F, class... Args>
  static auto call(op::Map<F> const& op, Where const& where, Args const&... args) {
    if constexpr (any_poisoned<shardtype::detail::recorded_t<Args>...>) {
      (static_cast<void>(shardtype::detail::recorded(args)), ...);
      return Poisoned{};
    } else {
      using R = Resolve<op::Map<F>,
                        shardtype::detail::argument_t<shardtype::detail::recorded_t<Args>>...>;
      if constexpr (shardtype::detail::multiplies_matrices<F, R>()) {
        using P = Resolve<op::Matmul<>,
                          shardtype::detail::argument_t<shardtype::detail::recorded_t<Args>>...>;
        if constexpr (P::verdict) {
          return call(op::Matmul<>{}, where, args...);
        } else {
          return Poisoned(
              refusal<P, shardtype::detail::argument_t<shardtype::detail::recorded_t<Args>>...>{});
        }
      } else if constexpr (R::verdict) {
        return shardtype::detail::fitting_map<max_operands>(op.function,
                                                            shardtype::detail::recorded(args)...);
      } else {
        return Poisoned(
            refusal<R, shardtype::detail::argument_t<shardtype::detail::recorded_t<Args>>...>{});
      }
    }
  }
  template <class F, class First, class... Out, class... Args>
  static auto call(op::Map<F, First, Out...> const& op, Where const& where, Args const&... args) {
    return constrain<First, Out...>(call(op::Map<F>{op.function}, where, args...));
  }
  template <class Op, class A, class B>
    requires shardtype::detail::is_product<Op>
  static auto call(Op const&, Where const&, A const& a, B const& b) {
    using EA = shardtype::detail::lazy_t<A>;
    using EB = shardtype::detail::lazy_t<B>;
    if constexpr (any_poisoned<EA, EB>) {
      (static_cast<void>(lazy(a)), static_cast<void>(lazy(b)));
      return Poisoned{};
    } else {
      using R = Resolve<Op, typename EA::whole, typename EB::whole>;
      if constexpr (R::verdict) {
        using Whole = automatic_mode::whole_t<typename R::result>;
        automatic_mode::LazyProduct<EA, EB, Whole> product(lazy(a), lazy(b));
        if constexpr (R::communicates) {
          return automatic_mode::LazyConstrained<typename R::result,
                                                 automatic_mode::LazyProduct<EA, EB, Whole>>(
              std::move(product));
        } else {
          return product;
        }
      } else {
        return Poisoned(refusal<R, typename EA::whole, typename EB::whole>{});
      }
    }
  }
  /// Products of several: of pairs, which one chain makes, so that they are associated in the best way.
  template <class... Out, class A, class B, class C, class... More>
  static auto call(op::Einsum<Out...> const& op, Where const& where, A const& a, B const& b,
                   C const& c, More const&... more) {
    if constexpr (any_poisoned<shardtype::detail::lazy_t<A>, shardtype::detail::lazy_t<B>,
                               shardtype::detail::lazy_t<C>, shardtype::detail::lazy_t<More>...>) {
      (static_cast<void>(lazy(a)), static_cast<void>(lazy(b)), static_cast<void>(lazy(c)));
      (static_cast<void>(lazy(more)), ...);
      return Poisoned{};
    } else {
      using First = typename shardtype::detail::lazy_t<A>::whole;
      if constexpr (shardtype::detail::all_labels_named<Out...> ||
                    (shardtype::detail::names_axis<Out> || ...)) {
        using R = Resolve<op::Einsum<Out...>, First, typename shardtype::detail::lazy_t<B>::whole,
                          typename shardtype::detail::lazy_t<C>::whole,
                          typename shardtype::detail::lazy_t<More>::whole...>;
        if constexpr (requires { typename R::sentence; }) {
          return Poisoned(typename R::sentence{});
        } else if constexpr (!R::verdict) {
          return Poisoned(refusal<R, First, typename shardtype::detail::lazy_t<B>::whole,
                                  typename shardtype::detail::lazy_t<C>::whole,
                                  typename shardtype::detail::lazy_t<More>::whole...>{});
        } else {
          return call(op, where, call(typename R::pair_operation{}, where, a, b), c, more...);
        }
      } else {
        using Strict = shardtype::detail::einsum_like_t<named_t<First, Out...>>;
        return constrain<Out...>(call(Strict{}, where, a, b, c, more...));
      }
    }
  }
  template <class F, class... Out, class A>
  static auto call([[maybe_unused]] op::Reduce<F, Out...> const& op, Where const&, A const& a) {
    using R = Resolve<op::Reduce<F, Out...>, typename A::whole>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, typename A::whole>{});
    } else if constexpr (F::kind == ReductionKind::whole) {
      // A named result may have its dims in another order than the operation gives them.
      using Op = shardtype::detail::reduction_to<F, typename A::whole,
                                                 automatic_mode::whole_t<typename R::result>>;
      using Whole = automatic_mode::whole_t<typename Resolve<Op, typename A::whole>::result>;
      automatic_mode::LazyOperation<Op, Whole, A> reduction(
          Op{static_cast<typename F::Arguments const&>(op)}, a);
      if constexpr (R::communicates) {
        return automatic_mode::LazyConstrained<typename R::result,
                                               automatic_mode::LazyOperation<Op, Whole, A>>(
            std::move(reduction));
      } else {
        return reduction;
      }
    } else {
      using Whole = automatic_mode::whole_t<typename R::result>;
      automatic_mode::LazyReduction<F, Whole, A> reduction(a);
      if constexpr (R::communicates) {
        return automatic_mode::LazyConstrained<typename R::result,
                                               automatic_mode::LazyReduction<F, Whole, A>>(
            std::move(reduction));
      } else {
        return reduction;
      }
    }
  }
  /// Over the only label, which is named to the planner.
  template <bool Log, class A>
    requires(Scope<typename A::whole>::names.labels == 1)
  static auto call(op::Normalize<Log> const&, Where const& where, A const& a) {
    using Whole = typename A::whole;
    using Labels = decltype(shardtype::detail::labels_without<Whole, Tensor<element_t<Whole>>>());
    return call(shardtype::detail::normalize_over<Log>(Labels{}), where, a);
  }
  /// Both results, as an expression each.
  template <class I, class... Result, class A>
  static auto call(op::TopK<I, Result...> const& op, Where const& where, A const& a) {
    using Op = op::TopK<I, Result...>;
    using R = Resolve<Op, typename A::whole>;
    if constexpr (R::verdict) {
      auto values = call(automatic_mode::PartOf<Op, 0>{op}, where, a);
      auto places = call(automatic_mode::PartOf<Op, 1>{op}, where, a);
      return TopK<decltype(values), decltype(places)>{values, places};
    } else {
      return Poisoned(refusal<R, typename A::whole>{});
    }
  }
  template <class... Out, class A>
  static auto call(op::Reshard<Out...> const&, Where const&, A const& a) {
    return constrain<Out...>(a);
  }
  template <class Op, class A>
    requires shardtype::detail::keeps_elements<Op>
  static auto call(Op const&, Where const&, A const& a) {
    using R = Resolve<Op, typename A::whole>;
    if constexpr (R::verdict) {
      return typename shardtype::detail::ExpressionOf<Op, typename R::result, A>::type(a);
    } else {
      return Poisoned(refusal<R, typename A::whole>{});
    }
  }
  template <class Op, class... As>
    requires(shardtype::detail::Ruled<Op> && !shardtype::detail::keeps_elements<Op> &&
             !shardtype::detail::NamesResult<Op>)
  static auto call(Op const& op, [[maybe_unused]] Where const& where, As const&... as) {
    if constexpr (any_poisoned<shardtype::detail::lazy_t<As>...>) {
      (static_cast<void>(lazy(as)), ...);
      return Poisoned{};
    } else if constexpr (!std::is_same_v<shardtype::detail::without_axes_t<Op>, Op>) {
      return call(shardtype::detail::without_axes(op), where, as...);
    } else {
      using R = Resolve<Op, typename shardtype::detail::lazy_t<As>::whole...>;
      if constexpr (!R::verdict) {
        return Poisoned(refusal<R, typename shardtype::detail::lazy_t<As>::whole...>{});
      } else if constexpr (sizeof...(As) > static_cast<std::size_t>(max_operands)) {
        return Poisoned(
            refused<Code::T07_too_many, false, typename shardtype::detail::lazy_t<As>::whole...>{});
      } else if constexpr (!shardtype::detail::runs_on_blocks<
                               Op, typename shardtype::detail::lazy_t<As>::whole...>()) {
        return Poisoned(refused<Code::L01_not_recorded, false,
                                typename shardtype::detail::FirstWhole<As...>::type>{});
      } else {
        return automatic_mode::LazyOperation<Op, automatic_mode::whole_t<typename R::result>,
                                             shardtype::detail::lazy_t<As>...>(op, lazy(as)...);
      }
    }
  }
  template <class Op, class... As>
    requires shardtype::detail::NamesResult<Op>
  static auto call(Op const& op, Where const& where, As const&... as) {
    if constexpr (any_poisoned<shardtype::detail::lazy_t<As>...>) {
      (static_cast<void>(lazy(as)), ...);
      return Poisoned{};
    } else {
      using R = Resolve<Op, typename shardtype::detail::lazy_t<As>::whole...>;
      if constexpr (!R::verdict) {
        return Poisoned(refusal<R, typename shardtype::detail::lazy_t<As>::whole...>{});
      } else {
        return constrain<typename R::result>(call(op.strict(), where, as...));
      }
    }
  }
  template <class Op, class... As>
  static auto call(Op const&, Where const&, As const&...) {
    return Poisoned(refused<Code::L01_not_recorded, false,
                            typename shardtype::detail::FirstWhole<As...>::type>{});
  }
};

}  // namespace execute
}  // namespace shardtype
