#pragma once
/// Reshards, the named collectives and casts, and transfers to another mesh: objects and functions.
/// The collectives are those of strict and of manual mode; those of manual mode alone are in
/// ops/blocks.hpp.

#include <cstddef>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/check/block_move.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/check/transfer.hpp>
#include <shardtype/rules/reshard.hpp>

namespace shardtype {

namespace planning {
struct TransferPlan;
}  // namespace planning

namespace op {

/// Another sharding of the same value, named by dims and attributes or by a Tensor type.
template <class... Out>
struct Reshard {
  using operation = Reshard;
  using destination = detail::Pack<Out...>;
  static constexpr std::string_view name = "reshard";
};
/// The same value as a parameter of a computation, in a sharding named as by Reshard.
template <class... Out>
struct UsedAs {
  using operation = UsedAs;
  using destination = detail::Pack<Out...>;
  static constexpr std::string_view name = "used_as";
};
/// Whole along these axes and reduced over them.
template <class... Xs>
struct UsedAs<Reduced<Xs...>> {
  using operation = UsedAs;
  static constexpr std::string_view name = "used_as";
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    if (s.local) return refuse(Code::V14_named_result);
    AxisSet over;
    for (int k = 0; k < n.axis_count; ++k) over.insert(n.axes[k]);
    return n.label_count > 0 ? refuse(Code::T05_not_an_axis) : rules::used_as(s, over);
  }
};
/// Gathers the blocks of the groups along `Xs`, which may end in checking::ToReduced. Of Locals:
/// `Xs` are axes, then the index to gather along, then checking::ToVarying or checking::ToReduced
/// to choose the state of the result.
template <class... Xs>
struct AllGather {
  using operation = AllGather;
  using blocks = detail::Moves<Movement::all_gather, AxisState::replicated>;
  static constexpr std::string_view name = "all_gather";
  static constexpr bool names_state = true;
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    return n.each_axis(s, [](Spec t, int x) {
      return rules::all_gather(t, x, detail::NamedParts<Xs...>::state(AxisState::replicated));
    });
  }
};
/// The reduction over `Xs`, on all ranks. Of Locals: with `Max`, `Min` or `Mean` first likewise.
template <class... Xs>
struct AllReduce {
  using operation = AllReduce;
  using blocks = detail::Moves<Movement::all_reduce, AxisState::replicated>;
  static constexpr std::string_view name = "all_reduce";
  static constexpr bool one_all_reduce = sizeof...(Xs) == 1;
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    return n.each_axis(s, rules::all_reduce);
  }
};
/// The reduction over an axis, of which each rank keeps its piece along an index. Of Locals: over
/// axes, with `Max`, `Min` or `Mean` first likewise.
template <class... XI>
struct ReduceScatter {
  using operation = ReduceScatter;
  using blocks = detail::Moves<Movement::reduce_scatter, AxisState::varying>;
  static constexpr std::string_view name = "reduce_scatter";
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    return n.are(1, 1) ? rules::reduce_scatter(s, n.axes[0], n.labels[0])
                       : refuse(Code::T05_not_an_axis);
  }
};
/// Moves an axis from one index to another. Of Locals: over axes, cut along the first index, joined
/// along the second.
template <class... XFromTo>
struct AllToAll {
  using operation = AllToAll;
  using blocks = detail::Moves<Movement::all_to_all, AxisState::varying>;
  static constexpr std::string_view name = "all_to_all";
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    return n.are(1, 2) ? rules::all_to_all(s, n.axes[0], n.labels[0], n.labels[1])
                       : refuse(Code::T05_not_an_axis);
  }
};
/// The same value as an unreduced sum over `Xs`.
template <class... Xs>
struct ToPartial {
  using operation = ToPartial;
  static constexpr std::string_view name = "to_partial";
  static constexpr bool sends_nothing = true;
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    if (n.label_count > 0) return refuse(Code::T05_not_an_axis);
    AxisList over;
    for (int k = 0; k < n.axis_count; ++k) {
      if (over.contains(n.axes[k])) return refuse(Code::K05_already_unreduced, -1, -1, n.axes[k]);
      over.push(n.axes[k]);
    }
    return rules::to_partial(s, over);
  }
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
};
/// Reduced over `Xs` instead of replicated.
template <class... Xs>
struct ToReduced {
  using operation = ToReduced;
  using blocks = detail::Moves<Movement::cast, AxisState::reduced>;
  static constexpr std::string_view name = "reduced";
  static constexpr Verdict moved(Spec const& s, NamedNumbers const& n) {
    return n.each_axis(s, rules::reduced);
  }
};
/// The same value on a mesh of type `Target`.
template <class Target, class... Out>
struct Transfer {
  using operation = Transfer;
  static constexpr std::string_view name = "transfer";
  using gradient = checking::PullsBySaved;
  static constexpr bool pull_communicates = true;
  static constexpr bool resolved_by_library = true;
  runtime::MeshRef const* mesh = nullptr;
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
  /// The plan: bytes from rank to rank. Communicates nothing.
  template <class R, class A>
  planning::TransferPlan plan(A const& a) const;
  /// The cotangent of a value that is reduced over axes is an unreduced sum, which no transfer
  /// takes.
  template <int K, class V, class A>
  static constexpr Verdict judge() {
    bool const whole =
        Scope<A>::template spec<0>.reduced.empty() && Scope<V>::template spec<0>.reduced.empty();
    return whole ? Verdict{} : refuse(Code::X03_not_differentiable);
  }
  /// Where the cotangent goes back to.
  auto save(auto const&, auto const& a) const { return a.mesh(); }
  /// The backward pass is collective over both meshes, too.
  template <class G>
  auto pull(G const& g) const {
    return g(Transfer<detail::AnyMesh, cotangent_t<typename G::type>>{&g.saved});
  }
};

}  // namespace op

