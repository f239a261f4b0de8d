#pragma once
/// Runs what types_cyclic_inverse.hpp declares: solves in which the factors come by, and
/// determinants.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/linalg/kernels_numbers.hpp>
#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_inverse.hpp>

namespace shardtype::execute {

/// Rows of a panel that a rank holds.
struct RowRange {
  std::int64_t first;
  std::int64_t count;
};
/// Runs loops::come_by: sends `rows(k)` of the columns of each block k to all ranks of `a`, the
/// first block first if `forward`, else last: `use(k, panel)`. The next panel is under way
/// meanwhile.
template <class T, class Rows, class Use>
class PanelsComeBy {
 public:
  /// `memory`: planning::factor_slots panels of all rows.
  PanelsComeBy(CyclicColumns<T const> const& a, bool forward, Rows rows, T* memory, Use use)
      : a_(a),
        forward_(forward),
        rows_(rows),
        use_(use),
        stream_(a.comm, {memory}, a.mine.rows * std::min(a.blocks.n, a.blocks.block)) {}

  void start(std::int64_t turn) {
    std::int64_t const k = block(turn);
    stream_.start(turn, a_.blocks.owner(k), elements(k), [&](T* data) {
      RowRange const own = rows_(k);
      linalg::kernels::copy<T>(
          a_.mine.block(own.first, a_.blocks.local(k), own.count, a_.blocks.width(k)),
          panel(k, data));
    });
  }
  void arrive(std::int64_t turn) {
    std::int64_t const k = block(turn);
    now_ = panel(k, stream_.arrive(turn, a_.blocks.owner(k), elements(k)));
  }
  void apply(std::int64_t turn) { use_(block(turn), now_); }
  void finish() { stream_.end(a_.blocks.count()); }

 private:
  std::int64_t block(std::int64_t turn) const {
    return forward_ ? turn : a_.blocks.count() - 1 - turn;
  }
  std::int64_t elements(std::int64_t k) const { return rows_(k).count * a_.blocks.width(k); }
  Matrix<T> panel(std::int64_t k, T* data) const {
    return linalg::kernels::column_major(data, rows_(k).count, a_.blocks.width(k));
  }

  CyclicColumns<T const> const& a_;
  bool forward_;
  Rows rows_;
  Use use_;
  PanelStream<T, planning::factor_slots> stream_;
  Matrix<T> now_{};
};
template <class T, class Rows, class Use>
void panels_come_by(CyclicColumns<T const> const& a, bool forward, Rows rows, T* memory, Use use) {
  PanelsComeBy<T, Rows, Use> on(a, forward, rows, memory, use);
  planning::loops::come_by(0, a.blocks.count(), on);
}

/// The same, of the rows of L (`lower`) from the diagonal on, or of U up to it: `apply(begin,
/// panel)` for the columns from `begin` on. One rank, which has them all, takes wider panels.
/// `memory`: planning::factor_panels elements.
template <class T, class Apply>
void factors_come_by(CyclicColumns<T const> const& a, bool forward, bool lower, T* memory,
                     Apply apply) {
  bool const alone = a.blocks.ranks == 1;
  constexpr std::int64_t wide = 256;
  CyclicBlocks const b{a.blocks.n, alone ? std::max(a.blocks.block, wide) : a.blocks.block,
                       a.blocks.ranks};
  auto const rows = [&](std::int64_t k) {
    return RowRange{lower ? b.begin(k) : 0, planning::factor_rows(b, k, lower)};
  };
  if (!alone)
    return execute::panels_come_by(
        a, forward, rows, memory,
        [&](std::int64_t k, Matrix<T> const& panel) { apply(b.begin(k), panel); });
  for (std::int64_t turn = 0; turn < b.count(); ++turn) {
    std::int64_t const k = forward ? turn : b.count() - 1 - turn;
    RowRange const r = rows(k);
    apply(b.begin(k), a.mine.block(r.first, b.begin(k), r.count, b.width(k)));
  }
}

/// Solves with the factors in place of x, all rows of the rank's own right-hand sides;
/// `Transposed`: with the transpose.
template <bool Transposed, class T>
struct SolveOwn {
  CyclicColumns<T const> const& factors;
  std::int32_t const* pivots;
  Matrix<T> const& x;

