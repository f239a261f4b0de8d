// Collectives of manual mode, in a shard_map. They run over an axis along which the tensor is
// replicated; the tensor is not split, so all blocks are equal. The result of each case is the
// tensor itself.
#pragma once

#include <array>
#include <vector>

#include "harness/case.hpp"
#include "harness/sample.hpp"

namespace programs::cases {

struct ByHand : Case {
  static constexpr int seldom_fits = 1;
  static constexpr bool recorded = false;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    for (int d = 0; d < r.a.rank; ++d)
      if (r.a.dims[d].axes.size > 0) return Rules::no();
    return r.a.state(in.axis) == core::AxisState::replicated ? rules::accept(r.a) : Rules::no();
  }
  static Int element(Cell const& c) { return c.a(); }
};

// Rotate over the whole group, then broadcast the first rank's block.
struct Rotated : ByHand {
  static auto perform(auto on) {
    using X = typename decltype(on)::Axis;
    return shard_map<typename decltype(on)::Out>(
        [](auto const& block) { return broadcast_from<X>(rotate<X>(varying<X>(block), 1), 0); },
        on.a);
  }
};
// Permute from the first rank to the last, which then has the whole of a pending sum.
struct Permuted : ByHand {
  static constexpr Taken takes = one(numbers);
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    rules::Verdict v = ByHand::rule(r, in);
    if (!v || !r.a.unreduced.empty()) return Rules::no();
    v.result.unreduced.insert(in.axis);
    v.result.kind = core::ReduceKind::sum;
    return v;
  }
  static bool has_part(Instruction const& in, Spec const&, planning::Sizing const& z,
                       Coords const& me) {
    return me[in.axis] == z.sizes[in.axis] - 1;
  }
  static auto perform(auto on) {
    using X = typename decltype(on)::Axis;
    int const last = static_cast<int>(on.ranks()) - 1;
    return shard_map<typename decltype(on)::Out>(
        [last](auto const& block) {
          return unreduced<X>(permute<X>(varying<X>(block), {{0, last}}));
        },
        on.a);
  }
};
// Tiles as many copies as there are ranks; each rank keeps one, and an all_gather collects them.
// The first copy is the result.
struct Resharded : ByHand {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.mine.contains(in.from) ? ByHand::rule(r, in) : Rules::no();
  }
  static auto perform(auto on) {
    using X = typename decltype(on)::Axis;
    using V = typename decltype(on)::V;
    return shard_map<typename decltype(on)::Out>(
        [ranks = on.ranks(), n = on.n](auto const& block) {
          return slice<V>(all_gather<X, V>(shard<X, V>(tile<V>(block, ranks))), 0, n);
        },
        on.a);
  }
};
// all_to_all sends all rows to the next rank, then the first rank's block is broadcast.
struct Exchanged : ByHand {
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return r.a.rank > 0 ? ByHand::rule(r, in) : Rules::no();
  }
  static auto perform(auto on) {
    using X = typename decltype(on)::Axis;
    return shard_map<typename decltype(on)::Out>(
        [ranks = on.ranks(), me = on.place()](auto const& block) {
          std::vector<Int> const none(static_cast<std::size_t>(ranks), 0);
          std::vector<Int> sent = none;
          std::vector<Int> received = none;
          sent[static_cast<std::size_t>((me + 1) % ranks)] = block.extents()[0];
          received[static_cast<std::size_t>((me + ranks - 1) % ranks)] = block.extents()[0];
          auto const mine = varying<X>(block);
          return broadcast_from<X>(ragged_all_to_all<X>(mine, mine, {none, sent, none, received}),
                                   0);
        },
        on.a);
  }
};

using Blocks = CaseList<Rotated, Permuted, Resharded, Exchanged>;

}  // namespace programs::cases

namespace samples {

inline constexpr SourceDestination pairs[] = {{0, 1}};

inline constexpr std::tuple manual_samples{
    on<"BroadcastFrom", "broadcast_from", Block>(op::BroadcastFrom<X>{1}),
    on<"Permute", "permute", Block>(op::Permute<X>{pairs}),
    on<"RaggedAllToAll", "ragged_all_to_all", Block, Block>(op::RaggedAllToAll<X>{}),
    on<"Rotate", "rotate", Block>(op::Rotate<X>{1}),
    on<"Shard", "shard", Same>(op::Shard<X, I>{}),
    on<"ToUnreduced", "unreduced", Block>(op::ToUnreduced<X>{}),
    on<"ToVarying", "varying", Same>(op::ToVarying<X>{})};

}  // namespace samples
