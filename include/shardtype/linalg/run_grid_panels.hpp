#pragma once
/// Panels of a matrix over a grid of ranks: factorized by the ranks of a process column together,
/// then sent along the process rows.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <shardtype/linalg/run_grid_rows.hpp>
#include <shardtype/linalg/types_cyclic_plan.hpp>

namespace shardtype::execute {

/// The panels on their way along a process row. A slot has the triangle at the top of a panel,
/// which all ranks of a process column have, a tail of pivots and the failure, and the own rows
/// below the triangle. Two messages: triangle and tail, so that rows can be exchanged early, then
/// the rest.
template <class T>
class GridPanels {
 public:
  /// `memory`: planning::grid_slots slots. `sends_top`: whether triangle and pivots are sent, or
  /// only the failure.
  GridPanels(GridMatrix<T> const& a, bool sends_top, T* memory, std::int64_t room)
      : a_(a), sends_top_(sends_top), memory_(memory), room_(room) {}

  Matrix<T> top(std::int64_t k) const {
    return linalg::kernels::column_major(at(k), a_.width(k), a_.width(k));
  }
  /// The own rows of the blocks behind `k`.
  Matrix<T> below(std::int64_t k) const {
    std::int64_t const w = a_.width(k);
    return linalg::kernels::column_major(at(k) + w * w + tail(k), a_.mine.rows - a_.row(k + 1), w);
  }
  /// Memory of a slot that no panel is in.
  T* unused(int slot) const { return memory_ + slot * room_; }

  /// Waits until the slot of panel `k` is free to be written.
  void write(std::int64_t k) { sent_[slot(k)].finish(); }
  /// The triangle with a tail that says whether it failed, for the ranks of the process column.
  std::int64_t top_elements(std::int64_t k) const { return a_.width(k) * a_.width(k) + tail(k); }
  T* at(std::int64_t k) const { return memory_ + slot(k) * room_; }
  void say(std::int64_t k, std::int32_t const* pivots, std::int32_t failure) const {
    tail_of(k).write(pivots, failure);
  }
  std::int32_t failure(std::int64_t k) const { return tail_of(k).read(nullptr); }
  /// Sends panel `k`, of which everything is written, to the others of the process row.
  void send(std::int64_t k) {
    detail::Messages& sent = sent_[slot(k)];
    execute::send_to_others<T>(sent, a_.along, head(k), head_elements(k));
    Matrix<T> const rest = below(k);
    execute::send_to_others<T>(sent, a_.along, rest.data, rest.rows * rest.cols);
  }
  /// Posts the receives of panel `k`.
  void expect(std::int64_t k) {
    sent_[slot(k)].finish();
    int const root = static_cast<int>(a_.columns.owner(k));
    heads_[slot(k)].template receive<T>(a_.along.raw(), {root, head(k), head_elements(k)});
    Matrix<T> const rest = below(k);
    bodies_[slot(k)].template receive<T>(a_.along.raw(), {root, rest.data, rest.rows * rest.cols});
  }
  /// Waits for the first message of panel `k`, unless this rank has sent it. Its failure, packed;
  /// `pivots`: where they go.
  std::int32_t arrive(std::int64_t k, std::int32_t* pivots) {
    heads_[slot(k)].finish();
    return tail_of(k).read(pivots);
  }
  /// Waits for the second one.
  void arrive_below(std::int64_t k) { bodies_[slot(k)].finish(); }
  /// Lets MPI make progress.
  void poke() {
    if (a_.along.size() == 1) return;
    for (int s = 0; s < slots; ++s) {
      heads_[s].poke();
      bodies_[s].poke();
      sent_[s].poke();
    }
  }
  void finish() {
    for (detail::Messages& m : sent_) m.finish();
  }

 private:
  static constexpr int slots = static_cast<int>(planning::grid_slots);
  static int slot(std::int64_t k) { return static_cast<int>(k % slots); }
  std::int64_t tail(std::int64_t k) const {
    return planning::panel_tail(tail_of(k).width, sizeof(T));
  }
  PanelTail<T> tail_of(std::int64_t k) const {
    return {at(k) + a_.width(k) * a_.width(k), sends_top_ ? a_.width(k) : 0};
  }
  T* head(std::int64_t k) const { return sends_top_ ? at(k) : tail_of(k).data; }
  std::int64_t head_elements(std::int64_t k) const {
    return sends_top_ ? top_elements(k) : tail(k);
  }

  GridMatrix<T> const& a_;
  bool sends_top_;
  T* memory_;
  std::int64_t room_;
  detail::Messages sent_[slots];
  detail::Messages heads_[slots];
  detail::Messages bodies_[slots];
};

/// P A = L U of a panel by the ranks of its process column, by halves. For each column every rank
/// sends its candidate with its row to all others, so that all decide alike and have the triangle.
/// The first of equal candidates is the pivot.
template <class T>
class PivotSearch {
 public:
  using Real = linalg::kernels::real_t<T>;

  /// `below`: the own rows behind the triangle's; `wires`: what GridRoom says.
  PivotSearch(GridMatrix<T> const& a, std::int64_t k, Matrix<T> const& top, Matrix<T> const& below,
              T* wires)
      : a_(a),
        k_(k),
        top_(top),
        below_(below),
        wires_(wires),
        w_(top.cols),
        holds_(a.has_rows(k)) {}

  /// 0, or the failure, packed.
  std::int32_t factor(std::int32_t* pivots) {
    pivots_ = pivots;
    return halves(0, w_);
  }

 private:
  struct Candidate {
    double size = -1;       ///< negative: this rank has no rows left
    std::int64_t row = -1;  ///< from the panel's first one on
    std::int64_t nan = -1;  ///< the first column with a NaN; told with the first candidate
  };
  static constexpr auto head =
      static_cast<std::int64_t>((sizeof(Candidate) + sizeof(T) - 1) / sizeof(T));

