#pragma once
/// Draws from distributions that rows of a tensor give: categorical.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/ops/run_reductions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/waiting_times.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/generated.hpp>

namespace shardtype {

namespace op {

/// Gumbel numbers of the type and sharding of the operand, by the numbers of elements and a key.
struct GumbelLike {
  using operation = GumbelLike;
  static constexpr std::string_view name = "gumbel_like";
  static constexpr bool reads_places = true;
  RandomKey key;
  static constexpr Verdict rule(rules::Question const& q) {
    return rules::accept_if(rules::refuse_any(Code::P04_not_linear, q.a().unreduced), q.a());
  }
  template <class A>
  static constexpr Code elements() {
    return detail::reducible_elements<reductions::LogSumExp, A>().code;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), 0, false};
  }
  friend constexpr bool operator==(GumbelLike const&, GumbelLike const&) = default;
  template <class Out, class A>
  void fill(Out& out, A const& x) const {
    if constexpr (A::rank > 0) {
      if (x.local_size() == 0) return;
      typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
      random::Gumbel<typename A::element> const value{key.bits(), 0, 1};
      kernels::generate_rows(exec, execute::written(out), detail::block_in_whole(x),
                             x.rows().data(), value);
      runtime::fence(exec);
    }
  }
};

}  // namespace op

namespace api {

/// One category for each row: the position along the labels, as i64, with the probability of the
/// softmax of the logits there; -inf is never drawn. By the largest sum of a logit and a Gumbel
/// number, which depends on the element's number in the whole tensor and the key alone: the same
/// draws for every sharding and number of ranks. `categorical<V>(logits, key)` of `[B@X, V]` gives
/// `i64[B@X]`, nothing sent; along a split dim name the result, `categorical<Dim<B>>(logits, key)`:
/// one all_reduce of (value, position) pairs. No gradient flows. Takes float, double and bfloat16.
/// Refused: as argmax, P12, and P04 unreduced logits. Source: Gumbel, "Statistical theory of
/// extreme values", 1954. As jax.random.categorical, which takes the key first.
template <class... Out, class A>
constexpr auto categorical(core::Argument<A> const& logits, RandomKey key,
                           checking::CallSite where = {}) {
  auto const& given = logits.self();
  if constexpr (detail::is_fused<A>) {
    return api::categorical<Out...>(given.tensor(), key, where);
  } else {
    auto const a = api::stop_gradient(given);
    return api::call(op::ArgMax<Out...>{}, where, a + api::call(op::GumbelLike{key}, where, a));
  }
}

}  // namespace api

}  // namespace shardtype
