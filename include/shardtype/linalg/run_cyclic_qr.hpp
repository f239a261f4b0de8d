#pragma once
/// Runs QR of one matrix whose columns are block-cyclic over ranks.
/// Also what least squares say of columns that depend on each other.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/linalg/run_blocks.hpp>
#include <shardtype/linalg/run_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_qr.hpp>

namespace shardtype::linalg::detail {

/// Whether column j of a triangle with n columns, whose elements are `element(i)`, depends on those
/// before it, as far as can be told: what is left of it is roundings. Not where a number is NaN or
/// infinite.
template <class Element>
bool depends(std::int64_t n, std::int64_t j, Element element) {
  using R = kernels::real_t<std::remove_cvref_t<decltype(element(j))>>;
  R most(0);
  for (std::int64_t i = 0; i <= j; ++i) most = std::max(most, kernels::size_of(element(i)));
  R const bound = R(10) * std::numeric_limits<R>::epsilon() * static_cast<R>(n);
  return std::isfinite(most) && kernels::size_of(element(j)) <= bound * most;
}
template <class I, class J, class A>
std::string column_label() {
  using S = Scope<A, shardtype::detail::Bare<I, J>>;
  return std::string(S::names.label_name[S::template spec<1>.dims[1].label]);
}
/// Error E83, of column j. `matrix`: which one of a stack, or "".
[[noreturn]] inline void refuse_dependent(std::string const& label, std::int64_t j,
                                          std::string const& matrix, FailedOn where) {
  throw Error(
      "E83",
      "column " + std::to_string(j) + " of " + label + matrix +
          " is zero or depends on those before it, so lstsq has no unique solution; leave it out, "
          "or take the solution of least norm, of stacks of matrices: "
          "lstsq<I, J>(a, b, {.rcond = 1e-10})",
      where);
}

}  // namespace shardtype::linalg::detail

namespace shardtype::execute {

/// Result of `qr` of one matrix over many ranks.
template <class Q, class R>
struct CyclicQrParts {
  Q q;
  R r;
};

#ifdef SHARDTYPE_HAVE_LAPACK

/// The reflectors of a matrix, panel after panel: Q_k = I - V T V^H, of which q is the product
/// (Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder
/// transformations", 1989).
template <class T>
class CyclicReflectors {
 public:
  /// `slots`: QrPanels::slots of them; `products`: room for two products with the most columns that
  /// a panel is applied to; `triangles`: room for those of the own columns of q, or null if q is
  /// not made.
  CyclicReflectors(Comm& comm, planning::QrPanels const& panels, PanelSlots<T> const& slots,
                   T* products, T* triangles)
      : comm_(comm), panels_(panels), slots_(slots), products_(products), triangles_(triangles) {}

  /// R and below it V in place of `a`, this rank's columns. The next panel is factorized before the
  /// rest of an update. `right`: right-hand sides b, of which q^H b comes about in place, or none.
  void factor(Matrix<T> const& a, Matrix<T> const& right = {}) {
    CyclicBlocks const& b = panels_.columns;
    std::int64_t const count = panels_.count();
    Stream stream(comm_, slots_, panels_.room());
    stream.begin();
    auto const poke = [&] { stream.poke(); };
    auto const start = [&](std::int64_t k) {
      stream.start(k, b.owner(k), panels_.elements(k), [&](T* data) {
        Panel const p = panel(k, data);
        Matrix<T> const own = a.block(b.begin(k), b.local(k), p.v.rows, p.v.cols);
        linalg::kernels::copy<T>(own, p.v);
        linalg::kernels::geqrt3(p.v.rows, p.v.cols, p.v.data, p.v.rows, p.t.data, p.t.rows);
        linalg::kernels::copy<T>(p.v, own);
        complete(p);
        if (triangles_ != nullptr) std::copy_n(p.t.data, p.t.rows * p.t.cols, triangle(k));
      });
    };
    if (count > 0) start(0);
    for (std::int64_t k = 0; k < count; ++k) {
      Panel const p = panel(k, stream.arrive(k, b.owner(k), panels_.elements(k)));
      // behind the last panel, in its block, are columns where the matrix has fewer rows
      std::int64_t first =
          b.owner(k) == comm_.rank() ? b.local(k) + p.v.cols : b.below(k + 1, me());
      auto const update = [&](std::int64_t columns) {
        apply(p, true, a.block(b.begin(k), first, p.v.rows, columns), poke);
        first += columns;
      };
      if (k + 1 < count) {
        if (b.owner(k + 1) == comm_.rank()) update(panels_.width(k + 1));
        start(k + 1);
      }
      update(a.cols - first);
      apply(p, true, right.block(b.begin(k), 0, p.v.rows, right.cols), poke);
      stream.release(k);
    }
    stream.end(count);
  }

