#pragma once
/// The gradient of sorting along a split dim.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/placed_rows.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype::autodiff {

/// The elements along I, which ranks split, at other places: row `places[i]` of the result is row
/// `i`, where each place is named once. Each rank sends each element and its place once, at most
/// its block. Operands: the elements, and the places.
template <class I>
struct PutRows {
  using operation = PutRows;
  using from = shardtype::detail::Bare<I>;
  static constexpr bool communicates = true;
  static constexpr bool recorded = false;
  static constexpr std::string_view name = "put_rows";
  static constexpr Verdict rule(rules::Question const& q) {
    Spec const& a = q.a();
    Spec const& places = q.operands[1];
    for (int d = 0; d < a.rank || d < places.rank; ++d)
      if (d >= a.rank || d >= places.rank || !(a.dims[d] == places.dims[d]))
        return refuse(Code::D12_dims_differ, a.dims[d < a.rank ? d : 0].label);
    return rules::shift(q);
  }
  template <class A, class Places>
  static constexpr Code elements() {
    return std::is_same_v<element_t<Places>, std::int64_t> ? Code::ok
                                                           : Code::C10_element_types_differ;
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    planning::append_put_rows(p, c, d);
  }
  /// What is sent, in the order of the ranks that get it.
  constexpr planning::Work work(planning::CallSizing const& c, int) const {
    return {0, mul_sat(c.elements(0), c.element_bytes(0) + 8), false};
  }
  template <class Call>
  runtime::Buffer block(Call const& run) const {
    return execute::PlacedRows(run).run(static_cast<std::int64_t const*>(run.buffers[1]->data()));
  }
};

/// The cotangent goes back to the places that the elements came from: argsort of the operand, which
/// is kept. Gradients of it are refused.
template <class I, class... Out>
struct Vjp<op::Named<op::Sorted<false, I>, Out...>> : Differentiable {
  using Op = op::Named<op::Sorted<false, I>, Out...>;
  static constexpr bool communicates = true;
  static constexpr bool first_order = true;
  template <class A>
  using met = typename Resolve<Op, tensor_of<A>>::template met<0>;

  template <class V, class A>
  static constexpr auto save(Op const& op, V const&, A const& a) {
    using Places = shardtype::detail::with_elements<typename met<A>::result, std::int64_t>;
    return autodiff::keep(api::call(op::Named<op::Sorted<true, I>, Places>{{op.strict().order}},
                                    std::source_location::current(), a),
                          a.extents()[place_of<tensor_of<A>, I>]);
  }
  template <class V, class A, class S, class C>
  static constexpr auto prepare(Op const&, S const&, C const& ct) {
    return autodiff::finished<cotangent_t<typename met<A>::result>, true>(ct);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using Met = typename met<A>::result;
    if constexpr (Met::spec.dims[place_of<Met, I>].axes.size > 0) {
      return api::call(PutRows<I>{}, std::source_location::current(), ct, autodiff::kept<0>(saved));
    } else {
      return api::scatter_along<I>(ct, autodiff::kept<0>(saved), autodiff::kept<1>(saved));
    }
  }
};

}  // namespace shardtype::autodiff
