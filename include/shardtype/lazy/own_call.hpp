#pragma once
/// The plan of an operation that communicates by itself, as a part of a program.

#include <cstdint>
#include <type_traits>

#include <shardtype/lazy/expression.hpp>
#include <shardtype/lazy/node_properties.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::detail {

template <class E>
inline constexpr bool is_own_call = false;
template <class Op, class Results, class Result, class... As>
inline constexpr bool is_own_call<LazyOwnCall<Op, Results, Result, As...>> = true;

/// The call of `Op` on operands of the Tensor types `Pins`.
template <class Op, class... Pins>
struct RecordedCall {
  using R = Resolve<Op, Pins...>;
  using S = typename R::S;
  static constexpr int count = static_cast<int>(sizeof...(Pins));

  /// Axis sizes and extents in the numbers of the call.
  struct Sizes {
    shardtype::core::Sizes axes = S::names.sizes();
    std::int64_t extents[sizeof...(Pins)][max_dims]{};
    std::int64_t const* given[sizeof...(Pins)]{};

    constexpr Sizes(planning::OwnCall const& call, RecordedProgram const& p, int node) {
      for (int x = 0; x < S::names.axes; ++x) axes.at[x] = p.sizes[call.axis[x]];
      for (int k = 0; k < count; ++k) {
        ProgramNode const& n = p.nodes[p.operand(node, 0, k)];
        for (int d = 0; d < n.rank; ++d)
          extents[k][d] = p.extents[n.labels[p.nodes[node].place(k, d)]];
        given[k] = extents[k];
      }
    }
    Sizes(Sizes const&) = delete;
    Sizes& operator=(Sizes const&) = delete;
  };

  static constexpr Plan plan(RecordedProgram const& p, int node) {
    Sizes const sizes(p.own_call[p.nodes[node].own_call], p, node);
    return R::plan_call(detail::of_variant<Op>(p.nodes[node].variant), sizes.axes, sizes.given);
  }
};

}  // namespace shardtype::detail
