// What the proofs of cotangents share: all shardings over two axes, and the law that a transposed
// operation's result obeys.
#pragma once

#include <string>
#include <vector>

#include <shardtype/core/text.hpp>
#include <shardtype/types.hpp>

#include "harness/catch.hpp"

namespace cotangent_proof {

using namespace shardtype;
using namespace shardtype::planning;
using rules::Code;
using rules::Finish;
using rules::Labels;
using rules::Verdict;

inline constexpr int axes = 2;
enum Label { i, k, j, b };

// All shardings of dims with these labels. Of each axis: on a dim, replicated, unreduced or
// reduced; two axes on one dim in both orders; one axis on a dim also block-cyclically.
inline std::vector<Spec> all(std::vector<int> const& labels) {
  std::vector<Spec> out;
  int const dims = static_cast<int>(labels.size());
  int const states = dims + 3;
  for (int x = 0; x < states; ++x)
    for (int y = 0; y < states; ++y)
      for (int form = 0; form < 4; ++form) {
        bool const both = x == y && x < dims;
        bool const reversed = form == 1;
        int const cyclic = form == 2 ? x : form == 3 ? y : -1;
        if (reversed && !both) continue;
        if (cyclic >= 0 && (both || cyclic >= dims)) continue;
        if (form >= 2 && cyclic < 0) continue;
        Spec s;
        for (int const l : labels) s.add(l);
        int const state[] = {x, y};
        for (int n = 0; n < axes; ++n) {
          int const axis = reversed ? 1 - n : n;
          int const on = state[axis];
          if (on < dims) s.dims[on].axes.push(axis);
          if (on == dims + 1) s.unreduced.insert(axis);
          if (on == dims + 2) s.reduced.insert(axis);
        }
        if (cyclic >= 0) s.dims[cyclic].axes.cyclic = 2;
        out.push_back(s);
      }
  return out;
}

inline Labels labels(std::vector<int> const& of) {
  Labels out;
  for (int const l : of) out.push(l);
  return out;
}

inline std::string text(Spec const& s) {
  core::Names names;
  static char const* const label[] = {"I", "K", "J", "B"};
  static char const id[8]{};
  for (int l = 0; l < 4; ++l) names.add(core::LabelPart{&id[l], label[l]});
  names.add(core::AxisPart{&id[4], "X"});
  names.add(core::AxisPart{&id[5], "Y"});
  return core::spec_text(s, names);
}

// Whether a reshard sends nothing.
inline bool is_free(Spec const& from, Spec const& to) {
  if (!rules::reshard(from, to)) return false;
  for (int x = 0; x < axes; ++x) {
    bool const unreduced = from.unreduced.contains(x);
    if (unreduced != to.unreduced.contains(x)) return false;
    if (from.dim_of(x) >= 0 && to.dim_of(x) < 0) return false;
  }
  for (int d = 0; d < to.rank; ++d)
    if (!to.dims[d].axes.starts_with(rules::axes_on(from, to.dims[d].label))) return false;
  return true;
}

struct Tally {
  int legal = 0, free = 0, sums = 0, blocks = 0, refused = 0;
};

// `got`, the transposed operation's verdict, against the cotangent of `primal`. `what` is called
// for the text of a failure alone: there are millions of cases.
template <class What>
void finishes(Tally& t, Verdict const& got, Spec const& primal, What const& what) {
  Spec const want = rules::cotangent(primal);
  auto const expect = [&](bool holds, char const* law) {
    if (holds) return true;
    INFO(what() << ", cotangent of " << text(primal) << ", comes out as " << text(got.result));
    FAIL_CHECK(law);
    return false;
  };
  if (got.code == Code::X01_gradient_unreduced || got.code == Code::X02_gradient_in_blocks) {
    ++(got.code == Code::X01_gradient_unreduced ? t.sums : t.blocks);
    expect(primal.state(got.axis) == AxisState::replicated, "refused of a replicated operand");
    return;
  }
  if (!expect(bool(got), "the transposed operation is legal")) return;
  Finish const how = rules::finish(got.result, want, false);
  if (how.verdict) {
    ++t.free;
    Spec at = got.result;
    if (how.partial.size > 0) {
      expect(is_free(at, how.met), "free before to_partial");
      Verdict const zeros = rules::to_partial(how.met, how.partial);
      if (!expect(bool(zeros), "to_partial is legal")) return;
      at = zeros.result;
    }
    for (int x = 0; x < axes; ++x)  // blocks that vary are summands, a cast
      if (at.varying.contains(x) && want.unreduced.contains(x))
        at.varying.erase(x), at.unreduced.insert(x);
    expect(is_free(at, want), "free");
  } else {
    int const x = how.verdict.axis;
    if (!expect(x >= 0, "an axis is at fault")) return;
    expect(primal.state(x) == AxisState::replicated, "refused of a replicated operand");
    if (how.verdict.code == Code::X01_gradient_unreduced) {
      ++t.sums;
      expect(got.result.unreduced.contains(x) || got.result.varying.contains(x), "X01 of a sum");
    } else {
      ++t.blocks;
      expect(how.verdict.code == Code::X02_gradient_in_blocks, "X02");
      expect(got.result.dim_of(x) >= 0, "X02 of blocks");
    }
  }
}

}  // namespace cotangent_proof
