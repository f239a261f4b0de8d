#pragma once
/// Positions of the values of a plan in its picture.

#include <algorithm>
#include <limits>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/plan/program_plan.hpp>

namespace shardtype::detail {

/// A row and a column for each step of a plan. Rows are above those of all readers. The plan is a
/// tree with its result at the bottom: a value that is read once is directly above its reader, the
/// deepest operand straight above it, others at its sides. No two values have the same position.
class ProgramLayout {
 public:
  explicit ProgramLayout(ProgramPlan const& plan);

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

  Outline place(int step);

  ProgramPlan const& plan_;
  int rows_ = 0;
  int columns_ = 0;
  List<int> row_, column_, reader_;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/program_layout.ipp>
#endif
