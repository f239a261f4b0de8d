#pragma once
/// Control flow in manual mode, which must be the same on all ranks.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/manual/dynamic.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

/// The element of a rank-0 block that is the same on all ranks, as a C++ value: control flow on it cannot
/// diverge. Communicates nothing. Refused: A01 a block with dims, A02 an unreduced one, V13 one that varies.
template <class L>
  requires(is_local<operand_t<L>>)
auto item(L const& l) {
  using A = operand_t<L>;
  if constexpr (any_poisoned<A>) {
    return double{};
  } else if constexpr (!detail::Read<A>::verdict) {
    (void)Poisoned(refusal<detail::Read<A>, A>{});
    return typename A::element{};
  } else {
    auto const& a = operand(l);
    return static_cast<typename A::element>(detail::own_element(a));
  }
}

namespace detail {

/// The verdict on the condition of loop_while and branch.
template <class P, bool tensor = is_tensor<P>>
struct Condition : NotATensor<P> {};
template <class P>
struct Condition<P, true> : Read<P> {
  static constexpr Verdict decide() {
    if (!is_local<P>) return refuse(Code::V01_mixed);
    if (!std::is_same_v<element_t<P>, bool>) return refuse(Code::P11_condition);
    return Read<P>::verdict;
  }
  static constexpr Verdict verdict = decide();
};

/// The C++ value of a condition; refused where ranks might part.
template <class P>
bool decided(P const& condition) {
  using R = Condition<operand_t<P>>;
  if constexpr (any_poisoned<P>) {
    return false;
  } else if constexpr (!R::verdict) {
    static_cast<void>(Poisoned(refusal<R, operand_t<P>>{}));
    return false;
  } else {
    return item(condition);
  }
}

}  // namespace detail

/// `carry = body(k, carry)` for k from 0 to n - 1: `loop(n, carry, body)`. The carry that goes in and that
/// comes out have one type, or it does not compile: V11. One of several parts is a std::tuple. The body
/// is run n times, by all ranks. JAX: fori_loop.
template <class Carry, class Body>
auto loop(std::int64_t n, Carry const& start, Body const& body) {
  auto carry = detail::settled(start);
  using In = decltype(carry);
  using Given = decltype(detail::settled(body(n, carry)));
  if constexpr (detail::holds_poison<In, Given>) {
    return detail::refused_like<In>{};
  } else if constexpr (!std::is_same_v<In, Given>) {
    static_cast<void>(Poisoned(refusal<detail::Plainly<Code::V11_carry_changes>, In, Given>{}));
    return detail::refused_like<In>{};
  } else {
    for (std::int64_t k = 0; k < n; ++k) carry = detail::settled(body(k, std::as_const(carry)));
    return carry;
  }
}

/// `carry = body(carry)` while `condition(carry)`, a rank-0 bool block that is the same on all ranks, is
/// true. JAX: while_loop. Refused: V11, V13, A01, A02, P11.
template <class Carry, class Condition, class Body>
auto loop_while(Condition const& condition, Carry const& start, Body const& body) {
  auto carry = detail::settled(start);
  using In = decltype(carry);
  using Given = decltype(detail::settled(body(carry)));
  if constexpr (detail::holds_poison<In, Given>) {
    return detail::refused_like<In>{};
  } else if constexpr (!std::is_same_v<In, Given>) {
    static_cast<void>(Poisoned(refusal<detail::Plainly<Code::V11_carry_changes>, In, Given>{}));
    return detail::refused_like<In>{};
  } else {
    while (detail::decided(condition(std::as_const(carry))))
      carry = detail::settled(body(std::as_const(carry)));
    return carry;
  }
}

/// `yes(args...)` where the rank-0 bool block `condition`, the same on all ranks, is true, else
/// `no(args...)`; both give one type, or it does not compile: V12. Where every rank decides for itself,
/// `where(condition, a, b)` does. JAX: cond. Refused: V12, V13, A01, A02, P11.
template <class Condition, class Yes, class No, class... Args>
auto branch(Condition const& condition, Yes const& yes, No const& no, Args const&... args) {
  using A = decltype(detail::settled(yes(args...)));
  using B = decltype(detail::settled(no(args...)));
  if constexpr (detail::holds_poison<A, B>) {
    return detail::refused_like<A>{};
  } else if constexpr (!std::is_same_v<A, B>) {
    static_cast<void>(Poisoned(refusal<detail::Plainly<Code::V12_branches_differ>, A, B>{}));
    return detail::refused_like<A>{};
  } else {
    return detail::decided(condition) ? detail::settled(yes(args...))
                                      : detail::settled(no(args...));
  }
}

}  // namespace shardtype
