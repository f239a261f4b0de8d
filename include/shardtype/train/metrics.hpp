#pragma once
/// How well a classifier does: accuracy and the confusion matrix.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/check/call_site.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/counts.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/run_to_host.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::train {

namespace detail {

/// A dim inside of confusion_matrix: a class and the one that was predicted for it.
struct ClassAndPrediction : Index<"class and prediction"> {};

/// The class with the largest logit of each row, split as `Ids`.
template <class V, class Ids, class A>
auto predicted(A const& logits, checking::CallSite where) {
  constexpr int d = execute::dim_of<A, V>;
  if constexpr (d >= 0 && A::spec.dims[d < 0 ? 0 : d].axes.size > 0) {
    return shardtype::argmax<Ids>(logits, where);
  } else {
    return shardtype::argmax<V>(logits, where);
  }
}

}  // namespace detail

/// The share of rows whose largest logit is that of their target; rows whose target is `ignored`
/// do not count, and of no rows it is 0. `logits[B@X, S, V@Y]`, `targets i64[B@X, S]` ->
/// `accuracy<V>(logits, targets)`, the same number on all ranks. Of equal logits the first is
/// taken. Communicates one all_reduce of (value, position) pairs if V is split, and two of a number
/// if the rows are. Has no gradient. Refusals as argmax and `==`. As torchmetrics' accuracy of
/// classes (micro).
template <class V, class A, class Ids>
double accuracy(core::Argument<A> const& logits, Ids const& targets, std::int64_t ignored = -1,
                checking::CallSite where = {}) {
  auto const best = detail::predicted<V, Ids>(logits.self(), where);
  auto const counts = (targets != ignored).tensor();
  auto const right = shardtype::cast<double>(best == targets) * shardtype::cast<double>(counts);
  double const rows =
      shardtype::item(shardtype::sum<Tensor<double>>(shardtype::cast<double>(counts)));
  return shardtype::item(shardtype::sum<Tensor<double>>(right)) / std::max(rows, 1.0);
}

/// How many rows of each class were predicted as each class: `logits[B@X, S, V@Y]`, `targets
/// i64[B@X, S]` -> `confusion_matrix<V, Tensor<std::int64_t, Dim<C>, Dim<V>>>(logits, targets)` ->
/// `i64[C, V]`, rows of the target C, columns of the prediction V. A row whose target is no class
/// counts nowhere. Communicates as accuracy: of predictions one all_reduce if V is split, and one
/// of the counts of all pairs of classes. As sklearn.metrics.confusion_matrix.
template <class V, class Out, class A, class Ids>
Out confusion_matrix(core::Argument<A> const& logits, Ids const& targets,
                     checking::CallSite where = {}) {
  static_assert(Out::rank == 2 && std::is_same_v<typename Out::element, std::int64_t>,
                "a confusion matrix is Tensor<std::int64_t, Dim<C>, Dim<V>>, of targets and "
                "predictions");
  using Labels = autodiff::labels_of_t<Out>;
  using Flat = detail::ClassAndPrediction;
  auto const& x = logits.self();
  std::int64_t const n = x.extents()[static_cast<std::size_t>(execute::dim_of<A, V>)];
  auto const best = detail::predicted<V, Ids>(x, where);
  auto const pairs =
      shardtype::bincount<Flat, Dim<Flat>>((targets * n + best).tensor(), n * n, where);
  return [&]<class C, class P>(shardtype::detail::Pack<C, P>) {
    return shardtype::reshard<Out>(shardtype::split_dim<Flat, Dim<C>, Dim<P>>(pairs, {n, n}, where),
                                   where);
  }(Labels{});
}

}  // namespace shardtype::train
