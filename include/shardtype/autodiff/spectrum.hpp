#pragma once
/// Factors of the rows of half a spectrum, which the gradients of real Fourier transforms need.

#include <cstdint>
#include <source_location>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/kernels/spectrum.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype {

namespace autodiff {

/// The rows of half a spectrum along F, of `n` real rows: those that have no mirror image, row 0
/// and of an even n the last one, as they are; the others halved, or doubled.
template <class F, bool Twice>
struct WeighSpectrum {
  using operation = WeighSpectrum;
  using from = shardtype::detail::Bare<F>;
  static constexpr std::string_view name = "weigh_spectrum";
  static constexpr bool recorded = false;
  std::int64_t n = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::masked(q); }
  constexpr WeighSpectrum transposed() const { return *this; }
  template <class Call>
  runtime::Buffer block(Call const& run) const {
    using Real = shardtype::detail::real_of<typename Call::element>;
    Spec const& a = run.call.a();
    AxisMap const axes = runtime::map_axes(run.mesh, run.call.names);
    Sizing z{run.call.names.extents(), axes.sizes, 1};
    for (int d = 0; d < a.rank; ++d) z.extents.at[a.dims[d].label] = run.call.given[0][d];
    int const d = a.find(run.call.from().dims[0].label);
    kernels::HeldDim const dim{rows_of(a, d, z, axes.coords), kernels::inner_length(run.in, d)};
    runtime::Buffer const result = run.fresh();
    kernels::weigh_rows(run.exec(), run.data, run.writable(result), run.in.elements(), dim,
                        n % 2 == 0 ? n / 2 : -1, Real(1), Real(Twice ? 2 : 0.5));
    runtime::fence(run.exec());
    return result;
  }
};

}  // namespace autodiff

}  // namespace shardtype
