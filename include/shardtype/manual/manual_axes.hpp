#pragma once
/// Manual mode over some of a mesh's axes: the function of shard_map works on tensors, which vary
/// over these axes and are strict along the others.

#include <array>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/callable.hpp>
#include <shardtype/check/manual_axes.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

namespace execute {

/// Casts between a tensor and its parts share its memory.
template <class R, class Op, class A>
typename R::result run_manual_cast(Op const& op, A const& a) {
  std::array<std::int64_t, A::rank> extents{};
  AxisMap const map = runtime::map_axes(a.mesh().state(), R::S::names);
  R::set_extents(op, map.sizes, GivenExtents(a).at, extents.data());
  return typename R::result(a.mesh(), extents, a.buffer());
}

/// Collectives and casts along manual axes run on the tensor's blocks.
template <shardtype::detail::MovesBlocks Op>
struct RunAlongManual<Op> {
  template <class R, class A>
  static auto run(Op const& op, std::source_location const& where, A const& a) {
    typename R::block const block(a.mesh(), a.local_extents(), a.buffer());
    auto const moved = RunBlocks<Op>::template run<typename R::on_blocks>(op, where, block);
    auto extents = moved.extents();
    R::whole_extents(a.extents().data(), extents.data());
    return typename R::result(a.mesh(), extents, moved.buffer());
  }
};

}  // namespace execute

namespace op {

template <class... Xs>
template <class R, class A>
typename R::result EnterManual<Xs...>::run(std::source_location const&, A const& a) const {
  return execute::run_manual_cast<R>(*this, a);
}
template <class Out>
template <class R, class A>
typename R::result LeaveManual<Out>::run(std::source_location const&, A const& a) const {
  return execute::run_manual_cast<R>(*this, a);
}

}  // namespace op

namespace detail {

/// An argument of shard_map as the function over the axes `Xs` takes it.
template <class... Xs, class A>
constexpr auto entered(A const& a) {
  auto const& t = detail::computed(a);
  using T = entering_t<std::remove_cvref_t<decltype(t)>>;
  if constexpr (is_poisoned<A> || !is_tensor<T> || is_local<T>) {
    return Poisoned(judged_t<InputOf<T>, T>{});
  } else {
    using R = Resolve<op::EnterManual<Xs...>, T>;
    if constexpr (!R::verdict) {
      return Poisoned(judged_t<R, T>{});
    } else if constexpr (std::is_same_v<typename R::result, T>) {
      return t;
    } else {
      return api::call(op::EnterManual<Xs...>{}, std::source_location::current(), t);
    }
  }
}

/// One result of the function as a tensor, of which `Out` names the dims along manual axes, or the
/// type.
template <class Over, class... Out, class L>
constexpr auto left(L const& l) {
  using A = entering_t<L>;
  if constexpr (!is_tensor<A> || is_local<A>) {
    return Poisoned(judged_t<Plainly<Code::V15_no_local>, L>{});
  } else if constexpr (sizeof...(Out) == 1 && (is_tensor<Out> && ...)) {
    return api::call(op::LeaveManual<Out...>{}, std::source_location::current(), l);
  } else {
    using R = LeavesAs<A, Over, Out...>;
    using Judged = judged_t<R, A>;
    if constexpr (!accepts<Judged>) {
      return Poisoned(Judged{});
    } else {
      using Whole = accepted_t<R, element_t<A>, A>;
      return api::call(op::LeaveManual<Whole>{}, std::source_location::current(), l);
    }
  }
}
template <class Over, class... Out>
struct LeftAs {
  using Refused = Poisoned;
  template <class Result>
  static constexpr auto of(Result const& result) {
    return detail::left<Over, Out...>(result);
  }
};
template <class Over, class... Tensors>
struct LeftAs<Over, Outs<Tensors...>> {
  using Refused = refused_like<Outs<Tensors...>>;
  template <class Result>
  static constexpr auto of(Result const& result) {
    using Judged =
        judged_t<Plainly<parts_of<Result> == sizeof...(Tensors) ? Code::ok : Code::V15_no_local>,
                 Result>;
    if constexpr (!accepts<Judged>) {
      static_cast<void>(Poisoned(Judged{}));
      return Refused{};
    } else {
      return std::apply(
          [](auto const&... each) { return std::tuple(detail::left<Over, Tensors>(each)...); },
          result);
    }
  }
};

}  // namespace detail

namespace api {

/// shard_map over some of the axes of a mesh. The others stay strict in `f`, which takes a Tensor
/// for each argument: its dims are no longer split over the manual axes `Xs`, over which it varies
/// instead, `f32[I, J@Y]{V:X}` for `f32[I@X, J@Y]` over X. Strict operations work on it, with their
/// rules and with collectives over the strict axes; each rank along X runs them for its own part.
/// The collectives of manual mode work along `Xs` alone. `Out` are the dims of the result, and
/// names manual axes only, which come before the strict axes of what `f` returns:
///
///     auto c = shard_map<Dim<I, X>, Dim<K>>(manual_axes<X>, [](auto a, auto w) {
///       return all_reduce<Y>(matmul(a, w));
///     }, a, w);                                       // [I@X, J@Y], [J@Y, K] -> [I@X, K]
///
/// Along a manual axis that no dim of the result has, blocks must be identical: V07. Unreduced and
/// reduced axes stay as they are. Instead of dims, a Tensor type may be named, and
/// `Outs<A, B>` of them for a std::tuple. The axes are sorted by name. Communicates nothing itself,
/// shares memory. The parts along `Xs` must have equal extents, refused V10, or error E61; along
/// strict axes blocks may be uneven and empty. Gradients pass through it. JAX: shard_map with
/// axis_names. Refused: V01, V07 to V10, V15, V17 an output over a strict axis, V18 a manual axis
/// behind a strict one, B03, L01 expressions, T03, T11, X01. Errors: E23, E61.
template <class... Out, MeshAxis... Xs, class F, class... As>
  requires(sizeof...(As) > 0)
constexpr auto shard_map(ManualAxes<Xs...>, F const& f, As const&... as) {
  using Left = detail::LeftAs<ManualAxes<Xs...>, Out...>;
  if constexpr ((core::is_lazy<As> || ...)) {
    checking::refused<rules::Code::L01_not_recorded, false, As...>{};
    return typename Left::Refused{};
  } else if constexpr ((detail::is_poisoned<decltype(detail::entered<Xs...>(as))> || ...)) {
    (static_cast<void>(detail::entered<Xs...>(as)), ...);
    return typename Left::Refused{};
  } else if constexpr (detail::not_taken<decltype(detail::or_not_taken(f)(
                           detail::entered<Xs...>(as)...))>) {
    checking::refused<rules::Code::T11_not_callable, false,
                      detail::entering_t<decltype(detail::entered<Xs...>(as))>...>{};
    return typename Left::Refused{};
  } else if constexpr (std::is_void_v<decltype(f(detail::entered<Xs...>(as)...))>) {
    return detail::refuse_void<Left, void>();
  } else {
    detail::check_meshes(as...);
    return Left::of(detail::computed(f(detail::entered<Xs...>(as)...)));
  }
}

}  // namespace api

}  // namespace shardtype
