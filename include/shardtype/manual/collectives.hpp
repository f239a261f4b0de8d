#pragma once
/// The collectives of manual mode, on Locals: the names of strict mode, and what it has no need of.
///
/// Each takes mesh axes, in the order in which the ranks of the group are numbered (first axis major), and
/// then the dims it works along. Pieces are equal, or it is an Error, E61.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/manual/block_moves.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/ops/elementwise.hpp>

namespace shardtype {

/// What the result of a collective that makes all blocks equal is typed as: invariant, unless the call
/// says otherwise, as in `all_gather<X, I>(a, to_varying)`.
struct ToVarying {};
struct ToReduced {};
inline constexpr ToVarying to_varying{};
inline constexpr ToReduced to_reduced{};

/// A pair of ranks, numbered in the group.
struct SourceDestination {
  int source = 0;
  int destination = 0;
};

namespace detail {

/// One call of a movement: what is resolved from types, and the blocks around it.
template <class R, class A>
struct MoveCall {
  using T = typename A::element;
  using Out = typename R::result;
  using Moves = ops::BlockMoves<T, typename A::memory_space>;

  A const& a;
  std::source_location const& where;
  ops::MoveGroup group{a.mesh().state(), R::S::names, R::axes()};
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
  ops::BlockShape around(int d) const {
    ops::BlockShape s;
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
  Out run(Work work) {
    Buffer result;
    if (a.mesh().here()) {
      Moves moves(a.mesh().state(), group, where);
      result = work(moves);
    }
    return Out(a.mesh(), extents, std::move(result));
  }
};

/// The one front door: `work(call)` does what `how` says.
template <Movement how, AxisState to, class... Named, class A, class Work>
auto move_block(A const& a, std::source_location const& where, Work work) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using L = operand_t<A>;
    using R = Resolve<MoveBlock<how, to, Named...>, L>;
    if constexpr (R::verdict) {
      decltype(auto) operand_now = operand(a);
      MoveCall<R, L> call(operand_now, where);
      return work.template operator()<R>(call);
    } else {
      return Poisoned(refusal<R, L>{});
    }
  }
}

/// The buffer of `a` under another type.
template <AxisState to, class... Named, class A>
auto cast_block(A const& a, std::source_location const& where) {
  return move_block<Movement::cast, to, Named...>(a, where, []<class R>(auto& c) {
    return typename R::result(c.a.mesh(), c.extents, c.a.buffer());
  });
}

template <AxisState to, class... Named, class A>
auto gather_block(A const& a, std::source_location const& where) {
  return move_block<Movement::all_gather, to, Named...>(a, where, []<class R>(auto& c) {
    int const d = R::dim(0);
    ops::BlockShape shape = c.around(d);
    if (d < 0) shape = {1, 1, shape.inner};
    if (d >= 0) c.set(d, shape.n * c.group.size);
    return c.run([&](auto& moves) { return moves.all_gather(c.a.buffer(), shape); });
  });
}

template <AxisState to, class... Xs, class A>
auto broadcast_block(A const& a, int root, std::source_location const& where) {
  return move_block<Movement::broadcast, to, Xs...>(a, where, [&]<class R>(auto& c) {
    if (root < 0 || root >= c.group.size)
      throw Error("E64",
                  "broadcast_from rank " + std::to_string(root) + " of a group of " +
                      std::to_string(c.group.size) + " ranks",
                  FailedOn::every_rank);
    return c.run([&](auto& moves) { return moves.broadcast(c.a.buffer(), c.elements(), root); });
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

/// Whether an operand is a Local, an expression of Locals, or what a refused operation gave.
template <class A>
inline constexpr bool is_block = is_local<operand_t<A>> || is_poisoned<A>;

}  // namespace detail

/// `a[I]{V:X}` -> `all_reduce<X>(a)` -> `[I]`: the sum of the ranks' blocks, on all; also `[I]{U:X}` ->
/// `[I]`. `all_reduce<Max, X>`, `<Min, X>` and `<Mean, X>` (by the number of ranks) likewise. One
/// AllReduce, 2 n (p - 1) / p bytes. JAX: psum, pmax, pmin, pmean. Refused: V03 of an invariant block
/// (JAX multiplies it by the number of ranks), V06, V16, C11 of bools, S04, P12.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_reduce(A const& a, std::source_location where = std::source_location::current()) {
  auto out = detail::move_block<Movement::all_reduce, AxisState::replicated, Named...>(
      a, where, []<class R>(auto& c) {
        return c.run([&](auto& moves) {
          return moves.all_reduce(c.a.buffer(), c.elements(), R::Parts::kind);
        });
      });
  return detail::mean_if_named<Named...>(std::move(out));
}

/// `a[I, J]{V:X}` -> `all_gather<X, I>(a)` -> `[I, J]`, invariant: the blocks of the group behind one
/// another along I. An index that `a` lacks becomes a new first dim of one row per rank (JAX: untiled).
/// `all_gather<X, I>(a, to_varying)` leaves it typed `{V:X}` (JAX's default), `to_reduced` `{R:X}` (its
/// cotangent is then a reduce_scatter). Receives n (p - 1) bytes. Refused: V03, V06.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_gather(A const& a, std::source_location where = std::source_location::current()) {
  return detail::gather_block<AxisState::replicated, Named...>(a, where);
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather(A const& a, ToVarying,
                std::source_location where = std::source_location::current()) {
  return detail::gather_block<AxisState::varying, Named...>(a, where);
}
template <class... Named, class A>
  requires(detail::is_field<A>)
auto all_gather(A const& a, ToReduced,
                std::source_location where = std::source_location::current()) {
  return detail::gather_block<AxisState::reduced, Named...>(a, where);
}

/// `a[I, J]{V:X}` or `{U:X}` -> `reduce_scatter<X, I>(a)` -> `[I, J]{V:X}`: the sum of the ranks' blocks,
/// of which each rank keeps its piece along I. `<Max, X, I>`, `<Min, X, I>`, `<Mean, X, I>` likewise. Sends
/// n (p - 1) / p bytes. JAX: psum_scatter. Refused: V03, V06, V16, K04, C11, S04, P12. Error E61.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto reduce_scatter(A const& a, std::source_location where = std::source_location::current()) {
  auto out = detail::move_block<Movement::reduce_scatter, AxisState::varying, Named...>(
      a, where, []<class R>(auto& c) {
        int const d = R::dim(0);
        c.set(d, c.piece(d));
        return c.run([&](auto& moves) {
          return moves.reduce_scatter(c.a.buffer(), c.around(d), R::Parts::kind);
        });
      });
  return detail::mean_if_named<Named...>(std::move(out));
}

/// `a[I, J]{V:X}` -> `all_to_all<X, I, J>(a)` -> `[I, J]{V:X}`: the block is cut along I into one piece per
/// rank, and the pieces that come are put together along J, which may be I. A J that `a` lacks becomes a
/// new first dim, and I, which then has one row per rank, goes (JAX: untiled). Sends n (p - 1) / p bytes.
/// Refused: V03, V06, K04. Error E61.
template <class... Named, class A>
  requires(detail::is_block<A>)
auto all_to_all(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<Movement::all_to_all, AxisState::varying, Named...>(
      a, where, []<class R>(auto& c) {
        constexpr int split = R::dim(0);
        constexpr bool alone =
            R::named.rank < 2 || R::named.dims[0].label == R::named.dims[1].label;
        constexpr int join = alone ? split : R::dim(1);
        std::int64_t const piece = c.piece(split);
        ops::BlockShape s = c.around(split);
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
      });
}

/// `a[I]{V:X}` -> `permute<X>(a, {{0, 1}, {1, 2}})` -> `[I]{V:X}`: the block of rank 0 of the group to rank
/// 1, and so on. A rank that none is sent to gets zeros. Sends n bytes. JAX: ppermute. Refused: V03, V06.
/// Error E64: a rank outside the group, or one that stands twice as source or as destination.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute(A const& a, std::span<SourceDestination const> pairs,
             std::source_location where = std::source_location::current()) {
  return detail::move_block<Movement::permute, AxisState::varying, Xs...>(
      a, where, [&]<class R>(auto& c) {
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
        return c.run(
            [&](auto& moves) { return moves.permute(c.a.buffer(), c.elements(), to, from); });
      });
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto permute(A const& a, std::initializer_list<SourceDestination> pairs,
             std::source_location where = std::source_location::current()) {
  return permute<Xs...>(a, std::span<SourceDestination const>(pairs.begin(), pairs.size()), where);
}

/// `a[I]{V:X}` -> `rotate<X>(a, 1)` -> `[I]{V:X}`: each block to the rank `by` places further along the
/// group, round the end. Sends n bytes. A permute that every rank takes part in.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto rotate(A const& a, std::int64_t by,
            std::source_location where = std::source_location::current()) {
  return detail::move_block<Movement::permute, AxisState::varying, Xs...>(
      a, where, [&]<class R>(auto& c) {
        std::int64_t const p = c.group.size;
        std::int64_t const step = (by % p + p) % p;
        std::int64_t const me = c.group.place();
        return c.run([&](auto& moves) {
          return moves.permute(c.a.buffer(), c.elements(), static_cast<int>((me + step) % p),
                               static_cast<int>((me + p - step) % p));
        });
      });
}

