#pragma once
/// The names of one operation: the label and the axis that each number stands for.

#include <cstdint>
#include <string_view>

#include <shardtype/core/axis.hpp>
#include <shardtype/core/index.hpp>
#include <shardtype/core/spec.hpp>

namespace shardtype::core {

/// An index label as a value; `id` is null if a type is not a label.
struct LabelPart {
  Identity id = nullptr;
  std::string_view name;
  std::int64_t extent = dynamic;
};
/// An argument in the position of an axis, as a value; `id` is null if it is not an axis.
struct AxisPart {
  Identity id = nullptr;
  std::string_view name;
  std::int64_t size = dynamic;
  bool cyclic = false;
  std::int64_t block_size = 0;  ///< block size of a Cyclic
};

/// Labels and axes of one operation, numbered by first appearance.
///
/// Plans use these numbers; a Mesh translates them to its own axes by `axis_id`.
struct Names {
  int labels = 0;
  Identity label_id[max_labels]{};
  std::string_view label_name[max_labels]{};
  std::int64_t label_extent[max_labels]{};
  int axes = 0;
  Identity axis_id[max_axes]{};
  std::string_view axis_name[max_axes]{};
  std::int64_t axis_size[max_axes]{};
  /// Whether more labels or axes appeared than an operation may have, or one that moves windows.
  bool overflow = false;
  bool full = false;
  /// Number of a label or axis whose name another type has too, or -1.
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
  /// The number of a label, which is added if it is new. Beyond the bound: `overflow`, and 0.
  constexpr int add(LabelPart const& label) {
    if (int const k = find_label(label.id); k >= 0) return k;
    if (labels >= max_dims) overflow = true;
    if (labels == max_labels) return full = true, 0;
    for (int k = 0; k < labels; ++k)
      if (label_name[k] == label.name) label_clash = labels;
    label_id[labels] = label.id;
    label_name[labels] = label.name;
    label_extent[labels] = label.extent;
    return labels++;
  }
  /// The number of an axis, which is added if it is new. Beyond the bound: `overflow`, and 0.
  constexpr int add(AxisPart const& axis) {
    if (int const k = find_axis(axis.id); k >= 0) return k;
    if (axes == max_axes) return overflow = full = true, 0;
    for (int k = 0; k < axes; ++k)
      if (axis_name[k] == axis.name) axis_clash = axes;
    axis_id[axes] = axis.id;
    axis_name[axes] = axis.name;
    axis_size[axes] = axis.size;
    return axes++;
  }
  /// Static extents and sizes of the types; `dynamic` elsewhere.
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
  /// Whether the types determine every extent and axis size.
  constexpr bool all_static() const {
    for (int k = 0; k < labels; ++k)
      if (label_extent[k] == dynamic) return false;
    return knows_axis_sizes();
  }
  constexpr bool knows_axis_sizes() const {
    for (int k = 0; k < axes; ++k)
      if (axis_size[k] == dynamic) return false;
    return true;
  }
};

}  // namespace shardtype::core
