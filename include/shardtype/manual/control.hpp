#pragma once
/// Control flow in manual mode. All ranks must take the same path.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/callable.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/ops/run_elementwise.hpp>

namespace shardtype {

namespace api {

/// The element of a rank-0 invariant block as a C++ value. All ranks have the same value, so
/// control flow cannot diverge. Communicates nothing. Refused: A01 a block with dims, A02 an
/// unreduced one, V13 one that varies, X09 one whose gradient is wanted (`item(stop_gradient(l))`).
template <class L>
  requires(is_local<detail::leaving_t<L>> && !detail::is_abstract<L>)
auto item(core::Argument<L> const& l_given) {
  L const& l = l_given.self();
  using A = detail::leaving_t<L>;
  using Judged = detail::judged_t<detail::Read<A>, A>;
  if constexpr (!detail::accepts<Judged>) {
    static_cast<void>(checking::Poisoned(Judged{}));
    return checking::element_t<A>{};
  } else if constexpr (core::is_active<L>) {
    static_cast<void>(checking::Poisoned(checking::refused<rules::Code::X09_read, false, A>{}));
    return checking::element_t<A>{};
  } else {
    auto const& a = detail::operand(l);
    return static_cast<typename A::element>(detail::own_element(a));
  }
}

}  // namespace api

namespace detail {

/// The type of a value on which a gradient's tape may depend and one on which it does not: in
/// control flow one of them may take the place of the other. void if there is none. Specialised for
/// values whose gradient is wanted in autodiff/shard_map.hpp.
template <class A, class B>
struct Joined {
  using type = void;
};
template <class A>
struct Joined<A, A> {
  using type = A;
};
template <class A, class B>
using joined_t = typename Joined<A, B>::type;
// parts of tuples, one by one
template <class... As, class... Bs>
  requires(sizeof...(As) == sizeof...(Bs) &&
           !std::is_same_v<std::tuple<As...>, std::tuple<Bs...>> &&
           !(std::is_void_v<joined_t<As, Bs>> || ...))
struct Joined<std::tuple<As...>, std::tuple<Bs...>> {
  using type = std::tuple<joined_t<As, Bs>...>;
};
/// The type of a carry that begins as `Start` and of which a round makes a `Given`.
template <class Start, class Given>
using carried_t =
    std::conditional_t<std::is_void_v<joined_t<Start, Given>>, Start, joined_t<Start, Given>>;
/// The verdict on a round that makes a `Next` of the carry `In`.
template <class In, class Next>
using CarryStays =
    Plainly<std::is_same_v<joined_t<In, Next>, In> ? Code::ok : Code::V11_carry_changes>;

/// The type of them all; void if there is none.
template <class A, class... Rest>
struct JoinedAll {
  using type = A;
};
template <class A, class B, class... Rest>
struct JoinedAll<A, B, Rest...> : JoinedAll<joined_t<A, B>, Rest...> {};
template <class B, class... Rest>
struct JoinedAll<void, B, Rest...> {
  using type = void;
};

/// The refusal of a value without data, `P`, on which a branch depends that a plan would have to
/// know: by the rule `Rule` of such values, or A05.
template <template <class> class Rule, class P>
constexpr auto judge_unknown() {
  using Judged = judged_t<Rule<operand_t<P>>, operand_t<P>>;
  if constexpr (accepts<Judged>) {
    return Type<refused<Code::A05_run_time_extent, false, operand_t<P>>>{};
  } else {
    return Type<Judged>{};
  }
}
template <template <class> class Rule, class P>
using unknown_t = typename decltype(detail::judge_unknown<Rule, P>())::type;

/// The C++ value of a condition; refused if ranks might disagree.
template <class P>
constexpr bool decided(P const& condition) {
  using Judged = judged_t<Condition<operand_t<P>>, operand_t<P>>;
  if constexpr (!accepts<Judged>) {
    static_cast<void>(Poisoned(Judged{}));
    return false;
  } else {
    return api::item(condition);
  }
}

/// The index of the branch that a number selects, limited to 0 .. n - 1.
template <class P>
constexpr std::size_t chosen_branch(P const& number, std::size_t n) {
  using Judged = judged_t<BranchNumber<operand_t<P>>, operand_t<P>>;
  if constexpr (!accepts<Judged>) {
    static_cast<void>(Poisoned(Judged{}));
    return 0;
  } else {
    std::int64_t const last = static_cast<std::int64_t>(n) - 1;
    return static_cast<std::size_t>(
        std::clamp(static_cast<std::int64_t>(api::item(number)), std::int64_t{0}, last));
  }
}

/// Whether the first argument of `branch` is the number of a branch and not a condition.
template <class P>
constexpr bool numbers_branches() {
  if constexpr (is_tensor<operand_t<P>>) {
    using T = element_t<operand_t<P>>;
    return std::is_integral_v<T> && !std::is_same_v<T, bool>;
  } else {
    return std::is_integral_v<P> && !std::is_same_v<P, bool>;
  }
}

/// Whether an argument of `branch` is an operand and not a function.
template <class T>
inline constexpr bool is_branch_operand = is_operand<T> || is_tuple<T>;
/// The number of arguments before the first operand.
template <class... Rest>
constexpr std::size_t leading_functions() {
  bool const operand[] = {is_branch_operand<Rest>..., true};
  std::size_t n = 0;
  while (!operand[n]) ++n;
  return n;
}

/// The arguments `Rest` of `branch`, divided into functions, at the indices `F`, and operands.
template <class Functions, class Operands, class... Rest>
struct Branches;
template <std::size_t... F, std::size_t... A, class... Rest>
struct Branches<std::index_sequence<F...>, std::index_sequence<A...>, Rest...> {
  static constexpr std::size_t count = sizeof...(F);
  using Arguments = std::tuple<Rest const&...>;
  template <std::size_t K>
  using argument = std::tuple_element_t<K, std::tuple<Rest...>>;
  template <std::size_t K>
  static constexpr auto given(Arguments const& all) {
    return detail::computed(std::get<K>(all)(std::get<count + A>(all)...));
  }
  template <std::size_t K>
  using result = decltype(given<K>(std::declval<Arguments const&>()));

