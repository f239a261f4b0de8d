#pragma once
/// Control flow in manual mode, which must be the same on all ranks.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/manual/dynamic.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

namespace detail {

/// The verdict on a block whose element becomes a C++ value.
template <class L>
struct Read {
  using S = Scope<L>;
  static constexpr Verdict decide() {
    constexpr Spec s = S::template spec<0>;
    if (s.rank > 0) return refuse(Code::A01_item_has_dims);
    for (int x = 0; x < max_axes; ++x) {
      if (s.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
      if (s.varying.contains(x)) return refuse(Code::V13_condition_varies, -1, -1, x);
    }
    return {};
  }
  static constexpr Verdict verdict = decide();
};

}  // namespace detail

/// The element of a rank-0 block that is the same on all ranks, as a C++ value: control flow on it cannot
/// diverge. Communicates nothing. Refused: A01 a block with dims, A02 an unreduced one, V13 one that varies.
template <class L>
  requires(is_local<operand_t<L>>)
auto item(L const& l) {
  using A = operand_t<L>;
  if constexpr (any_poisoned<L>) {
    return double{};
  } else if constexpr (!detail::Read<A>::verdict) {
    (void)Poisoned(refusal<detail::Read<A>, A>{});
    return typename A::element{};
  } else {
    auto const& a = operand(l);
    return static_cast<typename A::element>(detail::own_element(a));
  }
}

/// `carry = body(k, carry)` for k from 0 to n - 1: `loop(n, carry, body)`. The carry that goes in and that
/// comes out have one type, or it does not compile: V11. One of several parts is a std::tuple. The body
/// is run n times, by all ranks. JAX: fori_loop.
template <class Carry, class Body>
auto loop(std::int64_t n, Carry const& start, Body const& body) {
  auto carry = detail::settled(start);
  using In = decltype(carry);
  using Given = decltype(detail::settled(body(n, carry)));
  if constexpr (any_poisoned<In> || any_poisoned<Given>) {
    return Poisoned{};
  } else if constexpr (!std::is_same_v<In, Given>) {
    return Poisoned(refusal<detail::Plainly<Code::V11_carry_changes>, In, Given>{});
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
  if constexpr (any_poisoned<In> || any_poisoned<Given>) {
    return Poisoned{};
  } else if constexpr (!std::is_same_v<In, Given>) {
    return Poisoned(refusal<detail::Plainly<Code::V11_carry_changes>, In, Given>{});
  } else {
    while (static_cast<bool>(item(condition(std::as_const(carry)))))
      carry = detail::settled(body(std::as_const(carry)));
    return carry;
  }
}

/// `yes(args...)` where the rank-0 bool block `condition`, the same on all ranks, is true, else
/// `no(args...)`; both give one type, or it does not compile: V12. Where every rank decides for itself,
/// `where(condition, a, b)` does. JAX: cond. Refused: V12, V13, A01, A02.
template <class Condition, class Yes, class No, class... Args>
auto branch(Condition const& condition, Yes const& yes, No const& no, Args const&... args) {
  using A = decltype(detail::settled(yes(args...)));
  using B = decltype(detail::settled(no(args...)));
  if constexpr (any_poisoned<A> || any_poisoned<B>) {
    return Poisoned{};
  } else if constexpr (!std::is_same_v<A, B>) {
    return Poisoned(refusal<detail::Plainly<Code::V12_branches_differ>, A, B>{});
  } else {
    return item(condition) ? detail::settled(yes(args...)) : detail::settled(no(args...));
  }
}

}  // namespace shardtype
