#pragma once
/// Lookups by tensors of ids, the sums of rows that are their gradients, and sorting.
///
/// Ids are integers and have no gradient, so reduced ids count as replicated.

#include <shardtype/rules/along.hpp>

namespace shardtype::rules {

/// Ids must not be unreduced: a summand of an id is not an id.
constexpr Verdict whole_ids(Spec const& ids) {
  return refuse_any(Code::I02_ids_unreduced, ids.unreduced);
}

/// Whether no dim of `s` is block-cyclic.
constexpr Verdict all_in_blocks(Spec const& s) {
  int const d = s.cyclic_dim();
  return d < 0 ? Verdict{}
               : refuse(Code::B03_through_cyclic, s.dims[d].label, -1, s.dims[d].axes[0]);
}

/// Whether all ranks along the axis hold identical values of `s`.
constexpr bool same_along(Spec const& s, int axis) {
  return s.state(axis) == AxisState::replicated || s.state(axis) == AxisState::reduced;
}

/// `s` without the axes of `over` in its reduced axes.
constexpr Spec split_over(Spec s, AxisList const& over) {
  s.reduced = s.reduced - over.set();
  return s;
}

/// `take<V>(table, ids)`: the dims of the ids, which may have V too, replace V, `along`. If V is
/// split, into nested blocks, each rank looks up the ids of its block and has zeros for the others:
/// the result is unreduced over V's axes, with the kind `joining`.
constexpr Verdict take(Spec const& table, Spec const& ids, int along, ReduceKind joining) {
  int const at = table.find(along);
  if (at < 0) return refuse(Code::D01_no_such_index, along);
  if (Verdict v = whole_ids(ids); !v) return v;
  if (AxisList const& axes = table.dims[at].axes; axes.cyclic != 0)
    return refuse(Code::B03_through_cyclic, along, -1, axes[0]);
  for (int d = 0; d < ids.rank; ++d)
    if (int const label = ids.dims[d].label; label != along && table.find(label) >= 0)
      return refuse(Code::I03_shared_index, ids.dims[d].label);
  Spec out = table;
  out.rank = 0;
  for (int d = 0; d < table.rank; ++d) {
    if (d != at) out.add(table.dims[d].label, table.dims[d].axes);
    for (int e = 0; d == at && e < ids.rank; ++e) {
      AxisList const& axes = ids.dims[e].axes;
      out.add(ids.dims[e].label, axes);
      out = split_over(out, axes);
      for (int k = 0; k < axes.size; ++k) {
        int const x = axes[k];
        int const taken = table.dim_of(x);
        if (taken == at) return refuse(Code::I04_looked_up_and_ids, along, ids.dims[e].label, x);
        if (taken >= 0)
          return refuse(Code::I05_axis_on_two, table.dims[taken].label, ids.dims[e].label, x);
        if (table.unreduced.contains(x))
          return refuse(Code::I06_unreduced_and_split, ids.dims[e].label, -1, x);
      }
    }
  }
  AxisList const& split = table.dims[at].axes;
  if (split.size > 0 && !table.unreduced.empty() && table.kind != joining)
    return refuse(Code::I07_other_kind, along, -1, split[0]);
  out.unreduced = out.unreduced | split.set();
  if (split.size > 0) out.kind = joining;
  return accept(out);
}

/// The finer of the two splits of an index in the ids and in the updates; the other operand is
/// sliced to it.
constexpr AxisList const& finer(AxisList const& a, AxisList const& b) {
  return a.size >= b.size ? a : b;
}

/// `scatter_add<V>(updates, ids, n)`: the dims of the ids become one dim, V, at the position of the
/// first of them (first of all if the ids have no dims). V may be one of these dims. Each rank adds
/// its own updates: the result is unreduced, with the kind `joining`, over the axes that split the
/// ids.
constexpr Verdict scatter_add(Spec const& updates, Spec const& ids, int along,
                              ReduceKind joining = ReduceKind::sum) {
  if (Verdict v = whole_ids(ids); !v) return v;
  if (updates.find(along) >= 0 && ids.find(along) < 0) return refuse(Code::D02_index_taken, along);
  if (Verdict v = all_in_blocks(updates); !v) return v;
  if (Verdict v = all_in_blocks(ids); !v) return v;
  if (updates.kind != joining)
    if (Verdict v =
            refuse_any(joining == ReduceKind::sum ? Code::I07_other_kind : Code::S02_other_kind,
                       updates.unreduced, along);
        !v)
      return v;
  Spec out = updates;
  out.rank = 0;
  out.kind = ReduceKind::sum;
  if (ids.rank == 0) out.add(along);
  for (int d = 0; d < updates.rank; ++d) {
    DimSpec const& dim = updates.dims[d];
    if (ids.find(dim.label) < 0) {
      out.add(dim.label, dim.axes);
    } else if (out.find(along) < 0) {
      out.add(along);
    }
  }
  for (int e = 0; e < ids.rank; ++e) {
    int const label = ids.dims[e].label;
    int const d = updates.find(label);
    if (d < 0) return refuse(Code::I08_index_missing, label);
    AxisList const& theirs = ids.dims[e].axes;
    AxisList const& ours = updates.dims[d].axes;
    AxisList const& axes = finer(ours, theirs);
    bool const slices_ids = ours.size >= theirs.size;
    AxisList const& coarser = slices_ids ? theirs : ours;
    Spec const& sliced = slices_ids ? ids : updates;
    for (int k = 0; k < axes.size; ++k) {
      int const x = axes[k];
      if (k < coarser.size && coarser[k] == x) continue;
      int const taken = sliced.dim_of(x);
      if (taken >= 0 && sliced.dims[taken].label != label)
        return refuse(Code::I05_axis_on_two, sliced.dims[taken].label, label, x);
      if (sliced.unreduced.contains(x)) return refuse(Code::I06_unreduced_and_split, label, -1, x);
      if (k < coarser.size) return refuse(Code::I09_lists_differ, label, -1, x);
    }
    out.unreduced = out.unreduced | axes.set();
    out = split_over(out, axes);
  }
  if (!out.unreduced.empty()) out.kind = joining;
  return accept(out);
}

/// `one_hot<V>(ids, n)`: a new dim V after the others.
constexpr Verdict one_hot(Spec const& ids, int along) {
  if (Verdict v = whole_ids(ids); !v) return v;
  if (ids.find(along) >= 0) return refuse(Code::D02_index_taken, along);
  Spec out = ids;
  out.reduced = {};
  out.add(along);
  return accept(out);
}

/// `bincount<V>(ids, n)` and `histogram<V>(a, n, ...)`: the dims become one dim, V, `along`. Each
/// rank counts its own elements: the result is unreduced over the axes that split them.
constexpr Verdict counted(Spec const& a, int along) {
  if (a.find(along) >= 0) return refuse(Code::D02_index_taken, along);
  Spec out = a;
  out.rank = 0;
  out.reduced = {};
  out.kind = ReduceKind::sum;
  for (int d = 0; d < a.rank; ++d) out.unreduced = out.unreduced | a.dims[d].axes.set();
  out.add(along);
  return accept(out);
}

/// `searchsorted<V>(table, queries)`: for each query a row of the table, whose one dim is V,
/// `along`, on every rank. The result has the sharding of the queries.
constexpr Verdict searchsorted(Spec const& table, Spec const& queries, int along) {
  int const at = table.find(along);
  if (at < 0) return refuse(Code::D01_no_such_index, along);
  for (Spec const* s : {&table, &queries})
    if (Verdict v = refuse_any(Code::I10_sort_unreduced, s->unreduced); !v) return v;
  if (AxisList const& axes = table.dims[at].axes; axes.size > 0)
    return refuse(Code::D03_along_split, along, -1, axes[0]);
  if (table.rank > 1) return refuse(Code::I12_table_of_one_dim, table.dims[at == 0 ? 1 : 0].label);
  if (queries.find(along) >= 0) return refuse(Code::I03_shared_index, along);
  Spec out = queries;
  out.reduced = {};
  return accept(out);
}

/// `take_along<J>(a, ids)`: for each position of the ids, the element of `a` that differs from it
/// only along J, `along`. The ids have the dims of `a`; for J they have J or another index, `into`.
constexpr Verdict take_along(Spec const& a, Spec const& ids, int along, int into) {
  int const at = a.find(along);
  if (at < 0) return refuse(Code::D01_no_such_index, along);
  if (Verdict v = whole_ids(ids); !v) return v;
  if (AxisList const& axes = a.dims[at].axes; axes.size > 0)
    return refuse(Code::D03_along_split, along, -1, axes[0]);
  for (int d = 0; d < a.rank || d < ids.rank; ++d) {
    bool const both = d < a.rank && d < ids.rank;
    if (!both || (d == at ? ids.dims[d].label != into : !(ids.dims[d] == a.dims[d])))
      return refuse(Code::D12_dims_differ, d < a.rank ? a.dims[d].label : ids.dims[d].label);
  }
  // the other dims have the same splits, so an axis here splits none of them
  AxisList const& axes = ids.dims[at].axes;
  for (int k = 0; k < axes.size; ++k)
    if (a.unreduced.contains(axes[k]))
      return refuse(Code::I06_unreduced_and_split, into, -1, axes[k]);
  Spec out = split_over(a, axes);
  out.dims[at] = ids.dims[at];
  return accept(out);
}

/// `scatter_along<J>(updates, ids, n)`, the transpose of `take_along`: the updates and the ids have
/// the same dims, and for J, `along`, the index `at`, `J` itself or another. Each rank adds its own
/// updates: the result is unreduced over the axes that split them there.
constexpr Verdict scatter_along(Spec const& updates, Spec const& ids, int at, int along) {
  int const place = updates.find(at);
  if (place < 0) return refuse(Code::D01_no_such_index, at);
  if (at != along && updates.find(along) >= 0) return refuse(Code::D02_index_taken, along);
  if (Verdict v = whole_ids(ids); !v) return v;
  for (int d = 0; d < updates.rank || d < ids.rank; ++d)
    if (d >= updates.rank || d >= ids.rank || !(ids.dims[d] == updates.dims[d]))
      return refuse(Code::D12_dims_differ,
                    d < updates.rank ? updates.dims[d].label : ids.dims[d].label);
  if (Verdict v = no_extremum(updates, along); !v) return v;
  Spec out = updates;
  out.unreduced = out.unreduced | updates.dims[place].axes.set();
  out.kind = ReduceKind::sum;
  out.dims[place] = {static_cast<std::int8_t>(along), {}};
  return accept(out);
}

/// The start of a window of `a`, given by an operand: a value without dims that is not unreduced.
/// For Locals each rank may have its own start (the result then varies), except over axes over
/// which `a` is unreduced.
constexpr Verdict window_start(Spec const& start, Spec const& a) {
  if (start.rank > 0) return refuse(Code::A01_item_has_dims);
  for (int x = 0; x < max_axes; ++x) {
    if (start.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
    if (start.varying.contains(x) && a.unreduced.contains(x))
      return refuse(Code::P06_unreduced_and_split, -1, -1, x);
  }
  return {};
}

/// `dynamic_update<I>(a, update, start)`: replaces a window of `a`. The update has the dims of `a`;
/// for I it has I or another index, `into`.
constexpr Verdict dynamic_update(Spec const& a, Spec update, int along, int into) {
  int const at = a.find(along);
  if (at < 0) return refuse(Code::D01_no_such_index, along);
  if (AxisList const& axes = a.dims[at].axes; axes.size > 0)
    return refuse(Code::D03_along_split, along, -1, axes[0]);
  if (update.rank <= at || update.dims[at].label != into)
    return refuse(Code::D12_dims_differ, into);
  update.dims[at].label = a.dims[at].label;
  Spec const both[] = {a, update};
  return alike({both, 2});
}

/// `sort<I>`, and `top_k<I, K>` (`resizes`): along a dim that is not split, of a value that is not
/// unreduced (the largest sum is not the sum of the largest).
constexpr Verdict sorted(Question const& q, bool resizes) {
  if (Verdict v = refuse_any(Code::I10_sort_unreduced, q.a().unreduced); !v) return v;
  if (resizes) return resized(q);
  return accept_if(unsplit(q, Code::D03_along_split), q.a());
}
constexpr Verdict sorted_in_place(Question const& q) { return sorted(q, false); }
/// `quantile<I>`: rows in order, of which one element is left. The dim may be split into nested
/// blocks (`across`): all ranks find the same elements.
constexpr Verdict quantile(Question const& q, bool across) {
  Verdict v = refuse_any(Code::I10_sort_unreduced, q.a().unreduced);
  if (v) v = across ? shift(q) : unsplit(q, Code::D03_along_split);
  if (!v) return v;
  Spec out = q.a();
  out.rank = 0;
  for (int d = 0; d < q.a().rank; ++d)
    if (q.a().dims[d].label != q.along()) out.add(q.a().dims[d].label, q.a().dims[d].axes);
  return accept(out);
}
constexpr Verdict quantile_of_whole(Question const& q) { return quantile(q, false); }
constexpr Verdict quantile_across(Question const& q) { return quantile(q, true); }
/// `top_k<I, K>` where the dim may be split into nested blocks: all ranks have the result.
constexpr Verdict top_k_across(Question q) {
  Verdict v = refuse_any(Code::I10_sort_unreduced, q.a().unreduced);
  if (v) v = shift(q);
  if (!v) return v;
  Spec whole = q.a();
  whole.dims[whole.find(q.along())].axes = {};
  q.operands = &whole;
  return resized(q);
}
/// `unique<I, U>` of sorted elements: the different ones, how often each is there, and how many
/// they are. The one dim may be split into nested blocks (`across`); then the first two results are
/// split alike.
constexpr Verdicts<3> unique(Question q, bool across) {
  auto const none = [](Verdict const& v) { return Verdicts<3>{v, v, v}; };
  Verdict v = refuse_any(Code::I10_sort_unreduced, q.a().unreduced);
  if (v) v = across ? shift(q) : unsplit(q, Code::D03_along_split);
  if (!v) return none(v);
  int const at = q.a().find(q.along());
  if (q.a().rank > 1)
    return none(refuse(Code::I13_unique_of_one_dim, q.a().dims[at == 0 ? 1 : 0].label));
  Spec whole = q.a();
  whole.dims[at].axes = {};
  whole.reduced = {};
  AxisList const axes = q.a().dims[at].axes;
  q.operands = &whole;
  v = resized(q);
  if (!v) return none(v);
  v.result.dims[at].axes = axes;
  whole.rank = 0;
  return {v, v, accept(whole)};
}
constexpr Verdicts<3> unique_of_whole(Question const& q) { return unique(q, false); }
constexpr Verdicts<3> unique_across(Question const& q) { return unique(q, true); }
/// A sort where the dim may be split into nested blocks: ranks exchange rows.
constexpr Verdict sorted_across(Question const& q) {
  if (Verdict v = refuse_any(Code::I10_sort_unreduced, q.a().unreduced); !v) return v;
  return shift(q);
}

}  // namespace shardtype::rules