  /// `memory`: planning::factor_panels elements.
  void run(T* memory) const {
    if (!Transposed) linalg::kernels::exchange_rows(x, pivots, x.rows);
    passes(memory, [this](std::int64_t) { return x.cols; });
    if (Transposed) linalg::kernels::exchange_rows(x, pivots, x.rows, true);
  }
  /// Both passes, without exchanges of rows. In the first one, whose triangle is lower, only the
  /// first `columns(end)` of x have other numbers than 0 in the rows before `end`.
  template <class Columns>
  void passes(T* memory, Columns columns) const {
    auto const first = [&](std::int64_t begin, Matrix<T const> const& panel) {
      Matrix<T> const some = x.block(0, 0, x.rows, columns(begin + panel.cols));
      step<!Transposed>(begin, panel, some);
    };
    auto const second = [&](std::int64_t begin, Matrix<T const> const& panel) {
      step<Transposed>(begin, panel, x);
    };
    execute::factors_come_by(factors, true, !Transposed, memory, first);
    execute::factors_come_by(factors, false, Transposed, memory, second);
  }

 private:
  /// The triangle of a panel, and the rest of it with the rows of x that belong to it.
  template <bool lower>
  struct Parts {
    Matrix<T const> triangle, rest;
    Matrix<T> own, others;
    Parts(std::int64_t before, Matrix<T const> const& panel, Matrix<T> const& x) {
      std::int64_t const w = panel.cols;
      std::int64_t const behind = panel.rows - w;
      triangle = panel.block(lower ? 0 : before, 0, w, w);
      rest = panel.block(lower ? w : 0, 0, behind, w);
      own = x.block(before, 0, w, x.cols);
      others = x.block(lower ? before + w : 0, 0, behind, x.cols);
    }
  };
  /// A panel's part of t y = x, or of t^T y = x, t being L or U, in place of some columns of x.
  template <bool lower>
  static void step(std::int64_t begin, Matrix<T const> const& panel, Matrix<T> const& some) {
    Parts<lower> const p(begin, panel, some);
    if constexpr (Transposed) {
      linalg::kernels::subtract_product<T>(p.rest.transposed(), p.others, p.own);
      linalg::kernels::solve_triangle<T>(p.triangle.transposed(), !lower, lower, p.own);
    } else {
      linalg::kernels::solve_triangle<T>(p.triangle, lower, lower, p.own);
      linalg::kernels::subtract_product<T>(p.rest, p.own, p.others);
    }
  }
};

/// The same, of a call with the factors and pivots of CyclicLu.
template <bool Transposed, class C, class A, class P, class T>
void solve_own(C const& run, A const& factors, P const& pivots, Matrix<T> const& x) {
  CyclicColumns<T const> const columns =
      run.columns_in(static_cast<T const*>(factors.buffer().data()), factors);
  Buffer const panels = run.take(planning::factor_panels(run.blocks()));
  SolveOwn<Transposed, T>{columns, static_cast<std::int32_t const*>(pivots.buffer().data()), x}.run(
      C::writable(panels));
}

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolveOwn<I, J, Transposed>>
    : Solved<op::CyclicLuSolveOwn<I, J, Transposed>> {
  template <class C, class A, class T, class P, class B>
  static void solve_for(auto const&, C const& run, A const& a, Matrix<T const> const& given,
                        Matrix<T> const& made, P const& pivots, B const&) {
    linalg::kernels::copy<T>(given, made);
    execute::solve_own<Transposed>(run, a, pivots, made);
  }
};

/// The inverse, or its transpose, at `out`; NaN of a singular matrix.
template <bool Transposed>
struct InverseOfOne {
  template <class C, class Out, class A, class P>
  static void fill(C const& run, Out& out, A const& a, P const& pivots) {
    using T = typename A::element;
    auto const* const row_of = static_cast<std::int32_t const*>(pivots.buffer().data());
    if (shardtype::detail::is_singular(row_of, run.blocks().n)) {
      std::fill_n(static_cast<T*>(out.buffer().data()), out.local_size(),
                  linalg::kernels::not_a_number<T>());
      return;
    }
    CyclicColumns<T const> const factors =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    CyclicBlocks const& b = run.blocks();
    // its columns lie as those of the matrix
    Matrix<T> const x = C::matrix_in(static_cast<T*>(out.buffer().data()), out);
    Buffer const panels = run.take(planning::inverse_memory(b, x.cols, sizeof(T)));
    SolveOwn<Transposed, T> const solve{factors, row_of, x};
    std::fill_n(x.data, out.local_size(), T(0));
    if constexpr (Transposed) {
      run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
        for (std::int64_t i = 0; i < width; ++i)
          linalg::kernels::at(x, begin + i, local + i) = T(1);
      });
      solve.passes(C::writable(panels),
                   [&](std::int64_t end) { return b.below(ceil_div(end, b.block), factors.me()); });
      linalg::kernels::exchange_rows(x, row_of, x.rows, true);
    } else {
      // the indices are in the memory of the panels, before and after the passes
      auto const identity = [&] {
        return ExchangedIdentity(b, factors.me(), x.cols, row_of,
                                 static_cast<std::int32_t*>(panels.data()));
      };
      identity().set_ones(x);
      LeadingColumns<T> leading(x);
      solve.passes(C::writable(panels), [&](std::int64_t end) { return leading.before(end); });
      identity().restore(x);
    }
  }
};

