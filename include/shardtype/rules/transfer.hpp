#pragma once
/// Transfers to another mesh: which are legal.

#include <initializer_list>

#include <shardtype/rules/verdict.hpp>

namespace shardtype::rules {

/// Whether a tensor of sharding `from` may become `to` on another mesh. Labels have common numbers,
/// axes do not: those of `from` belong to one mesh, those of `to` to the other. The code tells
/// which side is at fault: A02, B03 if `from` has a cyclic dim, R01 with a label of `from`, else
/// `to`.
constexpr Verdict transfer(Spec const& from, Spec const& to) {
  if (Verdict v = refuse_any(Code::A02_still_unreduced, from.unreduced); !v) return v;
  for (int d = 0; d < from.rank; ++d)
    if (to.find(from.dims[d].label) < 0)
      return refuse(Code::R01_indices_differ, from.dims[d].label);
  for (int d = 0; d < to.rank; ++d)
    if (from.find(to.dims[d].label) < 0) return refuse(Code::R01_indices_differ, to.dims[d].label);
  if (Verdict v = refuse_any(Code::R02_replicated_to_unreduced, to.unreduced); !v) return v;
  for (Spec const* s : {&from, &to})
    if (int const d = s->cyclic_dim(); d >= 0)
      return refuse(Code::B03_through_cyclic, s->dims[d].label, -1, s->dims[d].axes[0]);
  return accept(to);
}

}  // namespace shardtype::rules