  /// The own columns of q, from the reflectors in `a`, which may be in the same memory.
  void make_q(Matrix<T> const& a, Matrix<T> const& q) {
    CyclicBlocks const b = panels_.of_q();
    std::int64_t const count = panels_.count();
    Stream stream(comm_, slots_, panels_.room());
    stream.begin();
    auto const poke = [&] { stream.poke(); };
    auto const start = [&](std::int64_t turn) {
      std::int64_t const k = count - 1 - turn;
      if (k < 0) return;
      stream.start(turn, b.owner(k), panels_.elements(k), [&](T* data) {
        Panel const p = panel(k, data);
        linalg::kernels::copy<T>(a.block(b.begin(k), b.local(k), p.v.rows, p.v.cols), p.v);
        std::copy_n(triangle(k), p.t.rows * p.t.cols, p.t.data);
        complete(p);
      });
    };
    start(0);
    for (std::int64_t turn = 0; turn < count; ++turn) {
      start(turn + 1);
      std::int64_t const k = count - 1 - turn;
      Panel const p = panel(k, stream.arrive(turn, b.owner(k), panels_.elements(k)));
      if (b.owner(k) == comm_.rank()) {
        Matrix<T> const own = q.block(0, b.local(k), q.rows, b.width(k));
        for (std::int64_t i = 0; i < own.rows; ++i)
          for (std::int64_t j = 0; j < own.cols; ++j)
            linalg::kernels::at(own, i, j) = T(i == b.begin(k) + j ? 1 : 0);
      }
      std::int64_t const first = b.below(k, me());
      apply(p, false, q.block(b.begin(k), first, p.v.rows, q.cols - first), poke);
      stream.release(turn);
    }
    stream.end(count);
  }

 private:
  using Stream = PanelStream<T, planning::QrPanels::slots>;

  /// The reflectors, one column each, and their triangle.
  struct Panel {
    Matrix<T> v;
    Matrix<T> t;
  };

  std::int64_t me() const { return comm_.rank(); }
  Panel panel(std::int64_t k, T* data) const {
    std::int64_t const w = panels_.width(k);
    return {linalg::kernels::column_major(data, panels_.height(k), w),
            linalg::kernels::column_major(data + panels_.height(k) * w, w, w)};
  }
  /// Where the triangle of an own panel is kept.
  T* triangle(std::int64_t k) const {
    return triangles_ + panels_.columns.local(k) * std::min(panels_.least(), panels_.columns.block);
  }
  /// Ones and zeros, where R is in the factors, and zeros below T.
  static void complete(Panel const& p) {
    for (std::int64_t j = 0; j < p.v.cols; ++j) {
      for (std::int64_t i = 0; i < j; ++i) linalg::kernels::at(p.v, i, j) = T(0);
      linalg::kernels::at(p.v, j, j) = T(1);
      for (std::int64_t i = j + 1; i < p.t.rows; ++i) linalg::kernels::at(p.t, i, j) = T(0);
    }
  }
  /// c = Q_k c, or Q_k^H c if `adjoint`.
  template <class Poke>
  void apply(Panel const& p, bool adjoint, Matrix<T> const& c, Poke poke) const {
    namespace lk = linalg::kernels;
    if (lk::empty(c)) return;
    std::int64_t const w = p.v.cols;
    auto const zeros = [&](T* data) {
      std::fill_n(data, w * c.cols, T(0));
      return c.col_stride == 1 ? lk::row_major(data, w, c.cols) : lk::column_major(data, w, c.cols);
    };
    Matrix<T> const sums = zeros(products_);
    Matrix<T> const turned = zeros(products_ + w * c.cols);
    lk::conjugate_all(p.v);
    constexpr std::int64_t piece = 1024;
    for (std::int64_t row = 0; row < c.rows; row += piece) {
      std::int64_t const rows = std::min(piece, c.rows - row);
      poke();
      lk::subtract_product<T>(p.v.block(row, 0, rows, w).transposed(),
                              c.block(row, 0, rows, c.cols), sums);
    }
    lk::conjugate_all(p.v);
    if (adjoint) {
      lk::conjugate_all(p.t);
      lk::subtract_product<T>(p.t.transposed(), sums, turned);
      lk::conjugate_all(p.t);
    } else {
      lk::subtract_product<T>(p.t, sums, turned);
    }
    execute::subtract_in_pieces<T>(p.v, turned, c, poke);
  }

