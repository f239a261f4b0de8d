#pragma once
/// The largest elements along a dim that ranks may share: object and function.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>

#include <shardtype/check/call.hpp>
#include <shardtype/check/operand.hpp>
#include <shardtype/check/poisoned.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/plan/top_k.hpp>
#include <shardtype/rules/indexing.hpp>

namespace shardtype {

namespace op {

/// The `k` largest elements along I, which ranks may share, and their positions; `Result` is the
/// index of the result, which all these ranks have. They gather each rank's candidates, or search
/// for the last element and gather those up to it: the cheaper.
template <class I, class... Result>
struct SharedTopK {
  using operation = SharedTopK;
  using gradient = checking::PullsBySaved;
  using from = detail::Bare<I>;
  using to = detail::Bare<Result...>;
  static constexpr std::string_view name = "top_k";
  static constexpr bool communicates = true;
  static constexpr bool keeps_shardings = true;
  static constexpr bool chooses_by_sizes = true;  ///< whether its plan searches
  std::int64_t k = 0;
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    return {rules::top_k_across(q), rules::top_k_across(q)};
  }
  template <class A>
  using element = Elements<checking::element_t<A>, std::int64_t>;
  template <class A>
  static constexpr Code elements() {
    return detail::ordered_elements<A>();
  }
  constexpr void extents(ResultExtents const& values, ResultExtents const& places) const {
    TopK<I, Result...>{k}.extents(values, places);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int along) const {
    planning::append_top_k(p, c, along, k);
  }
  constexpr planning::Work work(planning::CallSizing const& c, int along) const {
    planning::TopKSearch const s = planning::top_k_search(c, along, k);
    std::int64_t const sorting =
        detail::sorting_bytes(c, along, s.own(), true, c.element_bytes(0) + 8);
    return {detail::comparisons(c, along), add_sat(sorting, planning::top_k_bytes(s)), false};
  }
  template <class R, class A>
  typename R::results run(std::source_location const& where, A const& a) const;
  static constexpr bool first_order = true;
  template <std::size_t Which, class V, class A>
  constexpr auto save(V const& both, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

}  // namespace op

namespace detail {

/// What `Parts` of a call `top_k<I, Parts...>` say: the dims and attributes of its named result,
/// and before them its index, if it has another one than I.
template <class... Parts>
struct PartsOfResult {
  template <template <class...> class Op, class... Labels>
  using operation = Op<Labels...>;
  template <class A>
  using values = named_as_t<element_t<A>, A, Parts...>;
  template <class E>
  static constexpr auto moved(E const& e, std::source_location const& where) {
    return api::reshard<Parts...>(e, where);
  }
};
template <IndexLabel K, class... Parts>
struct PartsOfResult<K, Parts...> : PartsOfResult<Parts...> {
  template <template <class...> class Op, class... Labels>
  using operation = Op<Labels..., K>;
};

/// The tensor whose type decides about a call with this operand.
template <class A>
struct DecidingTensor {
  using type = laid_out_t<operand_t<A>>;
};

/// The type of the operand of top_k that ranks share.
template <class I, class A, class Out>
struct TopKOperand {
  using S = Scope<A, Bare<I>, Out>;
  static constexpr Spec value = planning::top_k_operand(
      S::template spec<0>, S::template spec<1>.dims[0].label, S::template spec<2>);
  using type = tensor_from_spec<S, TopKOperand, element_t<A>, A>;
};

/// `top_k<I, Parts...>`, `Of` being their PartsOfResult.
template <class I, class Of, class A>
constexpr auto named_top_k(A const& a, std::int64_t k, std::source_location const& where) {
  using Given = typename DecidingTensor<A>::type;
  if constexpr (core::is_lazy<A>) {
    auto const both = api::call(typename Of::template operation<op::TopK, I>{k}, where, a);
    return detail::found(
        std::tuple(Of::moved(std::get<0>(both), where), Of::moved(std::get<1>(both), where)));
  } else if constexpr (!is_tensor<Given> || is_local<Given>) {
    static_cast<void>(alignof(checking::refused<Code::V14_named_result, false, Given>));
    return TopK<checking::Poisoned, checking::Poisoned>{};
  } else {
    using Values = typename Of::template values<Given>;
    using Met = typename TopKOperand<I, Given, Values>::type;
    auto const both = api::call(typename Of::template operation<op::SharedTopK, I>{k}, where,
                                api::reshard<Met>(a, where));
    return detail::found(
        std::tuple(api::reshard<Values>(std::get<0>(both), where),
                   api::reshard<with_elements<Values, std::int64_t>>(std::get<1>(both), where)));
  }
}

}  // namespace detail

namespace api {

/// `top_k` with a named result, along a split dim too: `a[I@X, J]` -> `auto [values, places] =
/// top_k<I, K, Dim<K>, Dim<J>>(a, 3)` -> `[K, J]` each; places are those in the whole dim. K may be
/// left out: `top_k<I, Dim<I>, Dim<J>>(a, 3)`.
///
/// Each rank finds the k largest elements of its own block. Then all ranks gather these candidates
/// and their places, at most k of each rank; or, where that is more, they find the last of the k
/// largest elements as `sort` finds its cuts, by 4 to 16 all_reduces of small tables and an
/// all_gather of two numbers per row and rank, and gather only the k elements of each row. A
/// pending reduction is finished first, a block-cyclic I is gathered.
///
/// The gradient of the values: each rank takes the cotangents of its own elements, which it has; of
/// a result that is split they are gathered first. Of first order.
///
/// Refused: D01, D02, D05, D07, I11 complex numbers; named N05, V14, R01 to R04. Error E41: k
/// larger than the extent. As lax.top_k.
template <class I, class... Result, class A>
  requires(!IndexLabel<Result> || ...)
constexpr auto top_k(core::Argument<A> const& a, std::int64_t k, checking::CallSite where = {}) {
  return detail::named_top_k<I, detail::PartsOfResult<Result...>>(a.self(), k, where);
}

}  // namespace api

}  // namespace shardtype
