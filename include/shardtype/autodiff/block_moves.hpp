#pragma once
/// The gradients of the collectives and casts of manual mode: the cotangent is moved back by the
/// transposed one.

#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/autodiff/windows.hpp>
#include <shardtype/check/block_move.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/ragged_all_to_all.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/rules/manual.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace autodiff {

using How = rules::Movement;

/// A block of an invariant one: itself on rank `root` of the group, zeros on the others. The
/// transpose of a broadcast.
template <class... Xs>
struct KeptOn {
  using operation = KeptOn;
  using blocks = shardtype::detail::Moves<rules::Movement::cast, AxisState::varying>;
  static constexpr std::string_view name = "kept_on";
  static constexpr bool shares = false;
  int root = 0;
  constexpr op::BroadcastFrom<Xs...> transposed() const { return {root}; }
};

}  // namespace autodiff

namespace execute {
template <class... Xs>
struct RunBlocks<autodiff::KeptOn<Xs...>> {
  template <class R, class A>
  static auto run(autodiff::KeptOn<Xs...> const& op, std::source_location const& where,
                  A const& a) {
    MoveCall<R, A> const c(op, where, a);
    using Out = typename R::result;
    if (core::rank_in_group(R::axes(), c.map.sizes, c.map.coords) == op.root || !a.mesh().here())
      return Out(a.mesh(), c.extents, a.buffer());
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), c.extents);
    typename Out::execution_space const& exec = runtime::instance<typename Out::execution_space>();
    kernels::fill(exec, static_cast<typename Out::element*>(out.buffer().data()), out.local_size(),
                  typename Out::element{});
    runtime::fence(exec);
    return out;
  }
};
}  // namespace execute