  Comm& comm_;
  planning::QrPanels panels_;
  PanelSlots<T> slots_;
  T* products_;
  T* triangles_;
};

/// Where panels lie: each rank conjugates complex ones in place, so that it has its own.
template <class T, class C>
PanelSlots<T> reflector_slots(C const& run, Buffer& held, planning::QrPanels const& panels) {
  if constexpr (linalg::kernels::is_complex<T>) {
    return run.template own_slots<T>(held, panels.in_slots());
  } else {
    return run.template panel_slots<T>(held, panels.in_slots(), Groups::alike);
  }
}
/// R, the upper triangle of the factors, of this rank's columns.
template <class T, class C>
void copy_triangle(C const& run, Matrix<T> const& factors, Matrix<T> const& r) {
  run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
    linalg::kernels::copy<T>(factors.block(0, local, r.rows, width),
                             r.block(0, local, r.rows, width));
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t i = begin + j + 1; i < r.rows; ++i)
        linalg::kernels::at(r, i, local + j) = T(0);
  });
}

#endif

template <class I, class J, class K>
struct Run<op::CyclicQr<I, J, K>> {
  template <class R, class A>
  static auto run(op::CyclicQr<I, J, K> const& op, std::source_location const& where, A const& a) {
    using Out = typename R::result;
    using Second = checking::Resolve<op::CyclicQr<I, J, K, true>, A>;
    using Triangle = typename Second::result;
    linalg::detail::need_lapack("qr");
    CyclicQrParts<Out, Triangle> out{
        shardtype::detail::uninitialized<Out>(a.mesh(), execute::result_extents<R>(op, a)),
        shardtype::detail::uninitialized<Triangle>(
            a.mesh(), execute::result_extents<Second>(op::CyclicQr<I, J, K, true>{}, a))};
    if (!a.mesh().here()) return out;
#ifdef SHARDTYPE_HAVE_LAPACK
    using T = typename A::element;
    using C = CyclicRun<R, A>;
    C const run(a, where, "qr");
    auto* const in_q = static_cast<T*>(out.q.buffer().data());
    Matrix<T> const q = C::template right_in<C::matrix.find(C::rows)>(in_q, out.q);
    planning::QrPanels const panels{q.rows, run.blocks()};
    std::int64_t const own = C::matrix_in(in_q, a).cols;
    std::int64_t const rest = panels.scratch(own, q.cols) - panels.in_slots();
    Buffer const memory = run.take(rest);
    // q has the form of the factors, unless the matrix has more columns than rows
    T* const scratch = C::writable(memory);
    bool const wide = panels.columns.n > panels.rows;
    T* const factors = wide ? scratch + (rest - panels.rows * own) : in_q;
    run.copy_block(a, factors);
    Buffer held;
    PanelSlots<T> const slots = execute::reflector_slots<T>(run, held, panels);
    T* const triangles = scratch + 2 * std::min(panels.least(), panels.columns.block) * own;
    CyclicReflectors<T> reflectors(run.comm(), panels, slots, scratch, triangles);
    Matrix<T> const f = C::matrix_in(factors, a);
    reflectors.factor(f);
    execute::copy_triangle<T>(run, f, C::matrix_in(static_cast<T*>(out.r.buffer().data()), out.r));
    reflectors.make_q(f, q);
#endif
    return out;
  }
};

