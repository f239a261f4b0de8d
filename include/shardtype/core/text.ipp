#pragma once
/// Definitions of text.hpp.

#include <shardtype/core/text.hpp>

namespace shardtype::core {

SHARDTYPE_INLINE std::string dim_text(DimSpec const& d, Names const& n, Extents const* extents) {
  std::string out =
      extents == nullptr ? std::string(n.label_name[d.label]) : std::to_string((*extents)[d.label]);
  if (d.axes.size == 0) return out;
  out += d.axes.size == 1 ? "@" : "@(";
  for (int k = 0; k < d.axes.size; ++k) {
    if (k > 0) out += ',';
    out += n.axis_name[d.axes[k]];
  }
  if (d.axes.cyclic != 0) {
    out += '%';
    out += std::to_string(d.axes.cyclic);
  }
  if (d.axes.size > 1) out += ')';
  return out;
}

SHARDTYPE_INLINE std::string axes_text(AxisSet set, Names const& n) {
  std::string out;
  while (!set.empty()) {
    int first = -1;
    for (int x = 0; x < n.axes; ++x)
      if (set.contains(x) && (first < 0 || n.axis_name[x] < n.axis_name[first])) first = x;
    if (!out.empty()) out += ',';
    out += n.axis_name[first];
    set.erase(first);
  }
  return out;
}

SHARDTYPE_INLINE std::string spec_text(Spec const& s, Names const& n, Extents const* extents) {
  std::string out = "[";
  for (int d = 0; d < s.rank; ++d) {
    if (d > 0) out += ", ";
    out += dim_text(s.dims[d], n, extents);
  }
  out += ']';
  auto const add = [&](char const* state, AxisSet axes) {
    if (axes.empty()) return;
    out += state;
    out += axes_text(axes, n);
    out += '}';
  };
  add("{V:", s.varying);
  add(s.kind == ReduceKind::sum   ? "{U:"
      : s.kind == ReduceKind::max ? "{U_max:"
                                  : "{U_min:",
      s.unreduced);
  add("{R:", s.reduced);
  return out;
}

}  // namespace shardtype::core
