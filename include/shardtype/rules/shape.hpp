#pragma once
/// Operations that reorder, rename, add, split and merge dims. None of them communicates.

#include <shardtype/rules/question.hpp>

namespace shardtype::rules {

/// Whether both extents are known and differ.
constexpr bool contradict(std::int64_t a, std::int64_t b) {
  return a != dynamic && b != dynamic && a != b;
}

/// Whether all labels of `labels` are dims of `a`.
constexpr Verdict has_all(Spec const& a, Spec const& labels) {
  for (int d = 0; d < labels.rank; ++d)
    if (a.find(labels.dims[d].label) < 0)
      return refuse(Code::D01_no_such_index, labels.dims[d].label);
  return {};
}
/// An elementwise operation that depends on positions along some dims: the same dims with the same
/// splits. Elements that it masks become zero, which the sum, maximum or minimum of zeros is as
/// well.
constexpr Verdict masked(Question const& q) { return accept_if(has_all(q.a(), q.from), q.a()); }

/// Whether no dim of `a` with a label in `labels` is block-cyclic.
constexpr Verdict in_blocks(Spec const& a, Spec const& labels) {
  for (int d = 0; d < labels.rank; ++d)
    if (AxisList const axes = a.dims[a.find(labels.dims[d].label)].axes; axes.cyclic != 0)
      return refuse(Code::B03_through_cyclic, labels.dims[d].label, -1, axes[0]);
  return {};
}

/// Whether none of the labels of `added` is a dim of `a`.
constexpr Verdict has_none(Spec const& a, Spec const& added) {
  for (int d = 0; d < added.rank; ++d)
    if (a.find(added.dims[d].label) >= 0) return refuse(Code::D02_index_taken, added.dims[d].label);
  return {};
}

/// `a` with other dims.
constexpr Spec with_dims(Spec const& a, Spec const& first, Spec const& then = {}) {
  Spec out = a;
  out.rank = 0;
  for (int d = 0; d < first.rank; ++d) out.add(first.dims[d].label, first.dims[d].axes);
  for (int d = 0; d < then.rank; ++d) out.add(then.dims[d].label, then.dims[d].axes);
  return out;
}

/// Whether the blocks of two dims of extents `outer` and `inner`, split over `major` and `minor`,
/// are in memory the blocks of one dim of extent outer * inner split over major, then minor. This
/// holds if no axis of `major` cuts through a row of `inner`, on any rank, and, where `minor` cuts,
/// a block has at most one row: ceil(outer * inner / p) == ceil(outer / p) * inner at each cut.
constexpr bool lines_up(std::int64_t outer, std::int64_t inner, AxisList const& major,
                        AxisList const& minor, Sizes const& sizes) {
  if (outer == 0 || inner == 0) return true;
  if (major.size == 0) {
    if (outer == 1) return true;
    for (int k = 0; k < minor.size; ++k)
      if (sizes[minor[k]] > 1) return false;
    return true;
  }
  std::int64_t const p = sizes[major[0]];
  std::int64_t const length = ceil_div(outer, p);
  if (ceil_div(outer * inner, p) != length * inner) return false;
  AxisList const rest = major.suffix(1);
  // all blocks but the last non-empty one are equal
  std::int64_t const last = outer % length;
  return lines_up(length, inner, rest, minor, sizes) &&
         (last == 0 || lines_up(last, inner, rest, minor, sizes));
}

/// `transpose<J, I>`: the dims in another order, each listed once.
constexpr Verdict transpose(Spec const& a, Spec const& to) {
  if (Verdict v = has_all(a, to); !v) return v;
  for (int d = 0; d < a.rank; ++d)
    if (to.find(a.dims[d].label) < 0) return refuse(Code::D07_names_incomplete, a.dims[d].label);
  Spec out = with_dims(a, to);
  for (int d = 0; d < out.rank; ++d) out.dims[d].axes = a.dims[a.find(out.dims[d].label)].axes;
  return accept(out);
}

/// `relabel<I, K>`: other names for the same dims.
constexpr Verdict relabel(Question const& q) {
  if (q.from.rank != q.to.rank)
    return refuse(Code::D07_names_incomplete, q.from.dims[q.from.rank - 1].label);
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  Spec out = q.a();
  for (int k = 0; k < q.to.rank; ++k) {
    int const old_label = q.from.dims[k].label;
    int const new_label = q.to.dims[k].label;
    if (q.a().find(new_label) >= 0 && q.from.find(new_label) < 0)
      return refuse(Code::D02_index_taken, new_label);
    if (contradict(q.extents[old_label], q.extents[new_label]))
      return refuse(Code::D06_extents_contradict, old_label, new_label);
    out.dims[q.a().find(old_label)].label = q.to.dims[k].label;
  }
  return accept(out);
}

/// `squeeze<I>`: removes dims of extent 1 that are not split.
constexpr Verdict squeeze(Question const& q) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  Spec kept;
  for (int d = 0; d < q.a().rank; ++d) {
    DimSpec const& dim = q.a().dims[d];
    if (q.from.find(dim.label) < 0) {
      kept.add(dim.label, dim.axes);
    } else if (dim.axes.size > 0) {
      return refuse(Code::D03_along_split, dim.label, -1, dim.axes[0]);
    } else if (contradict(q.extents[dim.label], 1)) {
      return refuse(Code::D06_extents_contradict, dim.label);
    }
  }
  return accept(with_dims(q.a(), kept));
}

