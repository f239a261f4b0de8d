#pragma once
/// Tokens as rows of experts, as operations: numbers and places of the rows, copies on a rank, and
/// the exchange between ranks. run_experts.hpp runs them.

#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/nn/types_ragged_dot.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype {

namespace nn::detail {

struct Ranks : Index<"rank"> {};
struct SentRows : Index<"sent row"> {};
struct ExpertRows : Index<"row"> {};

/// The capacity of experts that take all rows.
inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace nn::detail

namespace rules {

/// Ids `[S@X, K]` of experts.
constexpr Verdict expert_ids(Spec const& ids) {
  if (ids.rank != 2)
    return refuse(Code::D18_rows_and_groups, ids.rank > 0 ? ids.dims[0].label : -1);
  if (ids.dims[1].axes.size > 0)
    return refuse(Code::D03_along_split, ids.dims[1].label, -1, ids.dims[1].axes[0]);
  if (AxisList const& a = ids.dims[0].axes; a.cyclic != 0)
    return refuse(Code::B03_through_cyclic, ids.dims[0].label, -1, a[0]);
  for (int x = 0; x < max_axes; ++x)
    if (ids.unreduced.contains(x)) return refuse(Code::I02_ids_unreduced, -1, -1, x);
  return accept(ids);
}
/// The dims of tokens and choices, and the axes that split their rows: of places `[S@X, K]` on the
/// ranks of the tokens, or `[P@X, S, K]` on ranks that each have places for all tokens.
struct TokenDims {
  DimSpec tokens, choices;
  AxisList rows;
  bool each_rank;
  constexpr explicit TokenDims(Spec const& places)
      : tokens(places.dims[places.rank - 2]),
        choices(places.dims[places.rank - 1]),
        rows(places.dims[0].axes),
        each_rank(places.rank == 3) {}
};
constexpr Verdict token_operands(Spec const& x, Spec const& places, Spec const* weights) {
  if (places.rank != 2 && places.rank != 3)
    return refuse(Code::D18_rows_and_groups, places.rank > 0 ? places.dims[0].label : -1);
  TokenDims const t(places);
  if (x.rank != 2 || !(x.dims[0] == t.tokens))
    return refuse(Code::D18_rows_and_groups, t.tokens.label);
  if (weights != nullptr &&
      (weights->rank != 2 || !(weights->dims[0] == t.tokens) || !(weights->dims[1] == t.choices)))
    return refuse(Code::D18_rows_and_groups, t.choices.label);
  if (x.dims[1].axes.cyclic != 0)
    return refuse(Code::B03_through_cyclic, x.dims[1].label, -1, x.dims[1].axes[0]);
  for (int k = 0; k < t.rows.size; ++k)
    if (x.dims[1].axes.contains(t.rows[k]))
      return refuse(Code::C04_axis_splits_two, -1, -1, t.rows[k]);
  return accept(x);
}
/// x[S@X, D], places, weights or none: rows [Q@X, D].
constexpr Verdict spread_rows(Question const& q) {
  Spec const* const weights = q.count > 2 ? &q.operands[2] : nullptr;
  if (Verdict v = token_operands(q.a(), q.operands[1], weights); !v) return v;
  Spec out;
  out.add(q.to.dims[0].label, TokenDims(q.operands[1]).rows);
  out.add(q.a().dims[1].label, q.a().dims[1].axes);
  return factor_states(out, q.a(), weights != nullptr ? *weights : Spec{});
}
/// `v` as a sum over the ranks that each have places for all tokens.
constexpr Verdict over_ranks(Verdict v, TokenDims const& t) {
  for (int k = 0; v && t.each_rank && k < t.rows.size; ++k)
    v.result.unreduced.insert(t.rows[k]), v.result.reduced.erase(t.rows[k]);
  return v;
}
/// rows[Q@X, D], places, weights or none: [S@X, D].
constexpr Verdict combine_rows(Question const& q) {
  Spec const* const weights = q.count > 2 ? &q.operands[2] : nullptr;
  Spec const& places = q.operands[1];
  if (places.rank != 2 && places.rank != 3) return refuse(Code::D18_rows_and_groups);
  TokenDims const t(places);
  if (q.a().rank != 2 || !(q.a().dims[0].axes == t.rows))
    return refuse(Code::D18_rows_and_groups, t.tokens.label);
  Spec out;
  out.add(t.tokens.label, t.tokens.axes);
  out.add(q.a().dims[1].label, q.a().dims[1].axes);
  if (Verdict v = token_operands(out, places, weights); !v) return v;
  return over_ranks(factor_states(out, q.a(), weights != nullptr ? *weights : Spec{}), t);
}
/// x[S@X, D], rows[Q@X, D], places: [S@X, K].
constexpr Verdict row_dots(Question const& q) {
  Spec const& rows = q.operands[1];
  if (Verdict v = token_operands(q.a(), q.operands[2], nullptr); !v) return v;
  TokenDims const t(q.operands[2]);
  if (rows.rank != 2 || !(rows.dims[0].axes == t.rows) || !(rows.dims[1] == q.a().dims[1]))
    return refuse(Code::D18_rows_and_groups, t.tokens.label);
  Spec out;
  out.add(t.tokens.label, t.tokens.axes);
  out.add(t.choices.label);
  Verdict v = over_ranks(factor_states(out, q.a(), rows), t);
  if (!v) return v;
  for (int k = 0; k < rows.dims[1].axes.size; ++k) v.result.unreduced.insert(rows.dims[1].axes[k]);
  return v;
}
/// rows[Q@X, D], sent[P@X, E], received[P, E@X]: [R@X, D], and the other way.
constexpr Verdict exchange_rows(Question const& q) {
  Spec const& sent = q.operands[1];
  Spec const& received = q.operands[2];
  if (q.a().local) return refuse(Code::V02_wrong_mode);
  if (q.a().rank != 2 || sent.rank != 2 || received.rank != 2)
    return refuse(Code::D18_rows_and_groups, q.a().rank > 0 ? q.a().dims[0].label : -1);
  AxisList const& axes = q.a().dims[0].axes;
  if (!(sent.dims[0].axes == axes) || !(received.dims[1].axes == axes) ||
      sent.dims[1].axes.size > 0 || received.dims[0].axes.size > 0)
    return refuse(Code::D18_rows_and_groups, sent.dims[1].label, -1, axes.size > 0 ? axes[0] : -1);
  Spec out = q.a();
  out.dims[0].label = q.to.dims[0].label;
  return accept(out);
}

}  // namespace rules

namespace nn::detail {

template <class A>
constexpr rules::Code ids_only() {
  return shardtype::detail::is_id<checking::element_t<A>> ? rules::Code::ok
                                                          : rules::Code::I01_not_integers;
}
/// Error E41, the same on all ranks.
constexpr void check_capacity(std::int64_t rows) {
  if (rows < 0)
    ResultExtents::fail("the capacity of an expert is " + std::to_string(rows) +
                        " rows of each rank; it is a number of rows, 0 or more");
}
/// `n` rows on each of the ranks of `axes`.
constexpr std::int64_t rows_on(ResultExtents const& c, AxisList const& axes, std::int64_t n) {
  return mul_sat(c.sizes.product(axes), n);
}

}  // namespace nn::detail

namespace op {

/// For each rank the rows that its ids `[S@X, K]` give each of `experts` experts: `[P@X, E]`.
template <class E>
struct ExpertCounts {
  using operation = ExpertCounts;
  using to = Mentions<Dim<nn::detail::Ranks>, Dim<E>>;
  static constexpr std::string_view name = "expert_counts";
  std::int64_t experts = 0;
  std::int64_t capacity = nn::detail::no_limit;
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::expert_ids(q.a());
    if (!v) return v;
    v.result.rank = 0;
    v.result.add(q.to.dims[0].label, q.a().dims[0].axes);
    v.result.add(q.to.dims[1].label);
    return v;
  }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::ids_only<A>();
  }
  template <class A>
  using element = std::int64_t;
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::check_capacity(capacity);
    c.out[0] = nn::detail::rows_on(c, c.result.dims[0].axes, 1);
    c.out[1] = experts;
  }
  template <class Out, class A>
  void fill(Out& out, A const& ids) const;
};
/// The place of each id `[S@X, K]` among the rows of its rank, expert by expert; -1 where it has
/// none.
struct ExpertPlaces {
  using operation = ExpertPlaces;
  static constexpr std::string_view name = "expert_places";
  static constexpr bool recorded = false;  ///< the rows of a rank are numbered
  std::int64_t experts = 0;
  std::int64_t capacity = nn::detail::no_limit;
  static constexpr Verdict rule(rules::Question const& q) { return rules::expert_ids(q.a()); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::ids_only<A>();
  }
  template <class A>
  using element = std::int64_t;
  constexpr void extents(ResultExtents const&) const { nn::detail::check_capacity(capacity); }
  template <class Out, class A>
  void fill(Out& out, A const& ids) const;
};
/// For each rank the places of all ids `[S, K]` among the rows of its own experts, those of
/// `sizes[E@X]`: `[P@X, S, K]`.
struct OwnExpertPlaces {
  using operation = OwnExpertPlaces;
  using to = Mentions<Dim<nn::detail::Ranks>>;
  static constexpr std::string_view name = "own_expert_places";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::expert_ids(q.a());
    if (!v) return v;
    Spec const& sizes = q.operands[1];
    if (sizes.rank != 1 || q.a().dims[0].axes.size > 0)
      return rules::refuse(Code::D18_rows_and_groups, q.a().dims[0].label);
    v.result.rank = 0;
    v.result.add(q.to.dims[0].label, sizes.dims[0].axes);
    for (int d = 0; d < 2; ++d) v.result.add(q.a().dims[d].label);
    for (int k = 0; k < sizes.dims[0].axes.size; ++k) v.result.reduced.erase(sizes.dims[0].axes[k]);
    return v;
  }
  template <class A, class B>
  static constexpr Code elements() {
    return nn::detail::ids_only<A>();
  }
  template <class A, class B>
  using element = std::int64_t;
  constexpr void extents(ResultExtents const& c) const {
    c.out[0] = nn::detail::rows_on(c, c.result.dims[0].axes, 1);
  }
  template <class Out, class A, class B>
  void fill(Out& out, A const& ids, B const& sizes) const;
};
/// The sum of each rank's block of `sizes[E@X]`: `[P@X]`.
struct RowsOnRanks {
  using operation = RowsOnRanks;
  using to = Mentions<Dim<nn::detail::Ranks>>;
  static constexpr std::string_view name = "rows_on_ranks";
  static constexpr Verdict rule(rules::Question const& q) {
    Spec out = q.a();
    out.dims[0].label = q.to.dims[0].label;
    return q.a().rank == 1 ? rules::accept(out) : rules::refuse(Code::D18_rows_and_groups);
  }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::ids_only<A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    c.out[0] = nn::detail::rows_on(c, c.result.dims[0].axes, 1);
  }
  template <class Out, class A>
  void fill(Out& out, A const& sizes) const;
};

