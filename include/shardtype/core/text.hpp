#pragma once
/// The printed form of shardings: `A[I@X, J@(X,Y), K@Z%64]{U:Y}`.

#include <string>

#include <shardtype/core/scope.hpp>

namespace shardtype::core {

// Appends piece by piece: for "text" + std::string g++ 12 at -O3 wrongly warns of overlapping
// copies (-Wrestrict).

/// `I`, `I@X`, `I@(X,Y)`, block-cyclic `I@X%64`; with its extent if one is given: `1500@X`.
inline std::string dim_text(DimSpec const& d, Names const& n, Extents const* extents = nullptr) {
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

/// Names of the axes of a set, in order of name: `X,Y`.
inline std::string axes_text(AxisSet set, Names const& n) {
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

/// `[I@X, J]{U:Y}`, with extents instead of labels if they are given.
inline std::string spec_text(Spec const& s, Names const& n, Extents const* extents = nullptr) {
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
