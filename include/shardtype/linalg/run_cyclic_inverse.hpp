#pragma once
/// Runs what types_cyclic_inverse.hpp declares: solves in which the factors come by, and determinants.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/run_cyclic_stream.hpp>
#include <shardtype/linalg/types_cyclic_inverse.hpp>

namespace shardtype::execute {

/// Sends each panel of L (`lower`) or U to all ranks, the first block first if `forward`, else last: `apply(k, panel)` with
/// the rows of L from the diagonal of block k on, of U up to it. The next panel is under way meanwhile. `memory`:
/// planning::factor_slots panels.
template <class T, class Apply>
void factors_come_by(CyclicColumns<T const> const& a, bool forward, bool lower, T* memory,
                     Apply apply) {
  CyclicBlocks const& b = a.blocks;
  std::int64_t const count = b.count();
  PanelsInTurn<T> stream(a.comm, memory, planning::factor_panel(b));
  auto const in_turn = [&](std::int64_t turn) { return forward ? turn : count - 1 - turn; };
  auto const panel = [&](std::int64_t k, T* data) {
    return linalg::kernels::column_major(data, planning::cyclic_rounds::factor_rows(b, k, lower),
                                         b.width(k));
  };
  auto const start = [&](std::int64_t turn) {
    if (turn >= count) return;
    std::int64_t const k = in_turn(turn);
    std::int64_t const rows = planning::cyclic_rounds::factor_rows(b, k, lower);
    stream.start(turn, b.owner(k), rows * b.width(k), [&](T* data) {
      linalg::kernels::copy<T>(a.mine.block(lower ? b.begin(k) : 0, b.local(k), rows, b.width(k)),
                               panel(k, data));
    });
  };
  start(0);
  for (std::int64_t turn = 0; turn < count; ++turn) {
    start(turn + 1);
    apply(in_turn(turn), panel(in_turn(turn), stream.arrive(turn)));
  }
  stream.finish();
}

/// Solves with the factors in place of x, all rows of the rank's own right-hand sides; `Transposed`: with the transpose.
template <bool Transposed, class T>
struct SolveOwn {
  CyclicColumns<T const> const& factors;
  std::int32_t const* pivots;
  Matrix<T> const& x;

  /// `memory`: planning::factor_slots panels.
  void run(T* memory) const {
    if constexpr (Transposed) {
      factors_come_by(factors, true, false, memory, pull<false>());
      factors_come_by(factors, false, true, memory, pull<true>());
      linalg::kernels::exchange_rows(x, pivots, x.rows, true);
    } else {
      linalg::kernels::exchange_rows(x, pivots, x.rows);
      factors_come_by(factors, true, true, memory, push<true>());
      factors_come_by(factors, false, false, memory, push<false>());
    }
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
  /// L x = y or U x = y, in place of y.
  template <bool lower>
  auto push() const {
    return [this](std::int64_t k, Matrix<T const> const& panel) {
      Parts<lower> const p(factors.blocks.begin(k), panel, x);
      linalg::kernels::solve_triangle<T>(p.triangle, lower, lower, p.own);
      linalg::kernels::subtract_product<T>(p.rest, p.own, p.others);
    };
  }
  /// L^T x = y or U^T x = y.
  template <bool lower>
  auto pull() const {
    return [this](std::int64_t k, Matrix<T const> const& panel) {
      Parts<lower> const p(factors.blocks.begin(k), panel, x);
      linalg::kernels::subtract_product<T>(p.rest.transposed(), p.others, p.own);
      linalg::kernels::solve_triangle<T>(p.triangle.transposed(), !lower, lower, p.own);
    };
  }
};

/// The same, of a call with the factors and pivots of CyclicLu.
template <bool Transposed, class C, class A, class P, class T>
void solve_own(C const& run, A const& factors, P const& pivots, Matrix<T> const& x) {
  CyclicColumns<T const> const columns =
      run.columns_in(static_cast<T const*>(factors.buffer().data()), factors);
  Buffer const panels = run.take(planning::factor_slots * planning::factor_panel(run.blocks()));
  SolveOwn<Transposed, T>{columns, static_cast<std::int32_t const*>(pivots.buffer().data()), x}.run(
      C::writable(panels));
}

template <class I, class J, bool Transposed>
struct Run<op::CyclicLuSolveOwn<I, J, Transposed>>
    : Solved<CyclicRun, Run<op::CyclicLuSolveOwn<I, J, Transposed>>,
             op::CyclicLuSolveOwn<I, J, Transposed>, Transposed> {
  template <class C, class A, class T, class P, class B>
  static void solve_for(op::CyclicLuSolveOwn<I, J, Transposed> const&, C const& run, A const& a,
                        Matrix<T const> const& given, Matrix<T> const& made, P const& pivots,
                        B const&) {
    linalg::kernels::copy<T>(given, made);
    solve_own<Transposed>(run, a, pivots, made);
  }
};

template <class I, class J>
struct Run<op::CyclicInverse<I, J>> {
  template <class R, class A, class P>
  static typename R::result run(op::CyclicInverse<I, J> const& op,
                                std::source_location const& where, A const& a, P const& pivots) {
    using Out = typename R::result;
    using T = typename A::element;
    using C = CyclicRun<R, A>;
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), result_extents<R>(op, a, pivots));
    if (!a.mesh().here()) return out;
    C const run(a, where, "inv");
    // its columns lie as those of the matrix
    Matrix<T> const x = C::matrix_in(static_cast<T*>(out.buffer().data()), out);
    std::fill_n(static_cast<T*>(out.buffer().data()), out.local_size(), T(0));
    run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      for (std::int64_t i = 0; i < width; ++i) linalg::kernels::at(x, begin + i, local + i) = T(1);
    });
    solve_own<false>(run, a, pivots, x);
    return out;
  }
};

