#pragma once
/// Manual mode: a function of blocks that runs on every rank.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/callable.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// The block of an argument, which shares its memory. Error E61: blocks of unequal extents.
template <class A>
auto block_of(A const& a, int argument) {
  using L = local_t<A>;
  AxisMap const axes = runtime::map_axes(a.mesh().state(), Scope<A>::names);
  extents_of<L> extents{};
  for (int d = 0; d < A::spec.rank; ++d) {
    auto const k = static_cast<std::size_t>(d);
    std::int64_t const pieces = axes.sizes.product(A::spec.dims[d].axes);
    if (a.extents()[k] % pieces != 0)
      throw Error(
          "E61",
          (argument > 0 ? "argument " + std::to_string(argument) + " of shard_map: index "
                        : "what strict returns: index ") +
              std::string(Scope<A>::names.label_name[A::spec.dims[d].label]) + " has extent " +
              std::to_string(a.extents()[k]) + ", which the " + std::to_string(pieces) +
              " ranks of " + core::dim_text(A::spec.dims[d], Scope<A>::names) +
              " do not divide; every block must have the same extents: reshard it to be whole "
              "(an all_gather), where pad can lengthen it, or begin with an extent that they "
              "divide",
          FailedOn::every_rank);
    extents[k] = a.extents()[k] / pieces;
  }
  return L(a.mesh(), extents, a.buffer());
}

/// SHARDTYPE_CHECK=agree: checks that all ranks returned blocks of these extents.
void agree_on_block(MeshState& mesh, std::int64_t const* extents, int rank);

/// A tensor or block without data, of type `Out`, from the other one: the extents of a block are
/// pieces of those of the tensor `Whole`; `dynamic` if one is not known.
template <class Out, class Whole, class A, class Recorder>
constexpr auto abstract_across(Abstract<A, Recorder> const& a) {
  using S = Scope<Whole>;
  constexpr Spec s = S::template spec<0>;
  constexpr Sizes sizes = S::names.sizes();
  std::int64_t extents[max_dims]{};
  for (int d = 0; d < s.rank; ++d) {
    extents[d] = a.extents()[static_cast<std::size_t>(d)];
    for (int k = 0; k < s.dims[d].axes.size; ++k) {
      std::int64_t const p = sizes[s.dims[d].axes[k]];
      bool const known = extents[d] != dynamic && p != dynamic;
      extents[d] = !known ? dynamic : is_local<Out> ? extents[d] / p : extents[d] * p;
    }
  }
  return Abstract<Out, Recorder>(a.recorder(), extents, a);
}

/// The tensor `Out` whose block is `l`.
template <class Out, class L>
Out whole_of(L const& l) {
  detail::agree_on_block(l.mesh().state(), l.extents().data(), static_cast<int>(L::rank));
  AxisMap const axes = runtime::map_axes(l.mesh().state(), Scope<Out>::names);
  extents_of<Out> extents{};
  for (int d = 0; d < Out::spec.rank; ++d) {
    auto const k = static_cast<std::size_t>(d);
    extents[k] = l.extents()[k] * axes.sizes.product(Out::spec.dims[d].axes);
  }
  return Out(l.mesh(), extents, l.buffer());
}

/// Converts a value to the block that the function of a shard_map takes: `type` is the value's
/// tensor type, `of(a, argument)` returns the block. Defined here for tensors, expressions and
/// tensors without data; for values whose gradient is wanted in autodiff/shard_map.hpp.
template <class A>
struct Entering {
  using type = operand_t<A>;
  static auto of(A const& a, int argument) {
    return detail::block_of(detail::operand(a), argument);
  }
};
template <class A, class Recorder>
struct Entering<Abstract<A, Recorder>> {
  using type = A;
  static constexpr auto of(Abstract<A, Recorder> const& a, int) {
    return detail::abstract_across<local_t<A>, A>(a);
  }
};
/// Converts a block to the tensor `Out`, by `to<Out>(block)`.
template <class L>
struct Leaving {
  using type = operand_t<L>;
  template <class Out>
  static Out to(L const& l) {
    return detail::whole_of<Out>(detail::operand(l));
  }
};
template <class L, class Recorder>
struct Leaving<Abstract<L, Recorder>> {
  using type = L;
  template <class Out>
  static constexpr auto to(Abstract<L, Recorder> const& l) {
    return detail::abstract_across<Out, Out>(l);
  }
};
template <class A>
using entering_t = typename Entering<A>::type;
template <class L>
using leaving_t = typename Leaving<L>::type;

