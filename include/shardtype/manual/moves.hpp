#pragma once
/// Connects the collectives of manual mode on Locals to those on plain blocks, blocking or started.

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
#include <shardtype/ops/math.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype::execute {

/// Tag: run the collective blocking (Now) or return a Pending (Later).
struct Now {};
struct Later {};

/// One call of a collective: the operation resolved from the types, and the extents of its blocks.
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
  /// The block viewed around dim `d` of the operand; before the first dim for -1.
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
        // a result that needed no communication
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

/// Divides the sum `out` by the number of ranks along the axes of `R`, if `R` asks for the mean.
template <class R, class Out>
Out mean_if_named(Out out) {
  if constexpr (R::Parts::mean) {
    std::int64_t ranks = 1;
    [&]<class... Xs>(shardtype::detail::Pack<Xs...>) {
      shardtype::detail::place_along<Xs...>(out.mesh().state(), ranks);
    }(typename R::Parts::Axes{});
    using T = typename Out::element;
    using Computed = shardtype::detail::computed_t<T>;
    auto const by = static_cast<shardtype::detail::real_of<Computed>>(ranks);
    if constexpr (shardtype::detail::is_converted<T>) {
      // not every number of ranks is a bfloat16
      return cast<T>(cast<Computed>(std::move(out)) / by).tensor();
    } else {
      return (std::move(out) / by).tensor();
    }
  } else {
    return out;
  }
}

/// Base of the RunBlocks of one collective: runs or starts `Self::move<R>(op, call)`.
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

/// Base of the RunBlocks of a cast: the same buffer with another type.
struct CastsBlock {
  template <class R, class Op, class A>
  static auto run(Op const& op, std::source_location const& where, A const& a) {
    MoveCall<Now, R, A> const c(op, where, a);
    return typename R::result(a.mesh(), c.extents, a.buffer());
  }
};

}  // namespace shardtype::execute