/// `a[I]{V:X}` -> `broadcast_from<X>(a, 0)` -> `[I]`: the block of rank `root` of the group, on all;
/// `(a, 0, to_varying)` leaves it typed `{V:X}`. JAX: pbroadcast. Refused: V03, V06. Error E64: no such
/// rank.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from(A const& a, int root,
                    std::source_location where = std::source_location::current()) {
  return detail::broadcast_block<AxisState::replicated, Xs...>(a, root, where);
}
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto broadcast_from(A const& a, int root, ToVarying,
                    std::source_location where = std::source_location::current()) {
  return detail::broadcast_block<AxisState::varying, Xs...>(a, root, where);
}

/// `a[I]` -> `shard<X, I>(a)` -> `[I]{V:X}`: of an invariant block, each rank keeps its piece along I.
/// Sends nothing. Refused: V05 of one that varies, K04. Error E61.
template <class... Named, class A>
  requires(detail::is_field<A>)
auto shard(A const& a, std::source_location where = std::source_location::current()) {
  return detail::move_block<Movement::shard, AxisState::varying, Named...>(
      a, where, []<class R>(auto& c) {
        int const d = R::dim(0);
        c.set(d, c.piece(d));
        return c.run([&](auto& moves) { return moves.shard(c.a.buffer(), c.around(d)); });
      });
}

// Casts: the same block under another type. They send nothing and share memory.

/// `a[I]` or `a[I]{R:X}` -> `varying<X>(a)` -> `[I]{V:X}`. Operations do it by themselves where operands
/// meet; a loop's carry may need it. JAX: pvary, pcast(to='varying'). Refused: V04, V06.
template <class... Xs, class A>
  requires(detail::is_field<A>)
auto varying(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::varying, Xs...>(a, where);
}
/// `a[I]` -> `reduced<X>(a)` -> `[I]{R:X}`: its cotangent stays unreduced. JAX: pcast(to='reduced').
/// Refused: V04, V05, V06.
template <class... Xs, class A>
  requires(detail::is_block<A>)
auto reduced(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::reduced, Xs...>(a, where);
}
/// `a[I]{V:X}` -> `unreduced<X>(a)` -> `[I]{U:X}`: the blocks are taken as summands, or with
/// `unreduced<Max, X>` as candidates. JAX: pcast(to='unreduced'). Refused: V03, V04, V06, V16.
template <class... Named, class A>
  requires(detail::is_field<A>)
auto unreduced(A const& a, std::source_location where = std::source_location::current()) {
  return detail::cast_block<AxisState::unreduced, Named...>(a, where);
}

}  // namespace shardtype