template <class I, class J, class K>
struct Run<op::CyclicQrWithRight<I, J, K>> {
  template <class R, class A, class B>
  static typename R::results run(op::CyclicQrWithRight<I, J, K> const& op,
                                 std::source_location const& where, A const& a, B const& b) {
    linalg::detail::need_lapack("lstsq");
    typename R::results out = execute::results_to_write<R>(op, a, b);
    if (!a.mesh().here()) return out;
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    using C = CyclicRun<R, A>;
    C const run(a, where, "lstsq");
    constexpr int along = C::last.find(C::rows);
    auto& [turned, r] = out;
    Matrix<T> const made =
        C::template right_in<along>(static_cast<T*>(turned.buffer().data()), turned);
    Matrix<T const> const given =
        C::template right_in<along>(static_cast<T const*>(b.buffer().data()), b);
    Matrix<T> const r_in = C::matrix_in(static_cast<T*>(r.buffer().data()), r);
    planning::QrPanels const panels{given.rows, run.blocks()};
    std::int64_t const own = r_in.cols, right = made.cols;
    if (panels.count() == 0) return out;
    Buffer held;
    PanelSlots<T> const slots = execute::reflector_slots<T>(run, held, panels);
    Buffer const memory = run.take(panels.scratch_with_right(own, right) - panels.in_slots());
    T* const factors = C::writable(memory);
    run.copy_block(a, factors);
    Matrix<T> const y = lk::column_major(factors + panels.rows * own, panels.rows, right);
    lk::copy<T>(given.block(0, first_of<along>(b, turned), panels.rows, right), y);
    Matrix<T> const f = C::matrix_in(factors, a);
    CyclicReflectors<T>(run.comm(), panels, slots, y.data + panels.rows * right, nullptr)
        .factor(f, y);
    execute::copy_triangle<T>(run, f, r_in);
    lk::copy<T>(y.block(0, 0, made.rows, right), made);
#endif
    return out;
  }

 private:
  /// Where the columns of the result begin among those of the right-hand sides.
  template <int along, class B, class Turned>
  static std::int64_t first_of(B const& b, Turned const& turned) {
    if constexpr (B::rank == 1) {
      return 0;
    } else {
      return turned.rows()[1 - along].begin - b.rows()[1 - along].begin;
    }
  }
};

template <class I, class J, class K>
struct Run<op::CyclicFullRank<I, J, K>> : Called<op::CyclicFullRank<I, J, K>> {
  template <class C, class Out, class A, class Triangle>
  static void fill(auto const&, C const& run, Out& out, A const&, Triangle const& triangle) {
    using T = typename A::element;
    std::int64_t const n = run.blocks().n;
    Matrix<T const> const r = C::template right_in < C::last.find(C::columns) == 0
                                  ? 1
                                  : 0 > (static_cast<T const*>(triangle.buffer().data()), triangle);
    auto mine = static_cast<double>(n);
    run.for_own_blocks([&](std::int64_t begin, std::int64_t local, std::int64_t width) {
      for (std::int64_t j = 0; j < width; ++j)
        if (linalg::detail::depends(
                n, begin + j, [&](std::int64_t i) { return linalg::kernels::at(r, i, local + j); }))
          mine = std::min(mine, static_cast<double>(begin + j));
    });
    double first = mine;
    run.everyone().template all_reduce<double>(&mine, &first, 1, ReduceKind::min);
    if (first < static_cast<double>(n))
      linalg::detail::refuse_dependent(linalg::detail::column_label<I, J, A>(),
                                       static_cast<std::int64_t>(first), "", FailedOn::every_rank);
    *static_cast<std::int32_t*>(out.buffer().data()) = 0;
  }
};

}  // namespace shardtype::execute
