#pragma once
/// Runs the collectives and casts of manual mode on Locals. Each collective runs the step of its
/// plan, blocking or started.
///
/// Each takes mesh axes, in the order in which the ranks of the group are numbered (first axis
/// major), and then the dims it works along. Pieces must be equal, else Error E61.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/block_move.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/run_elementwise.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype::execute {

/// Runs the step that the plan of `call` has on the block in `memory`; the packed result. With an
/// Exchange `later` the step is only started, and the Exchange gets the result.
template <class T, class Space>
Buffer run_block_call(MeshState& mesh, AxisMap const& map, planning::BlockCall const& call,
                      Partners const& with, Buffer const& memory, std::source_location const& where,
                      Exchange* later = nullptr) {
  Sizing z{{}, map.sizes, sizeof(T)};
  Step const s = planning::block_step(call, z.extents);
  return Executor<T, Space>(mesh, map, z, where)
      .run(s, execute::whole_value<T>(s.before, z, map.coords, memory), later, &with);
}

/// One call of a collective: the operation resolved from the types, its plan's values, and the
/// extents of its blocks.
template <class R, class A>
struct MoveCall {
  using T = typename A::element;
  using Out = typename R::result;

  A const& a;
  std::source_location const& where;
  AxisMap map{runtime::map_axes(a.mesh().state(), R::S::names)};
  std::array<std::int64_t, Out::rank> extents{};
  Partners with{};

  template <class Op>
  MoveCall(Op const& op, std::source_location const& at, A const& block) : a(block), where(at) {
    R::set_extents(op, map.sizes, GivenExtents(a).at, extents.data());
    if constexpr (requires { op.partners(0, 1); })
      with = op.partners(core::rank_in_group(R::axes(), map.sizes, map.coords),
                         map.sizes.product(R::axes()));
  }
  Out run() const { return Out(a.mesh(), extents, a.mesh().here() ? moved(nullptr) : Buffer()); }
  Pending<Out> start() const {
    Started started = a.mesh().state().start();
    if (Exchange* const later = started.get()) moved(later);
    return Pending<Out>(a.mesh(), extents, started, where);
  }

 private:
  /// Runs the plan's step on the block; with `later`, only starts it.
  Buffer moved(Exchange* later) const {
    planning::BlockCall call = R::block_call(map.sizes);
    call.given_extents = a.extents().data();
    call.result_extents = extents.data();
    return execute::run_block_call<T, typename A::memory_space>(a.mesh().state(), map, call, with,
                                                                a.buffer(), where, later);
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
      return api::cast<T>(api::cast<Computed>(std::move(out)) / by).tensor();
    } else {
      return (std::move(out) / by).tensor();
    }
  } else {
    return out;
  }
}

/// Collectives of manual mode run the step of their plan, blocking or started; the sum is divided
/// if the call names Mean. Casts share the buffer.
template <shardtype::detail::MovesBlocks Op>
struct RunBlocks<Op> {
  template <class R, class A>
  static auto run(Op const& op, std::source_location const& where, A const& a) {
    MoveCall<R, A> const call(op, where, a);
    if constexpr (R::how == Movement::cast) {
      return typename R::result(a.mesh(), call.extents, a.buffer());
    } else {
      return execute::mean_if_named<R>(call.run());
    }
  }
  template <class R, class A>
    requires(R::how != Movement::cast)
  static auto start(Op const& op, std::source_location const& where, A const& a) {
    auto out = MoveCall<R, A>(op, where, a).start();
    if constexpr (R::Parts::mean)
      out.then([](typename R::result sum) { return execute::mean_if_named<R>(std::move(sum)); });
    return out;
  }
};

}  // namespace shardtype::execute
