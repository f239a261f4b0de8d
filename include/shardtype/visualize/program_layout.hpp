#pragma once
/// Positions of the values of a plan in its picture.

#include <algorithm>
#include <limits>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::detail {

/// A row and a column for each step of a plan. Rows are above those of all readers. The plan is a
/// tree with its result at the bottom: a value that is read once is directly above its reader, the
/// deepest operand straight above it, others at its sides. No two values have the same position.
class ProgramLayout {
 public:
  explicit ProgramLayout(ProgramPlan const& plan) : plan_(plan) {
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

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int row(int step) const { return at(row_, step); }
  int column(int step) const { return at(column_, step); }
  /// The reader directly below a step; other readers are further away.
  int reader(int step) const { return at(reader_, step); }

 private:
  /// The columns that a subtree occupies in each row, from its root's row upwards.
  struct Outline {
    List<int> members;
    List<int> left, right;
  };

  static int& at(List<int>& list, int k) { return list[static_cast<std::size_t>(k)]; }
  static int at(List<int> const& list, int k) { return list[static_cast<std::size_t>(k)]; }

  Outline place(int step) {
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

  ProgramPlan const& plan_;
  int rows_ = 0;
  int columns_ = 0;
  List<int> row_, column_, reader_;
};

}  // namespace shardtype::detail
