#pragma once
/// Agreement of the ranks on the backward pass.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/tape.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::autodiff {

/// Checks that all ranks of a mesh take the cotangent of these extents back through the same
/// operation.
inline void agree_on_pull(std::string_view operation, std::uint64_t wanted,
                          runtime::MeshState& mesh, std::int64_t const* extents, std::size_t rank) {
  if (!mesh.here() || !mesh.agreement().on()) return;
  runtime::StepHash hash;
  hash.mix(std::string(operation)).mix(wanted);
  for (std::size_t d = 0; d < rank; ++d) hash.mix(static_cast<std::uint64_t>(extents[d]));
  mesh.agreement().meet(
      "the gradient of " + std::string(operation) + source_text(core::RunningCall::place()),
      hash.value() | 1U);
}
/// SHARDTYPE_CHECK=agree: checks that all ranks of a mesh are about to take the cotangent `ct` back
/// through the same operation, to the same operands (`wanted`, a bit for each). Ranks whose C++
/// branches differed would else reduce gradients that belong to different programs. Blocks of
/// manual mode are compared by their collectives alone.
template <class C>
constexpr void agree_on_pull([[maybe_unused]] std::string_view operation,
                             [[maybe_unused]] std::uint64_t wanted, [[maybe_unused]] C const& ct) {
  if constexpr (requires { ct.slot(); }) {
    autodiff::agree_on_pull(operation, wanted, ct.value());
  } else if constexpr (is_tensor<C> && !is_local<C>) {
    autodiff::agree_on_pull(operation, wanted, ct.mesh().state(), ct.extents().data(), C::rank);
  }
}
/// The operands whose cotangents are wanted, a bit for each.
constexpr std::uint64_t wanted_bits(SlotBase const* const* to, int n) {
  std::uint64_t bits = 0;
  for (int k = 0; k < n; ++k) bits = bits << 1 | (to[k] != nullptr ? 1U : 0U);
  return bits;
}

}  // namespace shardtype::autodiff
