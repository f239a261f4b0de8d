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
        ProgramNode const& n = p.nodes.at[p.operand(node, 0, k)];
        for (int d = 0; d < n.rank; ++d)
          extents[k][d] = p.extents.at[n.labels[p.nodes.at[node].place(k, d)]];
        given[k] = extents[k];
      }
    }
    Sizes(Sizes const&) = delete;
    Sizes& operator=(Sizes const&) = delete;
  };

  static constexpr Plan plan(RecordedProgram const& p, int node) {
    Sizes const sizes(p.own_call.at[p.nodes.at[node].own_call], p, node);
    return R::plan_call(detail::of_variant<Op>(p.nodes.at[node].variant), sizes.axes, sizes.given);
  }
};

/// The call of `Op`, which exchanges rows along a split dim, on an operand like `A` in a sharding
/// of the program's axes.
template <class Op, class A>
struct CallOnRows {
  using R = Resolve<Op, A>;
  using S = typename R::S;

  /// The types of the call: those of unsplit operands, with that sharding. The result has it, too.
  struct Types {
    ParsedType at[S::types]{};
    Spec result{};

    constexpr Types(ProgramNode const& n, Spec const& operand) {
      for (int k = 0; k < S::types; ++k) at[k] = S::parsed[k];
      result = R::verdict.result;
      Spec& s = at[0].spec;
      for (int d = 0; d < s.rank; ++d) {
        s.dims[d].axes = operand.dims[n.place(0, d)].axes;
        result.dims[result.find(s.dims[d].label)].axes = s.dims[d].axes;
      }
      for (Spec* const each : {&s, &result}) {
        each->unreduced = operand.unreduced;
        each->reduced = operand.reduced;
        each->kind = operand.kind;
      }
    }
  };
  static constexpr Plan plan(RecordedProgram const& p, int node, Spec const& operand) {
    ProgramNode const& n = p.nodes.at[node];
    ProgramNode const& from = p.nodes.at[p.operand(node, 0, 0)];
    Types const types(n, operand);
    std::int64_t extents[max_dims]{};
    for (int d = 0; d < from.rank; ++d) extents[d] = p.extents.at[from.labels[n.place(0, d)]];
    std::int64_t const* const given[] = {extents};
    std::int64_t const bytes[] = {sizeof(element_t<A>), sizeof(element_t<typename R::result>)};
    CallValues<1> values(S::names, types.at, types.result, p.sizes, given, extents, bytes);
    values.call.from = S::parsed[1].spec;
    Op const op = detail::of_variant<Op>(n.variant);
    Plan out = planning::plan_of_call(Op::name, values.call);
    op.steps(out, values.call, R::along);
    if (!out.computes()) planning::append_compute(out, detail::work_of(op, values.call, R::along));
    return out;
  }
};

}  // namespace shardtype::detail