namespace detail {

template <class... Xs>
struct NamedIn<op::UsedAs<Reduced<Xs...>>> {
  using type = NamedParts<Xs...>;
};

/// Takes an argument of `Op` that is neither a tensor nor an expression, and refuses it. It is a
/// conversion, so that any function of the user's is the better match.
template <class Op>
struct NoTensor {
  template <class A>
    requires(!core::TakenByFunctions<A>)
  constexpr NoTensor(A const& a) {  // NOLINT(google-explicit-constructor)
    (void)api::call(Op{}, std::source_location::current(), a);
  }
};

}  // namespace detail

/// Whether `reshard<To>(a)` compiles for a tensor of type `From`.
template <class From, class To>
concept Reshardable = bool(checking::Resolve<op::Reshard<To>, From>::verdict);
/// Whether `transfer<To>(a, mesh)` compiles for a tensor of type `From` and a mesh that has To's
/// axes.
template <class From, class To>
concept Transferable = bool(checking::Resolve<op::Transfer<detail::AnyMesh, To>, From>::verdict);

namespace api {

/// Gathers the blocks of a group on all of its ranks: `A[I@(X,Y)]` -> `all_gather<Y>` -> `A[I@X]`.
/// Each axis must be the minor-most axis of the dim it splits. `all_gather<Y>(w, to_reduced)` gives
/// `A[I@X]{R:Y}`, whose cotangent is then a reduce_scatter. Refused: K01, K02, K07.
///
/// For a Local: `a[I, J]{V:X}` -> `all_gather<X, I>(a)` -> `[I, J]`, invariant: the blocks of the
/// group, concatenated along I in rank order. An index that `a` lacks becomes a new first dim with
/// one row per rank (JAX: untiled). `all_gather<X, I>(a, to_varying)` gives the result the type
/// `{V:X}` (JAX's default), `to_reduced` the type `{R:X}` (its cotangent is then a reduce_scatter).
/// Each rank receives n (p - 1) bytes. Refused: V03, V06; V01 if `to_varying` is passed with a
/// Tensor.
template <class... Xs, class A>
constexpr auto all_gather(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::AllGather<Xs...>{}, where, a.self());
}

