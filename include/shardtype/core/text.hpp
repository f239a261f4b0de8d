#pragma once
/// The printed form of shardings: `A[I@X, J@(X,Y), K@Z%64]{U:Y}`, everywhere the same.

#include <string>

#include <shardtype/core/scope.hpp>

namespace shardtype::core {

/// `I`, `I@X`, `I@(X,Y)`, cyclic `I@X%64`; with its extent when one is given: `1500@X`.
inline std::string dim_text(DimSpec const& d, Names const& n, Extents const* extents = nullptr) {
  std::string out =
      extents == nullptr ? std::string(n.label_name[d.label]) : std::to_string((*extents)[d.label]);
  if (d.axes.size == 0) return out;
  out += d.axes.size == 1 ? "@" : "@(";
  for (int k = 0; k < d.axes.size; ++k)
    out += (k == 0 ? "" : ",") + std::string(n.axis_name[d.axes[k]]);
  if (d.axes.cyclic != 0) out += "%" + std::to_string(d.axes.cyclic);
  return out + (d.axes.size == 1 ? "" : ")");
}

/// Names of the axes of a set, in order of name: `X,Y`.
inline std::string axes_text(AxisSet set, Names const& n) {
  std::string out;
  while (!set.empty()) {
    int first = -1;
    for (int x = 0; x < n.axes; ++x)
      if (set.contains(x) && (first < 0 || n.axis_name[x] < n.axis_name[first])) first = x;
    out += (out.empty() ? "" : ",") + std::string(n.axis_name[first]);
    set.erase(first);
  }
  return out;
}

/// `[I@X, J]{U:Y}`, with extents in place of labels when they are given.
inline std::string spec_text(Spec const& s, Names const& n, Extents const* extents = nullptr) {
  std::string out = "[";
  for (int d = 0; d < s.rank; ++d) out += (d == 0 ? "" : ", ") + dim_text(s.dims[d], n, extents);
  out += "]";
  if (!s.varying.empty()) out += "{V:" + axes_text(s.varying, n) + "}";
  if (!s.unreduced.empty()) {
    out += s.kind == ReduceKind::sum ? "{U:" : s.kind == ReduceKind::max ? "{U_max:" : "{U_min:";
    out += axes_text(s.unreduced, n) + "}";
  }
  if (!s.reduced.empty()) out += "{R:" + axes_text(s.reduced, n) + "}";
  return out;
}

}  // namespace shardtype::core
