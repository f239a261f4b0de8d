#pragma once
/// Runs on Locals the collectives and the cast that strict mode has too.
///
/// Each takes mesh axes, in the order in which the ranks of the group are numbered (first axis
/// major), and then the dims it works along. Pieces must be equal, else Error E61.

#include <cstdint>

#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/all_gather.hpp>
#include <shardtype/ops/all_reduce.hpp>
#include <shardtype/ops/all_to_all.hpp>
#include <shardtype/ops/reduce_scatter.hpp>
#include <shardtype/ops/reduced.hpp>

namespace shardtype::execute {

template <class... Named>
struct RunBlocks<op::AllGather<Named...>> : MovesBlock<RunBlocks<op::AllGather<Named...>>> {
  template <class R, class Call>
  static auto move(op::AllGather<Named...> const&, Call const& c) {
    int const d = R::dim(0);
    BlockShape shape = c.around(d);
    if (d < 0) shape = {1, 1, shape.inner};
    return c.run([&](auto& moves) { return moves.all_gather(c.a.buffer(), shape); });
  }
};

template <class... Named>
struct RunBlocks<op::AllReduce<Named...>> : MovesBlock<RunBlocks<op::AllReduce<Named...>>> {
  template <class R, class Call>
  static auto move(op::AllReduce<Named...> const&, Call const& c) {
    return c.run(
        [&](auto& moves) { return moves.all_reduce(c.a.buffer(), c.elements(), R::Parts::kind); });
  }
};

template <class... Named>
struct RunBlocks<op::ReduceScatter<Named...>> : MovesBlock<RunBlocks<op::ReduceScatter<Named...>>> {
  template <class R, class Call>
  static auto move(op::ReduceScatter<Named...> const&, Call const& c) {
    return c.run([&](auto& moves) {
      return moves.reduce_scatter(c.a.buffer(), c.around(R::dim(0)), R::Parts::kind);
    });
  }
};

template <class... Named>
struct RunBlocks<op::AllToAll<Named...>> : MovesBlock<RunBlocks<op::AllToAll<Named...>>> {
  template <class R, class Call>
  static auto move(op::AllToAll<Named...> const&, Call const& c) {
    constexpr int split = R::dim(0);
    constexpr bool alone = R::named.rank < 2 || R::named.dims[0].label == R::named.dims[1].label;
    constexpr int join = alone ? split : R::dim(1);
    BlockShape s = c.around(split);
    if constexpr (join < 0) {
      // [outer, p, inner] -> [p, outer, inner]: the received rows are concatenated
      return c.run([&](auto& moves) { return moves.rows_to_all(c.a.buffer(), s); });
    } else if constexpr (join == split) {
      s.n /= c.group.size;
      return c.run([&](auto& moves) { return moves.all_to_all(c.a.buffer(), s); });
    } else {
      return c.run([&](auto& moves) {
        return moves.all_to_all(c.a.buffer(), c.a.extents().data(), R::given.rank, split, join);
      });
    }
  }
};

template <class... Xs>
struct RunBlocks<op::ToReduced<Xs...>> : CastsBlock {};

}  // namespace shardtype::execute
