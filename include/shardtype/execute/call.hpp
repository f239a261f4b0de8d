#pragma once
/// The entry point of all operations. Operands are checked only here, and in
/// ops/run_elementwise.hpp for elementwise functions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/abstract.hpp>
#include <shardtype/check/block_move.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/execute/instances.hpp>
#include <shardtype/execute/local_run.hpp>
#include <shardtype/execute/named.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype::detail {

template <class A, class Recorder>
struct OperandTraits<Abstract<A, Recorder>> {
  using type = A;
};

}  // namespace shardtype::detail

namespace shardtype {

namespace execute {

/// A tensor of type `Out` to write, with the first of these extents.
template <class Out>
Out with_extents(MeshRef const& mesh, std::int64_t const* first) {
  std::array<std::int64_t, Out::rank> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d) extents[d] = first[d];
  return shardtype::detail::uninitialized<Out>(mesh, extents);
}
template <class R, class Mades, std::size_t... K>
typename R::results tensors_to_write(MeshRef const& mesh, Mades const& made,
                                     std::index_sequence<K...>) {
  return {execute::with_extents<std::tuple_element_t<K, typename R::results>>(mesh, made.at[K])...};
}
/// The results of an operation that has several, to be written. Errors as result_extents.
template <class R, class Op, class A, class... Bs>
typename R::results results_to_write(Op const& op, A const& a, Bs const&... bs) {
  (detail::check_one_mesh(a.mesh(), bs.mesh()), ...);
  auto const made = R::extents(op, runtime::map_axes(a.mesh().state(), R::S::names).sizes,
                               GivenExtents(a, bs...).at);
  return execute::tensors_to_write<R>(a.mesh(), made, typename R::Numbers{});
}

/// Base of a Run that writes the local block of a new result: `fill(op, out, operands...)`, or of
/// several: `fill(op, first, second, operands...)`; on ranks of the mesh.
template <class Self>
struct Filled {
  template <class R, class Op, class A, class... Bs>
  static auto run(Op const& op, std::source_location const&, A const& a, Bs const&... bs) {
    if constexpr (shardtype::detail::HasResults<Op>) {
      typename R::results out = execute::results_to_write<R>(op, a, bs...);
      if (a.mesh().here())
        std::apply([&](auto&... each) { Self::fill(op, each..., a, bs...); }, out);
      return out;
    } else {
      using Out = typename R::result;
      Out out =
          shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a, bs...));
      if (a.mesh().here()) Self::fill(op, out, a, bs...);
      return out;
    }
  }
};

/// Whether an operation consists of its plan: products and reshards.
template <class Op>
concept RunsPlan = shardtype::detail::ChangesSharding<Op> || requires { requires Op::runs_plan; };
/// The kinds of plans of which an operation may consist.
enum class PlanKind { all_reduce, reshard, product, strict_product };
/// Plans and runs a call of this kind on the calling rank; writes the result's extents.
template <class T, class Space, PlanKind kind>
Buffer run_kind(CallType const& type, std::source_location const& where, Overlap overlap,
                std::int64_t* extents, Operand const& first, Operand const& second = {}) {
  Call const call = call_of(type, where, overlap, first, second);
  if constexpr (kind == PlanKind::all_reduce) {
    return execute::run_all_reduce<T, Space>(call, extents);
  } else if constexpr (kind == PlanKind::reshard) {
    return execute::run_call<T, Space>(call, extents);
  } else if constexpr (kind == PlanKind::product) {
    return execute::run_product<T, Space>(call, extents);
  } else {
    return execute::run_strict_product<T, Space>(call, extents);
  }
}

