#pragma once
/// The identity as right-hand sides of an inverse: a rank's own columns of it, so ordered that a
/// solve with a lower triangle skips their leading zeros.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <shardtype/linalg/kernels_panel.hpp>
#include <shardtype/linalg/types_cyclic_plan.hpp>

namespace shardtype::execute {

/// A rank's own columns of the identity whose rows the pivots have exchanged, in the order of the
/// rows of their ones.
class ExchangedIdentity {
 public:
  /// `own`: number of own columns; `memory`: planning::identity_indices numbers.
  ExchangedIdentity(planning::CyclicBlocks const& b, std::int64_t me, std::int64_t own,
                    std::int32_t const* pivots, std::int32_t* memory)
      : own_(own), row_(memory), exchanges_(memory + b.n) {
    std::int32_t* const column_at = exchanges_ + own;
    std::int32_t* const place_of = column_at + own;
    std::iota(row_, row_ + b.n, 0);
    std::iota(column_at, column_at + own, 0);
    std::iota(place_of, place_of + own, 0);
    linalg::kernels::exchange_rows(linalg::kernels::row_major(row_, b.n, 1), pivots, b.n);
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < b.n; ++i) {
      // until it is overwritten, row_ has the column of the one in row i
      std::int64_t const column = row_[i], k = column / b.block;
      if (b.owner(k) != me) continue;
      std::int32_t const from = place_of[b.local(k) + column % b.block];
      exchanges_[place] = from;
      std::swap(column_at[place], column_at[from]);
      place_of[column_at[from]] = from;
      row_[place++] = static_cast<std::int32_t>(i);
    }
  }

  /// The ones, where all of x is 0.
  template <class T>
  void set_ones(linalg::kernels::Matrix<T> const& x) const {
    for (std::int64_t j = 0; j < own_; ++j) linalg::kernels::at(x, row_[j], j) = T(1);
  }
  /// The columns of x back in the order of the matrix's.
  template <class T>
  void restore(linalg::kernels::Matrix<T> const& x) const {
    linalg::kernels::exchange_rows(x.transposed(), exchanges_, own_, true);
  }

 private:
  std::int64_t own_;
  std::int32_t* row_;        ///< of the one of each column, increasing
  std::int32_t* exchanges_;  ///< with which column each was exchanged
};

/// Tells how many of these columns, the first ones, have their one in the rows before an `end` that
/// increases, of x in which the others are not changed yet.
template <class T>
class LeadingColumns {
 public:
  explicit LeadingColumns(linalg::kernels::Matrix<T> const& x) : x_(x) {}

  std::int64_t before(std::int64_t end) {
    while (count_ < x_.cols && begins_before(end)) ++count_;
    begin_ = end;
    return count_;
  }

 private:
  bool begins_before(std::int64_t end) const {
    for (std::int64_t i = begin_; i < end; ++i)
      if (linalg::kernels::at(x_, i, count_) != T(0)) return true;
    return false;
  }

  linalg::kernels::Matrix<T> x_;
  std::int64_t begin_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace shardtype::execute
