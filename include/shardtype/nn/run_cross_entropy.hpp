#pragma once
/// Runs the operations of types_cross_entropy.hpp.

#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_cross_entropy.hpp>
#include <shardtype/nn/run_norm.hpp>
#include <shardtype/nn/types_cross_entropy.hpp>

namespace shardtype {

namespace execute {

template <class V, bool Split>
struct Run<op::CrossEntropyNumbers<V, Split>> : Filled<Run<op::CrossEntropyNumbers<V, Split>>> {
  template <class Out, class A, class Ids>
  static void fill(op::CrossEntropyNumbers<V, Split> const&, Out& out, A const& logits,
                   Ids const& targets) {
    using Exec = typename A::execution_space;
    using Work = nn::kernels::CrossEntropyNumbers<nn::kernels::on_host<Exec>, typename A::element,
                                                  typename Ids::element>;
    constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
    auto const shape = nn::detail::row_shape<V>(logits);
    nn::detail::run_rows<A>(
        "shardtype::cross_entropy", shape.rows,
        Work{shape, nn::detail::written(out), execute::data_of(logits), execute::data_of(targets),
             logits.rows()[at].range().begin, logits.extents()[at]});
  }
};
template <>
struct Run<op::CrossEntropyJoin> : Filled<Run<op::CrossEntropyJoin>> {
  template <class Out, class A, class Ids>
  static void fill(op::CrossEntropyJoin const& op, Out& out, A const& numbers, Ids const& targets) {
    using C = typename A::element;
    nn::detail::run_rows<A>(
        "shardtype::cross_entropy_join", targets.local_size(),
        nn::kernels::CrossEntropyJoin<C, typename Ids::element>{
            nn::detail::written(out), execute::data_of(numbers), execute::data_of(targets),
            numbers.extents()[A::rank - 2], op.options});
  }
};
template <class V>
struct Run<op::CrossEntropyBack<V>> : Filled<Run<op::CrossEntropyBack<V>>> {
  template <class Out, class A, class Ids, class L, class C>
  static void fill(op::CrossEntropyBack<V> const& op, Out& out, A const& logits, Ids const& targets,
                   L const& sums, C const& ct) {
    using Exec = typename A::execution_space;
    using Work = nn::kernels::CrossEntropyBack<nn::kernels::on_host<Exec>, typename A::element,
                                               typename Ids::element>;
    constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
    auto const shape = nn::detail::row_shape<V>(logits);
    nn::detail::run_rows<A>(
        "shardtype::cross_entropy_back", shape.rows,
        Work{shape, nn::detail::written(out), execute::data_of(logits), execute::data_of(targets),
             execute::data_of(sums), execute::data_of(ct), logits.rows()[at].range().begin,
             logits.extents()[at], op.options});
  }
};

}  // namespace execute

}  // namespace shardtype