/// Base of a Run of operations that consist of a plan: products and reshards.
struct PlanRun {
  template <class R, class Op, class A, class... B>
  static typename R::result run([[maybe_unused]] Op const& op, std::source_location const& where,
                                A const& a, B const&... b) {
    Overlap overlap = Overlap::none;
    if constexpr (requires { op.overlap; }) overlap = op.overlap;
    std::array<std::int64_t, R::result::rank> extents{};
    using T = typename A::element;
    using Space = typename A::memory_space;
    constexpr PlanKind kind = detail::OneAllReduce<R> ? PlanKind::all_reduce
                              : sizeof...(B) == 0     ? PlanKind::reshard
                              : R::communicates       ? PlanKind::product
                                                      : PlanKind::strict_product;
    Buffer block =
        execute::run_kind<T, Space, kind>(call_type<R, T>, where, overlap, extents.data(),
                                          execute::operand_of(a), execute::operand_of(b)...);
    return typename R::result(a.mesh(), extents, static_cast<Buffer&&>(block));
  }
  template <class R, class Op, class A>
  static auto start(Op const&, std::source_location const& where, A const& a) {
    using Out = typename R::result;
    std::array<std::int64_t, Out::rank> extents{};
    Started started = a.mesh().state().start();
    using T = typename Out::element;
    using Space = typename Out::memory_space;
    Call const call = execute::call_of(call_type<R, typename A::element>, where, Overlap::none,
                                       execute::operand_of(a));
    if constexpr (detail::OneAllReduce<R>) {
      execute::run_all_reduce<T, Space>(call, extents.data(), started.get());
    } else {
      execute::run_call<T, Space>(call, extents.data(), started.get());
    }
    return Pending<Out>(a.mesh(), extents, started, where);
  }
};

/// The blocks of results and operands as the Kokkos Views that a `kernel` takes.
struct KernelViews {
  template <class Out>
  static auto view(Out& out) {
    return written(out, std::make_index_sequence<Out::rank>{});
  }
  template <class A>
  static auto view(A const& a) {
    return a.unreduced_local();
  }

 private:
  /// The block to write. For an invariant Local too: all ranks write the same values.
  template <class Out, std::size_t... D>
  static typename Out::template View<typename Out::element> written(Out& out,
                                                                    std::index_sequence<D...>) {
    return typename Out::template View<typename Out::element>(
        static_cast<typename Out::element*>(out.buffer().data()),
        static_cast<std::size_t>(out.rows()[D].size())...);
  }
};

/// Whether an operation has a member that runs its calls, runs those with a named result, or writes
/// the blocks of its results. Concepts: in the body of a function, nvcc's front end does not find
/// members that take packs.
template <class Op, class R, class... As>
concept RunsCalls = requires(Op const& op, std::source_location const& where, As const&... as) {
  op.template run<R>(where, as...);
};
template <class Op, class R, class... As>
concept RunsNamedCalls = requires(Op const& op, std::source_location const& where,
                                  As const&... as) { op.template run_named<R>(where, as...); };
template <class Op, class... All>
concept FillsBlocks = requires(Op const& op, All&... all) { op.fill(all...); };

/// Runs an operation on operands that its rule accepts: `run<R>(op, where, operands...)`, where `R`
/// is the result of `Resolve` for their types; by the member that the operation has
/// (check/call.hpp).
template <class Op>
struct Run : PlanRun {
  static constexpr bool by_members = true;
  template <class R, class... As>
  static auto run(Op const& op, std::source_location const& where, As const&... as) {
    if constexpr (RunsCalls<Op, R, As...>) {
      return op.template run<R>(where, as...);
    } else if constexpr (RunsPlan<Op>) {
      return PlanRun::run<R>(op, where, as...);
    } else if constexpr (MapsBlocks<Op, As...>) {
      return execute::run_local<R>(op, where, as...);
    } else {
      return Filled<Run>::template run<R>(op, where, as...);
    }
  }
  /// Writes the blocks of the results, which come first in `all`, then the operands.
  template <class Out, class... All>
  static void fill(Op const& op, Out& out, All&... all) {
    if constexpr (FillsBlocks<Op, Out, All...>) {
      op.fill(out, all...);
    } else if constexpr (!shardtype::detail::has_way_to_run<Op>) {
      static_cast<void>(alignof(
          checking::refused<rules::Code::T18_lacks_a_member, false, checking::NoWayToRun, Op>));
    } else {
      typename Out::execution_space const& exec =
          runtime::instance<typename Out::execution_space>();
      op.kernel(exec, KernelViews::view(out), KernelViews::view(all)...);
      runtime::fence(exec);
    }
  }
};

