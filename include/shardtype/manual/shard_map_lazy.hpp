#pragma once
/// shard_map in expressions of automatic mode.

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/lazy/record.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

namespace execute {

/// Runs as the shard_map of tensors whose blocks are those of the operands in their fixed
/// shardings. Error E24: an index of the result has another extent than in the argument.
template <class F, class Result, class... As>
struct ShardMapRun<automatic_mode::LazyShardMap<F, Result, As...>> {
  using E = automatic_mode::LazyShardMap<F, Result, As...>;

  static AnyBlock make(ProgramRun& run, int step, void const* part) {
    F const& f = static_cast<E const*>(part)->function();
    Result const out = [&]<int... K>(std::integer_sequence<int, K...>) {
      return shardtype::shard_map<Result>(
          f, execute::tensor_input<shardtype::detail::pin_t<As>>(run, step, K)...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    for (std::size_t d = 0; d < Result::rank; ++d) {
      std::int64_t const known = run.extents(step)[static_cast<int>(d)];
      if (out.extents()[d] != known)
        throw Error("E24",
                    "index " + std::string(run.labels()[run.node(step).labels[d]].name) +
                        " has extent " + std::to_string(out.extents()[d]) +
                        " in the result of shard_map, elsewhere " + std::to_string(known),
                    FailedOn::every_rank);
    }
    return run.packed_block(step, out.buffer());
  }
};

}  // namespace execute

namespace detail {

/// Whether each index of `Result` is one of `Pins` or has a static extent.
template <class Result, class... Pins>
constexpr bool extents_known() {
  LabelSet known;
  (known.add(detail::labels_in<Pins>()), ...);
  for (int l = 0; l < Scope<Result>::names.labels; ++l)
    if (Scope<Result>::names.label_extent[l] == dynamic &&
        !known.contains(Scope<Result>::names.label_id[l]))
      return false;
  return true;
}

}  // namespace detail

namespace api {

/// shard_map of expressions: a function of blocks as one node of a program. Automatic mode does not
/// change it. Each argument is a tensor (`lazy(a)`, in its sharding), a `constrain` or another
/// shard_map; the planner reshards it to that sharding, and uses the result in its named sharding:
///
///     auto c = shard_map<Dim<I, X>>([](auto a) { return sum<J>(a); }, constrain<Dim<I, X>,
///     Dim<J>>(e));
///
/// The collectives in `f` are not in the plan and not in its costs, because a plan is made from
/// types, and C++ cannot ask whether the body of `f` compiles for blocks without data. `f` returns
/// one Local. An index of the result has the extent that it has in an argument (error E24), or a
/// static one. Refused: the refusals of shard_map, L01 several results, L08 an unknown sharding or
/// extent. JAX: shard_map inside of jit.
template <class... Out, class F, class... As>
  requires(core::is_lazy<As> || ...)
auto shard_map(F const& f, As const&... as) {
  if constexpr (checking::any_poisoned<detail::lazy_t<As>...>) {
    (static_cast<void>(api::lazy(as)), ...);
    return checking::Poisoned{};
  } else if constexpr (sizeof...(As) > static_cast<std::size_t>(planning::max_operands)) {
    return checking::Poisoned(checking::refused<rules::Code::T07_too_many, false,
                                                typename detail::lazy_t<As>::whole...>{});
  } else if constexpr ((std::is_void_v<detail::pin_t<detail::lazy_t<As>>> || ...)) {
    return checking::Poisoned(checking::refused<rules::Code::L08_no_sharding, false,
                                                typename detail::lazy_t<As>::whole...>{});
  } else {
    using Result = decltype(api::shard_map<Out...>(
        f, std::declval<detail::pin_t<detail::lazy_t<As>> const&>()...));
    if constexpr (detail::is_tuple<Result>) {
      return checking::Poisoned(checking::refused<rules::Code::L01_not_recorded, false,
                                                  typename detail::lazy_t<As>::whole...>{});
    } else if constexpr (checking::any_poisoned<Result> || !is_tensor<Result>) {
      return checking::Poisoned{};  // clang takes a refused value for an int
    } else if constexpr (!detail::extents_known<Result, detail::pin_t<detail::lazy_t<As>>...>()) {
      return checking::Poisoned(checking::refused<rules::Code::L08_no_sharding, false, Result>{});
    } else {
      return detail::as_recorded(
          automatic_mode::LazyShardMap<F, Result, detail::lazy_t<As>...>(f, api::lazy(as)...));
    }
  }
}

}  // namespace api

}  // namespace shardtype
