#pragma once
/// Control flow in manual mode. All ranks must take the same path.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/check/callable.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

/// The element of a rank-0 invariant block as a C++ value. All ranks have the same value, so
/// control flow cannot diverge. Communicates nothing. Refused: A01 a block with dims, A02 an
/// unreduced one, V13 one that varies.
template <class L>
  requires(is_local<detail::operand_t<L>>)
auto item(L const& l) {
  using A = detail::operand_t<L>;
  using Judged = detail::judged_t<detail::Read<A>, A>;
  if constexpr (!detail::accepts<Judged>) {
    static_cast<void>(checking::Poisoned(Judged{}));
    return checking::element_t<A>{};
  } else {
    auto const& a = detail::operand(l);
    return static_cast<typename A::element>(detail::own_element(a));
  }
}

namespace detail {

/// The C++ value of a condition; refused if ranks might disagree.
template <class P>
bool decided(P const& condition) {
  using Judged = judged_t<Condition<operand_t<P>>, operand_t<P>>;
  if constexpr (!accepts<Judged>) {
    static_cast<void>(Poisoned(Judged{}));
    return false;
  } else {
    return item(condition);
  }
}

}  // namespace detail

/// Repeats `carry = body(k, carry)` for k from 0 to n - 1: `loop(n, carry, body)`. All ranks run
/// the body n times. The carry before and after the body must have one type, else V11. A carry of
/// several parts is a std::tuple. Refused as well: T11 a body that does not accept (k, carry). JAX:
/// fori_loop.
template <class Carry, class Body>
auto loop(std::int64_t n, Carry const& start, Body const& body) {
  auto carry = detail::settled(start);
  using In = decltype(carry);
  if constexpr (detail::not_taken<decltype(detail::or_not_taken(body)(n, std::as_const(carry)))>) {
    checking::refused<rules::Code::T11_not_callable, false, std::int64_t, In>{};
    return detail::refused_like<In>{};
  } else {
    using Given = decltype(detail::settled(body(n, std::as_const(carry))));
    using Judged =
        detail::judged_t<detail::Alike<rules::Code::V11_carry_changes, In, Given>, In, Given>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<In>{};
    } else {
      for (std::int64_t k = 0; k < n; ++k) carry = detail::settled(body(k, std::as_const(carry)));
      return carry;
    }
  }
}

/// Repeats `carry = body(carry)` while `condition(carry)`, a rank-0 invariant bool block, is true.
/// JAX: while_loop. Refused: T11, V11, V13, A01, A02, P11.
template <class Carry, class Condition, class Body>
auto loop_while(Condition const& condition, Carry const& start, Body const& body) {
  auto carry = detail::settled(start);
  using In = decltype(carry);
  if constexpr (detail::not_taken<decltype(detail::or_not_taken(body)(std::as_const(carry)))> ||
                detail::not_taken<decltype(detail::or_not_taken(condition)(
                    std::as_const(carry)))>) {
    checking::refused<rules::Code::T11_not_callable, false, In>{};
    return detail::refused_like<In>{};
  } else {
    using Given = decltype(detail::settled(body(std::as_const(carry))));
    using Judged =
        detail::judged_t<detail::Alike<rules::Code::V11_carry_changes, In, Given>, In, Given>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<In>{};
    } else {
      while (detail::decided(condition(std::as_const(carry))))
        carry = detail::settled(body(std::as_const(carry)));
      return carry;
    }
  }
}

/// Calls `yes(args...)` if the rank-0 invariant bool block `condition` is true, else `no(args...)`;
/// both must return one type, else V12. For a choice that differs between ranks, use
/// `where(condition, a, b)`. JAX: cond. Refused: T11, V12, V13, A01, A02, P11.
template <class Condition, class Yes, class No, class... Args>
auto branch(Condition const& condition, Yes const& yes, No const& no, Args const&... args) {
  if constexpr (!detail::takes<Yes const, Args const&...>() ||
                !detail::takes<No const, Args const&...>()) {
    checking::refused<rules::Code::T11_not_callable, false, Args...>{};
    return checking::Poisoned{};
  } else {
    using A = decltype(detail::settled(yes(args...)));
    using B = decltype(detail::settled(no(args...)));
    using Judged = detail::judged_t<detail::Alike<rules::Code::V12_branches_differ, A, B>, A, B>;
    if constexpr (!detail::accepts<Judged>) {
      static_cast<void>(checking::Poisoned(Judged{}));
      return detail::refused_like<A>{};
    } else {
      return detail::decided(condition) ? detail::settled(yes(args...))
                                        : detail::settled(no(args...));
    }
  }
}

}  // namespace shardtype
