#pragma once
/// Runs operations that communicate by themselves, as parts of a program.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <shardtype/lazy/own_call.hpp>
#include <shardtype/lazy/run_operation.hpp>

namespace shardtype::execute {

/// Runs an operation that communicates by itself, as in strict mode.
template <class Op, class Results, class Result, class... As>
struct OperationRun<automatic_mode::LazyOwnCall<Op, Results, Result, As...>> {
  using E = automatic_mode::LazyOwnCall<Op, Results, Result, As...>;
  using Call = shardtype::detail::RecordedCall<Op, shardtype::detail::pin_t<As>...>;

  static AnyBlock make(ProgramRun& run, int step, void const* part) {
    auto const out = [&]<int... K>(std::integer_sequence<int, K...>) {
      return shardtype::call(static_cast<E const*>(part)->function(), run.where(),
                             execute::tensor_input<shardtype::detail::pin_t<As>>(run, step, K)...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
    return execute::keep_results<Op>(run, step, out, [](auto const& one) {
      return execute::block_with(one, [&](std::size_t d) { return one.rows()[d].size(); });
    });
  }
  static bool equal(void const* part, void const* other) {
    return execute::equal_arguments(static_cast<E const*>(part)->function(),
                                    static_cast<E const*>(other)->function());
  }
  static void set_extents(void const* part, RecordedProgram& p, int node, LabelPart const* labels) {
    Op const& op = static_cast<E const*>(part)->function();
    p.nodes.edit(node).variant = shardtype::detail::variant_of(op);
    set_extents_of<0>(op, p, node, node, labels);
  }
  template <std::size_t K>
  static void set_extents_of(Op const& op, RecordedProgram& p, int node, int made,
                             LabelPart const* labels) {
    typename Call::Sizes const sizes(p.own_call.at[p.nodes.at[made].own_call], p, made);
    if constexpr (shardtype::detail::HasResults<Op>) {
      auto const all = Call::R::extents(op, sizes.axes, sizes.given);
      execute::set_extents_of_result(p, node, all.at[K], Op::name, labels);
    } else {
      std::int64_t out[max_dims]{};
      Call::R::set_extents(op, sizes.axes, sizes.given, out);
      execute::set_extents_of_result(p, node, out, Op::name, labels);
    }
  }
};

}  // namespace shardtype::execute
