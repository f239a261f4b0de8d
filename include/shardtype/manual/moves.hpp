#pragma once
/// The collectives of manual mode from Locals to plain blocks, done at once or only started.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/block_move.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/manual/block_moves.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype::execute {

/// When the result of a call is there: as it returns, or when the Pending that it returns is waited for.
struct Now {};
struct Later {};

/// One call of a movement: what is resolved from types, and the blocks around it.
template <class When, class R, class A>
struct MoveCall {
  using T = typename A::element;
  using Out = typename R::result;
  using Moves = BlockMoves<T, typename A::memory_space>;

  A const& a;
  std::source_location const& where;
  MoveGroup group{a.mesh().state(), R::S::names, R::axes()};
  std::array<std::int64_t, Out::rank> extents{};

  template <class Op>
  MoveCall(Op const& op, std::source_location const& at, A const& block) : a(block), where(at) {
    R::set_extents(op, group.map.sizes, GivenExtents(a).at, extents.data());
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t e : a.extents()) n *= e;
    return n;
  }
  /// The block around dim `d` of the operand; before the first dim for -1.
  BlockShape around(int d) const {
    BlockShape s;
    for (int k = 0; k < static_cast<int>(A::rank); ++k) {
      std::int64_t const e = a.extents()[static_cast<std::size_t>(k)];
      (k < d ? s.outer : k == d ? s.n : s.inner) *= e;
    }
    return s;
  }
  template <class Work>
  auto run(Work work) const {
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

/// The sum `out` over the axes that `R` names, by the number of ranks where it names Mean.
template <class R, class Out>
Out mean_if_named(Out out) {
  if constexpr (R::Parts::mean) {
    std::int64_t ranks = 1;
    [&]<class... Xs>(shardtype::detail::Pack<Xs...>) {
      shardtype::detail::place_along<Xs...>(out.mesh().state(), ranks);
    }(typename R::Parts::Axes{});
    return (std::move(out) / static_cast<shardtype::detail::real_of<typename Out::element>>(ranks))
        .tensor();
  } else {
    return out;
  }
}

/// The base of a RunBlocks of one collective, which `Self::move<R>(op, call)` does at once or starts.
template <class Self>
struct MovesBlock {
  template <class R, class Op, class A>
  static auto run(Op const& op, std::source_location const& where, A const& a) {
    return mean_if_named<R>(Self::template move<R>(op, MoveCall<Now, R, A>(op, where, a)));
  }
  template <class R, class Op, class A>
  static auto start(Op const& op, std::source_location const& where, A const& a) {
    auto out = Self::template move<R>(op, MoveCall<Later, R, A>(op, where, a));
    if constexpr (R::Parts::mean)
      out.then([](typename R::result sum) { return mean_if_named<R>(std::move(sum)); });
    return out;
  }
};

/// The base of a RunBlocks of a cast: the buffer under another type.
struct CastsBlock {
  template <class R, class Op, class A>
  static auto run(Op const& op, std::source_location const& where, A const& a) {
    MoveCall<Now, R, A> const c(op, where, a);
    return typename R::result(a.mesh(), c.extents, a.buffer());
  }
};

}  // namespace shardtype::execute
