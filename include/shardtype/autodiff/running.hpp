#pragma once
/// The gradients of running products, maxima and minima.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/counted.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/kernels/running_back.hpp>
#include <shardtype/kernels/running_back_levels.hpp>
#include <shardtype/kernels/running_products.hpp>
#include <shardtype/ops/windows.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace autodiff {

/// The rule of both operations below: the cotangent, of a value that has the dims of the first
/// operand.
constexpr Verdict running_back(rules::Question const& q, ReductionKind how) {
  if (Verdict v = rules::running(q, how); !v) return v;
  Spec const& ct = q.operands[1];
  for (int d = 0; d < q.a().rank || d < ct.rank; ++d)
    if (d >= q.a().rank || d >= ct.rank || !(q.a().dims[d] == ct.dims[d]))
      return refuse(Code::D12_dims_differ, q.a().dims[d < q.a().rank ? d : 0].label);
  return rules::accept(ct);
}

/// The type in which products of elements `T` have an exponent of their own.
template <class T>
using scaled_in =
    std::conditional_t<shardtype::detail::is_complex<T>, Kokkos::complex<double>, double>;

/// The cotangents of the factors of running products: those of the results are summed from the
/// other end, each times the factors between, and multiplied by the factors before. Products and
/// sums have exponents of their own, so that none overflows or underflows. Sends one row per rank,
/// of `Bytes` per element. Operands: the factors, and the cotangent.
template <class I, std::int64_t Bytes>
struct ProductsBack {
  using operation = ProductsBack;
  using from = shardtype::detail::Bare<I>;
  static constexpr bool communicates = true;
  static constexpr bool recorded = false;
  static constexpr std::string_view name = "cumprod_back";
  bool exclusive = false;
  bool reverse = false;
  static constexpr Verdict rule(rules::Question const& q) {
    return running_back(q, reductions::Product::kind);
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int d) const {
    planning::append_totals(p, d, c, Bytes);
  }
  /// Besides the blocks of all ranks: the own one, and for each element the sum behind it.
  constexpr planning::Work work(planning::CallSizing const& c, int d) const {
    std::int64_t const row = core::cross_section(c.layout(0), d);
    return {mul_sat(6, c.elements(0)),
            add_sat(mul_sat(row, Bytes), mul_sat(c.elements(0), Bytes / 3)), false};
  }
  template <class Call>
  runtime::Buffer block(Call const& run) const {
    using T = typename Call::element;
    using W = autodiff::scaled_in<T>;
    using Block = kernels::ProductsBlock<W>;
    static_assert(sizeof(Block) == Bytes);
    Around const b(run.in, run.call.dim());
    std::int64_t const columns = b.outer * b.inner;
    auto const bytes = [](std::int64_t n, std::size_t each) {
      return static_cast<std::size_t>(n) * each;
    };
    auto const take = [&](std::size_t n) {
      return run.mesh.pool().template take<typename Call::Exec::memory_space>(n);
    };
    auto const* const ct = static_cast<T const*>(run.buffers[1]->data());
    AlongDim along(run);
    std::int64_t const extent = along.extent();
    Range const mine =
        planning::rows_of(run.call.a(), along.dim, along.sizing, along.map.coords).range();
    bool const ends = mine.size() > 0 && (reverse ? mine.begin == 0 : mine.end == extent);
    Step const s =
        planning::totals_step(run.call.a(), along.dim, along.sizing.extents, along.map.sizes);
    std::int64_t const ranks = along.map.sizes.product(s.axes);
    runtime::Buffer const out = run.fresh();
    runtime::Buffer const own = take(bytes(columns, sizeof(Block)));
    runtime::Buffer all = own;
    constexpr bool on_device = !runtime::host_reads<typename Call::Exec::memory_space>;
    auto* const own_blocks = static_cast<Block*>(own.data());
    kernels::ProductsBlockOf<T, W> const of{run.data, ct,        own_blocks, b.n,
                                            b.inner,  exclusive, reverse};
    [[maybe_unused]] kernels::GroupedProducts<W> const groups(columns, b.n);
    [[maybe_unused]] runtime::Buffer blocks;
    if constexpr (on_device) {
      blocks = run.mesh.pool().template take<typename Call::Exec::memory_space>(
          bytes(groups.blocks(), sizeof(Block)), runtime::Pool::Use::staging);
      groups.find(run.exec(), of, static_cast<Block*>(blocks.data()));
    }
    if (ranks > 1) {
      if constexpr (on_device) {
        runtime::fence(run.exec());
        runtime::copy_bytes<typename Call::Exec::memory_space, typename Call::Exec::memory_space>(
            own_blocks, static_cast<Block const*>(blocks.data()) + groups.columns_begin(),
            bytes(columns, sizeof(Block)));
      } else {
        kernels::for_columns(run.exec(), columns, of);
        runtime::fence(run.exec());
      }
      all = execute::totals_of_all<Carried<typename Block::Join>>(
          along, s, name.data(), (exclusive ? 1 : 0) + (reverse ? 2 : 0), extent, own);
    }
    runtime::Buffer const behind = take(bytes(columns * b.n, sizeof(kernels::Scaled<W>)));
    kernels::ProductsBack<T, W> const back{
        run.data,
        ct,
        run.writable(out),
        static_cast<kernels::Scaled<W>*>(behind.data()),
        static_cast<Block const*>(all.data()),
        columns,
        ranks,
        core::rank_in_group(s.axes, along.map.sizes, along.map.coords),
        b.n,
        b.inner,
        exclusive,
        reverse,
        ends};
    if constexpr (on_device) {
      groups.back(run.exec(), back, static_cast<Block*>(blocks.data()));
    } else {
      kernels::for_columns(run.exec(), columns, back);
    }
    runtime::fence(run.exec());
    return out;
  }
};