template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

/// Number of parts of a tuple; 0 for other types.
template <class T>
inline constexpr std::size_t parts_of = 0;
template <class... Ts>
inline constexpr std::size_t parts_of<std::tuple<Ts...>> = sizeof...(Ts);

/// Stands for a refused result like `T`: a tuple of Poisoned if `T` is a tuple, so that it can be
/// unpacked.
template <class T>
struct RefusedLike {
  using type = Poisoned;
};
template <template <class...> class Several, class... Ts>
  requires(std::is_same_v<Several<Ts...>, std::tuple<Ts...>> ||
           std::is_same_v<Several<Ts...>, Outs<Ts...>>)
struct RefusedLike<Several<Ts...>> {
  using type = std::tuple<typename RefusedLike<Ts>::type...>;
};
template <class T>
using refused_like = typename RefusedLike<T>::type;

/// The verdict on the gradient of a block of type `L` that becomes the tensor `Out`; defined in
/// autodiff/shard_map.hpp.
template <class L, class Out>
struct CotangentLeaves;

template <class L, class... Out>
constexpr auto judge_output() {
  using B = leaving_t<L>;
  if constexpr (!is_local<B>) {
    return Type<judged_t<Plainly<Code::V15_no_local>, L>>{};
  } else {
    using Whole = output_type<B, Out...>;
    using R = Output<B, Whole>;
    if constexpr (!R::law) {
      return Type<judged_t<R, B>>{};
    } else if constexpr (R::verdict && is_active<L>) {
      return Type<judged_t<CotangentLeaves<B, Whole>, B, Whole>>{};
    } else {
      return Type<judged_t<R, B, Whole>>{};
    }
  }
}
/// One result of the function as the tensor that `Out` names.
template <class... Out, class L>
constexpr auto output(L const& l) {
  using Judged = typename decltype(detail::judge_output<L, Out...>())::type;
  if constexpr (!accepts<Judged>) {
    return Poisoned(Judged{});
  } else {
    return Leaving<L>::template to<output_type<leaving_t<L>, Out...>>(l);
  }
}

/// Converts the function's results to tensors. Runs outside of manual mode.
template <class... Out>
struct Promised {
  using Refused = Poisoned;
  using Places = std::index_sequence<>;
  template <class Result>
  static constexpr auto of(Result const& result, Places) {
    return detail::output<Out...>(result);
  }
};
template <class... Tensors>
struct Promised<Outs<Tensors...>> {
  using Refused = refused_like<Outs<Tensors...>>;
  using Places = std::index_sequence_for<Tensors...>;
  template <class Result, std::size_t... K>
  static constexpr auto of([[maybe_unused]] Result const& result, std::index_sequence<K...>) {
    using Judged =
        judged_t<Plainly<parts_of<Result> == sizeof...(Tensors) ? Code::ok : Code::V15_no_local>,
                 Result>;
    if constexpr (!accepts<Judged>) {
      static_cast<void>(Poisoned(Judged{}));
      return Refused{};
    } else {
      return std::tuple(detail::output<Tensors>(std::get<K>(result))...);
    }
  }
};
/// For a function that returns nothing: the refusal V15.
template <class Promised, class Nothing>
auto refuse_void() {
  static_cast<void>(Poisoned(judged_t<Plainly<Code::V15_no_local>, Nothing>{}));
  return typename Promised::Refused{};
}