/// L x = y (`lower`) or U x = y in place of x, whose rows are split as those of the factors and
/// whose columns are this process column's own. `memory`: planning::factor_slots panels of all own
/// rows, and a block of own columns.
template <bool lower, class T>
void solve_own_columns(GridMatrix<T const> const& m, Matrix<T> const& x, T* memory) {
  std::int64_t const room = m.mine.rows * std::min(m.rows.n, m.rows.block);
  T* const wire = memory + planning::factor_slots * room;
  detail::Messages sent;
  detail::Messages received;
  auto const rows = [&](std::int64_t k) {
    return lower ? RowRange{m.row(k), m.mine.rows - m.row(k)} : RowRange{0, m.row(k + 1)};
  };
  auto const apply = [&](std::int64_t k, Matrix<T> const& panel) {
    std::int64_t const w = panel.cols;
    bool const holds = m.has_rows(k);
    Matrix<T> const solved = linalg::kernels::row_major(wire, w, x.cols);
    sent.finish();
    if (holds) {
      Matrix<T> const own = x.block(m.row(k), 0, w, x.cols);
      linalg::kernels::solve_triangle<T>(panel.block(lower ? 0 : panel.rows - w, 0, w, w), lower,
                                         lower, own);
      linalg::kernels::copy<T>(own, solved);
      execute::send_to_others<T>(sent, m.down, wire, w * x.cols);
    } else {
      received.template receive<T>(m.down.raw(),
                                   {static_cast<int>(m.rows.owner(k)), wire, w * x.cols});
      received.finish();
    }
    std::int64_t const rest = panel.rows - (holds ? w : 0);
    linalg::kernels::subtract_product<T>(panel.block(lower && holds ? w : 0, 0, rest, w), solved,
                                         x.block(lower ? m.row(k + 1) : 0, 0, rest, x.cols));
  };
  execute::panels_come_by(CyclicColumns<T const>{m.along, m.columns, m.mine}, lower, rows, memory,
                          apply);
  sent.finish();
}

/// The identity whose rows the pivots have exchanged.
template <class C, class T>
void set_exchanged_identity(C const& run, std::int32_t const* pivots, GridMatrix<T const> const& m,
                            Matrix<T> const& x) {
  std::fill_n(x.data, x.rows * x.cols, T(0));
  Buffer const order = run.order(pivots);
  auto const* const from = static_cast<std::int32_t const*>(order.data());
  for (std::int64_t k = 0; k < m.rows.count(); ++k) {
    if (!m.has_rows(k)) continue;
    for (std::int64_t i = 0; i < m.width(k); ++i) {
      std::int64_t const j = from[m.rows.begin(k) + i];
      std::int64_t const block = j / m.columns.block;
      if (m.has_columns(block))
        linalg::kernels::at(x, m.row(k) + i, m.columns.local(block) + j % m.columns.block) = T(1);
    }
  }
}
/// The inverse over a grid, at `out`.
template <class C, class Out, class A>
void inverse_on_grid(C const& run, Out& out, A const& a, std::int32_t const* pivots) {
  using T = typename A::element;
  GridMatrix<T const> const m = run.grid_in(static_cast<T const*>(a.buffer().data()), a);
  // it lies as the matrix
  Matrix<T> const x = C::matrix_in(static_cast<T*>(out.buffer().data()), out);
  execute::set_exchanged_identity(run, pivots, m, x);
  std::int64_t const w = std::min(m.rows.n, m.rows.block);
  Buffer const memory = run.take(w * (planning::factor_slots * m.mine.rows + m.mine.cols));
  execute::solve_own_columns<true>(m, x, C::writable(memory));
  execute::solve_own_columns<false>(m, x, C::writable(memory));
}

template <class I, class J, bool Transposed>
struct Run<op::CyclicInverse<I, J, Transposed>> : Called<op::CyclicInverse<I, J, Transposed>> {
  template <class C, class Out, class A, class P>
  static void fill(auto const&, C const& run, Out& out, A const& a, P const& pivots) {
    if constexpr (C::grid) {
      execute::inverse_on_grid(run, out, a,
                               static_cast<std::int32_t const*>(pivots.buffer().data()));
    } else {
      InverseOfOne<Transposed>::fill(run, out, a, pivots);
    }
  }
};