/// Whether an operation has a member by which Run runs it, or a Run of its own.
template <class Op>
inline constexpr bool has_run =
    shardtype::detail::KnownByKind<Op> || shardtype::detail::has_way_to_run<Op> ||
    !requires { Run<Op>::by_members; };

/// Runs an operation if an operand is a Local: as Run, unless it is specialised.
template <class Op>
struct RunBlocks : Run<Op> {};
/// Runs collectives and casts: manual/moves.hpp; collectives have a `start` besides `run`.
template <shardtype::detail::MovesBlocks Op>
struct RunBlocks<Op>;
/// Runs collectives and casts of a Tensor along manual axes: manual/manual_axes.hpp.
template <class Op>
struct RunAlongManual;

/// Named results of operations that run on blocks, by `fill` or `block`.
template <class Op, class... Out>
struct Run<op::Named<Op, Out...>> {
  template <class R, class... As>
  static auto run(op::Named<Op, Out...> const& named, std::source_location const& where,
                  As const&... as) {
    if constexpr (RunsNamedCalls<Op, R, As...>) {
      return named.strict().template run_named<R>(where, as...);
    } else {
      return execute::run_named<R>(named.strict(), where, as...);
    }
  }
};

/// The plan of a product, with the memory that its kernel needs on this execution space.
template <class T, class Exec>
Plan with_kernel(Plan plan) {
  using Product = kernels::Product<T, Exec>;
  plan.elements.any_strides = Product::any_strides;
  plan.workspace = Product::kernel_bytes(runtime::instance<Exec>(), plan.memory().gemm());
  return plan;
}

/// The plan that `R` makes for the sizes of these operands.
template <class R, class Op, class A, class... Bs>
Plan plan_by_sizing(Op const& op, A const& a, Bs const&... bs) {
  AxisMap const axes = runtime::map_axes(a.mesh().state(), R::S::names);
  Sizing z{R::S::names.extents(), axes.sizes,
           static_cast<std::int64_t>(sizeof(typename A::element))};
  if constexpr (requires { R::bytes; }) z.element_bytes = R::bytes;
  if constexpr (requires { op.strict(); }) {
    z = execute::named_sizing<R>(op.strict(), axes, a, bs...);
  } else {
    GivenExtents const given(a, bs...);
    for (int k = 0; k <= static_cast<int>(sizeof...(Bs)); ++k)
      execute::note_extents(z.extents, R::S::names, R::S::parsed[k].spec, given.at[k],
                            "one operand");
  }
  Planner const planner{R::S::names, z.element_bytes, &R::make_plan};
  if constexpr (requires { op.overlap; }) {
    return execute::with_kernel<typename A::element, typename A::execution_space>(planner(z));
  } else {
    return planner(z);
  }
}

/// Kinds of operands that are defined in layers above this one, for which `call` continues there.
enum class Above { lazy, active };
/// Implements `call(op, where, operands...)` for such operands; `refusal_of<Op>`: the sentence with
/// which they are refused, or void. Specialised by their layer
/// (lazy/record.hpp, autodiff/record.hpp).
template <Above kind, class... Operands>
struct Continue;

}  // namespace execute

namespace detail {

template <std::size_t... K>
constexpr auto poisoned_results(std::index_sequence<K...>) {
  return std::tuple((static_cast<void>(K), checking::Poisoned{})...);
}
/// The result of a refused operation: as many values as the operation has results.
template <class Op>
constexpr auto poisoned_result() {
  if constexpr (HasResults<Op>) {
    return detail::poisoned_results(std::make_index_sequence<number_of_results<Op>>{});
  } else {
    return checking::Poisoned{};
  }
}

}  // namespace detail