/// The function's result with its expressions computed.
template <class Result>
constexpr auto computed(Result&& result) {
  using R = std::remove_cvref_t<Result>;
  if constexpr (is_active<R> || is_abstract<R>) {
    return std::remove_cvref_t<decltype(result.tensor())>(result.tensor());
  } else if constexpr (is_tuple<R>) {
    return std::apply([](auto const&... each) { return std::tuple(detail::computed(each)...); },
                      result);
  } else if constexpr (is_tensor<operand_t<R>> && !is_poisoned<R>) {
    return operand_t<R>(detail::operand(result));
  } else {
    return R(std::forward<Result>(result));
  }
}

/// Error E23 unless all arguments are on one mesh; of those without data there is none.
template <class A, class B>
constexpr void check_two_meshes([[maybe_unused]] A const& a, [[maybe_unused]] B const& b) {
  if constexpr (requires { a.mesh(); } && requires { b.mesh(); })
    detail::check_one_mesh(a.mesh(), b.mesh());
}
template <class A, class... As>
constexpr void check_meshes([[maybe_unused]] A const& a, As const&... as) {
  (detail::check_two_meshes(a, as), ...);
}

/// Runs `f` in a `Scope`, some of whose arguments are values whose gradient is wanted: the backward
/// pass enters and leaves the scope as well. Defined in autodiff/shard_map.hpp.
template <class Scope>
struct ActiveBody;
/// Runs `f` in a `Scope` of the mesh of the first argument: ManualScope or StrictScope.
template <class Scope, class F, class A, class... As>
constexpr auto run_body(F const& f, A const& a, As const&... as) {
  if constexpr (is_active<A> || (is_active<As> || ...)) {
    return ActiveBody<Scope>::run(f, a, as...);
  } else if constexpr (is_abstract<A> || (is_abstract<As> || ...)) {
    return detail::computed(f(a, as...));
  } else {
    Scope const inside(a.mesh());
    return detail::computed(f(a, as...));
  }
}

/// Stands for the block of an argument of type `A`; has no body.
template <class A>
decltype(Entering<A>::of(std::declval<A const&>(), 0)) const& some_block();

/// The first refused argument; void if all are accepted.
template <class A, class... Rest>
constexpr auto judge_inputs() {
  using Judged = judged_t<InputOf<A>, A>;
  if constexpr (accepts<Judged> && sizeof...(Rest) > 0) {
    return detail::judge_inputs<Rest...>();
  } else {
    return Type<Judged>{};
  }
}
template <class... As>
using judged_inputs = typename decltype(detail::judge_inputs<As...>())::type;

/// The block of a Tensor, or the blocks of a tuple of them.
template <class Result>
constexpr auto blocks_of(Result const& result) {
  if constexpr (is_tuple<Result>) {
    return std::apply([](auto const&... each) { return std::tuple(detail::blocks_of(each)...); },
                      result);
  } else {
    using Judged = judged_inputs<entering_t<Result>>;
    if constexpr (!accepts<Judged>) {
      return Poisoned(Judged{});
    } else {
      return Entering<Result>::of(result, 0);
    }
  }
}

}  // namespace detail

