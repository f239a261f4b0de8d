#pragma once
/// Shared by operations with ids: checks of the ids, and blocks viewed as rows around a dim.

#include <cstdint>
#include <string>
#include <string_view>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/fused.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/lookup.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// Error E50 for the first id in a block that is outside [0, n).
template <class Id, class Space>
void check_ids(Id const* ids, Rows const* rows, int rank, std::int64_t n, std::string_view label) {
  std::int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= rows[d].size();
  std::int64_t k =
      kernels::first_outside(runtime::instance<typename Space::execution_space>(), ids, count, n);
  if (k == count) return;
  Id id{};
  runtime::copy_bytes<Kokkos::HostSpace, Space>(&id, ids + k, sizeof id);
  std::string place;
  for (int d = rank - 1; d >= 0; --d) {
    place = std::to_string(rows[d][k % rows[d].size()]) + (place.empty() ? "" : ", ") + place;
    k /= rows[d].size();
  }
  throw Error("E50", "index " + std::string(label) + " has extent " + std::to_string(n) +
                         "; the ids hold " + std::to_string(id) + " at [" + place + "]");
}

/// A block viewed as rows around dim `at`.
inline kernels::NumberedRows numbered_rows(kernels::Layout const& block, int at, Range const& range,
                                           std::int64_t count) {
  return {{kernels::outer_length(block, at), range.size(), kernels::inner_length(block, at)},
          range.begin,
          count};
}

/// A part of a block as contiguous memory: in place if it is contiguous, else a copy.
template <class T, class Space>
T const* packed(MeshState& mesh, T const* data, kernels::Layout const& part, Buffer& keep) {
  if (part.contiguous()) return data;
  keep = mesh.pool().template take<Space>(static_cast<std::size_t>(part.elements()) * sizeof(T));
  auto* const to = static_cast<T*>(keep.data());
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::copy_packed(exec, data, part, to);
  return to;
}

/// The part of an operand's block that an operation uses, dim by dim.
struct Part {
  kernels::Layout layout{};
  std::int64_t offset = 0;
  std::int64_t lengths = 1;  ///< product of the lengths pushed so far

  /// Adds dim `d` of `block`, of whose indices `held` those in `used` are part of it.
  void push(kernels::Layout const& block, int d, Range const& held, Range const& used) {
    layout.extent[layout.rank] = used.size();
    layout.stride[layout.rank++] = block.stride[d];
    offset += (used.begin - held.begin) * block.stride[d];
    lengths *= used.size();
  }
};

template <class A, class I>
inline constexpr int dim_of =
    A::spec.find(shardtype::detail::ScopeOf<A>::type::names.find_label(identity<I>));

template <class A>
auto data_of(A const& a) {
  return static_cast<typename A::element const*>(a.buffer().data());
}
/// The block of a result.
template <class Out>
auto* written(Out& out) {
  return static_cast<typename Out::element*>(out.buffer().data());
}
template <class V, class Ids>
void check_values_of(Ids const& ids, std::int64_t n) {
  if (run_time.settings.check_values && ids.mesh().here())
    execute::check_ids<typename Ids::element, typename Ids::memory_space>(
        execute::data_of(ids), ids.rows().data(), static_cast<int>(Ids::rank), n, V::name);
}

}  // namespace shardtype::execute