/// The cotangents of the elements of running maxima or minima, as JAX computes them
/// (kernels/running_back.hpp); without `Back` its transpose. Operands: the elements, and the
/// cotangent.
template <class I, class F, bool Back>
struct RunningExtremeBack {
  using operation = RunningExtremeBack;
  using gradient = checking::PullsBySaved;
  using from = shardtype::detail::Bare<I>;
  static constexpr bool recorded = false;
  static constexpr std::string_view name = Back ? "running_back" : "running_forward";
  bool exclusive = false;
  bool reverse = false;
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::unsplit(q, Code::D03_along_split);
    return v ? autodiff::running_back(q, F::kind) : v;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    std::int64_t const bytes = c.element_bytes(0) < 4 ? 4 : c.element_bytes(0);
    return {mul_sat(8, c.elements(0)), mul_sat(5 * bytes, c.elements(0)), false};
  }
  template <class Call>
  runtime::Buffer block(Call const& run) const {
    using T = typename Call::element;
    constexpr bool max = std::is_same_v<F, reductions::Maximum>;
    using Body = kernels::RunningExtremeBack<T, max, Back>;
    using Value = typename Body::Value;
    Around const b(run.in, run.call.dim());
    std::int64_t const columns = b.outer * b.inner;
    runtime::Buffer const out = run.fresh();
    runtime::Buffer const workspace =
        run.mesh.pool().template take<typename Call::Exec::memory_space>(
            static_cast<std::size_t>(5 * columns * b.n) * sizeof(Value));
    kernels::running_extreme_back(
        run.exec(), columns,
        Body{run.data, static_cast<T const*>(run.buffers[1]->data()), run.writable(out),
             static_cast<Value*>(workspace.data()), b.n, b.inner, exclusive, reverse});
    runtime::fence(run.exec());
    return out;
  }
  template <class V, class A, class C>
  constexpr auto save(V const&, A const& a, C const&) const {
    return autodiff::keep(a);
  }
  /// Linear in the cotangent; the elements are constants.
  template <class G>
  constexpr auto pull(G const& g) const {
    static_assert(G::operand == 1);
    return g.call(RunningExtremeBack<I, F, !Back>{exclusive, reverse}, g.template kept<0>(), g.ct);
  }
};

template <class I>
struct Vjp<op::CumProd<I>> : SavesOperands {
  using Op = op::CumProd<I>;
  /// The text has not the right gradient again where elements are zero.
  static constexpr bool first_order = true;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using Block = kernels::ProductsBlock<scaled_in<element_t<tensor_of<A>>>>;
    return api::call(
        ProductsBack<I, static_cast<std::int64_t>(sizeof(Block))>{op.exclusive, op.reverse},
        std::source_location::current(), autodiff::kept<0>(saved), ct);
  }
};

/// Refused along a split dim (X03): the rows of which an element is the extremum may be on other
/// ranks, and no running sum over ranks begins anew at each new extremum.
template <class I, class F>
struct RunningExtremeVjp : Differentiable {
  using Op = op::Cumulative<I, F>;
  template <int K, class V, class A>
  static constexpr Verdict judge() {
    Spec const& a = Scope<A>::template spec<0>;
    bool const split = a.dims[place_of<A, I>].axes.size > 0;
    return split ? refuse(Code::X03_not_differentiable) : Verdict{};
  }
  template <class V, class A>
  static constexpr auto save(Op const&, V const&, A const& a) {
    return autodiff::keep(autodiff::constant(a));
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    return api::call(RunningExtremeBack<I, F, true>{op.exclusive, op.reverse},
                     std::source_location::current(), autodiff::kept<0>(saved), ct);
  }
};
template <class I>
struct Vjp<op::CumMax<I>> : RunningExtremeVjp<I, reductions::Maximum> {};
template <class I>
struct Vjp<op::CumMin<I>> : RunningExtremeVjp<I, reductions::Minimum> {};

}  // namespace autodiff

}  // namespace shardtype