template <class... Xs, class A>
constexpr auto all_gather(core::Argument<A> const& a, checking::ToVarying,
                          checking::CallSite where = {}) {
  return api::call(op::AllGather<Xs..., checking::ToVarying>{}, where, a.self());
}
template <class... Xs, class A>
constexpr auto all_gather(core::Argument<A> const& a, checking::ToReduced,
                          checking::CallSite where = {}) {
  return api::call(op::AllGather<Xs..., checking::ToReduced>{}, where, a.self());
}

/// Finishes a pending reduction on all ranks of the group: `A[I]{U:X}` -> `all_reduce<X>` ->
/// `A[I]`, the sum (or maximum, minimum) of the group's blocks. Refused: K03, K07.
///
/// For a Local: `a[I]{V:X}` -> `all_reduce<X>(a)` -> `[I]`: the sum of the ranks' blocks, on all
/// ranks; also `[I]{U:X}` -> `[I]`. `all_reduce<Max, X>`, `<Min, X>` and `<Mean, X>` (the sum
/// divided by the number of ranks) likewise. One AllReduce, 2 n (p - 1) / p bytes. JAX: psum, pmax,
/// pmin, pmean. Refused: V03 of an invariant block (JAX multiplies it by the number of ranks), V06,
/// V16, C11 of bools, S04, P12.
template <class... Xs, class A>
constexpr auto all_reduce(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::AllReduce<Xs...>{}, where, a.self());
}

/// Finishes a pending reduction; each rank keeps its piece: `A[I, J]{U:X}` -> `reduce_scatter<X,
/// J>` -> `A[I, J@X]`. Refused: K03, K04, B04.
///
/// For a Local: `a[I, J]{V:X}` or `{U:X}` -> `reduce_scatter<X, I>(a)` -> `[I, J]{V:X}`: sums the
/// ranks' blocks; each rank keeps its piece along I. `<Max, X, I>`, `<Min, X, I>`, `<Mean, X, I>`
/// likewise. Each rank sends n (p - 1) / p bytes. JAX: psum_scatter. Refused: V03, V06, V16, K04,
/// C11, S04, P12. Error E61.
template <class... XI, class A>
constexpr auto reduce_scatter(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::ReduceScatter<XI...>{}, where, a.self());
}

/// Moves a mesh axis from one dim to another, where it becomes the minor-most axis: `A[I@X, J]` ->
/// `all_to_all<X, I, J>` -> `A[I, J@X]`. Refused: K01, K02, K04, B04.
///
/// For a Local: `a[I, J]{V:X}` -> `all_to_all<X, I, J>(a)` -> `[I, J]{V:X}`: cuts the block along I
/// into one piece per rank, and concatenates the received pieces along J, which may be I. A J that
/// `a` lacks becomes a new first dim; I, which must then have one row per rank, is removed (JAX:
/// untiled). Each rank sends n (p - 1) / p bytes. Refused: V03, V06, K04. Error E61.
template <class... XFromTo, class A>
constexpr auto all_to_all(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::AllToAll<XFromTo...>{}, where, a.self());
}

/// The same value with another sharding, named by dims and attributes or by a Tensor type:
/// `reshard<Dim<I>, Dim<J, X>>(a)`. Dims may be listed in another order. Runs the cheapest sequence
/// of collectives (plan/reshard_plan.hpp); a finer sharding of the same blocks is a local slice.
/// One all_to_all converts `A[I@X]` to the block-cyclic `A[I@X%64]` (`Dim<I, Cyclic<X, 64>>`), and
/// back. Refused: R01 to R04, N05.
template <class... Out, class A>
constexpr auto reshard(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::Reshard<Out...>{}, where, a.self());
}
/// Takes an argument that is neither a tensor nor an expression. Refused: T09.
template <class... Out>
constexpr checking::Poisoned reshard(std::type_identity_t<detail::NoTensor<op::Reshard<Out...>>>) {
  return {};
}

