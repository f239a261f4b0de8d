#pragma once
/// What ranks send of the totals of a reducer.

namespace shardtype::detail {

/// What ranks send of a total of the reducer `R` (kernels/reducers.hpp): `R::Sent` if there is one,
/// made by `R::narrow`, else the total.
template <class R>
struct SentBy {
  using type = typename R::Total;
};
template <class R>
  requires requires { typename R::Sent; }
struct SentBy<R> {
  using type = typename R::Sent;
};
template <class R>
using sent_t = typename SentBy<R>::type;

}  // namespace shardtype::detail
