#pragma once
/// Collectives and casts that only manual mode has: objects and functions. Those that strict mode
/// has too are in ops/collectives.hpp.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include <shardtype/check/block_move.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/check/ragged.hpp>

namespace shardtype {

/// A pair of ranks of a group.
struct SourceDestination {
  int source = 0;
  int destination = 0;
};

// Template arguments are, in this order and as far as an operation has them: `Max`, `Min` or
// `Mean`; mesh axes; indices; ToVarying or ToReduced.
namespace op {

/// Sends the block of one rank of the group to another, as `pairs` says; ranks that receive none
/// get zeros. The caller keeps the pairs alive.
template <class... Xs>
struct Permute {
  using operation = Permute;
  using blocks = detail::Moves<Movement::permute, AxisState::varying>;
  static constexpr std::string_view name = "permute";
  std::span<SourceDestination const> pairs;  // read by index: its iterators cost 20 classes

  /// Error E64: a rank outside the group, or listed twice as source or as destination.
  constexpr void check(std::int64_t ranks) const {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      SourceDestination const& p = pairs[k];
      if (p.source < 0 || p.source >= ranks || p.destination < 0 || p.destination >= ranks)
        fail(p, "the group has ranks 0 to " + std::to_string(ranks - 1));
      for (std::size_t other = 0; other < pairs.size(); ++other) {
        if (other == k) continue;
        SourceDestination const& q = pairs[other];
        if (q.source == p.source) fail(p, "its source stands in another pair too");
        if (q.destination == p.destination) fail(p, "its destination stands in another pair too");
      }
    }
  }
  /// Whether any block is sent to another rank.
  constexpr bool moves(std::int64_t) const {
    for (std::size_t k = 0; k < pairs.size(); ++k)
      if (pairs[k].source != pairs[k].destination) return true;
    return false;
  }
  constexpr planning::Partners partners(std::int64_t me, std::int64_t) const {
    planning::Partners out;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      if (pairs[k].source == me) out.to = pairs[k].destination;
      if (pairs[k].destination == me) out.from = pairs[k].source;
    }
    return out;
  }

 private:
  [[noreturn]] static void fail(SourceDestination const& p, std::string const& what) {
    throw Error("E64",
                "permute was given the pair (" + std::to_string(p.source) + ", " +
                    std::to_string(p.destination) + "): " + what,
                FailedOn::every_rank);
  }
};

/// Sends each block to the rank `by` further in the group, cyclically.
template <class... Xs>
struct Rotate {
  using operation = Rotate;
  using blocks = detail::Moves<Movement::permute, AxisState::varying>;
  static constexpr std::string_view name = "rotate";
  std::int64_t by = 0;

  constexpr bool moves(std::int64_t ranks) const { return by % ranks != 0; }
  constexpr planning::Partners partners(std::int64_t me, std::int64_t ranks) const {
    std::int64_t const step = (by % ranks + ranks) % ranks;
    return {static_cast<int>((me + step) % ranks), static_cast<int>((me + ranks - step) % ranks)};
  }
  constexpr Rotate transposed() const { return {-by}; }
};

/// Broadcasts the block of rank `root` of the group; typed varying if the last of `Xs` is
/// ToVarying.
template <class... Xs>
struct BroadcastFrom {
  using operation = BroadcastFrom;
  using blocks = detail::Moves<Movement::broadcast, AxisState::replicated>;
  static constexpr std::string_view name = "broadcast_from";
  int root = 0;

  /// Error E64: no such rank.
  constexpr void check(std::int64_t ranks) const {
    if (root < 0 || root >= ranks)
      throw Error("E64",
                  "broadcast_from rank " + std::to_string(root) + " of a group of " +
                      std::to_string(ranks) + " ranks",
                  FailedOn::every_rank);
  }
  constexpr planning::Partners partners(std::int64_t, std::int64_t) const { return {-1, root}; }
};

/// Cuts an invariant block along an index; each rank keeps its piece.
template <class... XI>
struct Shard {
  using operation = Shard;
  using blocks = detail::Moves<Movement::shard, AxisState::varying>;
  static constexpr std::string_view name = "shard";
};

/// The same block, typed as varying over `Xs`.
template <class... Xs>
struct ToVarying {
  using operation = ToVarying;
  using blocks = detail::Moves<Movement::cast, AxisState::varying>;
  static constexpr std::string_view name = "varying";
};
/// The same blocks, typed as summands over axes, or with `Max` or `Min` first as candidates of an
/// extremum.
template <class... Named>
struct ToUnreduced {
  using operation = ToUnreduced;
  using blocks = detail::Moves<Movement::cast, AxisState::unreduced>;
  static constexpr std::string_view name = "unreduced";
};