namespace api {

/// Runs the operation `op` on tensors, Locals or expressions of these. An illegal call is refused
/// here, with the sentence of its rule, which is not constructed, so that a refused plan remains a
/// constant for clang. For expressions of automatic mode the operation is
/// recorded, for values whose gradient is wanted it runs and is recorded; for types alone
/// (`Abstract`) its plan is noted. `where` is the user's line, for messages.
template <MarksOperation Op, class... As>
constexpr auto call(Op const& op, std::source_location const& where, As const&... as) {
  if constexpr (checking::any_poisoned<As...>) {
    return detail::poisoned_result<Op>();
  } else if constexpr ((core::is_active<As> || ...) || (core::is_lazy<As> || ...)) {
    constexpr bool active = (core::is_active<As> || ...);
    using Next = execute::Continue<active ? execute::Above::active : execute::Above::lazy, As...>;
    if constexpr (std::is_void_v<typename Next::template refusal_of<Op>>) {
      return Next::call(op, where, as...);
    } else {
      static_cast<void>(alignof(typename Next::template refusal_of<Op>));
      return detail::poisoned_result<Op>();
    }
  } else {
    using R = checking::Resolve<Op, detail::operand_t<As>...>;
    if constexpr (requires { typename R::sentence; }) {
      static_cast<void>(alignof(typename R::sentence));
      return detail::poisoned_result<Op>();
    } else if constexpr (R::verdict.code == rules::Code::T18_lacks_a_member) {
      static_cast<void>(
          alignof(checking::refused<rules::Code::T18_lacks_a_member, false, checking::NoRule, Op>));
      return detail::poisoned_result<Op>();
    } else if constexpr (!R::verdict) {
      static_cast<void>(alignof(checking::refusal<R, detail::operand_t<As>...>));
      return detail::poisoned_result<Op>();
    } else if constexpr (!detail::NamesItself<Op>) {
      static_cast<void>(
          alignof(checking::refused<rules::Code::T18_lacks_a_member, false, checking::NoName, Op>));
      return detail::poisoned_result<Op>();
    } else if constexpr (!core::countable(R::verdict.result, R::S::names.extents())) {
      if constexpr (sizeof...(As) == 1) {
        return checking::Poisoned(
            checking::refused<rules::Code::T10_too_many_elements, false, typename R::result>{});
      } else {
        return checking::Poisoned(checking::refused<rules::Code::T10_too_many_elements, false,
                                                    detail::operand_t<As>...>{});
      }
    } else if constexpr ((detail::is_abstract<As> || ...)) {
      if constexpr (requires { typename R::pair; }) {
        return detail::note_pairs<R>(op, as...);
      } else if constexpr (detail::HasResults<Op>) {
        return detail::note_results<R>(op, as...);
      } else {
        return detail::note<R>(op, as...);
      }
    } else if constexpr (!execute::has_run<Op>) {
      static_cast<void>(alignof(
          checking::refused<rules::Code::T18_lacks_a_member, false, checking::NoWayToRun, Op>));
      return detail::poisoned_result<Op>();
    } else {
      core::RunningCall const running(
          Op::name, where, detail::element_name<checking::element_t<typename R::result>>(),
          &R::verdict.result, &R::S::names);
      if constexpr ((is_local<detail::operand_t<As>> || ...)) {
        return execute::RunBlocks<Op>::template run<R>(op, where, detail::operand(as)...);
      } else if constexpr (requires { typename R::on_blocks; }) {
        return execute::RunAlongManual<Op>::template run<R>(op, where, detail::operand(as)...);
      } else if constexpr ((is_tensor<As> && ...)) {
        return execute::Run<Op>::template run<R>(op, where, as...);
      } else {
        return execute::Run<Op>::template run<R>(op, where, detail::operand(as)...);
      }
    }
  }
}

}  // namespace api

