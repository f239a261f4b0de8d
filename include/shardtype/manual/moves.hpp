#pragma once
/// The collectives of manual mode from Locals to plain blocks, done at once or only started.

#include <array>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/manual/block_moves.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype {

/// A pair of ranks, numbered in the group.
struct SourceDestination {
  int source = 0;
  int destination = 0;
};

namespace detail {

/// When the result of a call is there: as it returns, or when the Pending that it returns is waited for.
struct Now {};
struct Later {};

/// One call of a movement: what is resolved from types, and the blocks around it.
template <class When, class R, class A>
struct MoveCall {
  using T = typename A::element;
  using Out = typename R::result;
  using Moves = execute::BlockMoves<T, typename A::memory_space>;

  A const& a;
  std::source_location const& where;
  execute::MoveGroup group{a.mesh().state(), R::S::names, R::axes()};
  extents_of<Out> extents{};

  MoveCall(A const& operand, std::source_location const& at) : a(operand), where(at) {
    for (std::size_t d = 0; d < Out::rank; ++d) {
      constexpr Spec out = R::Holder::value;
      int const from = R::given.find(out.dims[d].label);
      extents[d] = from < 0 ? group.size : a.extents()[static_cast<std::size_t>(from)];
    }
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t e : a.extents()) n *= e;
    return n;
  }
  /// The block around dim `d` of the operand; before the first dim for -1.
  execute::BlockShape around(int d) const {
    execute::BlockShape s;
    for (int k = 0; k < static_cast<int>(A::rank); ++k) {
      std::int64_t const e = a.extents()[static_cast<std::size_t>(k)];
      (k < d ? s.outer : k == d ? s.n : s.inner) *= e;
    }
    return s;
  }
  /// The pieces of dim `d`, or error E61.
  std::int64_t piece(int d) const {
    std::int64_t const n = a.extents()[static_cast<std::size_t>(d)];
    if (n % group.size != 0)
      throw Error("E61",
                  "index " + std::string(R::S::names.label_name[R::given.dims[d].label]) +
                      " of the block has extent " + std::to_string(n) + ", which the " +
                      std::to_string(group.size) +
                      " ranks of the group do not divide; pad it, or reshard before shard_map",
                  FailedOn::every_rank);
    return n / group.size;
  }
  /// Sets the extent of the dim of the result with the label of the operand's dim `d`.
  void set(int d, std::int64_t n) {
    constexpr Spec out = R::Holder::value;
    if (int const to = out.find(R::given.dims[d].label); to >= 0)
      extents[static_cast<std::size_t>(to)] = n;
  }
  template <class Work>
  auto run(Work work) {
    MeshState& mesh = a.mesh().state();
    if constexpr (std::is_same_v<When, Later>) {
      Started started = mesh.start();
      if (Exchange* const later = started.get()) {
        Moves moves(mesh, group, where, later);
        // what was done at once
        if (Buffer result = work(moves); result.data() != nullptr)
          later->result = std::move(result);
      }
      return Pending<Out>(a.mesh(), extents, started, where);
    } else {
      Buffer result;
      if (mesh.here()) {
        Moves moves(mesh, group, where);
        result = work(moves);
      }
      return Out(a.mesh(), extents, std::move(result));
    }
  }
};

/// The one front door: `work(call)` does what `how` says.
template <class When, Movement how, AxisState to, class... Named, class A, class Work>
auto move_block(A const& a, std::source_location const& where, Work work) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using L = operand_t<A>;
    using R = Resolve<MoveBlock<how, to, Named...>, L>;
    if constexpr (R::verdict) {
      decltype(auto) operand_now = operand(a);
      MoveCall<When, R, L> call(operand_now, where);
      return work.template operator()<R>(call);
    } else {
      return Poisoned(refusal<R, L>{});
    }
  }
}

/// The buffer of `a` under another type.
template <AxisState to, class... Named, class A>
auto cast_block(A const& a, std::source_location const& where) {
  return move_block<Now, Movement::cast, to, Named...>(a, where, []<class R>(auto& c) {
    return typename R::result(c.a.mesh(), c.extents, c.a.buffer());
  });
}

/// The sum `out` over the axes that a collective names, by the number of ranks where it names Mean.
template <class... Named, class Out>
auto mean_if_named(Out out) {
  if constexpr (NamedParts<Named...>::mean && !any_poisoned<Out>) {
    std::int64_t ranks = 1;
    [&]<class... Xs>(Pack<Xs...>) {
      place_along<Xs...>(out.mesh().state(), ranks);
    }(typename NamedParts<Named...>::Axes{});
    return (std::move(out) / static_cast<real_of<typename Out::element>>(ranks)).tensor();
  } else {
    return out;
  }
}
template <class... Named, class Out>
auto mean_if_named(Pending<Out> out) {
  if constexpr (NamedParts<Named...>::mean)
    out.then([](Out sum) -> Out { return mean_if_named<Named...>(std::move(sum)); });
  return out;
}