/// `expand<I>`, `broadcast<Dim<I, X>>`: new dims before the others. The new dims of a broadcast may
/// be split over axes along which `a` is replicated or reduced: each rank creates its own part.
/// Reduced next to split gives split, as in elementwise functions, so that the cotangent of a sum
/// over a split dim becomes that dim's blocks.
constexpr Verdict broadcast(Question const& q, bool extent_one) {
  if (Verdict v = has_none(q.a(), q.to); !v) return v;
  Spec out = q.a();
  for (int d = 0; d < q.to.rank; ++d) {
    if (extent_one && contradict(q.extent(q.to, d), 1))
      return refuse(Code::D06_extents_contradict, q.to.dims[d].label);
    for (int k = 0; k < q.to.dims[d].axes.size; ++k) {
      int const x = q.to.dims[d].axes[k];
      AxisState const state = q.a().state(x);
      if (state != AxisState::replicated && state != AxisState::reduced)
        return refuse(Code::T01_axis_twice, -1, -1, x);
      out.reduced.erase(x);
    }
  }
  if (q.a().rank + q.to.rank > max_dims) return refuse(Code::T07_too_many);
  return accept(with_dims(out, q.to, q.a()));
}

/// Number of axes that the major part of a split dim gets when axes are assigned from major to
/// minor: as many as are needed until its blocks have one row; all, if the types do not determine
/// that.
constexpr int handed_out(std::int64_t outer, AxisList const& axes, Sizes const& sizes) {
  if (outer == dynamic) return axes.size;
  int k = 0;
  for (; k < axes.size && outer > 1; ++k) {
    if (sizes[axes[k]] == dynamic) return axes.size;
    outer = ceil_div(outer, sizes[axes[k]]);
  }
  return k;
}

/// Whether the types show that the blocks of one dim of extent `whole` and two of `outer` and
/// `inner` do not line up, or that the extents contradict each other. `label` is reported.
constexpr Verdict parts_fit(Question const& q, std::int64_t whole, std::int64_t outer,
                            std::int64_t inner, AxisList const& major, AxisList const& minor,
                            int label) {
  if (outer == dynamic && whole > 0 && inner > 0 && whole % inner == 0) outer = whole / inner;
  if (inner == dynamic && whole > 0 && outer > 0 && whole % outer == 0) inner = whole / outer;
  if (outer >= 0 && inner >= 0 && whole >= 0 && outer * inner != whole)
    return refuse(Code::D06_extents_contradict, label);
  // rows are cut although the dim of rows is not split: wrong for every extent but 0 and 1
  bool const cut = major.size == 0 && minor.size > 0 && outer == dynamic;
  bool const known = outer >= 0 && inner >= 0 && q.sizes_known(major) && q.sizes_known(minor);
  if (cut || (known && !lines_up(outer, inner, major, minor, q.sizes)))
    return refuse(Code::D09_blocks_differ, label, -1, minor.size > 0 ? minor[0] : major[0]);
  return {};
}

/// `split<I, A, B>`: I of extent na * nb becomes A, B, if the blocks line up.
constexpr Verdict split(Question const& q, bool hand_out) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = has_none(q.a(), q.to); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  if (Verdict v = in_blocks(q.to, q.to); !v) return v;
  if (q.a().rank + 1 > max_dims) return refuse(Code::T07_too_many);
  int const label = q.from.dims[0].label;
  int const at = q.a().find(label);
  AxisList const axes = q.a().dims[at].axes;
  AxisList major = q.to.dims[0].axes;
  AxisList minor = q.to.dims[1].axes;
  if (hand_out) {
    int const k = handed_out(q.extent(q.to, 0), axes, q.sizes);
    major = axes.prefix(k);
    minor = axes.suffix(k);
  }
  if (major.size + minor.size != axes.size || !(major.plus(minor) == axes))
    return refuse(Code::D10_other_axes, label);
  if (Verdict v =
          parts_fit(q, q.extents[label], q.extent(q.to, 0), q.extent(q.to, 1), major, minor, label);
      !v)
    return v;
  Spec dims;
  for (int d = 0; d < q.a().rank; ++d) {
    if (d == at) {
      dims.add(q.to.dims[0].label, major);
      dims.add(q.to.dims[1].label, minor);
    } else {
      dims.add(q.a().dims[d].label, q.a().dims[d].axes);
    }
  }
  return accept(with_dims(q.a(), dims));
}

/// `merge<A, B, K>`: the neighbours A, B become K of extent na * nb, if the blocks line up.
constexpr Verdict merge(Question const& q) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  if (Verdict v = has_none(q.a(), q.to); !v) return v;
  if (Verdict v = in_blocks(q.a(), q.from); !v) return v;
  int const outer = q.from.dims[0].label;
  int const inner = q.from.dims[1].label;
  int const at = q.a().find(outer);
  if (q.a().find(inner) != at + 1) return refuse(Code::D08_not_neighbours, outer, inner);
  AxisList const major = q.a().dims[at].axes;
  AxisList const minor = q.a().dims[at + 1].axes;
  if (Verdict v =
          parts_fit(q, q.extent(q.to, 0), q.extents[outer], q.extents[inner], major, minor, outer);
      !v)
    return v;
  Spec dims;
  for (int d = 0; d < q.a().rank; ++d)
    if (d == at) {
      dims.add(q.to.dims[0].label, major.plus(minor));
    } else if (d != at + 1) {
      dims.add(q.a().dims[d].label, q.a().dims[d].axes);
    }
  return accept(with_dims(q.a(), dims));
}

}  // namespace shardtype::rules
