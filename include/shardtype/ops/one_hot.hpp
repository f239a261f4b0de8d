#pragma once
/// One-hot rows. Ids are std::int32_t or std::int64_t, from 0 to extent - 1. Other ids, negative
/// ones included, give a row of zeros; with SHARDTYPE_CHECK=values they are an Error, E50.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>

namespace shardtype {

namespace detail {

/// The parsed template arguments of op::OneHot: the element type is float unless it is named first.
template <class V, class... Out>
struct OneHotOf {
  using type = op::OneHot<V, float, Out...>;
};
template <class V, class T, class... Out>
  requires(is_element<T>)
struct OneHotOf<V, T, Out...> {
  using type = op::OneHot<V, T, Out...>;
};
template <class V, class T, class... Parts>
struct OneHotOf<V, Tensor<T, Parts...>> {
  using type = op::OneHot<V, T, Tensor<T, Parts...>>;
};

}  // namespace detail

namespace execute {
template <class V, class T>
struct Run<op::OneHot<V, T>> : Filled<Run<op::OneHot<V, T>>> {
  template <class Out, class Ids>
  static void fill(op::OneHot<V, T> const& op, Out& out, Ids const& ids) {
    check_values_of<V>(ids, op.n);
    typename Ids::execution_space const exec{};
    Range const held = out.rows()[Ids::rank].range();
    kernels::one_hot(exec, data_of(ids), static_cast<T*>(out.buffer().data()),
                     kernels::NumberedRows{{1, held.size(), 1}, held.begin, ids.local_size()});
    exec.fence();
  }
};
template <class V, class T, class Out, class... More>
struct Run<op::OneHot<V, T, Out, More...>> {
  template <class R, class Ids>
  static auto run(op::OneHot<V, T, Out, More...> const& op, std::source_location const& where,
                  Ids const& ids) {
    return run_named<R, Run<op::OneHot<V, T>>>(op.strict(), where, ids);
  }
};
}  // namespace execute

/// 1 where the index along V equals the id, else 0: `ids[B@X]` -> `one_hot<V>(ids, n)` -> `f32[B@X,
/// V]`. With another element type: `one_hot<V, double>(ids, n)`. `one_hot<V, Dim<B, X>, Dim<V,
/// Y>>(ids, n)` names the result: each rank computes its own part. Communicates nothing, unless a
/// named result splits the ids less. Refused: D02, I01, I02, R01 to R04 for the result. Errors:
/// E20, E50.
template <class V, class... Out, class Ids>
constexpr auto one_hot(Ids const& ids, std::int64_t n = detail::static_extents<V>()[0],
                       checking::CallSite where = std::source_location::current()) {
  return call(typename detail::OneHotOf<V, Out...>::type{n}, where, ids);
}

}  // namespace shardtype
