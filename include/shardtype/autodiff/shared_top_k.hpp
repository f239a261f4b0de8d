#pragma once
/// The gradient of the largest elements along a dim that ranks may share.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/shared_top_k.hpp>

namespace shardtype::detail {

template <class A>
  requires core::is_active<A>
struct DecidingTensor<A> {
  using type = laid_out_t<autodiff::tensor_of<A>>;
};

}  // namespace shardtype::detail

namespace shardtype::autodiff {

/// ScatterAlong of updates and ids that the ranks share along J, into blocks: each rank adds the
/// updates of its own rows. `Into`: the dim of the result with its axes. Local.
template <class J, class Into>
struct ScatterToBlocks {
  using operation = ScatterToBlocks;
  using from = shardtype::detail::Bare<J>;
  using to = Mentions<Into>;
  static constexpr std::string_view name = "scatter_along";
  static constexpr bool recorded = false;
  std::int64_t n = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    AxisList const& axes = q.to.dims[0].axes;
    Verdict v = rules::scatter_along(q.a(), q.operands[1], q.along(), q.to.dims[0].label);
    if (!v) return v;
    for (int k = 0; k < axes.size; ++k)
      if (v.result.state(axes[k]) != AxisState::replicated)
        return refuse(Code::I06_unreduced_and_split, q.along(), -1, axes[k]);
    v.result.dims[v.result.find(q.to.dims[0].label)].axes = axes;
    return v;
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return op::ScatterAlong<J>::template elements<A, Ids>();
  }
  constexpr void extents(ResultExtents const& c) const {
    for (int d = 0; d < c.result.rank; ++d)
      c.out[d] = c.result.dims[d].label == c.to().dims[0].label ? n : c.given[0][d];
  }
  /// Sums of what is added up in a wider type.
  static constexpr planning::Work work(planning::CallSizing const& c, int) {
    return {c.elements(0),
            shardtype::detail::is_added_in_float(c) ? mul_sat(4, c.result_elements()) : 0, false};
  }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& a, Ids const& ids) const {
    op::ScatterAlong<shardtype::detail::label_of_t<Into>, J>{n}.fill(out, a, ids);
  }
};

}  // namespace shardtype::autodiff

namespace shardtype::op {

template <class I, class... Result>
template <std::size_t Which, class V, class A>
constexpr auto SharedTopK<I, Result...>::save(V const& both, A const& a) const {
  return autodiff::keep(std::get<1>(both),
                        a.extents()[autodiff::place_of<autodiff::tensor_of<A>, I>]);
}
/// As that of take_along at the positions that it returns, in the blocks of the operand.
template <class I, class... Result>
template <class G>
constexpr auto SharedTopK<I, Result...>::pull(G const& g) const {
  using Given = typename G::type;
  using Into = typename std::remove_pointer_t<
      typename detail::PartsOf<Type<Given>*>::template at<autodiff::place_of<Given, I>>>::type;
  using J = detail::into_t<I, Result...>;
  return api::call(autodiff::ScatterToBlocks<J, Into>{g.template kept<1>()},
                   std::source_location::current(), g.ct, g.template kept<0>());
}

}  // namespace shardtype::op
