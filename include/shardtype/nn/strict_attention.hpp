#pragma once
/// Attention of queries to keys and values that a rank has, without a matrix of all scores: its
/// gradient.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/nn/kernels_attention.hpp>
#include <shardtype/nn/types_attention.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace nn::detail {

/// The shape of the blocks of queries and keys.
template <class Q, class K>
kernels::AttentionShape attention_shape(AttentionOptions const& options, Q const& q, K const& k) {
  auto const size = [](auto const& a, std::size_t d) { return a.rows()[d].size(); };
  std::int64_t const key_heads = k.extents()[2];
  return {size(q, 0),
          size(q, 1),
          size(k, 1),
          size(q, 2),
          size(k, 2),
          size(q, 3),
          q.rows()[2].range().begin,
          k.rows()[2].range().begin,
          key_heads == 0 ? 1 : q.extents()[2] / key_heads,
          options,
          q.rows()[1],
          k.rows()[1],
          q.extents()[2]};
}
/// The segments of a shape, of which blocks are chosen on the host.
template <class Space>
class SegmentsOf {
 public:
  void put(kernels::AttentionShape& s, std::int64_t const* queries, std::int64_t const* keys) {
    s.segments = s.on_host = {queries, keys};
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
      s.on_host = {copied(queries_, queries, s.batch * s.queries),
                   copied(keys_, keys, s.batch * s.keys)};
  }

 private:
  using Ids = shardtype::detail::List<std::int64_t>;
  static std::int64_t const* copied(Ids& to, std::int64_t const* from, std::int64_t n) {
    auto const count = static_cast<std::size_t>(n);
    to.resize(count);
    Kokkos::deep_copy(execute::Flat<std::int64_t, Kokkos::HostSpace>(to.data(), count),
                      execute::Flat<std::int64_t const, Space>(from, count));
    return to.data();
  }
  Ids queries_, keys_;
};
/// Those of the blocks of a rank, of none or two tensors of segments.
template <class Space>
void put_segments(SegmentsOf<Space>&, kernels::AttentionShape const&) {}
template <class Space, class QueryIds, class KeyIds>
void put_segments(SegmentsOf<Space>& to, kernels::AttentionShape& s, QueryIds const& queries,
                  KeyIds const& keys) {
  to.put(s, execute::data_of(queries), execute::data_of(keys));
}
template <class T, class A>
runtime::Buffer attention_scratch(A const& a, kernels::AttentionShape const& s) {
  return a.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(kernels::attention_scratch(s.queries, s.keys)) * sizeof(T));
}
}  // namespace nn::detail

