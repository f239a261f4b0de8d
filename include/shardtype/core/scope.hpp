#pragma once
/// The names of one operation: which label and which axis each number stands for.

#include <cstdint>
#include <string_view>

#include <shardtype/core/axis.hpp>
#include <shardtype/core/index.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype {

/// Labels and axes of one operation, numbered by first appearance.
///
/// Plans are written in these numbers; a Mesh translates them to its own axes by `axis_id`.
struct Names {
  int labels = 0;
  Identity label_id[max_dims]{};
  std::string_view label_name[max_dims]{};
  std::int64_t label_extent[max_dims]{};
  int axes = 0;
  Identity axis_id[max_axes]{};
  std::string_view axis_name[max_axes]{};
  std::int64_t axis_size[max_axes]{};
  /// More labels or axes appeared than an operation may have.
  bool overflow = false;
  /// A number of a label or axis whose name another type bears too, or -1.
  int label_clash = -1;
  int axis_clash = -1;

  constexpr int find_label(Identity id) const {
    for (int k = 0; k < labels; ++k)
      if (label_id[k] == id) return k;
    return -1;
  }
  constexpr int find_axis(Identity id) const {
    for (int k = 0; k < axes; ++k)
      if (axis_id[k] == id) return k;
    return -1;
  }
  /// The number of label `I`, which is added when new. Past the bound: `overflow`, and 0.
  template <class I>
  constexpr int add_label() {
    if (int const k = find_label(identity<I>); k >= 0) return k;
    if (labels == max_dims) return overflow = true, 0;
    for (int k = 0; k < labels; ++k)
      if (label_name[k] == I::name) label_clash = labels;
    label_id[labels] = identity<I>;
    label_name[labels] = I::name;
    label_extent[labels] = I::extent;
    return labels++;
  }
  /// The number of axis `X`, which is added when new. Past the bound: `overflow`, and 0.
  template <class X>
  constexpr int add_axis() {
    if (int const k = find_axis(identity<X>); k >= 0) return k;
    if (axes == max_axes) return overflow = true, 0;
    for (int k = 0; k < axes; ++k)
      if (axis_name[k] == X::name) axis_clash = axes;
    axis_id[axes] = identity<X>;
    axis_name[axes] = X::name;
    axis_size[axes] = X::size;
    return axes++;
  }
  /// Extents and sizes as far as the types tell them; `dynamic` elsewhere.
  constexpr Extents extents() const {
    Extents out;
    for (int k = 0; k < labels; ++k) out.at[k] = label_extent[k];
    return out;
  }
  constexpr Sizes sizes() const {
    Sizes out;
    for (int k = 0; k < axes; ++k) out.at[k] = axis_size[k];
    return out;
  }
  /// Whether the types settle every extent and axis size.
  constexpr bool all_static() const {
    for (int k = 0; k < labels; ++k)
      if (label_extent[k] == dynamic) return false;
    for (int k = 0; k < axes; ++k)
      if (axis_size[k] == dynamic) return false;
    return true;
  }
};

}  // namespace shardtype