  static constexpr bool all_taken =
      count > 0 && (detail::takes<argument<F> const, argument<count + A> const&...>() && ...);
  /// The first branch with another result type than branch 0; 0 if there is none.
  static constexpr std::size_t differing() {
    bool const other[] = {std::is_void_v<joined_t<result<0>, result<F>>>...};
    for (std::size_t k = 0; k < count; ++k)
      if (other[k]) return k;
    return 0;
  }
  static constexpr auto judge() {
    if constexpr (!all_taken) {
      return Type<refused<Code::T11_not_callable, false, argument<count + A>...>>{};
    } else {
      using One = result<0>;
      using Other = result<differing()>;
      return Type<judged_t<Alike<Code::V12_branches_differ, One, Other>, One, Other>>{};
    }
  }
  using judgement = typename decltype(judge())::type;
  static auto none() {
    if constexpr (all_taken) {
      return refused_like<result<0>>{};
    } else {
      return Poisoned{};
    }
  }
  template <class Given, std::size_t K>
  static constexpr Given given_as(Arguments const& all) {
    return Given(given<K>(all));
  }
  static constexpr auto run(std::size_t chosen, Arguments const& all) {
    using Given = typename JoinedAll<result<F>...>::type;
    Given (*const each[])(Arguments const&) = {&given_as<Given, F>...};
    return each[chosen](all);
  }
};
template <class... Rest>
using branches_t =
    Branches<std::make_index_sequence<detail::leading_functions<Rest...>()>,
             std::make_index_sequence<sizeof...(Rest) - detail::leading_functions<Rest...>()>,
             Rest...>;

}  // namespace detail

namespace api {

/// Repeats `carry = body(k, carry)` for k from 0 to n - 1: `loop(n, carry, body)`. All ranks run
/// the body n times. The carry before and after the body must have one type, else V11. A carry of
/// several parts is a std::tuple. A carry that begins as a constant may become one whose gradient
/// is wanted; the rounds are then recorded one by one. Refused as well: T11 a body that does not
/// accept (k, carry). JAX: fori_loop.
template <class Carry, class Body>
constexpr auto loop(core::Taken<std::int64_t> rounds, Carry const& start, Body const& body) {
  std::int64_t const n = rounds;
  auto const first = detail::computed(start);
  using Start = std::remove_const_t<decltype(first)>;
  if constexpr (detail::not_taken<decltype(detail::or_not_taken(body)(n, first))>) {
    checking::refused<rules::Code::T11_not_callable, false, std::int64_t, Start>{};
    return detail::refused_like<Start>{};
  } else {
    using Given = decltype(detail::computed(body(n, first)));
    using In = detail::carried_t<Start, Given>;
    using Next = decltype(detail::computed(body(n, std::declval<In const&>())));
    using Judged = detail::judged_t<detail::CarryStays<In, Next>, In, Next>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<Start>{};
    } else {
      In carry(first);
      for (std::int64_t k = 0; k < n; ++k)
        carry = In(detail::computed(body(k, std::as_const(carry))));
      return carry;
    }
  }
}

/// Repeats `carry = body(carry)` while `condition(carry)`, a rank-0 invariant bool block, is true.
/// JAX: while_loop. Refused: T11, V11, V13, A01, A02, P11, in a plan from types A05.
template <class Carry, class Condition, class Body>
constexpr auto loop_while(Condition condition, Carry start, Body body) {
  auto const first = detail::computed(start);
  using Start = std::remove_const_t<decltype(first)>;
  if constexpr (detail::not_taken<decltype(detail::or_not_taken(body)(first))> ||
                detail::not_taken<decltype(detail::or_not_taken(condition)(first))>) {
    checking::refused<rules::Code::T11_not_callable, false, Start>{};
    return detail::refused_like<Start>{};
  } else {
    using Given = decltype(detail::computed(body(first)));
    using In = detail::carried_t<Start, Given>;
    using Next = decltype(detail::computed(body(std::declval<In const&>())));
    using Judged = detail::judged_t<detail::CarryStays<In, Next>, In, Next>;
    using Goes = std::remove_cvref_t<decltype(condition(std::declval<In const&>()))>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<Start>{};
    } else if constexpr (detail::is_abstract<Goes>) {
      static_cast<void>(alignof(detail::unknown_t<detail::Condition, Goes>));
      return checking::Poisoned{};
    } else {
      In carry(first);
      while (detail::decided(condition(std::as_const(carry))))
        carry = In(detail::computed(body(std::as_const(carry))));
      return carry;
    }
  }
}