  T* wire(std::int64_t g) const { return wires_ + g * (head + 2 * w_); }
  std::int64_t elements(std::int64_t g) const {
    return head + (a_.rows.owner(k_) == g ? 2 : 1) * w_;
  }
  Matrix<T> told(std::int64_t g, int row) const {
    return linalg::kernels::row_major(wire(g) + head + row * w_, 1, w_);
  }
  /// The row, from the panel's first one on, of an own row below the triangle.
  std::int64_t number(std::int64_t i) const {
    std::int64_t const at = a_.row(k_ + 1) + i;
    std::int64_t const b = a_.rows.block;
    return (at / b * a_.rows.ranks + a_.down.rank() - k_) * b + at % b;
  }
  std::int64_t place(std::int64_t row) const {
    std::int64_t const b = a_.rows.block;
    return a_.rows.local(k_ + row / b) + row % b - a_.row(k_ + 1);
  }
  std::int64_t nan() const {
    std::int64_t const here = linalg::kernels::first_nan<T>(below_, false);
    std::int64_t const above = holds_ ? linalg::kernels::first_nan<T>(top_, false) : -1;
    return here < 0 ? above : above < 0 ? here : std::min(here, above);
  }

  /// Own candidate of column `c`, and its row.
  void offer(std::int64_t c) {
    Candidate mine;
    auto const look = [&](Matrix<T> const& m, std::int64_t from, auto row_of) {
      std::int64_t most = -1;
      for (std::int64_t i = from; i < m.rows; ++i)
        if (auto const s = static_cast<double>(size_of(linalg::kernels::at(m, i, c)));
            mine.row < 0 || s > mine.size)
          mine.size = s, mine.row = row_of(i), most = i;
      if (most >= 0) execute::copy_row<T>(m, most, told(a_.down.rank(), 0), 0);
    };
    if (holds_) look(top_, c, [](std::int64_t i) { return i; });
    look(below_, 0, [&](std::int64_t i) { return number(i); });
    if (mine.row < 0) std::fill_n(told(a_.down.rank(), 0).data, w_, T(0));
    if (holds_) execute::copy_row<T>(top_, c, told(a_.down.rank(), 1), 0);
    if (c == 0) mine.nan = nan();
    std::memcpy(static_cast<void*>(wire(a_.down.rank())), &mine, sizeof mine);
  }
  void exchange() {
    Comm& comm = a_.down;
    int const me = comm.rank();
    for (int g = 0; g < comm.size(); ++g)
      if (g != me) received_.template receive<T>(comm.raw(), {g, wire(g), elements(g)});
    execute::send_to_others<T>(sent_, comm, wire(me), elements(me));
    received_.finish();
    sent_.finish();
  }
  std::int32_t column(std::int64_t c) {
    offer(c);
    exchange();
    int const me = a_.down.rank();
    Candidate best;
    std::int64_t from = 0;
    std::int64_t nan = -1;
    for (int g = 0; g < a_.down.size(); ++g) {
      Candidate x;
      std::memcpy(static_cast<void*>(&x), wire(g), sizeof x);
      if (x.nan >= 0) nan = nan < 0 ? x.nan : std::min(nan, x.nan);
      if (x.row < 0) continue;
      if (best.row < 0 || x.size > best.size || (x.size == best.size && x.row < best.row))
        best = x, from = g;
    }
    if (nan >= 0) return FactorFailure::pack(FactorFailure::not_a_number, nan);
    if (best.size == 0) return FactorFailure::pack(FactorFailure::no_pivot, c);
    pivots_[c] = static_cast<std::int32_t>(best.row);
    if (from == me && best.row != c) {
      bool const inside = best.row < w_;
      execute::copy_row<T>(told(a_.rows.owner(k_), 1), 0, inside ? top_ : below_,
                           inside ? best.row : place(best.row));
    }
    execute::copy_row<T>(told(from, 0), 0, top_, c);
    T const pivot = linalg::kernels::at(top_, c, c);
    auto const divide = [&](T& x) { x = linalg::kernels::divided(x, pivot); };
    if (holds_)
      for (std::int64_t i = c + 1; i < w_; ++i) divide(linalg::kernels::at(top_, i, c));
    for (std::int64_t i = 0; i < below_.rows; ++i) divide(linalg::kernels::at(below_, i, c));
    return 0;
  }
  std::int32_t halves(std::int64_t begin, std::int64_t n) {
    if (n == 1) return column(begin);
    std::int64_t const h = n / 2;
    std::int64_t const mid = begin + h;
    std::int64_t const rest = n - h;
    if (std::int32_t const failed = halves(begin, h); failed != 0) return failed;
    Matrix<T> const right = top_.block(begin, mid, h, rest);
    linalg::kernels::solve_triangle<T>(top_.block(begin, begin, h, h), true, true, right);
    if (holds_)
      linalg::kernels::subtract_product<T>(top_.block(mid, begin, w_ - mid, h), right,
                                           top_.block(mid, mid, w_ - mid, rest));
    linalg::kernels::subtract_product<T>(below_.block(0, begin, below_.rows, h), right,
                                         below_.block(0, mid, below_.rows, rest));
    return halves(mid, rest);
  }
  static Real size_of(T const& x) { return linalg::kernels::size_of(x); }

  GridMatrix<T> const& a_;
  std::int64_t k_;
  Matrix<T> top_;
  Matrix<T> below_;
  T* wires_;
  std::int64_t w_;
  bool holds_;  ///< whether this rank holds the rows of the triangle
  std::int32_t* pivots_ = nullptr;
  detail::Messages received_;
  detail::Messages sent_;
};

}  // namespace shardtype::execute