namespace detail {

/// Whether `T`, or a part of a tuple, is the result of a refused operation.
template <class T>
inline constexpr bool is_poison = any_poisoned<T>;
template <class... Ts>
inline constexpr bool is_poison<std::tuple<Ts...>> = (is_poison<Ts> || ...);
template <class... Ts>
inline constexpr bool holds_poison = (is_poison<Ts> || ...);

template <class R, class... As>
constexpr auto judge() {
  if constexpr (holds_poison<As...>) {
    return Type<Poisoned>{};
  } else if constexpr (requires { typename R::sentence; }) {
    return Type<typename R::sentence>{};
  } else if constexpr (!R::verdict) {
    return Type<refusal<R, As...>>{};
  } else {
    return Type<void>{};
  }
}
/// The verdict on a function that is not an operation, such as shard_map: the refusal with which
/// `R` (like a Resolve) refuses operands of types `As`, Poisoned if an operand was refused before,
/// void if all is well. A caller that gets a refusal constructs it, which reports it, and returns.
template <class R, class... As>
using judged_t = typename decltype(detail::judge<R, As...>())::type;
template <class Judgement>
inline constexpr bool accepts = std::is_void_v<Judgement>;

/// Starts `op` on copies of the operands, because a view may write to the originals: the values at
/// this point are sent.
template <class R, class Op, class... As>
// NOLINTNEXTLINE(performance-unnecessary-value-param)
auto start_held(Op const& op, std::source_location const& where, As const... as) {
  if constexpr ((is_local<As> || ...)) {
    return execute::RunBlocks<Op>::template start<R>(op, where, as...);
  } else {
    return execute::Run<Op>::template start<R>(op, where, as...);
  }
}

/// Checks the call and starts `op` on `as`.
template <class Op, class... As>
constexpr auto start_call(Op const& op, std::source_location const& where, As const&... as) {
  using R = Resolve<Op, operand_t<As>...>;
  using Judged = judged_t<R, operand_t<As>...>;
  if constexpr ((core::is_active<As> || ...)) {
    return Poisoned(refused<Code::X03_not_differentiable, false, Op, As...>{});
  } else if constexpr (!accepts<Judged>) {
    return Poisoned(Judged{});
  } else if constexpr (requires { typename R::on_blocks; }) {
    return Poisoned(refused<Code::V01_mixed, false, As...>{});
  } else {
    core::RunningCall const running(Op::name, where,
                                    detail::element_name<element_t<typename R::result>>(),
                                    &R::verdict.result, &R::S::names);
    return detail::start_held<R, Op, operand_t<As>...>(op, where, detail::operand(as)...);
  }
}

}  // namespace detail

namespace detail {

template <class Op, class A, class... Bs>
auto plan_of_call(Op const& op, A const& a, Bs const&... bs) {
  using R = checking::Resolve<Op, detail::operand_t<A>, detail::operand_t<Bs>...>;
  if constexpr (!R::verdict) {
    static_cast<void>(checking::refusal<R, detail::operand_t<A>, detail::operand_t<Bs>...>{});
    return Plan{};
  } else if constexpr (requires { op.template plan<R>(detail::operand(a)); }) {
    return op.template plan<R>(detail::operand(a));
  } else if constexpr (detail::SaysItsPlan<R, Op>) {
    auto const of = [&](auto const& t, auto const&... ts) {
      return R::plan_call(op, runtime::map_axes(t.mesh().state(), R::S::names).sizes,
                          execute::GivenExtents(t, ts...).at);
    };
    return of(detail::operand(a), detail::operand(bs)...);
  } else {
    return execute::plan_by_sizing<R>(op, detail::operand(a), detail::operand(bs)...);
  }
}

}  // namespace detail

namespace api {

/// Starts an operation that ends in one collective and does not wait for it: returns a Pending of
/// the operation's result (tensor/pending.hpp). Refusals as the operation, and X03 of a value whose
/// gradient is wanted.
///
///     auto pending = start(op::AllGather<X>{}, a);   // sends from now on
///     auto whole = std::move(pending).wait();        // as all_gather<X>(a)
template <MarksOperation Op, class A>
auto start(Op const& op, core::Argument<A> const& a, checking::CallSite where = {}) {
  return detail::start_call(op, where, a.self());
}
/// The same for an operation on two operands.
template <MarksOperation Op, class A, class B>
  requires(!std::is_same_v<B, std::source_location>)
auto start(Op const& op, core::Argument<A> const& a, B const& b, checking::CallSite where = {}) {
  return detail::start_call(op, where, a.self(), b);
}

/// The plan that this operation runs on these tensors, with their actual sizes. Communicates
/// nothing. Refusals as the operation.
template <MarksOperation Op, class A, class... Bs>
auto plan_at(Op const& op, core::Argument<A> const& a, Bs const&... bs) {
  return detail::plan_of_call(op, a.self(), bs...);
}

}  // namespace api

}  // namespace shardtype
