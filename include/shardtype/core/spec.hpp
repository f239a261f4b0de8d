#pragma once
/// A sharding as a plain value. Types are notation; rules and planners use only this value.
///
/// Labels and axes are small numbers, in order of first appearance in the operation
/// (core/scope.hpp), so that programs that differ only in names share all instantiations below.

#include <cstdint>
#include <initializer_list>

#include <shardtype/core/limits.hpp>

namespace shardtype::core {

/// A set of mesh axes.
struct AxisSet {
  std::uint8_t bits = 0;

  constexpr bool contains(int axis) const { return ((bits >> axis) & 1) != 0; }
  constexpr void insert(int axis) { bits = static_cast<std::uint8_t>(bits | (1U << axis)); }
  constexpr void erase(int axis) { bits = static_cast<std::uint8_t>(bits & ~(1U << axis)); }
  constexpr bool empty() const { return bits == 0; }
  constexpr int size() const {
    int n = 0;
    for (int x = 0; x < max_axes; ++x) n += contains(x) ? 1 : 0;
    return n;
  }
  /// The axis of the lowest number; -1 of the empty set.
  constexpr int first() const {
    for (int x = 0; x < max_axes; ++x)
      if (contains(x)) return x;
    return -1;
  }
  friend constexpr AxisSet operator|(AxisSet a, AxisSet b) {
    return {static_cast<std::uint8_t>(a.bits | b.bits)};
  }
  /// The axes of `a` that `b` lacks.
  friend constexpr AxisSet operator-(AxisSet a, AxisSet b) {
    return {static_cast<std::uint8_t>(a.bits & ~b.bits)};
  }
  friend constexpr bool operator==(AxisSet, AxisSet) = default;
};

/// An ordered list of mesh axes, major to minor. If it splits a dim, it also says how: by nested
/// blocks, or block-cyclically with block size `cyclic` over its only axis.
struct AxisList {
  std::int8_t size = 0;
  std::int8_t at[max_axes]{};
  std::int32_t cyclic = 0;  ///< block size; 0: nested blocks

  constexpr int operator[](int k) const { return at[k]; }
  constexpr void push(int axis) { at[size++] = static_cast<std::int8_t>(axis); }
  constexpr bool contains(int axis) const { return position(axis) >= 0; }
  /// Index of `axis` in the list, or -1.
  constexpr int position(int axis) const {
    for (int k = 0; k < size; ++k)
      if (at[k] == axis) return k;
    return -1;
  }
  /// The first `n` axes, with the same way of splitting a dim.
  constexpr AxisList prefix(int n) const {
    AxisList out;
    for (int k = 0; k < n; ++k) out.push(at[k]);
    if (n > 0) out.cyclic = cyclic;
    return out;
  }
  /// The axes from index `n` on, as a group of ranks.
  constexpr AxisList suffix(int n) const {
    AxisList out;
    for (int k = n; k < size; ++k) out.push(at[k]);
    return out;
  }
  constexpr AxisList without(int axis) const {
    AxisList out;
    for (int k = 0; k < size; ++k)
      if (at[k] != axis) out.push(at[k]);
    return out;
  }
  constexpr AxisList plus(AxisList const& minor) const {
    AxisList out = *this;
    for (int k = 0; k < minor.size; ++k) out.push(minor[k]);
    return out;
  }
  constexpr AxisSet set() const {
    AxisSet out;
    for (int k = 0; k < size; ++k) out.insert(at[k]);
    return out;
  }
  constexpr bool starts_with(AxisList const& other) const {
    return other.size <= size && prefix(other.size) == other;
  }
  friend constexpr bool operator==(AxisList const& a, AxisList const& b) {
    if (a.size != b.size || a.cyclic != b.cyclic) return false;
    for (int k = 0; k < a.size; ++k)
      if (a.at[k] != b.at[k]) return false;
    return true;
  }
};

/// The pending reduction over the unreduced axes. One kind per tensor.
enum class ReduceKind : std::int8_t { sum, max, min };

/// One dim: its index label and the axes that split it.
struct DimSpec {
  std::int8_t label = 0;
  AxisList axes{};
  friend constexpr bool operator==(DimSpec const&, DimSpec const&) = default;
};

/// The state of one mesh axis for one tensor; every axis is in exactly one. In manual mode a block
/// is not split: along each axis it is varying, or replicated (invariant: identical on all ranks),
/// or unreduced, or reduced.
enum class AxisState : std::int8_t { split, replicated, unreduced, reduced, varying };

/// The sharding of one tensor.
struct Spec {
  std::int8_t rank = 0;
  DimSpec dims[max_dims]{};
  AxisSet unreduced{};
  ReduceKind kind = ReduceKind::sum;
  AxisSet reduced{};
  AxisSet varying{};   ///< of a Local, or of a Tensor where some axes are manual
  bool local = false;  ///< a Local: the dims are the block's, and not split

