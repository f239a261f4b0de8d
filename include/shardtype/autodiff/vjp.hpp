#pragma once
/// The gradients of operations: one Vjp for each operation.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/finish.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/ops/rows.hpp>

namespace shardtype::autodiff {

/// The vector-Jacobian product of the operation `Op`. A specialisation derives from Differentiable
/// (or Movement), and has
///
///     template <class V, class... As>
///     static constexpr auto save(Op const& op, V const& out, As const&... as);   // keep(...)
///     template <int K, class V, class... As, class S, class C>
///     static constexpr auto pull(Op const& op, S const& saved, C const& ct);
///
/// `save` keeps what the pulls read, and is called after the operation; `pull<K>` is the cotangent
/// of operand K, with its labels in its order, of that of the result. Both are written with the
/// public operations on `auto`: the same text is run on tensors and blocks, on types alone, and on
/// values whose gradient is wanted again. `V` and `As` are these values' types; `tensor_of<V>` is a
/// Tensor type. What `pull` gives is judged by its type before anything runs (X01, X02), and cast
/// to the operand's cotangent. Optional:
///
///     template <class V, class... As, class S, class C>
///     static constexpr auto prepare(Op const& op, S const& saved, C const& ct);
///
/// once for all operands, such as the reshard back of a named result (with a last argument, whether
/// the first operand's cotangent is wanted, if it takes one); and, where the types of the pulls are
/// to be judged by a rule in place of their text,
///
///     template <int K, class V, class... As>
///     static constexpr Verdict judge();
///
/// or by types, a detail::Finishes (said by a constant, because g++ 12 finds no such member in a
/// requirement):
///
///     static constexpr bool judged_by_types = true;
///     template <int K, class V, class... As>
///     struct Judged { using type = ...; };
///
/// and, where the gradient needs more of the reduction than its result, in place of `save`,
///
///     template <class... As>
///     static constexpr auto forward(Op const& op, std::source_location const& where,
///                                   As const&... as);   // a Forward
///
/// which runs in place of the operation; or
///
///     template <class... As>
///     static constexpr auto instead(Op const& op, std::source_location const& where,
///                                   As const&... as);
///
/// other operations on the values whose gradient is wanted, whose results it gives.
///
/// An operation with a member `transposed` or `gradient` (check/call.hpp) needs no specialisation:
/// it has these as members of its own, `pull(g)` and `prepare(g)` with a Pull `g`.
/// An operation with several results has one Vjp for each result, Vjp<ResultOf<Op, K>>: `V` is the
/// std::tuple of all results, and `ct` the cotangent of result K. The pulls of the results are
/// summed, and a result that nothing reads adds nothing.
template <class Op>
struct Vjp;

/// Result `K` of `Op` on the tape.
template <class Op, std::size_t K>
struct ResultOf : Op {
  using operation = ResultOf;
};
/// The value of an entry of `Op` whose results are `V`.
template <class Op, class V>
struct EntryValue {
  using type = V;
};
template <class Op, std::size_t K, class... Vs>
struct EntryValue<ResultOf<Op, K>, std::tuple<Vs...>> {
  using type = std::tuple_element_t<K, std::tuple<Vs...>>;
};
template <class Op, class V>
using entry_value = typename EntryValue<Op, V>::type;

/// The result of a Vjp's `forward`: the operation's result, and the values that the pulls read.
template <class V, class S>
struct Forward {
  V value;
  S saved;
};
template <class V, class S>
Forward(V, S) -> Forward<V, S>;

/// Base of the Vjp of an operation whose pulls communicate nothing: what would is refused.
struct Differentiable {
  static constexpr bool exists = true;
  static constexpr bool communicates = false;
};
/// Base of the Vjp of an operation whose result does not depend on its operands' elements.
struct ConstantResult {
  static constexpr bool exists = true;
  static constexpr bool constant = true;
};
template <class Op>
inline constexpr bool is_constant = requires { requires Vjp<Op>::constant; };
/// Whether gradients of its gradient are refused; of several results some may say so.
template <class Op>
inline constexpr bool first_order =
    requires { Vjp<Op>::first_order; } || requires { requires Op::first_order; };
template <class Op, std::size_t K>
  requires requires { Op::first_order_results; }
inline constexpr bool first_order<ResultOf<Op, K>> = Op::first_order_results[K];

/// Base of the Vjp of an operation that moves a value: its cotangent is moved back, by a reshard to
/// the operand's cotangent.
struct Movement {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class A, class Op>
  static constexpr Kept<> save(Op const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class Op, class S, class C>
  static constexpr C const& pull(Op const&, S const&, C const& ct) {
    return ct;  // NOLINT(bugprone-return-const-ref-from-parameter): the tape's
  }
};

/// Base of a Vjp that reads nothing of its operands.
struct SavesNothing : Differentiable {
  template <class V, class... As, class Op>
  static constexpr Kept<> save(Op const&, V const&, As const&...) {
    return {};
  }
};
/// Base of a Vjp that reads its operands.
struct SavesOperands : Differentiable {
  template <class V, class... As, class Op>
  static constexpr auto save(Op const&, V const&, As const&... as) {
    return autodiff::keep(as...);
  }
};
/// Base of a Vjp that reads the extents of its operands.
struct SavesExtents : Differentiable {
  template <class V, class... As, class Op>
  static constexpr auto save(Op const&, V const&, As const&... as) {
    return autodiff::keep(as.extents()...);
  }
};

/// Base of a Vjp that reads the extents of its operands, and the last one if it holds integers.
struct SavesIds : Differentiable {
  template <class V, class... As, class Op>
  static constexpr auto save(Op const&, V const&, As const&... as) {
    auto const& last = last_of(as...);
    if constexpr (std::is_integral_v<element_t<tensor_of<std::remove_cvref_t<decltype(last)>>>>) {
      return autodiff::keep(as.extents()..., last);
    } else {
      return autodiff::keep(as.extents()...);
    }
  }