/// Calls `yes(args...)` if the rank-0 invariant bool block `condition` is true, else `no(args...)`;
/// both must return one type, else V12. For a choice that differs between ranks, use
/// `where(condition, a, b)`. JAX: cond. Refused: T11, V12, V13, A01, A02, P11, in a plan from types
/// A05.
template <class Condition, class Yes, class No, class... Args>
  requires(!detail::numbers_branches<Condition>())
constexpr auto branch(Condition condition, Yes yes, No no, Args const&... args) {
  if constexpr (!detail::takes<Yes const, Args const&...>() ||
                !detail::takes<No const, Args const&...>()) {
    checking::refused<rules::Code::T11_not_callable, false, Args...>{};
    return checking::Poisoned{};
  } else {
    using A = decltype(detail::computed(yes(args...)));
    using B = decltype(detail::computed(no(args...)));
    using Both = detail::joined_t<A, B>;
    using Judged = detail::judged_t<
        detail::Plainly<std::is_void_v<Both> ? rules::Code::V12_branches_differ : rules::Code::ok>,
        A, B>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<A>{};
    } else if constexpr (detail::is_abstract<Condition>) {
      static_cast<void>(alignof(detail::unknown_t<detail::Condition, Condition>));
      return checking::Poisoned{};
    } else {
      return detail::decided(condition) ? Both(detail::computed(yes(args...)))
                                        : Both(detail::computed(no(args...)));
    }
  }
}

/// Calls one of several functions: `branch(number, f0, f1, ..., args...)` is `f0(args...)` if the
/// rank-0 invariant integer block `number` is at most 0, `f1(args...)` if it is 1, and so on; a
/// number that is too large selects the last function. The functions precede the arguments, which
/// are blocks, expressions, numbers and tuples. Only the selected function runs. All functions must
/// return one type, else V12. JAX: switch. Refused: T09, T11, V01, V12, V13, A01, A02, in a plan
/// from types A05.
template <class Number, class... Rest>
  requires(detail::numbers_branches<Number>())
constexpr auto branch(Number const& number, Rest const&... rest) {
  using Among = detail::branches_t<Rest...>;
  if constexpr (!detail::accepts<typename Among::judgement>) {
    static_cast<void>(checking::Poisoned(typename Among::judgement{}));
    return Among::none();
  } else if constexpr (detail::is_abstract<Number>) {
    static_cast<void>(alignof(detail::unknown_t<detail::BranchNumber, Number>));
    return checking::Poisoned{};
  } else {
    return Among::run(detail::chosen_branch(number, Among::count), {rest...});
  }
}

}  // namespace api

}  // namespace shardtype