namespace autodiff {

/// The transpose, axis by axis, of a collective or cast that gives a `V` from a block of type `A`.
template <class Op, class V, class A>
struct MovedBack {
  using Parts = shardtype::detail::parts_t<Op>;
  using S = Scope<A, V>;
  template <class X>
  static constexpr rules::StateChange back = rules::transposed(
      {Op::blocks::how, S::template spec<0>.state(S::names.find_axis(identity<X>)),
       S::template spec<1>.state(S::names.find_axis(identity<X>))});
  /// The axes of the call that are moved back by `how`.
  template <How how, class... Xs>
  static constexpr auto by(shardtype::detail::Pack<Xs...>) {
    return (shardtype::detail::Pack<>{} | ... | std::conditional_t < back<Xs>.how == how,
            shardtype::detail::Pack<Xs>, shardtype::detail::Pack < >> {});
  }
  template <How how>
  using Axes = decltype(by<how>(typename Parts::Axes{}));
  /// Whether an axis becomes `state`.
  template <class... Xs>
  static constexpr bool any(AxisState state, shardtype::detail::Pack<Xs...>) {
    return ((back<Xs>.to == state) || ...);
  }
  static constexpr bool to(AxisState state) { return any(state, typename Parts::Axes{}); }
};

/// The number of ranks along axes; 1 of blocks without data.
template <class V, class... Xs>
constexpr std::int64_t ranks_along([[maybe_unused]] V const& v, shardtype::detail::Pack<Xs...> xs) {
  if constexpr (is_active<V>) {
    return autodiff::ranks_along(v.value(), xs);
  } else if constexpr (shardtype::detail::is_abstract<V>) {
    return 1;
  } else {
    std::int64_t count = 1;
    shardtype::detail::place_along<Xs...>(v.mesh().state(), count);
    return count;
  }
}
/// `ct` divided by the number of ranks, if the collective takes the mean.
template <class Parts, class C>
constexpr auto share_of(C const& ct) {
  using T = element_t<tensor_of<C>>;
  using Computed = shardtype::detail::computed_t<T>;
  if constexpr (!Parts::mean) {
    return ct;
  } else {
    auto const by = static_cast<shardtype::detail::real_of<Computed>>(
        autodiff::ranks_along(ct, typename Parts::Axes{}));
    if constexpr (std::is_same_v<T, Computed>) {
      return (ct / by).tensor();
    } else {
      return api::cast<T>(api::cast<Computed>(ct) / by).tensor();
    }
  }
}

template <template <class...> class Op, class C, class... Xs, class... Rest>
constexpr auto move_over(C const& ct, shardtype::detail::Pack<Xs...>,
                         shardtype::detail::Pack<Rest...>) {
  return api::call(Op<Xs..., Rest...>{}, std::source_location::current(), ct);
}
/// A dim that only stacked blocks had is taken away, else the dims are put in the operand's order.
template <class A, class C, class... Ls>
constexpr auto like_operand(C const& ct, shardtype::detail::Pack<Ls...>) {
  if constexpr ((has_label<A, Ls> && ...)) {
    return autodiff::in_order(ct, labels_of_t<A>{});
  } else {
    return api::squeeze<Ls...>(ct);
  }
}

/// A pair of labels, the other way round.
template <class I, class J>
constexpr shardtype::detail::Pack<J, I> exchanged(shardtype::detail::Pack<I, J>) {
  return {};
}

/// The cotangent `ct`, moved back along the labels that the call names.
template <class Op, class V, class A, class C>
constexpr auto moved_back(C const& ct) {
  using M = MovedBack<Op, V, A>;
  using Parts = typename M::Parts;
  using Axes = typename Parts::Axes;
  using Labels = typename Parts::Labels;
  using shardtype::detail::Pack;
  if constexpr (Op::blocks::how == How::all_to_all) {
    // the pieces go back: cut along the dim that they were joined along
    return autodiff::in_order(
        autodiff::move_over<op::AllToAll>(ct, Axes{}, autodiff::exchanged(Labels{})),
        labels_of_t<A>{});
  } else if constexpr (!std::is_same_v<typename M::template Axes<How::reduce_scatter>, Pack<>>) {
    return autodiff::like_operand<A>(autodiff::move_over<op::ReduceScatter>(ct, Axes{}, Labels{}),
                                     Labels{});
  } else if constexpr (!std::is_same_v<typename M::template Axes<How::shard>, Pack<>>) {
    return autodiff::like_operand<A>(autodiff::move_over<op::Shard>(ct, Axes{}, Labels{}),
                                     Labels{});
  } else if constexpr (!std::is_same_v<typename M::template Axes<How::all_gather>, Pack<>>) {
    // one collective for all axes; what is to vary beside reduced axes is cast later
    if constexpr (M::to(AxisState::replicated)) {
      return autodiff::move_over<op::AllGather>(ct, Axes{}, Labels{});
    } else if constexpr (M::to(AxisState::reduced)) {
      return autodiff::move_over<op::AllGather>(ct, Axes{}, Labels{} | Pack<checking::ToReduced>{});
    } else {
      return autodiff::move_over<op::AllGather>(ct, Axes{}, Labels{} | Pack<checking::ToVarying>{});
    }
  } else if constexpr (!std::is_same_v<typename M::template Axes<How::all_reduce>, Pack<>>) {
    return autodiff::move_over<op::AllReduce>(ct, typename M::template Axes<How::all_reduce>{},
                                              Pack<>{});
  } else {
    return ct;  // casts
  }
}

template <class Ls>
struct FirstLabel;
template <class I, class... Ls>
struct FirstLabel<shardtype::detail::Pack<I, Ls...>> {
  using type = I;
};

/// Base of the Vjp of a collective or cast of manual mode; in strict mode a Movement. Of an
/// extremum there is none.
template <class Op>
struct BlockMovement : Movement {
  static constexpr bool exists = shardtype::detail::parts_t<Op>::kind == core::ReduceKind::sum;
  /// The table of transposed collectives has all of them.
  template <int K, class V, class A>
    requires(is_local<tensor_of<A>> || shardtype::detail::moves_along_manual<Op, tensor_of<A>>)
  static constexpr Verdict judge() {
    return {};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull([[maybe_unused]] Op const& op, S const&, C const& ct) {
    if constexpr (!is_local<tensor_of<A>> &&
                  !shardtype::detail::moves_along_manual<Op, tensor_of<A>>) {
      return ct;
    } else if constexpr (requires { op.transposed(); }) {
      return shardtype::call(op.transposed(), std::source_location::current(), ct);
    } else {
      return autodiff::moved_back<Op, tensor_of<V>, tensor_of<A>>(
          autodiff::share_of<shardtype::detail::parts_t<Op>>(ct));
    }
  }
};
template <shardtype::detail::MovesBlocks Op>
struct Vjp<Op> : BlockMovement<Op> {};

/// The pairs, from destination to source.
template <class... Xs>
struct Vjp<op::Permute<Xs...>> : BlockMovement<op::Permute<Xs...>> {
  template <class V, class A>
  static constexpr auto save(op::Permute<Xs...> const& op, V const&, A const&) {
    std::vector<SourceDestination> back;
    for (SourceDestination const& p : op.pairs) back.push_back({p.destination, p.source});
    return keep(back);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Permute<Xs...> const&, S const& saved, C const& ct) {
    return api::permute<Xs...>(ct, std::span<SourceDestination const>(autodiff::kept<0>(saved)));
  }
};
/// The cotangents of all ranks are those of one rank's block.
template <class... Named>
struct Vjp<op::BroadcastFrom<Named...>> : BlockMovement<op::BroadcastFrom<Named...>> {
  using Op = op::BroadcastFrom<Named...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const&, C const& ct) {
    using Parts = shardtype::detail::parts_t<Op>;
    if constexpr (Parts::states > 0) {
      return kept_on(autodiff::move_over<op::AllReduce>(ct, typename Parts::Axes{},
                                                        shardtype::detail::Pack<>{}),
                     op.root, typename Parts::Axes{});
    } else {
      return kept_on(ct, op.root, typename Parts::Axes{});
    }
  }

 private:
  template <class C, class... Xs>
  static constexpr auto kept_on(C const& ct, int root, shardtype::detail::Pack<Xs...>) {
    return api::call(KeptOn<Xs...>{root}, std::source_location::current(), ct);
  }
};

/// Each row goes back to where it came from; zeros take the place of received rows in the cotangent
/// of the second operand.
template <class... Xs>
struct Vjp<op::RaggedAllToAll<Xs...>> : Differentiable {
  using Op = op::RaggedAllToAll<Xs...>;
  using Numbers = std::vector<std::int64_t>;
  template <class V, class A, class B>
  static constexpr auto save(Op const& op, V const&, A const& a, B const&) {
    auto const copy = [](std::span<std::int64_t const> s) { return Numbers(s.begin(), s.end()); };
    return autodiff::keep(copy(op.rows.input_offsets), copy(op.rows.send_sizes),
                          copy(op.rows.output_offsets), copy(op.rows.recv_sizes), a.extents()[0]);
  }
  template <int K, class V, class A, class B, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    Op back{{autodiff::kept<0>(saved), autodiff::kept<1>(saved), autodiff::kept<2>(saved),
             autodiff::kept<3>(saved)},
            op.returns};
    using First = typename FirstLabel<labels_of_t<tensor_of<A>>>::type;
    auto const none = autodiff::zeros_like<First, First>(ct, autodiff::kept<4>(saved));
    if constexpr (K == 0) {
      back.returns = !op.returns;
      return api::call(back, std::source_location::current(), ct, none);
    } else {
      return api::call(back, std::source_location::current(), none, ct);
    }
  }
};

}  // namespace autodiff

}  // namespace shardtype
