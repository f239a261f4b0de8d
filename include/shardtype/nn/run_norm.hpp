#pragma once
/// Runs the operations of types_norm.hpp.

#include <cstddef>
#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype {

namespace nn::detail {

using namespace execute;

template <class D, class A>
kernels::RowShape row_shape(A const& a) {
  constexpr int d = execute::dim_of<A, D>;
  shardtype::kernels::Layout const block = shardtype::detail::block_layout(a.rows());
  std::int64_t const inner = shardtype::kernels::inner_length(block, d);
  std::int64_t const length = block.extent[d];
  std::int64_t rows = 1;
  for (int e = 0; e < block.rank; ++e)
    if (e != d) rows *= block.extent[e];
  return {rows, length, inner};
}
/// The block of a result.
template <class Out>
auto* written(Out& out) {
  return static_cast<typename Out::element*>(out.buffer().data());
}
/// Calls `work(row)` for `rows` rows where the block of an `A` is, and waits.
template <class A, class Work>
void run_rows(char const* name, std::int64_t rows, Work const& work) {
  typename A::execution_space const exec{};
  kernels::each_row(name, exec, rows, work);
  exec.fence();
}

}  // namespace nn::detail

namespace execute {

template <bool Centred, class D>
struct Run<op::RowNorm<Centred, D>> : Filled<Run<op::RowNorm<Centred, D>>> {
  template <class Out, class A, class Gain, class... Bias>
  static void fill(op::RowNorm<Centred, D> const& op, Out& out, A const& x, Gain const& gain,
                   Bias const&... bias) {
    using T = typename A::element;
    using Work = nn::kernels::NormRows<Centred, T>;
    T const* added = nullptr;
    ((added = execute::data_of(bias)), ...);
    auto const shape = nn::detail::row_shape<D>(x);
    nn::detail::run_rows<A>(
        "shardtype::norm", shape.length == 0 ? 0 : shape.rows,
        Work{shape, nn::detail::written(out), execute::data_of(x), execute::data_of(gain), added,
             static_cast<typename Work::W>(op.eps)});
  }
  /// The block of the result, of totals.
  template <class T, class Space, class A, class Gain, class... Bias>
  static Buffer joined(op::RowNorm<Centred, D> const& op, JoinedRows<T, Space> const& rows,
                       A const& x, Gain const& gain, Bias const&... bias) {
    using Total = typename reducer_t<typename op::RowNorm<Centred, D>::row_totals, T>::Total;
    using Work = nn::kernels::NormRows<Centred, T, Total>;
    T const* added = nullptr;
    ((added = execute::data_of(bias)), ...);
    auto const shape = nn::detail::row_shape<D>(x);
    Buffer out = rows.template take<T>(rows.layout.elements());
    nn::detail::run_rows<A>(
        "shardtype::norm", shape.length == 0 ? 0 : shape.rows,
        Work{shape, static_cast<T*>(out.data()), execute::data_of(x), execute::data_of(gain), added,
             static_cast<typename Work::W>(op.eps), static_cast<Total const*>(rows.totals.data()),
             static_cast<typename Work::W>(rows.terms)});
    return out;
  }
};
template <bool Centred, class D>
struct Run<op::RowNormBack<Centred, D>> : Filled<Run<op::RowNormBack<Centred, D>>> {
  template <class Out, class C, class A, class Gain>
  static void fill(op::RowNormBack<Centred, D> const& op, Out& out, C const& ct, A const& x,
                   Gain const& gain) {
    using T = typename A::element;
    using Work = nn::kernels::NormRowsBack<Centred, T>;
    auto const shape = nn::detail::row_shape<D>(x);
    nn::detail::run_rows<A>(
        "shardtype::norm_back", shape.length == 0 ? 0 : shape.rows,
        Work{shape, nn::detail::written(out), execute::data_of(ct), execute::data_of(x),
             execute::data_of(gain), static_cast<typename Work::W>(op.eps)});
  }
};
template <bool Centred, class D>
struct Run<op::RowNormGain<Centred, D>> : Filled<Run<op::RowNormGain<Centred, D>>> {
  template <class Out, class C, class A>
  static void fill(op::RowNormGain<Centred, D> const& op, Out& out, C const& ct, A const& x) {
    using T = typename A::element;
    using W = shardtype::kernels::wide_t<T>;
    typename A::execution_space const exec{};
    auto const shape = nn::detail::row_shape<D>(x);
    Buffer const sums = x.mesh().state().pool().template take<typename A::memory_space>(
        static_cast<std::size_t>(nn::kernels::parts_of(shape.rows) * shape.length) * sizeof(W));
    nn::kernels::norm_gain<Centred>(exec, shape, nn::detail::written(out), execute::data_of(ct),
                                    execute::data_of(x), static_cast<W>(op.eps),
                                    static_cast<W*>(sums.data()));
    exec.fence();
  }
};

}  // namespace execute

}  // namespace shardtype