// What each collective does with a call, now or later.

struct GatherBlocks {
  template <class R>
  auto operator()(auto& c) const {
    int const d = R::dim(0);
    execute::BlockShape shape = c.around(d);
    if (d < 0) shape = {1, 1, shape.inner};
    if (d >= 0) c.set(d, shape.n * c.group.size);
    return c.run([&](auto& moves) { return moves.all_gather(c.a.buffer(), shape); });
  }
};

struct BroadcastBlock {
  int root;
  template <class R>
  auto operator()(auto& c) const {
    if (root < 0 || root >= c.group.size)
      throw Error("E64",
                  "broadcast_from rank " + std::to_string(root) + " of a group of " +
                      std::to_string(c.group.size) + " ranks",
                  FailedOn::every_rank);
    return c.run([&](auto& moves) { return moves.broadcast(c.a.buffer(), c.elements(), root); });
  }
};

struct ReduceBlocks {
  template <class R>
  auto operator()(auto& c) const {
    return c.run(
        [&](auto& moves) { return moves.all_reduce(c.a.buffer(), c.elements(), R::Parts::kind); });
  }
};

struct ScatterBlocks {
  template <class R>
  auto operator()(auto& c) const {
    int const d = R::dim(0);
    c.set(d, c.piece(d));
    return c.run([&](auto& moves) {
      return moves.reduce_scatter(c.a.buffer(), c.around(d), R::Parts::kind);
    });
  }
};

struct ExchangePieces {
  template <class R>
  auto operator()(auto& c) const {
    constexpr int split = R::dim(0);
    constexpr bool alone = R::named.rank < 2 || R::named.dims[0].label == R::named.dims[1].label;
    constexpr int join = alone ? split : R::dim(1);
    std::int64_t const piece = c.piece(split);
    execute::BlockShape s = c.around(split);
    if constexpr (join < 0) {
      if (piece != 1)
        throw Error("E61",
                    "an all_to_all that makes a new dim gives each rank one row, and the block "
                    "has " +
                        std::to_string(s.n) + " rows for " + std::to_string(c.group.size) +
                        " ranks; name a dim of the block to put the pieces together along",
                    FailedOn::every_rank);
      // [outer, p, inner] -> [p, outer, inner]: the rows come one behind the other
      return c.run([&](auto& moves) { return moves.rows_to_all(c.a.buffer(), s); });
    } else if constexpr (join == split) {
      s.n = piece;
      return c.run([&](auto& moves) { return moves.all_to_all(c.a.buffer(), s); });
    } else {
      c.set(split, piece);
      c.set(join, c.a.extents()[static_cast<std::size_t>(join)] * c.group.size);
      return c.run([&](auto& moves) {
        return moves.all_to_all(c.a.buffer(), c.a.extents().data(), R::given.rank, split, join);
      });
    }
  }
};

struct PermuteBlocks {
  std::span<SourceDestination const> pairs;
  template <class R>
  auto operator()(auto& c) const {
    int const ranks = static_cast<int>(c.group.size);
    int const me = static_cast<int>(c.group.place());
    int to = -1;
    int from = -1;
    for (SourceDestination const& p : pairs) {
      auto const wrong = [&](std::string const& what) {
        throw Error("E64",
                    "permute was given the pair (" + std::to_string(p.source) + ", " +
                        std::to_string(p.destination) + "): " + what,
                    FailedOn::every_rank);
      };
      if (p.source < 0 || p.source >= ranks || p.destination < 0 || p.destination >= ranks)
        wrong("the group has ranks 0 to " + std::to_string(ranks - 1));
      for (SourceDestination const& q : pairs) {
        if (&q == &p) continue;
        if (q.source == p.source) wrong("its source stands in another pair too");
        if (q.destination == p.destination) wrong("its destination stands in another pair too");
      }
      if (p.source == me) to = p.destination;
      if (p.destination == me) from = p.source;
    }
    return c.run([&](auto& moves) { return moves.permute(c.a.buffer(), c.elements(), to, from); });
  }
};

struct RotateBlocks {
  std::int64_t by;
  template <class R>
  auto operator()(auto& c) const {
    std::int64_t const p = c.group.size;
    std::int64_t const step = (by % p + p) % p;
    std::int64_t const me = c.group.place();
    return c.run([&](auto& moves) {
      return moves.permute(c.a.buffer(), c.elements(), static_cast<int>((me + step) % p),
                           static_cast<int>((me + p - step) % p));
    });
  }
};

/// Whether an operand is a Local, an expression of Locals, or what must be refused here for both modes.
template <class A>
inline constexpr bool is_block = is_local<operand_t<A>> || is_poisoned<A> || is_pending<A>;

}  // namespace detail

}  // namespace shardtype
