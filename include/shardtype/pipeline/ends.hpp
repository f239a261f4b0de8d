#pragma once
/// The ends of a pipeline: the embedding before its first stage and the head behind its last one,
/// and the parameters that both have.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/core/bridge.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/ops/run_full_like.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::pipeline {

/// The last argument of value_and_grad that asks for the cotangent of `x`.
struct InputGrad {};
inline constexpr InputGrad input_grad{};

namespace detail {

namespace sd = shardtype::detail;

/// The embedding of a pipeline without one: a microbatch is what the first stage takes.
struct NoEmbedding {
  template <class A, class... Es>
  constexpr A operator()(A const& x, Es const&...) const {
    return x;
  }
};

/// The state of a block along an axis.
template <class Axis, class L>
constexpr core::AxisState state_along() {
  using S = core::Scope<L>;
  constexpr int axis = S::names.find_axis(core::identity<Axis>);
  if constexpr (axis < 0) {
    return core::AxisState::replicated;
  } else {
    return S::template spec<0>.state(axis);
  }
}

/// Whether a parameter belongs to the stages: each rank along the axis has another block. Others
/// belong to the ends.
template <class Axis, class W>
inline constexpr bool of_stages = detail::state_along<Axis, W>() == core::AxisState::varying;
/// The places, in a call, of the parameters of the stages or of those of the ends.
template <class Axis, bool stages, class... Ws>
struct Chosen {
  static constexpr std::size_t count = (std::size_t{of_stages<Axis, Ws> == stages} + ... + 0);
  static constexpr auto places() {
    std::array<std::size_t, count == 0 ? 1 : count> out{};
    std::size_t place = 0, n = 0;
    ((of_stages<Axis, Ws> == stages ? void(out[n++] = place++) : void(place++)), ...);
    return out;
  }
  static constexpr std::array<std::size_t, count == 0 ? 1 : count> at = places();
  /// The place of parameter `k` among those chosen.
  static constexpr std::size_t place_of(std::size_t k) {
    std::size_t out = 0;
    while (at[out] != k) ++out;
    return out;
  }
  using Order = std::make_index_sequence<count>;
};

/// The members of a tuple that `Of` chooses.
template <class Of, class... Ws>
auto chosen(std::tuple<Ws const&...> const& all) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tie(std::get<Of::at[K]>(all)...);
  }(typename Of::Order{});
}

/// A parameter of the ends, or none, as each rank uses it for passes of its own.
template <class Axis, class E>
constexpr auto at_end(E const& e) {
  return sd::computed(api::varying<Axis>(e));
}
/// The gradient of such a parameter `E`, from the summands of the ends.
template <class Axis, class E, class G>
constexpr auto sum_of_ends(G const& summand) {
  if constexpr (detail::state_along<Axis, E>() == core::AxisState::reduced) {
    return sd::computed(api::unreduced<Axis>(summand));
  } else {
    return sd::computed(api::all_reduce<Axis>(summand));
  }
}

/// A tensor or block of zeros.
template <class A>
A zeros_of(runtime::MeshRef const& mesh, sd::extents_of<A> const& extents) {
  return api::full_like(sd::uninitialized<A>(mesh, extents), 0);
}

/// Makes `extents` those of rank `root` of the group along an axis.
inline void share_extents(runtime::MeshRef const& mesh, int axis, std::int64_t* extents, int rank,
                          int root) {
  if (mesh.here() && rank > 0) mesh.state().group(&axis, 1).broadcast(extents, rank, root);
}

/// The blocks of the microbatches, along the new first dim Micro. Holds them at most twice.
template <class Micro, class Ct>
auto joined(std::vector<std::optional<Ct>>&& parts) {
  using Row = decltype(sd::computed(api::expand<Micro>(*parts[0])));
  std::vector<Row> rows;
  for (std::optional<Ct>& part : parts) {
    rows.push_back(sd::computed(api::expand<Micro>(*part)));
    part.reset();
  }
  // in pairs, so that no row is copied often
  while (rows.size() > 1) {
    std::vector<Row> pairs;
    while (rows.size() > 1) {
      Row const last = std::move(rows.back());
      rows.pop_back();
      Row const before = std::move(rows.back());
      rows.pop_back();
      pairs.push_back(sd::computed(api::concat<Micro>(before, last)));
    }
    if (!rows.empty()) pairs.push_back(std::move(rows[0]));
    rows.assign(std::make_move_iterator(pairs.rbegin()), std::make_move_iterator(pairs.rend()));
  }
  return std::move(rows[0]);
}

}  // namespace detail

}  // namespace shardtype::pipeline
