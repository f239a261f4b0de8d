#pragma once
/// Named operations along a dim that may be split: shift, halo_exchange and scan. They communicate,
/// and only along the axes of that dim.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/ops/window.hpp>

namespace shardtype {

/// Row i of the result is row i - n of `a`, along I, split or not: `A[I@X, J]` -> `shift<I>(a, 1)` ->
/// `A[I@X, J]`. Rows that come from beyond the ends are zeros, or, with `Edge::wrap`, those of the
/// other end. Each rank sends to others the rows they get from it (`window_bytes`): at most |n| rows
/// while n is no larger than a block, never more than its block; nothing where the dim is not split.
/// Keeps what `a` is unreduced or reduced over. Refused: D01, B03.
template <class I, class A>
auto shift(A const& a, std::int64_t n, Edge edge = Edge::fill_zero,
           std::source_location where = std::source_location::current()) {
  return ops::run_shape<detail::Along<rules::Shape::shift, I>>(
      [](ops::ShapeCall const&) {},
      [&](auto const& run) {
        return ops::AlongRanks(run, "shift", n, edge == Edge::wrap ? 1 : 0, where)
            .fetch(shift_window(n, run.call.extent(), edge));
      },
      a);
}

/// A tensor's local blocks with rows of the neighbouring blocks along I around them: what
/// `halo_exchange` gives. It is no tensor, because the blocks overlap.
template <class A, class I>
class Halo {
 public:
  using element = typename A::element;
  static constexpr std::size_t rank = A::rank;

  Halo(A const& a, Window const& w, Buffer rows)
      : mesh_(a.mesh()), ranges_(a.ranges()), rows_(std::move(rows)) {
    constexpr auto d = static_cast<std::size_t>(dim);
    if (ranges_[d].size() == 0) return;
    ranges_[d] = {ranges_[d].begin + w.low, ranges_[d].end + w.high};
  }

  /// The block with its halo, to read: along I `before` rows, the own rows, `after` rows. On a rank
  /// whose block is empty, so is this.
  typename A::template View<element const> local() const& {
    return view(std::make_index_sequence<rank>{});
  }
  typename A::template View<element const> local() const&& = delete;
  /// Global indices of each dim. Along I they begin before 0 and end beyond the extent where the
  /// halo does.
  std::array<Range, rank> const& ranges() const { return ranges_; }
  std::array<std::int64_t, rank> local_extents() const {
    std::array<std::int64_t, rank> out{};
    for (std::size_t d = 0; d < rank; ++d) out[d] = ranges_[d].size();
    return out;
  }
  MeshRef const& mesh() const { return mesh_; }

 private:
  static constexpr int dim = A::spec.find(Scope<A>::names.find_label(identity<I>));

  template <std::size_t... D>
  typename A::template View<element const> view(std::index_sequence<D...>) const {
    return typename A::template View<element const>(static_cast<element const*>(rows_.data()),
                                                    static_cast<std::size_t>(ranges_[D].size())...);
  }

  MeshRef mesh_;
  std::array<Range, rank> ranges_;
  Buffer rows_;
};

/// The local block of `A[I@X, J]` with the `before` rows that precede it along I and the `after` rows
/// that follow it, whoever holds them, as a `Halo`. Beyond the ends: zeros, or with `Edge::wrap` the
/// rows of the other end. Each rank sends the rows that others want from it (`window_bytes`): before +
/// after rows where neighbouring blocks are at least that long. Refused: D01, B03. Error E41: a negative
/// number of rows.
template <class I, class A>
auto halo_exchange(A const& a, std::int64_t before, std::int64_t after, Edge edge = Edge::fill_zero,
                   std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using Op = detail::Along<rules::Shape::halo, I>;
    using R = Resolve<Op, operand_t<A>>;
    if constexpr (R::verdict) {
      Window const w{before > 0 ? -before : 0, after, edge};
      Buffer rows;
      // a call without a result: its extents are the operand's
      static_cast<void>(ops::run_shape<Op>(
          [&](ops::ShapeCall const& c) {
            static_cast<void>(c.sum(c.sum(before, after), c.extent()));
          },
          [&](auto const& run) {
            rows = ops::AlongRanks(run, "halo_exchange", before,
                                   after * 2 + (edge == Edge::wrap ? 1 : 0), where)
                       .fetch(w);
            return run.buffer;
          },
          a));
      return Halo<operand_t<A>, I>(operand(a), w, std::move(rows));
    } else {
      return Poisoned(refusal<R, operand_t<A>>{});
    }
  }
}

/// Whether a running value takes in its own element.
enum class Scan { inclusive, exclusive };

namespace detail {
template <class... Kind>
inline constexpr rules::Shape scan_of = rules::Shape::scan_sum;
template <>
inline constexpr rules::Shape scan_of<Max> = rules::Shape::scan_max;
template <>
inline constexpr rules::Shape scan_of<Min> = rules::Shape::scan_min;
}  // namespace detail

/// Running sums along I, split or not: `A[I@X, J]` -> `scan<I>(a)` -> `A[I@X, J]`; `scan<I, Max>(a)`
/// and `scan<I, Min>(a)` running maxima and minima. Exclusive ones begin with 0, or with the least or
/// largest number. Ranks scan their blocks and exchange totals: each receives one row from every
/// other rank along I (`scan_bytes`). The order of additions depends on the number of ranks. Refused:
/// D01, B03, D14 unreduced of another kind, D15 maxima of complex numbers and sums of bool. As jnp.cumsum, jnp.cummax.
template <class I, class... Kind, class A>
auto scan(A const& a, Scan how = Scan::inclusive,
          std::source_location where = std::source_location::current()) {
  constexpr rules::Shape op = detail::scan_of<Kind...>;
  return ops::run_shape<detail::Along<op, I>>(
      [](ops::ShapeCall const&) {},
      [&](auto const& run) {
        constexpr ReduceKind kind = op == rules::Shape::scan_max   ? ReduceKind::max
                                    : op == rules::Shape::scan_min ? ReduceKind::min
                                                                   : ReduceKind::sum;
        bool const exclusive = how == Scan::exclusive;
        return ops::AlongRanks(run, "scan", exclusive ? 1 : 0, static_cast<int>(kind), where)
            .template scan<kind>(exclusive);
      },
      a);
}

}  // namespace shardtype