namespace api {

/// Runs `f` on every rank, on the blocks of the tensors. `f` takes a Local for each tensor, `f32[I,
/// J]{V:X}` for `f32[I@X, J]`, and returns one that becomes the block of the result. The result is
/// named by a Tensor type or by its dims and attributes:
///
///     auto c = shard_map<Dim<I, X>>([](auto a) { return sum<J>(a); }, a);
///
/// Along an axis that splits no dim of the result, blocks must be identical: refused V07 if the
/// block may vary over it. Unreduced and reduced axes must be named in the result: V08.
/// `shard_map<Outs<A, B>>` takes a function that returns a std::tuple of two. Communicates nothing
/// itself. The blocks of each tensor must have equal extents, else refused V10, or error E61 before
/// `f` runs. On ranks outside the mesh collectives do nothing. Of arguments whose gradient is
/// wanted the cotangents pass through `f` backward, as blocks. JAX: shard_map with check_vma.
/// Refused: V01, V07 to V10, V15, B03, N05, X01 an invariant block that becomes the block of a
/// split dim. Errors: E23, E60 operations on Tensors in `f`, E61.
template <class... Out, class F, class... As>
  requires(sizeof...(As) > 0 && !std::is_base_of_v<runtime::MeshRef, F> &&
           !(core::is_lazy<As> || ...))
constexpr auto shard_map(F const& f, As const&... as) {
  using Judged = detail::judged_inputs<detail::entering_t<As>...>;
  using Promised = detail::Promised<Out...>;
  if constexpr (!detail::accepts<Judged>) {
    static_cast<void>(checking::Poisoned(Judged{}));
    return typename Promised::Refused{};
  } else {
    // reports a refusal inside of the function: after this condition clang stops
    if constexpr (detail::not_taken<decltype(detail::or_not_taken(f)(
                      detail::some_block<As>()...))>) {
      checking::refused<rules::Code::T11_not_callable, false, local_t<detail::entering_t<As>>...>{};
      return typename Promised::Refused{};
    } else if constexpr (std::is_void_v<decltype(f(detail::some_block<As>()...))>) {
      return detail::refuse_void<Promised, void>();
    } else {
      detail::check_meshes(as...);
      auto const result = [&]<int... K>(std::integer_sequence<int, K...>) {
        return detail::run_body<detail::ManualScope>(f, detail::Entering<As>::of(as, K + 1)...);
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
      return Promised::of(result, typename Promised::Places{});
    }
  }
}
/// shard_map without arguments: `shard_map<Dim<I, X>>(mesh, [] { return axis_index<X>() ...; })`.
template <class... Out, MeshAxis... Xs, class F>
auto shard_map(runtime::MeshOf<Xs...> const& mesh, F const& f) {
  using Promised = detail::Promised<Out...>;
  if constexpr (!requires { f(); }) {
    checking::refused<rules::Code::T11_not_callable, false, Mesh<Xs...>>{};
    return typename Promised::Refused{};
  } else if constexpr (std::is_void_v<decltype(f())>) {
    return detail::refuse_void<Promised, void>();
  } else {
    return Promised::of(
        [&] {
          detail::ManualScope const inside(mesh);
          return detail::computed(f());
        }(),
        typename Promised::Places{});
  }
}

/// Strict mode inside of manual mode. `f` takes Tensors of types `Ins` whose blocks are the Locals,
/// one for each; the Tensor (or std::tuple of Tensors) that it returns is converted back to its
/// block:
///
///     auto c = strict<Tensor<float, Dim<I, X>, Dim<J>>>([](auto t) { return reshard<...>(t); },
///     a);
///
/// A Local must not vary over an axis that splits no dim, as at the end of shard_map. Refused: V01,
/// V07 to V10, B03, N05. Error E61.
template <class... Ins, class F, class... Ls>
  requires(sizeof...(Ls) > 0 && sizeof...(Ins) == sizeof...(Ls) &&
           ((is_tensor<detail::operand_t<Ls>> || core::is_active<Ls> || detail::is_poisoned<Ls>) &&
            ...))
constexpr auto strict(F const& f, Ls const&... ls) {
  using Judged = detail::judged_t<
      detail::Plainly<(is_local<detail::leaving_t<Ls>> && ...) ? rules::Code::ok
                                                               : rules::Code::V01_mixed>,
      detail::leaving_t<Ls>...>;
  if constexpr (!detail::accepts<Judged>) {
    return checking::Poisoned(Judged{});
  } else if constexpr (detail::not_taken<decltype(detail::or_not_taken(f)(
                           std::declval<decltype(detail::output<Ins>(std::declval<Ls const&>()))
                                            const&>()...))>) {
    checking::refused<rules::Code::T11_not_callable, false, Ins...>{};
    return checking::Poisoned{};
  } else {
    // tensors exist outside of manual mode only
    return detail::run_body<detail::StrictScope>(
        [&f](auto const&... blocks) {
          return detail::blocks_of(detail::computed(f(detail::output<Ins>(blocks)...)));
        },
        detail::computed(ls)...);
  }
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/manual/shard_map.ipp>
#endif