namespace nn::detail {

/// Writes the result, and the logarithms of the sums unless `sums` is null.
template <class T, class Out, class Q, class K, class V, class... Ids>
void fill_attention(AttentionOptions const& options, Out& out, T* sums, Q const& q, K const& k,
                    V const& v, Ids const&... ids) {
  typename Q::execution_space const& exec = runtime::instance<typename Q::execution_space>();
  auto shape = nn::detail::attention_shape(options, q, k);
  SegmentsOf<typename Q::memory_space> segments;
  nn::detail::put_segments(segments, shape, ids...);
  runtime::Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
  nn::kernels::attention(exec, shape, execute::data_of(q), execute::data_of(k), execute::data_of(v),
                         execute::written(out), sums, static_cast<T*>(scratch.data()));
  runtime::fence(exec);
}

}  // namespace nn::detail
namespace op {

template <class Out, class Q, class K, class V, class... Ids>
void Attention::fill(Out& out, Q const& q, K const& k, V const& v, Ids const&... ids) const {
  typename Q::element* const none = nullptr;
  nn::detail::fill_attention(options, out, none, q, k, v, ids...);
}
template <class Out, class Sums, class Q, class K, class V, class... Ids>
void AttentionWithSums::fill(Out& out, Sums& sums, Q const& q, K const& k, V const& v,
                             Ids const&... ids) const {
  nn::detail::fill_attention(options, out, execute::written(sums), q, k, v, ids...);
}

template <class Queries, class Keys, class Values, class Q, class K, class V, class O, class S,
          class C, class... Ids>
void AttentionBack::fill(Queries& queries, Keys& keys, Values& values, Q const& q, K const& k,
                         V const& v, O const& result, S const& sums, C const& ct,
                         Ids const&... ids) const {
  if constexpr (is_local<Q>) nn::detail::check_heads_of_gradient(options);
  using T = typename Q::element;
  typename Q::execution_space const& exec = runtime::instance<typename Q::execution_space>();
  auto shape = nn::detail::attention_shape(options, q, k);
  nn::detail::SegmentsOf<typename Q::memory_space> segments;
  nn::detail::put_segments(segments, shape, ids...);
  runtime::Buffer const scratch = nn::detail::attention_scratch<T>(q, shape);
  nn::kernels::AttentionCotangents<T> const to{execute::written(queries), execute::written(keys),
                                               execute::written(values)};
  shardtype::kernels::fill(exec, to.queries, queries.local_size(), T{});
  shardtype::kernels::fill(exec, to.keys, keys.local_size(), T{});
  shardtype::kernels::fill(exec, to.values, values.local_size(), T{});
  nn::kernels::add_attention_back(
      exec, shape,
      nn::kernels::AttentionSaved<T>{execute::data_of(q), execute::data_of(k), execute::data_of(v),
                                     execute::data_of(result), execute::data_of(sums),
                                     execute::data_of(ct)},
      to, static_cast<T*>(scratch.data()), [] {});
  runtime::fence(exec);
}

}  // namespace op

namespace nn::detail {

/// Whether an axis splits the sequence of keys of type `K`.
template <class K>
inline constexpr bool splits_keys = [] {
  using A = shardtype::detail::laid_out_t<autodiff::tensor_of<K>>;
  if constexpr (is_tensor<A>) {
    constexpr Spec keys = Scope<A>::template spec<0>;
    return keys.rank == 4 && keys.dims[1].axes.size > 0;
  } else {
    return false;
  }
}();

}  // namespace nn::detail

namespace nn::detail {

/// Attention by `op`, which gives the logarithms of the sums too. Keeps the operands, the result
/// and one number per row.
template <class Op, class Q, class K, class V, class... Ids>
constexpr auto attention_forward(Op const& op, std::source_location const& where, Q const& q,
                                 K const& k, V const& v, Ids const&... ids) {
  auto const both = shardtype::call(op, where, q, k, v, ids...);
  auto const& out = std::get<0>(both);
  return autodiff::Forward{out, autodiff::keep(q, k, v, ids..., out, std::get<1>(both))};
}

/// `op` of all that `attention_forward` kept, and a cotangent.
template <class Op, class G>
constexpr auto attention_back(Op const& op, G const& g) {
  if constexpr (G::operands > 3) {
    return g.call(op, g.template kept<0>(), g.template kept<1>(), g.template kept<2>(),
                  g.template kept<5>(), g.template kept<6>(), g.ct, g.template kept<3>(),
                  g.template kept<4>());
  } else {
    return g.call(op, g.template kept<0>(), g.template kept<1>(), g.template kept<2>(),
                  g.template kept<3>(), g.template kept<4>(), g.ct);
  }
}

}  // namespace nn::detail

namespace op {

template <class Q, class K, class V, class... Ids>
constexpr auto Attention::forward(std::source_location const& where, Q const& q, K const& k,
                                  V const& v, Ids const&... ids) const {
  return nn::detail::attention_forward(AttentionWithSums{{options}}, where, q, k, v, ids...);
}
template <class G>
constexpr auto Attention::prepare(G const& g) const {
  return nn::detail::attention_back(AttentionBack{options}, g);
}
template <class G>
constexpr auto Attention::pull(G const& g) const {
  return std::get<static_cast<std::size_t>(G::operand)>(g.ct);
}

}  // namespace op

}  // namespace shardtype