template <class I, class J>
struct Run<op::CyclicCofactors<I, J>> : Called<op::CyclicCofactors<I, J>> {
  template <class C, class Out, class A, class P, class N>
  static void fill(auto const&, C const& run, Out& out, A const& a, P const& pivots,
                   N const& number) {
    using T = typename A::element;
    if (shardtype::detail::is_singular(static_cast<std::int32_t const*>(pivots.buffer().data()),
                                       run.blocks().n))
      return of_singular(run, out, a);
    InverseOfOne<true>::fill(run, out, a, pivots);
    T const det = *static_cast<T const*>(number.buffer().data());
    auto* const made = static_cast<T*>(out.buffer().data());
    for (std::int64_t k = 0; k < out.local_size(); ++k) made[k] = made[k] * det;
  }

 private:
  /// The passes of the inverse bring the columns of the matrix, which stand in place of the
  /// factors: each rank then has all of it, and finds its own cofactors.
  template <class C, class Out, class A>
  static void of_singular(C const& run, Out& out, A const& a) {
    namespace lk = linalg::kernels;
    using T = typename A::element;
    std::int64_t const n = run.blocks().n;
    CyclicColumns<T const> const columns =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    Buffer const panels = run.take(planning::factor_panels(run.blocks()));
    Buffer const all = run.take(2 * n * n);
    Matrix<T> const whole = lk::column_major(C::writable(all), n, n);
    for (bool const lower : {true, false})
      execute::factors_come_by(
          columns, lower, lower, C::writable(panels),
          [&](std::int64_t begin, Matrix<T const> const& panel) {
            lk::copy<T>(panel, whole.block(lower ? begin : 0, begin, panel.rows, panel.cols));
          });
    int const exponent = lk::scale_matrix(n, n, whole.data, n);
    Matrix<T> const found = lk::column_major(whole.data + n * n, n, n);
    lk::adjugate(n, whole.data, static_cast<int>(1 - n) * exponent, found.data);
    Matrix<T> const made = C::matrix_in(static_cast<T*>(out.buffer().data()), out);
    run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      lk::copy<T>(found.block(begin, 0, width, n).transposed(), made.block(0, local, n, width));
    });
  }
};

template <class I, class J, linalg::detail::Product what>
struct Run<op::CyclicLuProduct<I, J, what>> : Called<op::CyclicLuProduct<I, J, what>> {
  template <class C, class Out, class A, class P>
  static void fill(auto const&, C const& run, Out& out, A const& a, P const& pivots) {
    using T = typename A::element;
    using linalg::detail::Product;
    namespace lk = linalg::kernels;
    auto const* const row_of = static_cast<std::int32_t const*>(pivots.buffer().data());
    // of logarithms the sum is in the exponent
    lk::ScaledNumber mine;
    if (shardtype::detail::is_singular(row_of, run.blocks().n)) {
      mine.real = 0;
    } else {
      run.for_diagonal(a, [&](std::int64_t i, T const& d) {
        if constexpr (what == Product::logarithm) {
          mine.exponent += lk::log_modulus(d);
        } else {
          mine.multiply(what == Product::sign ? lk::direction(d) : d);
          if (row_of[i] != i) mine.multiply(-1, 0);
        }
      });
    }
    // Each rank's in a place of its own, so that all multiply the same numbers in the same order.
    Comm& comm = run.everyone();
    auto const ranks = static_cast<std::size_t>(comm.size());
    std::vector<double> given(3 * ranks), all(3 * ranks);
    auto const me = static_cast<std::size_t>(comm.rank());
    given[3 * me] = mine.real, given[3 * me + 1] = mine.imaginary,
              given[3 * me + 2] = mine.exponent;
    comm.template all_reduce<double>(given.data(), all.data(), static_cast<std::int64_t>(3 * ranks),
                                     ReduceKind::sum);
    lk::ScaledNumber product;
    for (std::size_t k = 0; k < ranks; ++k)
      product.multiply(lk::ScaledNumber{all[3 * k], all[3 * k + 1], all[3 * k + 2]});
    using Result = typename Out::element;
    auto& result = *static_cast<Result*>(out.buffer().data());
    if constexpr (what == Product::logarithm) {
      result = product.zero() ? -std::numeric_limits<Result>::infinity()
                              : static_cast<Result>(product.exponent);
    } else {
      result = product.template value<Result>();
    }
  }
};

}  // namespace shardtype::execute