  constexpr void add(int label, AxisList const& axes = {}) {
    dims[rank++] = {static_cast<std::int8_t>(label), axes};
  }
  /// Index of the dim with this label, or -1.
  constexpr int find(int label) const {
    for (int d = 0; d < rank; ++d)
      if (dims[d].label == label) return d;
    return -1;
  }
  /// Index of the dim that `axis` splits, or -1.
  constexpr int dim_of(int axis) const {
    for (int d = 0; d < rank; ++d)
      if (dims[d].axes.contains(axis)) return d;
    return -1;
  }
  constexpr AxisState state(int axis) const {
    if (unreduced.contains(axis)) return AxisState::unreduced;
    if (reduced.contains(axis)) return AxisState::reduced;
    if (varying.contains(axis)) return AxisState::varying;
    return dim_of(axis) >= 0 ? AxisState::split : AxisState::replicated;
  }
  /// Index of the first block-cyclic dim, or -1.
  constexpr int cyclic_dim() const {
    for (int d = 0; d < rank; ++d)
      if (dims[d].axes.cyclic != 0) return d;
    return -1;
  }
  /// All axes that the type mentions.
  constexpr AxisSet mentioned() const {
    AxisSet all = unreduced | reduced | varying;
    for (int d = 0; d < rank; ++d) all = all | dims[d].axes.set();
    return all;
  }
  friend constexpr bool operator==(Spec const& a, Spec const& b) {
    if (a.rank != b.rank || a.unreduced != b.unreduced || a.reduced != b.reduced) return false;
    if (a.varying != b.varying || a.local != b.local) return false;
    if (!a.unreduced.empty() && a.kind != b.kind) return false;
    for (int d = 0; d < a.rank; ++d)
      if (!(a.dims[d] == b.dims[d])) return false;
    return true;
  }
};

/// Number of ranks along each axis of the operation.
struct Sizes {
  std::int64_t at[max_axes];

  constexpr Sizes() {
    for (int x = 0; x < max_axes; ++x) at[x] = 1;
  }
  /// The sizes of the first axes; the others have one rank.
  constexpr Sizes(std::initializer_list<std::int64_t> first) : Sizes() {
    int x = 0;
    for (std::int64_t const size : first) at[x++] = size;
  }
  constexpr std::int64_t operator[](int axis) const { return at[axis]; }
  /// Number of ranks in the group that the axes of `list` span.
  constexpr std::int64_t product(AxisList const& list) const {
    std::int64_t p = 1;
    for (int k = 0; k < list.size; ++k) p *= at[list[k]];
    return p;
  }
  friend constexpr bool operator==(Sizes const&, Sizes const&) = default;
};

/// Extent of each label of the operation.
struct Extents {
  std::int64_t at[max_labels]{};
  constexpr std::int64_t operator[](int label) const { return at[label]; }
  friend constexpr bool operator==(Extents const&, Extents const&) = default;
};

/// The coordinates of a rank along the axes of the operation.
struct Coords {
  std::int64_t at[max_axes]{};
  constexpr std::int64_t operator[](int axis) const { return at[axis]; }
};

}  // namespace shardtype::core

namespace shardtype {
using core::Coords;
using core::Extents;
using core::Spec;
}  // namespace shardtype