/// Each token to the rows that stand for it, times its weights if there are any. `each`: rows of a
/// rank; -1: its tokens times choices, or the share of a rank where each has places for all tokens.
template <class To>
struct SpreadRows {
  using operation = SpreadRows;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<To>>;
  static constexpr std::string_view name = "spread_rows";
  std::int64_t each = -1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::spread_rows(q); }
  template <class A, class Ids, class... W>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<Ids, A, W...>();
  }
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::check_operands(c);
    rules::TokenDims const t(c.operand(1));
    int const d = c.operand(1).rank - 2;
    std::int64_t const choices = c.given[1][d + 1];
    std::int64_t n = each;
    if (n < 0)
      n = t.each_rank
              ? ceil_div(mul_sat(c.given[1][d], choices), c.sizes.product(t.rows))
              : mul_sat(core::largest_block(c.given[1][d], t.tokens.axes, c.sizes), choices);
    c.out[0] = nn::detail::rows_on(c, t.rows, n);
  }
  template <class Out, class A, class Ids, class... W>
  void fill(Out& out, A const& x, Ids const& places, W const&... weights) const;
  template <class V, class A, class Ids, class... W>
  constexpr auto save(V const&, A const& x, Ids const& places, W const&... weights) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// The sum of the rows of each token, times its weights if there are any.