 private:
  template <class A, class... As>
  static constexpr auto const& last_of(A const& a, As const&... as) {
    if constexpr (sizeof...(As) == 0) {
      return a;  // NOLINT(bugprone-return-const-ref-from-parameter)
    } else {
      return last_of(as...);
    }
  }
};

/// The D-th of a pack of dims.
template <class Dims, std::size_t D>
struct NthDim;
template <class... Dims, std::size_t D>
struct NthDim<shardtype::detail::Pack<Dims...>, D> {
  using type = nth_t<static_cast<int>(D), Dims...>;
};
/// The place of `I` among the dims of the tensor type `A`.
template <class A, class I>
inline constexpr auto place_of = static_cast<std::size_t>(
    Scope<A>::template spec<0>.find(Scope<A>::names.find_label(identity<I>)));

/// A dim without rows.
struct NoRows : Index<"no rows"> {};
/// Zeros with the dims of `ct`, but `rows` along `From`, which becomes `To`.
template <class From, class To, class C>
constexpr auto zeros_like(C const& ct, std::int64_t rows) {
  return api::pad<NoRows, To>(api::slice<From, NoRows>(ct, 0, 0), 0, rows);
}

/// The number of the result of which an entry of `Op` on the tape is.
template <class Op>
inline constexpr std::size_t result_number = 0;
template <class Op, std::size_t K>
inline constexpr std::size_t result_number<ResultOf<Op, K>> = K;

/// The argument of an operation's `pull`: the cotangent `ct` of the result of type `V`, number
/// `Which` of several, for operand number `operand` of those of types `As`; and of its `prepare`,
/// whose `operand` is -1.
template <int K, std::size_t Which, class V, class S, class C, class... As>
struct Pull {
  static constexpr int operand = K;
  static constexpr std::size_t result = Which;
  static constexpr int operands = static_cast<int>(sizeof...(As));
  /// Whether there are ids (PullsByIds).
  static constexpr bool has_ids =
      requires(S const& s) { autodiff::kept<static_cast<int>(sizeof...(As))>(s); };
  template <int N>
  using operand_type = tensor_of<nth_t<N, As...>>;
  using type = operand_type<(K < 0 ? 0 : K)>;  ///< of the operand
  using value = V;                             ///< of the result, or a std::tuple of all
  template <class I>
  using dim = typename NthDim<typename DimsOf<type>::type, place_of<type, I>>::type;

  S const& saved;
  C const& ct;

