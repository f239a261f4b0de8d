#pragma once
/// Recording of expressions of automatic mode: they are written with the operations of strict mode,
/// applied to `lazy(a)`.

#include <cstddef>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/reshard.hpp>
#include <shardtype/lazy/expression.hpp>
#include <shardtype/lazy/operation_properties.hpp>
#include <shardtype/lazy/recorded_value.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
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
    return Type<as_recorded_t<A>>{};
  } else if constexpr (!is_tensor<operand_t<A>> || detail::is_of_manual_mode<operand_t<A>>()) {
    return Type<Poisoned>{};
  } else {
    return Type<LazyTensor<operand_t<A>>>{};
  }
}
template <class A>
using lazy_t = typename decltype(detail::lazy_type<A>())::type;

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
    return detail::as_recorded(a);
  } else if constexpr (core::is_active<A>) {
    return checking::Poisoned(checking::refused<rules::Code::L10_active, false, A>{});
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
auto recorded(A const& a) {
  if constexpr (is_lazy<A>) {
    return a;  // a function of elements becomes part of the kernel
  } else {
    return api::lazy(a);
  }
}
template <class N>
Number<N> recorded(Number<N> const& n) {
  return n;
}
template <class A>
using recorded_t = decltype(detail::recorded(std::declval<A const&>()));

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
    (slots_of<decltype(detail::apart<Most>(std::declval<Args const&>()))> + ... + 0);
/// A map whose largest arguments are kept out of its kernel until the kernel's operands are at most
/// `max_operands`.
template <int Most, class F, class... Args>
auto fitting_map(F const& f, Args const&... args) {
  if constexpr (operands_with<Most, Args...> > max_operands && Most > 2) {
    return detail::fitting_map<Most - 1>(f, args...);
  } else {
    return LazyMap<F, decltype(detail::apart<Most>(args))...>(f, detail::apart<Most>(args)...);
  }
}

template <class Pin>
inline constexpr bool is_cyclic = Scope<Pin>::template spec<0>.cyclic_dim() >= 0;
template <>
inline constexpr bool is_cyclic<void> = false;

/// Whether the program under way has the axes of a sharding; of others it is found out later.
template <class Pin, class Recorder>
constexpr bool has_axes_of_pin() {
  if constexpr (std::is_void_v<Recorder>) {
    return true;
  } else {
    return Recorder::template has_axes<Pin>();
  }
}
template <class... Out, class E>
auto pinned(E const& e) {
  if constexpr (any_poisoned<E>) {
    return e;
  } else {
    using Pin = named_t<typename E::whole, Out...>;
    using R = Resolve<op::Reshard<whole_t<Pin>>, typename E::whole>;
    if constexpr (!bool(rules::lawful(Scope<Pin>::names, Scope<Pin>::parsed, 1))) {
      return Poisoned(refusal<Resolve<op::Reshard<Pin>, typename E::whole>, typename E::whole>{});
    } else if constexpr (R::verdict && is_cyclic<Pin> && !is_cyclic<pin_t<E>>) {
      return Poisoned(refused<Code::L02_cyclic, false, Pin>{});
    } else if constexpr (R::verdict && !detail::has_axes_of_pin<Pin, typename E::recorder>()) {
      return Poisoned(refused<Code::M01_axis_not_in_mesh, false, typename E::whole, Pin>{});
    } else if constexpr (R::verdict) {
      return detail::as_recorded(LazyConstrained<Pin, E>(e));
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
    return detail::pinned<Out...>(api::lazy(a.self()));
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
  if constexpr (core::is_active<A>) {
    return a;  // in strict mode a value is computed once
  } else if constexpr (checking::any_poisoned<detail::lazy_t<A>> ||
                       detail::is_under_way<detail::lazy_t<A>>) {
    return api::lazy(a);  // a value of a program under way is one
  } else {
    return automatic_mode::LazyShared<Tag, detail::lazy_t<A>>(api::lazy(a));
  }
}

}  // namespace api

}  // namespace shardtype

namespace shardtype {

namespace execute {

/// `call` for expressions: records operations that automatic mode knows, refuses others (L01). What
/// is refused is told as a type, which the front door constructs, because compilers print every
/// function between the user's line and the refusal.
template <class... Operands>
struct Continue<Above::lazy, Operands...> {
  using Where = std::source_location;
  template <class A>
  using lazy_t = detail::lazy_t<A>;
  template <class A>
  using whole = typename detail::lazy_t<A>::whole;

 private:
  static constexpr int count = static_cast<int>(sizeof...(Operands));

  /// The refusal of the first operand that is no tensor.
  template <class A, class... Rest>
  static constexpr auto refuse_operand() {
    if constexpr (any_poisoned<detail::recorded_t<A>>) {
      return Type<refusal<detail::NotATensor<A>, A>>{};
    } else {
      return refuse_operand<Rest...>();
    }
  }
  template <class Op>
  static constexpr auto refuse_call(Type<Op>) {
    if constexpr (any_poisoned<detail::recorded_t<Operands>...>) {
      return refuse_operand<Operands...>();
    } else if constexpr (detail::is_recorded_as_others<Op, count>) {
      return Type<void>{};
    } else if constexpr (!detail::is_recorded<Op>) {
      return Type<
          refused<Code::L01_not_recorded, false, typename detail::FirstWhole<Operands...>::type>>{};
    } else if constexpr (detail::KeepsShardings<Op>) {
      return refuse_own_call<Op, detail::lazy_t<Operands>...>();
    } else if constexpr (!std::is_same_v<detail::without_axes_t<Op>, Op>) {
      return refuse_call(Type<detail::without_axes_t<Op>>{});
    } else {
      using R = Resolve<Op, whole<Operands>...>;
      if constexpr (requires { typename R::sentence; }) {
        return Type<typename R::sentence>{};
      } else if constexpr (!R::verdict) {
        return Type<refusal<R, whole<Operands>...>>{};
      } else if constexpr (!detail::Ruled<Op> || detail::keeps_elements<Op>) {
        return Type<void>{};
      } else if constexpr (count > max_operands) {
        return Type<refused<Code::T07_too_many, false, whole<Operands>...>>{};
      } else if constexpr (!detail::runs_on_blocks<Op, whole<Operands>...>()) {
        return Type<refused<Code::L01_not_recorded, false,
                            typename detail::FirstWhole<Operands...>::type>>{};
      } else {
        return Type<void>{};
      }
    }
  }
  /// Whether the operation of `E`, of a program under way, gives more than its value because its
  /// gradient reads that.
  template <class E, class Op>
  static constexpr bool saves(Op const&) {
    if constexpr (std::is_void_v<typename E::recorder>) {
      return false;
    } else {
      return !std::is_void_v<typename E::recorder::template varies<E>> &&
             requires(Op const& op) { op.with_saved(); };
    }
  }
  template <class Op, class... Es>
  static constexpr auto refuse_own_call() {
    if constexpr ((std::is_void_v<detail::pin_t<Es>> || ...)) {
      return Type<refused<Code::L08_no_sharding, false, typename Es::whole...>>{};
    } else {
      using R = Resolve<Op, detail::pin_t<Es>...>;
      if constexpr (R::verdict) {
        return Type<void>{};
      } else {
        return Type<refusal<R, detail::pin_t<Es>...>>{};
      }
    }
  }
  template <class F>
  static constexpr auto refuse_call(Type<op::Map<F>>) {
    if constexpr (any_poisoned<detail::recorded_t<Operands>...>) {
      return refuse_operand<Operands...>();
    } else {
      using R = Resolve<op::Map<F>, detail::argument_t<detail::recorded_t<Operands>>...>;
      if constexpr (detail::multiplies_matrices<F, R>()) {
        return refuse_call(Type<op::Matmul<>>{});
      } else if constexpr (R::verdict) {
        return Type<void>{};
      } else {
        return Type<refusal<R, detail::argument_t<detail::recorded_t<Operands>>...>>{};
      }
    }
  }
  /// `e` in the sharding that `R` names, if it names one.
  template <class R, class E>
  static auto as_named(E const& e) {
    if constexpr (R::communicates && !any_poisoned<E>) {
      return detail::as_recorded(automatic_mode::LazyConstrained<typename R::result, E>(e));
    } else {
      return e;
    }
  }

  template <class Results, class Node, std::size_t... K>
  static auto shared_results(std::shared_ptr<Node const> const& node, std::index_sequence<K...>) {
    if constexpr (!std::is_void_v<typename Node::recorder>)
      return detail::recorded_results<Results>(node, std::index_sequence<K...>{});
    else
      return std::tuple<automatic_mode::LazyResult<
          K, automatic_mode::whole_t<std::tuple_element_t<K, Results>>, Node>...>{
          automatic_mode::LazyResult<K, automatic_mode::whole_t<std::tuple_element_t<K, Results>>,
                                     Node>(node)...};
  }

 public:
  template <class Op>
  using refusal_of = typename decltype(refuse_call(Type<Op>{}))::type;
  template <class F>
  using refusal_of_function = refusal_of<op::Map<F>>;

  template <class F>
  static auto fuse(F const& f, Operands const&... args) {
    using R = Resolve<op::Map<F>, detail::argument_t<detail::recorded_t<Operands>>...>;
    if constexpr (detail::multiplies_matrices<F, R>()) {
      return call(op::Matmul<>{}, Where{}, args...);
    } else {
      return detail::fitting_map<max_operands>(f, detail::recorded(args)...);
    }
  }
  template <class F, class... Args>
  static auto call(op::Map<F> const& op, Where const&, Args const&... args) {
    return fuse(op.function, args...);
  }
  template <class F, class First, class... Out, class... Args>
  static auto call(op::Map<F, First, Out...> const& op, Where const& where, Args const&... args) {
    return api::constrain<First, Out...>(shardtype::call(op::Map<F>{op.function}, where, args...));
  }
  template <class Op, class A, class B>
    requires detail::is_product<Op>
  static auto call(Op const&, Where const&, A const& a, B const& b) {
    using R = Resolve<Op, whole<A>, whole<B>>;
    using Whole = automatic_mode::whole_t<typename R::result>;
    return as_named<R>(detail::as_recorded(
        automatic_mode::LazyProduct<lazy_t<A>, lazy_t<B>, Whole>(api::lazy(a), api::lazy(b))));
  }
  /// Products of several: of pairs, which one chain makes, so that they are associated in the best
  /// way.
  template <class... Out, class A, class B, class C, class... More>
  static auto call(op::Einsum<Out...> const& op, Where const& where, A const& a, B const& b,
                   C const& c, More const&... more) {
    if constexpr (detail::is_recorded_as_others<op::Einsum<Out...>, count>) {
      using Strict = detail::einsum_like_t<named_t<whole<A>, Out...>>;
      return api::constrain<Out...>(shardtype::call(Strict{}, where, a, b, c, more...));
    } else {
      using R = Resolve<op::Einsum<Out...>, whole<A>, whole<B>, whole<C>, whole<More>...>;
      return shardtype::call(op, where, shardtype::call(typename R::pair_operation{}, where, a, b),
                             c, more...);
    }
  }
  template <class F, class... Out, class A>
  static auto call([[maybe_unused]] op::Reduce<F, Out...> const& op, Where const&, A const& a) {
    using R = Resolve<op::Reduce<F, Out...>, whole<A>>;
    using Named = automatic_mode::whole_t<typename R::result>;
    if constexpr (F::kind == ReductionKind::whole) {
      // A named result may have its dims in another order than the operation gives them.
      using Op = detail::reduction_to<F, whole<A>, Named>;
      using Whole = automatic_mode::whole_t<typename Resolve<Op, whole<A>>::result>;
      return as_named<R>(detail::as_recorded(automatic_mode::LazyOperation<Op, Whole, lazy_t<A>>(
          Op{static_cast<typename F::Arguments const&>(op)}, api::lazy(a))));
    } else {
      return as_named<R>(
          detail::as_recorded(automatic_mode::LazyReduction<F, Named, lazy_t<A>>(api::lazy(a))));
    }
  }
  /// Over the only label, which is named to the planner.
  template <bool Log, class A>
    requires(Scope<typename A::whole>::names.labels == 1)
  static auto call(op::Normalize<Log> const&, Where const& where, A const& a) {
    using Labels = decltype(detail::labels_without<whole<A>, Tensor<element_t<whole<A>>>>());
    return shardtype::call(detail::normalize_over<Log>(Labels{}), where, a);
  }
  /// A reduction and its count, in the named sharding if there is one.
  template <class F, class... Out, class A>
  static auto call(op::ReduceCounted<F, Out...> const& op, Where const&, A const& a) {
    using R = Resolve<op::ReduceCounted<F, Out...>, whole<A>>;
    using Op = detail::counted_to<F, whole<A>, automatic_mode::whole_t<typename R::result>>;
    using Strict = Resolve<Op, whole<A>>;
    using Node = automatic_mode::LazyOperation<Op, automatic_mode::whole_t<typename Strict::result>,
                                               lazy_t<A>>;
    auto const both = shared_results<typename Strict::results>(
        std::make_shared<Node const>(Op{static_cast<typename F::Arguments const&>(op)},
                                     api::lazy(a)),
        typename R::Numbers{});
    if constexpr (R::communicates) {
      return std::tuple(
          api::constrain<typename R::result>(std::get<0>(both)),
          api::constrain<std::tuple_element_t<1, typename R::results>>(std::get<1>(both)));
    } else {
      return both;
    }
  }
  /// All results, as an expression each, which share the operation.
  template <detail::HasResults Op, class... As>
    requires(!detail::KeepsShardings<Op>)
  static auto call(Op const& op, Where const&, As const&... as) {
    using R = Resolve<Op, whole<As>...>;
    using Node = automatic_mode::LazyOperation<Op, automatic_mode::whole_t<typename R::result>,
                                               lazy_t<As>...>;
    return shared_results<typename R::results>(std::make_shared<Node const>(op, api::lazy(as)...),
                                               typename R::Numbers{});
  }
  template <class... Out, class A>
  static auto call(op::Reshard<Out...> const&, Where const&, A const& a) {
    return api::constrain<Out...>(a);
  }
  template <class Op, class A>
    requires detail::keeps_elements<Op>
  static auto call(Op const&, Where const&, A const& a) {
    using Result = typename Resolve<Op, whole<A>>::result;
    return detail::as_recorded(
        typename detail::ExpressionOf<Op, Result, lazy_t<A>>::type(api::lazy(a)));
  }
  template <class Op, class... As>
    requires(detail::Ruled<Op> && !detail::HasResults<Op> && !detail::keeps_elements<Op> &&
             !detail::NamesResult<Op> && !detail::KeepsShardings<Op>)
  static auto call(Op const& given, Where const&, As const&... as) {
    auto const op = detail::without_axes(given);
    using Strict = detail::without_axes_t<Op>;
    using Whole = automatic_mode::whole_t<typename Resolve<Strict, whole<As>...>::result>;
    using E = automatic_mode::LazyOperation<Strict, Whole, lazy_t<As>...>;
    if constexpr (saves<E>(op)) {
      return std::get<0>(call(op.with_saved(), Where{}, as...));
    } else {
      return detail::as_recorded(E(op, api::lazy(as)...));
    }
  }
  /// An operation that communicates by itself, in the shardings of its operands.
  template <detail::KeepsShardings Op, class... As>
  static auto call(Op const& op, Where const&, As const&... as) {
    using R = Resolve<Op, detail::pin_t<lazy_t<As>>...>;
    if constexpr (detail::HasResults<Op>) {
      using Node =
          automatic_mode::LazyOwnCall<Op, typename R::results, typename R::result, lazy_t<As>...>;
      return shared_results<typename R::results>(std::make_shared<Node const>(op, api::lazy(as)...),
                                                 typename R::Numbers{});
    } else {
      return detail::as_recorded(
          automatic_mode::LazyOwnCall<Op, std::tuple<typename R::result>, typename R::result,
                                      lazy_t<As>...>(op, api::lazy(as)...));
    }
  }
  template <class Op, class... As>
    requires detail::NamesResult<Op>
  static auto call(Op const& op, Where const& where, As const&... as) {
    return api::constrain<typename Resolve<Op, whole<As>...>::result>(
        shardtype::call(op.strict(), where, as...));
  }
};

}  // namespace execute
}  // namespace shardtype
