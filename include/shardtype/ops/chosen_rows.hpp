#pragma once
/// Rows repeated as often as a tensor of counts says, and rows that a mask keeps: compositions of
/// running sums, sums by ids and lookups, with their plans and gradients. Results have as many rows
/// as the caller says, since sizes do not depend on elements.

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <shardtype/check/call.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/ops/windows.hpp>

namespace shardtype {

namespace detail {

/// Running sums of the rows before each row.
template <class I, class A>
constexpr auto sums_before(A const& a, checking::CallSite where) {
  return api::cumsum<I>(a, op::Cumulate::exclusive, op::Direction::forward, where);
}
/// Running sums that include the row.
template <class I, class A>
constexpr auto sums_up_to(A const& a, checking::CallSite where) {
  return api::cumsum<I>(a, op::Cumulate::inclusive, op::Direction::forward, where);
}
/// For each of `total` rows of K the row of I that it repeats: a mark where each row begins, and
/// how many began so far. Rows that begin behind the last of K mark nothing.
template <class I, class K, class C>
constexpr auto repeated_rows(C const& counts, std::int64_t total, checking::CallSite where) {
  auto const begin = detail::sums_before<I>(counts, where);
  auto const marks =
      api::scatter_add<K>(api::cast<std::int64_t>(begin < total),
                          api::clip(begin, 0, std::max<std::int64_t>(total - 1, 0)), total, where);
  return detail::sums_up_to<K>(marks, where) - 1;
}

}  // namespace detail

namespace api {

/// Repeats each row as often as `counts` says: `a[I, J@X]`, `counts[I]` -> `repeat<I, K>(a, counts,
/// total)` -> `[K, J@X]`, the first `total` of these rows. If there are fewer, the last row is
/// repeated further, as in JAX; of no rows the result is zero. Every rank has the counts, which are
/// std::int32_t or std::int64_t, none of them negative. Communicates nothing; along a split dim,
/// `a[I@X, J]`, the result is unreduced, `[K, J]{U:X}`. `repeat<I, K, Dim<K, X>, Dim<J>>(a, counts,
/// total)` names the result.
///
/// It is `take<I, ...>` by ids that `cumsum` and `scatter_add` make of the counts, with its
/// gradient, plan and refusals: D01, D02, B03; I01 counts that are no integers; P05 split counts,
/// which are resharded first, `reshard<Dim<I>>(counts)`. As jnp.repeat with total_repeat_length.
template <class I, class K, class... Out, class A, class C>
constexpr auto repeat(core::Argument<A> const& a, core::Argument<C> const& counts,
                      std::int64_t total, checking::CallSite where = {}) {
  return api::take<I, Out...>(a.self(), detail::repeated_rows<I, K>(counts.self(), total, where),
                              where);
}

/// The rows that a mask keeps, in order, and their number: `a[I, J@X]`, `mask[I]` of bool ->
/// `compress<I, K>(a, mask, n)` -> std::tuple of `[K, J@X]` and `i64[]`. The result has `n` rows:
/// zeros follow the kept ones, and kept ones that are more than `n` are left out, though the number
/// counts them. Every rank has the mask. Communicates nothing; along a split dim, `a[I@X, J]`, the
/// rows are unreduced, `[K, J]{U:X}`. `compress<I, K, Dim<K, X>, Dim<J>>(a, mask, n)` names the
/// rows and reshards them.
///
/// It is `take<I>` by ids that `cumsum` and `scatter_add` make of the mask, with its gradient and
/// refusals: D01, D02, B03; P09 a mask that is not bool; I02 a split mask, which is resharded
/// first, `reshard<Dim<I>>(mask)`. As jnp.compress with size.
template <class I, class K, class... Out, class A, class M>
constexpr auto compress(core::Argument<A> const& a, core::Argument<M> const& mask, std::int64_t n,
                        checking::CallSite where = {}) {
  auto const& keep = mask.self();
  auto const kept = api::cast<std::int64_t>(keep);
  auto const place = detail::sums_before<I>(kept, where);
  auto const used = api::cast<std::int64_t>(keep && place < n);
  auto const row = detail::sums_before<I>(api::call(op::FullLike<int>{1}, where, place), where);
  auto const to = api::clip(place, 0, std::max<std::int64_t>(n - 1, 0));
  auto const ids = api::scatter_add<K>(used * row, to, n, where);
  auto const found = api::scatter_add<K>(used, to, n, where) > 0;
  auto const rows = api::where(found, api::take<I>(a.self(), ids, where), op::zero);
  if constexpr (sizeof...(Out) > 0) {
    return std::tuple(api::reshard<Out...>(rows, where), api::sum<I>(kept, where));
  } else {
    return std::tuple(rows, api::sum<I>(kept, where));
  }
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_WITHOUT_INDEX(compress)

}  // namespace api

}  // namespace shardtype
