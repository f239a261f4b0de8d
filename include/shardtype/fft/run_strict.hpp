#pragma once
/// Runs strict Fourier transforms, on the local block.

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/fft/kernels_fourier.hpp>
#include <shardtype/fft/kernels_tiles.hpp>
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype::execute {

/// The factor of a transform of `rows` rows in all dims.
template <class Op>
double fourier_factor(Op const& op, double rows) {
  if (op.norm == shardtype::op::FftNorm::ortho) return 1 / std::sqrt(rows);
  return op.divides_by_rows() ? 1 / rows : 1;
}

/// Multiplies the elements of a block on the host.
template <class Exec, class T>
void scale_block(Exec const& exec, T* data, std::int64_t n, double factor) {
  using Real = shardtype::detail::real_of<T>;
  if (factor == 1) return;
  constexpr std::int64_t parts = shardtype::detail::is_complex<T> ? 2 : 1;
  kernels::scale(exec, reinterpret_cast<Real*>(data), n * parts, static_cast<Real>(factor));
  runtime::fence(exec);
}

}  // namespace shardtype::execute

namespace shardtype::op {

template <rules::FourierKind Kind, class Over, class... To>
template <class Out, class A>
void Fourier<Kind, Over, To...>::fill(Out& out, A const& a) const {
  using Space = typename A::memory_space;
  using Both = Scope<A, Over>;
  kernels::check_fourier<Space>();
  if (a.local_size() == 0 || out.local_size() == 0) return;
  kernels::FourierDims over;
  double rows = 1;
  for (int k = 0; k < dims; ++k) {
    int const d = Both::parsed[0].spec.find(Both::parsed[1].spec.dims[k].label);
    over.push(d);
    auto const at = static_cast<std::size_t>(d);
    rows *= static_cast<double>(Kind == FourierKind::complex_to_real ? out.extents()[at]
                                                                     : a.extents()[at]);
  }
  kernels::Layout const given = shardtype::detail::block_layout(a.rows());
  kernels::Layout const made = shardtype::detail::block_layout(out.rows());
  auto const* const in = static_cast<typename A::element const*>(a.buffer().data());
  auto* const data = execute::written(out);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  runtime::fence(exec);
  if constexpr (Kind == FourierKind::real_to_complex) {
    kernels::fourier_real(exec, in, given, data, made, over);
  } else if constexpr (Kind == FourierKind::complex_to_real) {
    if constexpr (dims == 1) {
      kernels::fourier_half(exec, in, given, data, made, over.last());
    } else {
      runtime::Buffer const room = a.mesh().state().pool().template take<Space>(
          static_cast<std::size_t>(given.elements()) * sizeof(typename A::element));
      auto* const partial = static_cast<typename A::element*>(room.data());
      kernels::FourierDims others = over;
      --others.size;
      kernels::fourier_complex(exec, in, given, partial, given, others, false);
      kernels::fourier_half(exec, partial, given, data, made, over.last());
    }
  } else {
    kernels::fourier_complex_by_tiles(exec, in, given, data, made, over,
                                      Kind == FourierKind::forward);
  }
  execute::scale_block(exec, data, made.elements(), execute::fourier_factor(*this, rows));
}

}  // namespace shardtype::op
