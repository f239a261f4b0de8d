#pragma once
/// Products of groups of rows, each with a matrix of its own.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/run_ragged_dot.hpp>

namespace shardtype {

namespace autodiff {

template <class D>
struct Vjp<op::RaggedDot<D>> : Differentiable {
  template <class V, class A, class W, class Ids>
  static constexpr auto save(op::RaggedDot<D> const&, V const&, A const& a, W const& w,
                             Ids const& sizes) {
    return autodiff::keep(a, w, sizes);
  }
  template <int K, class V, class A, class W, class Ids, class S, class C>
  static constexpr auto pull(op::RaggedDot<D> const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    using Labels = labels_of_t<tensor_of<W>>;
    if constexpr (K == 0) {
      return api::call(op::RaggedDot<nn::detail::label_at<V, 1>>{}, where, ct,
                       autodiff::kept<1>(saved), autodiff::kept<2>(saved));
    } else {
      return outer(where, autodiff::kept<0>(saved), ct, autodiff::kept<2>(saved), Labels{});
    }
  }

 private:
  template <class A, class C, class Ids, class... Ls>
  static constexpr auto outer(std::source_location const& where, A const& a, C const& ct,
                              Ids const& sizes, shardtype::detail::Pack<Ls...>) {
    return api::call(op::RaggedOuter<Ls...>{}, where, a, ct, sizes);
  }
};
template <class L0, class L1, class L2>
struct Vjp<op::RaggedOuter<L0, L1, L2>> : Differentiable {
  using Op = op::RaggedOuter<L0, L1, L2>;
  template <class V, class A, class C, class Ids>
  static constexpr auto save(Op const&, V const&, A const& a, C const& c, Ids const& sizes) {
    return autodiff::keep(a, c, sizes);
  }
  /// The cotangent is a matrix for each group, and each row of one factor meets it in place of the
  /// other.
  template <int K, class V, class A, class B, class Ids, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const where = std::source_location::current();
    using Other = std::conditional_t<K == 0, B, A>;
    return api::call(op::RaggedDot<nn::detail::label_at<Other, 1>>{}, where,
                     autodiff::kept<1 - K>(saved), ct, autodiff::kept<2>(saved));
  }
};

}  // namespace autodiff

namespace nn::api {

/// Groups of rows, each times a matrix of its own: the first sizes[0] rows of `a` times w[0], the
/// next sizes[1] times w[1], and so on; rows behind the last group give zeros. `a[S, D]`, `w[E, D,
/// F]`, `sizes i64[E]` -> `[S, F]`, of float, double or bfloat16. Each group is one product on the
/// memory of the operands: nothing of shape [S, D, F] or [E, S, D] exists, and dims of w may have
/// any order. Blocks of a `shard_map` as well.
///
///     auto h = nn::ragged_dot<D>(rows, w, sizes);
///
/// Split over ranks, the rows of a block belong to the experts of the same rank: `a[S@X, D]`,
/// `w[E@X, D, F]`, `sizes[E@X]` -> `[S@X, F]`; or each rank has all experts: `a[S@X, D]`, `w[E, D,
/// F]`, `sizes[P@X, E]`, with one row of sizes for each rank. F may be split, and so may D in both
/// operands, which gives a sum `{U:Y}`.
///
/// Communicates nothing, in either direction: the gradient of a is ragged_dot<F>(ct, w, sizes),
/// that of w the product of each group's rows. Refused: D01 no dim D, D18 dims or splits that do
/// not fit together, I01, I02, C04, P04, P06, P12, C10, B03. Errors: E24 extents, E41 sizes with
/// more rows than a block. Sizes are read on the host. As jax.lax.ragged_dot.
template <class D, class A, class W, class Ids>
constexpr auto ragged_dot(core::Argument<A> const& a, W const& w, Ids const& sizes,
                          checking::CallSite where = {}) {
  return shardtype::call(op::RaggedDot<D>{}, where, a.self(), w, sizes);
}

}  // namespace nn::api

}  // namespace shardtype