  /// Number `N` of what the operation's `save` kept.
  template <int N>
  constexpr auto const& kept() const {
    return autodiff::kept<N>(saved);
  }
  /// `op` applied to the cotangent.
  template <class Op>
  constexpr auto operator()(Op const& op) const {
    return shardtype::call(op, std::source_location::current(), ct);
  }
  template <class Op, class... Vs>
  constexpr auto call(Op const& op, Vs const&... vs) const {
    return shardtype::call(op, std::source_location::current(), vs...);
  }
  /// `op` applied to `vs`, with the ids as a last operand if there are any.
  template <class Op, class... Vs>
  constexpr auto with_ids(Op const& op, Vs const&... vs) const {
    if constexpr (has_ids) {
      return call(op, vs..., autodiff::kept<static_cast<int>(sizeof...(As))>(saved));
    } else {
      return call(op, vs...);
    }
  }
  /// Zeros with the cotangent's dims, but `n` rows along `From`, which becomes `To`.
  template <class From, class To>
  constexpr auto zeros(std::int64_t n) const {
    return autodiff::zeros_like<From, To>(ct, n);
  }
  /// The extent along I of operand `k`.
  template <class I, int k = K>
  constexpr std::int64_t rows() const {
    return autodiff::kept<k>(saved)[place_of<tensor_of<nth_t<k, As...>>, I>];
  }
  /// The sum of the extents along I of the operands before this one.
  template <class I>
  constexpr std::int64_t rows_before() const {
    return [&]<int... k>(std::integer_sequence<int, k...>) {
      return (std::int64_t{0} + ... + rows<I, k>());
    }(std::make_integer_sequence<int, K>{});
  }
  /// `v` with the labels in the operand's order.
  template <class A>
  constexpr auto in_order(A const& v) const {
    return autodiff::in_order(v, labels_of_t<type>{});
  }
  /// The cotangent summed over the labels that the operand lacks.
  constexpr auto unbroadcast() const { return autodiff::unbroadcast<type>(ct); }
};

template <class Op>
struct Vjp {
  static constexpr bool exists = false;
};
template <class Op>
  requires(
      requires(Op const& op) { op.transposed(); } && !requires { typename Op::gradient; } &&
      !shardtype::detail::MovesBlocks<Op>)
struct Vjp<Op> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const&, C const& ct) {
    return shardtype::call(op.transposed(), std::source_location::current(), ct);
  }
};
/// Base of the Vjp of an operation with a member `save`.
struct SavesByMember : Differentiable {
  template <class V, class... As, class Op>
  static constexpr auto save(Op const& op, V const& out, As const&... as) {
    if constexpr (shardtype::detail::HasResults<Op>) {
      return op.template save<result_number<Op>>(out, as...);
    } else {
      return op.save(out, as...);
    }
  }
};
/// Base of the Vjp of an operation with a member `pull`, and `prepare`, `forward` or `judge`.
template <class Op, class Saves>
struct PullsByMember : Saves {
  static constexpr bool communicates = requires { requires Op::pull_communicates; };
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    return op.pull(Pull<K, result_number<Op>, V, S, C, As...>{saved, ct});
  }
  template <class V, class... As, class S, class C>
    requires requires(Op const& op, Pull<-1, result_number<Op>, V, S, C, As...> const& g) {
      op.prepare(g);
    }
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return op.prepare(Pull<-1, result_number<Op>, V, S, C, As...>{saved, ct});
  }
  template <class... As>
    requires requires(Op const& op, std::source_location const& where, As const&... as) {
      op.forward(where, as...);
    }
  static constexpr auto forward(Op const& op, std::source_location const& where, As const&... as) {
    return op.forward(where, as...);
  }
  template <int K, class V, class... As>
    requires requires { Op::template judge<K, V, As...>(); }
  static constexpr Verdict judge() {
    return Op::template judge<K, V, As...>();
  }
};
SavesNothing saves_by(checking::Pulls);
SavesExtents saves_by(checking::PullsByExtents);
SavesIds saves_by(checking::PullsByIds);
SavesByMember saves_by(checking::PullsBySaved);
template <class Op>
  requires requires(typename Op::gradient const& how) { autodiff::saves_by(how); }
struct Vjp<Op>
    : PullsByMember<Op, decltype(autodiff::saves_by(std::declval<typename Op::gradient>()))> {};
template <class Op>
  requires(shardtype::detail::ChangesSharding<Op> && !shardtype::detail::MovesBlocks<Op>)
struct Vjp<Op> : Movement {};
/// The operations that run instead are judged themselves.
template <class Op>
  requires std::is_same_v<typename Op::gradient, checking::ByOthers>
struct Vjp<Op> : Differentiable {
  template <int K, class V, class... As>
  static constexpr Verdict judge() {
    return {};
  }
  template <class... As>
  static constexpr auto instead(Op const& op, std::source_location const& where, As const&... as) {
    return op.instead(where, as...);
  }
};
template <class Op>
  requires std::is_same_v<typename Op::gradient, checking::Constant>
struct Vjp<Op> : ConstantResult {};

/// Of an operation with several results whether a gradient goes through the first, and through no
/// other: that of the operation `single`, whose Vjp saves the operands and then the results, in
/// this order. `op.without_saved()`: that operation.
template <class Op>
struct FirstResultGradient {
  static constexpr bool exists = false;
  using single = Op;
  static constexpr Op of(Op const& op) { return op; }
};
template <class Op>
  requires requires(Op const& op) { op.without_saved(); }
struct FirstResultGradient<Op> {
  static constexpr bool exists = true;
  using single = decltype(std::declval<Op const&>().without_saved());
  static constexpr single of(Op const& op) { return op.without_saved(); }
};

}  // namespace shardtype::autodiff
