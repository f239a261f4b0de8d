#pragma once
/// Rows added around a dim.

#include <cstdint>
#include <source_location>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/call.hpp>

namespace shardtype {

namespace detail {
/// The type of a pad value for `A`; double if A is not a tensor.
template <class A>
struct ElementOr {
  using type = double;
};
template <class A>
  requires(is_tensor<A>)
struct ElementOr<A> {
  using type = element_t<A>;
};
template <class A>
  requires is_lazy<A>
struct ElementOr<A> {
  using type = element_t<typename A::whole>;
};
template <class A>
using element_or_t = typename ElementOr<operand_t<A>>::type;
}  // namespace detail

namespace op {

/// The number of rows that `pad` adds between each two rows, as in lax.pad.
struct Interior {
  std::int64_t rows = 0;
};

}  // namespace op

namespace execute {
template <class I, class... Result>
struct Run<op::Pad<I, Result...>> : LocalBlock<Run<op::Pad<I, Result...>>> {
  template <class Call>
  static Buffer block(op::Pad<I, Result...> const& op, Call const& run) {
    return run.pad(op.before, op.interior, {});
  }
};
template <class T, class I, class... Result>
struct Run<op::PadValue<T, I, Result...>> : LocalBlock<Run<op::PadValue<T, I, Result...>>> {
  template <class Call>
  static Buffer block(op::PadValue<T, I, Result...> const& op, Call const& run) {
    return run.pad(op.before, op.interior, op.value);
  }
};
}  // namespace execute

/// Adds `before` and `after` rows of zeros around dim J: `A[I@X, J]{U:Y}` -> `pad<J>(a, 1, 1)` ->
/// `[I@X, J]{U:Y}`. Local; copies. Refused: D01, D02, D03, D05, D07. Error E41: a negative amount.
/// As jnp.pad.
template <class I, class... Result, class A>
constexpr auto pad(A const& a, std::int64_t before, std::int64_t after,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Pad<I, Result...>{before, after}, where, a);
}
/// As above with another value. Refused as well: D11 an unreduced sum, because every summand would
/// get the value. An unreduced maximum or minimum is accepted: every candidate gets it.
template <class I, class... Result, class A>
constexpr auto pad(A const& a, std::int64_t before, std::int64_t after,
                   detail::element_or_t<A> value,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::PadValue<detail::element_or_t<A>, I, Result...>{before, after, value}, where, a);
}
/// Both with rows between each two rows as well: row k of `a` becomes row before + k (interior + 1).
/// `pad<J>(ct, begin, rest, op::Interior{step - 1})` is the transpose of `slice<J>(a, begin, end,
/// step)`. As lax.pad.
template <class I, class... Result, class A>
constexpr auto pad(A const& a, std::int64_t before, std::int64_t after, op::Interior interior,
                   checking::CallSite where = std::source_location::current()) {
  return call(op::Pad<I, Result...>{before, after, interior.rows}, where, a);
}
template <class I, class... Result, class A>
constexpr auto pad(A const& a, std::int64_t before, std::int64_t after, op::Interior interior,
                   detail::element_or_t<A> value,
                   checking::CallSite where = std::source_location::current()) {
  return call(
      op::PadValue<detail::element_or_t<A>, I, Result...>{before, after, value, interior.rows},
      where, a);
}

}  // namespace shardtype