/// The value of a parameter, whole along `Xs` and reduced over them, so that its gradient stays
/// unreduced until the parameter's own sharding says how to reduce it. One model source serves
/// every way to store `w`; for `used_as<Reduced<X>>(w)`:
///
/// | w | result | forward | backward |
/// |---|---|---|---|
/// | `[I, J]`, replicated (data parallel) | `[I, J]{R:X}` | nothing | AllReduce |
/// | `[I@X, J]`, split (FSDP) | `[I, J]{R:X}` | AllGather | ReduceScatter |
/// | `[I, J]{R:X}`, reduced already | `[I, J]{R:X}` | nothing | nothing |
/// | `[I, J@Y]`, split over another axis (Megatron) | `[I, J@Y]{R:X}` | nothing | AllReduce |
///
/// `used_as<Dim<I>, Dim<J, Y>, Reduced<X>>(w)` and `used_as<W>(w)` with a Tensor type name the
/// whole sharding, as in reshard, which also plans and runs it. Automatic mode does not record it:
/// there the planner chooses. Refused: K07 no axis, T05; R01 to R04, N05 as reshard; V14 of Locals
/// (use `reduced<X>`, or `all_gather<X, I>(w, to_reduced)`).
template <class... Out, class A>
constexpr auto used_as(core::Argument<A> const& w, checking::CallSite where = {}) {
  return api::call(op::UsedAs<Out...>{}, where, w.self());
}

/// The same bytes, reduced over `Xs` instead of replicated: the cotangent of the result stays
/// unreduced over them. `A[I]` -> `reduced<X>` -> `A[I]{R:X}`. Communicates nothing. Refused: K05,
/// K06.
///
/// For a Local: `a[I]` -> `reduced<X>(a)` -> `[I]{R:X}`. JAX: pcast(to='reduced'). Refused: V04,
/// V05, V06.
template <class... Xs, class A>
constexpr auto reduced(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::ToReduced<Xs...>{}, where, a.self());
}

/// The same value as an unreduced sum over `Xs`: along an axis over which `a` is replicated, the
/// first rank keeps the value and the others have zeros; along an axis that splits `a`, each rank
/// has its block, surrounded by zeros. `A[I]` -> `to_partial<X>` -> `A[I]{U:X}`; `A[I@X]` ->
/// `A[I]{U:X}`. The order of the axes does not matter. Communicates nothing. Refused: K05, K07,
/// K08.
template <class... Xs, class A>
constexpr auto to_partial(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(op::ToPartial<Xs...>{}, where, a.self());
}

/// The same value on another mesh: `transfer<Dim<I, P>, Dim<J>>(a, mesh)` converts `A[I@X, J]` on
/// `Mesh<X>` to `A[I@P, J]` on `Mesh<P>`. The meshes may have other axes, another number or order
/// of ranks, and ranks in common or none; dims may be listed in another order.
///
/// Each rank receives each element that it needs and lacks once, from one of the ranks that hold
/// it; `plan_transfer` gives the bytes. Collective over the ranks of both meshes. Refused: A02
/// while unreduced (all_reduce or reduce_scatter it first), B03 with cyclic dims, R01, R02, N05,
/// M01.
template <class... Out, class A, class... Ys>
auto transfer(A const& a, runtime::MeshOf<Ys...> const& mesh, checking::CallSite where = {}) {
  return api::call(op::Transfer<Mesh<Ys...>, Out...>{&mesh}, where, a);
}

/// The plan of `transfer<Out...>(a, mesh)`: bytes from rank to rank, in ranks of the job.
/// Communicates nothing; refuses what transfer refuses.
template <class... Out, class A, class... Ys>
auto plan_transfer(A const& a, runtime::MeshOf<Ys...> const& mesh) {
  return api::plan_at(op::Transfer<Mesh<Ys...>, Out...>{&mesh}, a);
}

}  // namespace api

}  // namespace shardtype
