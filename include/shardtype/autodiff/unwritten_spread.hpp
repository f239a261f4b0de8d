#pragma once
/// Cotangents of what was summed before they are written: blocks with fewer dims, which kernels
/// read as if they were repeated.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/autodiff/tape.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::autodiff {

/// A value that stands for itself repeated along dims. Not a template, so that all cotangents share
/// its code.
struct UnwrittenSpread {
  shardtype::detail::FusedOperands value;
  shardtype::detail::OperandDims const* dims;  ///< of the value in the cotangent
  std::int64_t extents[max_dims];              ///< of the cotangent
  /// Writes it to `*static_cast<Cotangent**>(to)`.
  void (*write)(UnwrittenSpread const& from, void* to);
};

/// The cotangent of type `Ct`.
template <class Ct>
Ct written(UnwrittenSpread const& from) {
  namespace sd = shardtype::detail;
  using Part = sd::FusedLeaf<typename Ct::element>;
  sd::extents_of<Ct> n{};
  for (std::size_t d = 0; d < Ct::rank; ++d) n[d] = from.extents[d];
  Ct out = sd::uninitialized<Ct>(from.value.mesh(), n);
  sd::FusedParts<Part> const e(from.value);
  sd::run_fused_into(out, {e.operands, &e, sd::compute_of<Ct, Part>, from.dims});
  return out;
}
/// The spread of `value` to a cotangent of type `Ct` and these extents.
template <class Ct, class C, class N>
UnwrittenSpread unwritten_spread(C const& value, N const& extents) {
  namespace sd = shardtype::detail;
  UnwrittenSpread out{sd::FusedOperands(1),
                      sd::DimsOfOperands<Ct, sd::Pack<C>>::at,
                      {},
                      [](UnwrittenSpread const& from, void* to) {
                        *static_cast<Ct**>(to) =
                            autodiff::make_small<Ct>(autodiff::written<Ct>(from));
                      }};
  out.value.add(static_cast<typename sd::FusedArgument<C>::base const&>(value));
  for (std::size_t d = 0; d < Ct::rank; ++d) out.extents[d] = extents[d];
  return out;
}

}  // namespace shardtype::autodiff