struct CombineRows {
  using operation = CombineRows;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "combine_rows";
  static constexpr Verdict rule(rules::Question const& q) { return rules::combine_rows(q); }
  template <class A, class Ids, class... W>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<Ids, A, W...>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  template <class Out, class A, class Ids, class... W>
  void fill(Out& out, A const& rows, Ids const& places, W const&... weights) const;
  template <class V, class A, class Ids, class... W>
  constexpr auto save(V const&, A const& rows, Ids const& places, W const&... weights) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// The product of each token with each of its rows.
struct RowDots {
  using operation = RowDots;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "row_dots";
  static constexpr Verdict rule(rules::Question const& q) { return rules::row_dots(q); }
  template <class A, class B, class Ids>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<Ids, A, B>();
  }
  constexpr void extents(ResultExtents const& c) const { nn::detail::check_operands(c); }
  template <class Out, class A, class B, class Ids>
  void fill(Out& out, A const& x, B const& rows, Ids const& places) const;
  template <class V, class A, class B, class Ids>
  constexpr auto save(V const&, A const& x, B const& rows, Ids const& places) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};
/// Rows to the ranks of their experts, where they lie expert by expert, and (`Back`) to the ranks
/// that they came from. `each`: rows of a rank; -1: as many as before. `capacity`: rows that a rank
/// sends an expert at most, so that the number of rows is known without looking at the ids; -1:
/// none was given.
template <bool Back>
struct ExchangeRows {
  using operation = ExchangeRows;
  using gradient = checking::PullsBySaved;
  using to = Mentions<Dim<std::conditional_t<Back, nn::detail::SentRows, nn::detail::ExpertRows>>>;
  static constexpr std::string_view name = Back ? "return_rows" : "exchange_rows";
  static constexpr bool communicates = true;
  std::int64_t each = -1;
  std::int64_t capacity = -1;
  static constexpr Verdict rule(rules::Question const& q) { return rules::exchange_rows(q); }
  template <class A, class B, class C>
  static constexpr Code elements() {
    return nn::detail::grouped_elements<B, A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    AxisList const& axes = c.result.dims[0].axes;
    std::int64_t n = each;
    if (n < 0 && capacity >= 0) {
      n = mul_sat(mul_sat(core::largest_block(c.given[2][1], axes, c.sizes), capacity),
                  c.sizes.product(axes));
      // no more than all rows that there are
      if (c.given[0][0] >= 0 && c.given[0][0] < n) n = c.given[0][0];
    }
    c.out[0] = n < 0 ? c.given[0][0] : nn::detail::rows_on(c, axes, n);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    Step s = planning::chosen_rows_step(c.operands[0], c.operands[0].dims[0].axes, Slot::a);
    s.before = s.after = c.operands[0];
    p.push(s);
  }
  /// Rows from several ranks are sorted by expert in a copy.
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return {0, mul_sat(Back ? c.elements(0) : c.result_elements(), c.element_bytes(0)), false};
  }
  template <class R, class A, class B, class C>
  typename R::result run(std::source_location const& where, A const& rows, B const& sent,
                         C const& received) const;
  template <class V, class A, class B, class C>
  constexpr auto save(V const&, A const& rows, B const& sent, C const& received) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op

}  // namespace shardtype