template <class I, class J, linalg::detail::Product what>
struct Run<op::CyclicLuProduct<I, J, what>> {
  template <class R, class A, class P>
  static typename R::result run(op::CyclicLuProduct<I, J, what> const& op,
                                std::source_location const& where, A const& a, P const& pivots) {
    using Out = typename R::result;
    using T = typename A::element;
    using linalg::detail::Product;
    namespace lk = linalg::kernels;
    Out out = shardtype::detail::uninitialized<Out>(a.mesh(), result_extents<R>(op, a, pivots));
    if (!a.mesh().here()) return out;
    CyclicRun<R, A> const run(a, where, "det");
    auto const* const row_of = static_cast<std::int32_t const*>(pivots.buffer().data());
    CyclicColumns<T const> const factors =
        run.columns_in(static_cast<T const*>(a.buffer().data()), a);
    Part mine;
    run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      for (std::int64_t i = 0; i < width; ++i) {
        T const d = lk::at(factors.mine, begin + i, local + i);
        auto const size = static_cast<double>(lk::modulus(d));
        if constexpr (what == Product::logarithm) {
          mine.scale += std::log(size);
        } else {
          T const f = what == Product::sign && d != T(0) ? T(d / lk::modulus(d)) : d;
          mine.multiply(static_cast<double>(lk::real_part(f)), imaginary(f));
          if (row_of[begin + i] != begin + i) mine.multiply(-1, 0);
        }
      }
    });
    // Each rank's in a place of its own, so that all multiply the same numbers in the same order.
    Comm& comm = run.comm();
    auto const ranks = static_cast<std::size_t>(comm.size());
    std::vector<double> given(3 * ranks), all(3 * ranks);
    auto const me = static_cast<std::size_t>(comm.rank());
    given[3 * me] = mine.real, given[3 * me + 1] = mine.imaginary, given[3 * me + 2] = mine.scale;
    comm.template all_reduce<double>(given.data(), all.data(), static_cast<std::int64_t>(3 * ranks),
                                     ReduceKind::sum);
    Part product;
    for (std::size_t k = 0; k < ranks; ++k) {
      product.scale += all[3 * k + 2];
      product.multiply(all[3 * k], all[3 * k + 1]);
    }
    using Result = typename Out::element;
    auto& result = *static_cast<Result*>(out.buffer().data());
    if constexpr (what == Product::logarithm) {
      result = static_cast<Result>(product.scale);
    } else {
      result = product.template value<Result>();
    }
    return out;
  }

 private:
  /// (real + i imaginary) 2^scale; of logarithms the sum is in `scale`.
  struct Part {
    double real = 1, imaginary = 0, scale = 0;
    void multiply(double x, double y) {
      double const re = real * x - imaginary * y;
      imaginary = imaginary * x + real * y;
      real = re;
      double const size = std::max(std::abs(real), std::abs(imaginary));
      if (size == 0 || !std::isfinite(size) || (size > 0x1p-200 && size < 0x1p200)) return;
      int const by = std::ilogb(size);
      real = std::ldexp(real, -by), imaginary = std::ldexp(imaginary, -by);
      scale += by;
    }
    template <class T>
    T value() const {
      int const by = static_cast<int>(std::clamp(scale, -1e6, 1e6));
      double const re = std::ldexp(real, by);
      if constexpr (linalg::kernels::is_complex<T>) {
        using R = linalg::kernels::real_t<T>;
        return T(static_cast<R>(re), static_cast<R>(std::ldexp(imaginary, by)));
      } else {
        return static_cast<T>(re);
      }
    }
  };
  template <class T>
  static double imaginary(T const& x) {
    if constexpr (linalg::kernels::is_complex<T>) {
      return static_cast<double>(x.imag());
    } else {
      return 0;
    }
  }
};

}  // namespace shardtype::execute
