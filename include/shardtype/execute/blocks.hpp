#pragma once
/// Local blocks while a plan runs, and their memory.

#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// A local block while a plan runs. It may be a view: slices and transposes move no data.
template <class T>
struct Value {
  T const* data = nullptr;
  kernels::Layout layout{};
  Spec spec{};
  Buffer keep{};
};

/// The local block of a tensor of sharding `spec`, packed at the start of `memory`.
template <class T>
Value<T> whole_value(Spec const& spec, Sizing const& z, Coords const& at, Buffer memory) {
  Value<T> v;
  v.spec = spec;
  v.layout.rank = spec.rank;
  for (int d = 0; d < spec.rank; ++d) v.layout.extent[d] = held(spec, d, z, at);
  v.layout = v.layout.packed();
  v.data = static_cast<T const*>(memory.data());
  v.keep = std::move(memory);
  return v;
}

/// `v` with its labels, for products.
template <class T>
kernels::Labelled<T> labelled(Value<T> const& v) {
  kernels::Labelled<T> out;
  out.data = v.data;
  out.layout = v.layout;
  out.keep = v.keep;
  for (int d = 0; d < v.spec.rank; ++d) out.label[d] = v.spec.dims[d].label;
  return out;
}

/// The calling rank's blocks of `T` in memory `Space` for one operation: memory is from the mesh's
/// pool, copies run on the mesh's execution space.
template <class T, class Space>
struct Blocks {
  using Exec = typename Space::execution_space;

  MeshState& mesh;
  AxisMap const& axes;
  Sizing const& sizing;
  Exec exec = runtime::instance<Exec>();

  Buffer take(std::int64_t elements) {
    return mesh.pool().template take<Space>(static_cast<std::size_t>(elements) * sizeof(T));
  }
  static T* writable(Buffer const& b) { return static_cast<T*>(b.data()); }

  Value<T> copy(Value<T> const& v) {
    Value<T> out = v;
    out.layout = v.layout.packed();
    out.keep = take(v.layout.elements());
    kernels::copy_packed(exec, v.data, v.layout, writable(out.keep));
    runtime::fence(exec);
    out.data = writable(out.keep);
    return out;
  }
  /// A packed value of sharding `spec` with new, uninitialized memory.
  Value<T> fresh(Spec const& spec) {
    std::int64_t const n = local_elements(spec, sizing.extents, sizing.sizes, axes.coords);
    return execute::whole_value<T>(spec, sizing, axes.coords, take(n));
  }

  /// Makes `v` contiguous.
  void pack(Value<T>& v) {
    if (!v.layout.contiguous()) v = copy(v);
  }
};

}  // namespace shardtype::execute
