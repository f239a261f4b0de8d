#pragma once
/// Definitions of program_layout.hpp.

#include <shardtype/visualize/program_layout.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE ProgramLayout::ProgramLayout(ProgramPlan const& plan) : plan_(plan) {
  if (plan.size == 0) return;
  auto const n = static_cast<std::size_t>(plan.size);
  row_.resize(n, 0);
  column_.resize(n, 0);
  reader_.resize(n, -1);
  for (int k = plan.size - 1; k >= 0; --k)
    for (int m = 0; m < plan.steps[k].inputs; ++m) {
      int const from = plan.steps[k].input[m];
      if (at(row_, k) + 1 <= at(row_, from) && at(reader_, from) >= 0) continue;
      at(row_, from) = at(row_, k) + 1;  // counted from the bottom
      at(reader_, from) = k;
    }
  for (int k = 0; k < plan.size; ++k) rows_ = std::max(rows_, at(row_, k) + 1);
  for (int& row : row_) row = rows_ - 1 - row;
  static_cast<void>(place(plan.size - 1));
  int const left = *std::min_element(column_.begin(), column_.end());
  for (int& column : column_) column -= left;
  columns_ = *std::max_element(column_.begin(), column_.end()) + 1;
}

SHARDTYPE_INLINE ProgramLayout::Outline ProgramLayout::place(int step) {
  Outline all;
  std::size_t deepest = 0;
  int column = 0;
  ProgramStep const& s = plan_.steps[step];
  for (int m = 0; m < s.inputs; ++m) {
    int const from = s.input[m];
    bool seen = at(reader_, from) != step;
    for (int k = 0; k < m; ++k) seen = seen || s.input[k] == from;
    if (seen) continue;
    Outline part = place(from);
    int shift = all.members.empty() ? 0 : std::numeric_limits<int>::min();
    for (std::size_t r = 0; r < std::min(part.left.size(), all.right.size()); ++r)
      shift = std::max(shift, all.right[r] + 1 - part.left[r]);
    for (int k : part.members) {
      at(column_, k) += shift;
      all.members.push_back(k);
    }
    for (std::size_t r = 0; r < part.left.size(); ++r) {
      if (r == all.left.size()) {
        all.left.push_back(part.left[r] + shift);
        all.right.push_back(part.right[r] + shift);
      } else {
        all.left[r] = std::min(all.left[r], part.left[r] + shift);
        all.right[r] = std::max(all.right[r], part.right[r] + shift);
      }
    }
    if (part.left.size() > deepest) {
      deepest = part.left.size();
      column = at(column_, from);
    }
  }
  Outline out;
  at(column_, step) = column;
  out.members = all.members;
  out.members.push_back(step);
  out.left.push_back(column);
  out.right.push_back(column);
  for (std::size_t r = 0; r < all.left.size(); ++r) {
    out.left.push_back(all.left[r]);
    out.right.push_back(all.right[r]);
  }
  return out;
}

}  // namespace shardtype::detail