/// For each rank of the group, the rows to send and to receive: JAX's four arrays of
/// ragged_all_to_all.
struct RaggedRows {
  std::span<std::int64_t const> input_offsets;   ///< begin in the operand of the rows for rank g
  std::span<std::int64_t const> send_sizes;      ///< number of these rows
  std::span<std::int64_t const> output_offsets;  ///< their position in rank g's output
  std::span<std::int64_t const> recv_sizes;      ///< number of rows from rank g
};
/// Sends rows of the first dim of the first operand to the ranks of the group, into a copy of the
/// second. The caller keeps the arrays of `rows` alive. With `returns` the transposed exchange: the
/// rows of the first operand go back to where such a call took them from.
template <class... Xs>
struct RaggedAllToAll {
  using operation = RaggedAllToAll;
  static constexpr std::string_view name = "ragged_all_to_all";
  static constexpr bool runs_plan = true;
  RaggedRows rows{};
  bool returns = false;
};

}  // namespace op

namespace api {

/// Sends blocks from rank to rank: `a[I]{V:X}` -> `permute<X>(a, {{0, 1}, {1, 2}})` -> `[I]{V:X}`
/// sends the block of rank 0 of the group to rank 1, and so on. A rank that receives none gets
/// zeros. Each rank sends n bytes. JAX: ppermute. Refused: V01, V03, V06. Error E64: a rank outside
/// the group, or listed twice as source or as destination.
template <class... Xs, detail::FieldType A>
constexpr auto permute(core::Argument<A> const& a, std::span<SourceDestination const> pairs,
                       checking::CallSite where = {}) {
  return api::call(op::Permute<Xs...>{pairs}, where, a.self());
}
template <class... Xs, detail::FieldType A>
constexpr auto permute(core::Argument<A> const& a, std::initializer_list<SourceDestination> pairs,
                       checking::CallSite where = {}) {
  return api::call(op::Permute<Xs...>{pairs}, where, a.self());
}

/// Sends each block to the rank `by` further in the group, cyclically: `a[I]{V:X}` -> `rotate<X>(a,
/// 1)` -> `[I]{V:X}`. Each rank sends n bytes. A permute in which every rank takes part. Refused:
/// V01, V03, V06.
template <class... Xs, detail::FieldType A>
constexpr auto rotate(core::Argument<A> const& a, std::int64_t by, checking::CallSite where = {}) {
  return api::call(op::Rotate<Xs...>{by}, where, a.self());
}

/// Broadcasts the block of rank `root` of the group: `a[I]{V:X}` -> `broadcast_from<X>(a, 0)` ->
/// `[I]`; `(a, 0, to_varying)` gives it the type `{V:X}`. Each rank receives n bytes. JAX:
/// pbroadcast. Refused: V01, V03, V06. Error E64: no such rank.
template <class... Xs, detail::FieldType A>
constexpr auto broadcast_from(core::Argument<A> const& a, int root, checking::CallSite where = {}) {
  return api::call(op::BroadcastFrom<Xs...>{root}, where, a.self());
}
template <class... Xs, detail::FieldType A>
constexpr auto broadcast_from(core::Argument<A> const& a, int root, checking::ToVarying,
                              checking::CallSite where = {}) {
  return api::call(op::BroadcastFrom<Xs..., checking::ToVarying>{root}, where, a.self());
}

/// Cuts an invariant block along I; each rank keeps its piece: `a[I]` -> `shard<X, I>(a)` ->
/// `[I]{V:X}`. Communicates nothing. Refused: V01, V05 a block that varies, K04. Error E61.
template <class... XI, detail::FieldType A>
constexpr auto shard(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Shard<XI...>{}, where, a.self());
}

/// Casts an invariant or reduced block to varying: `a[I]` or `a[I]{R:X}` -> `varying<X>(a)` ->
/// `[I]{V:X}`. Operations cast operands themselves; the carry of a loop may need an explicit cast.
/// Shares memory; communicates nothing. JAX: pvary, pcast(to='varying'). Refused: V01, V04, V06.
template <class... Xs, detail::FieldType A>
constexpr auto varying(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::ToVarying<Xs...>{}, where, a.self());
}

/// Declares the blocks to be summands: `a[I]{V:X}` -> `unreduced<X>(a)` -> `[I]{U:X}`, or
/// candidates of a maximum: `unreduced<Max, X>`. Shares memory; communicates nothing. JAX:
/// pcast(to='unreduced'). Refused: V01, V03, V04, V06, V16.
template <class... Named, detail::FieldType A>
constexpr auto unreduced(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::ToUnreduced<Named...>{}, where, a.self());
}

/// Sends rows of the first dim of `operand[I, ...]{V:X}` to the ranks of the group, to each the
/// number that `rows` says, and puts received rows where `rows` says into a copy of `output[I,
/// ...]`, whose first extent may differ: `ragged_all_to_all<X>(operand, output, rows)` -> `[I,
/// ...]{V:X}`. Offsets and sizes may differ between ranks. Sends the rows, and two numbers per
/// rank. JAX: ragged_all_to_all. Refused: V01, V03, V06, C10, D12. Errors: E23, E24, E64: rows
/// outside a block, or sizes on which two ranks disagree.
template <class... Xs, detail::FieldType A, detail::FieldType B>
constexpr auto ragged_all_to_all(core::Argument<A> const& operand, B const& output,
                                 op::RaggedRows const& rows, checking::CallSite where = {}) {
  return api::call(op::RaggedAllToAll<Xs...>{rows}, where, operand.self(), output);
}

}  // namespace api

}  // namespace shardtype
