#pragma once
/// The local product of two labelled blocks: labels group into batch, M, N and K, contiguous groups
/// go straight to GEMM, others are brought together by one permute first.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/rules/contraction.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::kernels {

/// A block with a label on each dim.
template <class T>
struct Labelled {
  T const* data = nullptr;
  Layout layout{};
  std::int8_t label[max_dims]{};
  Buffer keep{};  ///< memory that must outlive the use

  /// Which dim has this label, or -1.
  int find(int l) const {
    for (int d = 0; d < layout.rank; ++d)
      if (label[d] == l) return d;
    return -1;
  }
};

namespace detail {

/// Several dims seen as one.
struct Folded {
  bool possible = true;
  std::int64_t extent = 1;
  std::int64_t stride = 0;  ///< 0 when the extent is 1
};

/// The dims with these labels, first slowest, as one dim of a single stride, where they lie so.
template <class T>
Folded fold(Labelled<T> const& x, Labels const& labels) {
  Folded out;
  for (int k = labels.size - 1; k >= 0; --k) {
    int const d = x.find(labels.at[k]);
    std::int64_t const n = x.layout.extent[d];
    if (n == 1) continue;
    if (out.extent == 1) {
      out.stride = x.layout.stride[d];
    } else if (x.layout.stride[d] != out.stride * out.extent) {
      out.possible = false;
    }
    out.extent *= n;
  }
  return out;
}

constexpr Labels joined(Labels a, Labels const& b) {
  for (int k = 0; k < b.size; ++k) a.push(b.at[k]);
  return a;
}

}  // namespace detail

/// What a long computation calls now and then, so that communication goes on meanwhile.
struct Between {
  void (*call)(void*) = nullptr;
  void* with = nullptr;
};

/// Runs local products with scratch memory from one pool. With a Between, a long product is cut into
/// pieces of some milliseconds, and it is called after each.
template <class T, class Exec>
class Product {
  using Space = typename Exec::memory_space;

 public:
  Product(Exec const& exec, Pool& pool, Between between = {})
      : exec_(exec), pool_(pool), between_(between) {}

  /// Whether `a`, `b` and `c` go to one gemm as they lie: no label is in one of them alone, and each group
  /// of labels is one dim to it.
  static bool direct(Labelled<T> const& a, Labelled<T> const& b, Labelled<T> const& c) {
    Labels out;
    for (int d = 0; d < c.layout.rank; ++d) {
      out.push(c.label[d]);
      if (a.find(c.label[d]) < 0 && b.find(c.label[d]) < 0) return false;
    }
    for (Labelled<T> const* x : {&a, &b})
      for (int d = 0; d < x->layout.rank; ++d)
        if (!out.contains(x->label[d]) && (x == &a ? b : a).find(x->label[d]) < 0) return false;
    Roles const r(a, b, out);
    return folds(a, r.batch, r.rows, r.inner) && folds(b, r.batch, r.inner, r.cols) &&
           folds(c, r.batch, r.rows, r.cols);
  }
  /// The product of such, written to `data`, which lies as `c` says, or added to what is there.
  void write(Labelled<T> const& a, Labelled<T> const& b, Labelled<T> const& c, T* data, bool add) {
    Labels out;
    for (int d = 0; d < c.layout.rank; ++d) out.push(c.label[d]);
    Roles const r(a, b, out);
    if (c.layout.elements() == 0) return;
    multiply(detail::fold(c, r.batch).extent, view(a, r.batch, r.rows, r.inner),
             view(b, r.batch, r.inner, r.cols), matrix(c, r.batch, r.rows, r.cols, data), add);
  }

  /// `c`, without gaps and with dims in the order of `out`, takes the product of `a` and `b`:
  /// labels of both that are not in `out` are contracted, labels of one summed.
  void operator()(Labelled<T> a, Labelled<T> b, Labels const& out, T* c) {
    a = summed(a, b, out);
    b = summed(b, a, out);
    auto const [batch, rows, cols, inner] = Roles(a, b, out);
    Labelled<T> result = target(a, b, out, c);
    bool const is_direct = folds(result, batch, rows, cols);
    Labels const order = detail::joined(detail::joined(batch, rows), cols);
    Buffer scratch;
    T* data = c;
    if (!is_direct) {
      result = target(a, b, order, nullptr);
      scratch = take(result.layout.elements());
      data = static_cast<T*>(scratch.data());
    }
    if (!folds(a, batch, rows, inner))
      a = permuted(a, detail::joined(detail::joined(batch, rows), inner));
    if (!folds(b, batch, inner, cols))
      b = permuted(b, detail::joined(detail::joined(batch, inner), cols));
    Matrix<T> const mc = matrix(result, batch, rows, cols, data);
    if (!gemm_direct<Exec, T>(view(a, batch, rows, inner), view(b, batch, inner, cols), mc)) {
      a = permuted(a, detail::joined(detail::joined(batch, rows), inner));
      b = permuted(b, detail::joined(detail::joined(batch, inner), cols));
    }
    multiply(detail::fold(result, batch).extent, view(a, batch, rows, inner),
             view(b, batch, inner, cols), mc, false);
    if (!is_direct) {
      Labelled<T> from = result;
      from.data = data;
      Labelled<T> const wanted = view_in_order(from, out);
      copy_packed(exec_, wanted.data, wanted.layout, c);
    }
  }

 private:
  /// What each label is to the product.
  struct Roles {
    Labels batch{}, rows{}, cols{}, inner{};
    Roles(Labelled<T> const& a, Labelled<T> const& b, Labels const& out)
        : inner(inner_labels(a, b, out)) {
      for (int k = 0; k < out.size; ++k) {
        int const l = out.at[k];
        bool const in_a = a.find(l) >= 0;
        (in_a && b.find(l) >= 0 ? batch : in_a ? rows : cols).push(l);
      }
      if (folds(a, batch, rows, inner) && folds(b, batch, inner, cols)) return;
      // the other operand's order of the contracted labels may spare a permute
      Labels const other = inner_labels(b, a, out);
      if (folds(a, batch, rows, other) && folds(b, batch, other, cols)) inner = other;
    }
  };

  Buffer take(std::int64_t elements) {
    return pool_.template take<Space>(static_cast<std::size_t>(elements) * sizeof(T));
  }

  void multiply(std::int64_t batch, Matrix<T const> const& a, Matrix<T const> const& b,
                Matrix<T> const& c, bool add) {
    std::size_t const wanted = gemm_workspace_bytes<Exec, T>(exec_, batch, a, b, c);
    Buffer const work = wanted == 0 ? Buffer{} : pool_.template take<Kokkos::HostSpace>(wanted);
    constexpr double piece = 2.5e8;  // flops; a few milliseconds of one core
    double const flops = 2.0 * static_cast<double>(batch) * static_cast<double>(c.rows) *
                         static_cast<double>(c.cols) * static_cast<double>(a.cols);
    if (between_.call == nullptr || flops < 2 * piece) {
      gemm<Exec, T>(exec_, batch, a, b, c, add, work.data(), work.bytes());
      return;
    }
    auto const pieces = static_cast<std::int64_t>(std::min(flops / piece, 1e6));
    for (std::int64_t t = 0; t < batch; ++t) {
      // few rows at a time are slow
      std::int64_t const cuts = std::clamp<std::int64_t>(pieces / batch, 1, (c.rows + 63) / 64);
      std::int64_t const rows = (c.rows + cuts - 1) / cuts;
      for (std::int64_t i = 0; i < c.rows; i += rows) {
        std::int64_t const n = std::min(rows, c.rows - i);
        gemm<Exec, T>(exec_, 1, a.member(t).block(i, 0, n, a.cols), b.member(t),
                      c.member(t).block(i, 0, n, c.cols), add, work.data(), work.bytes());
        exec_.fence();
        between_.call(between_.with);
      }
    }
  }

  /// The labels that both have and `out` lacks, in the order of `first`.
  static Labels inner_labels(Labelled<T> const& first, Labelled<T> const& second,
                             Labels const& out) {
    Labels inner;
    for (int d = 0; d < first.layout.rank; ++d)
      if (second.find(first.label[d]) >= 0 && !out.contains(first.label[d]))
        inner.push(first.label[d]);
    return inner;
  }

  static bool folds(Labelled<T> const& x, Labels const& batch, Labels const& rows,
                    Labels const& cols) {
    return detail::fold(x, batch).possible && detail::fold(x, rows).possible &&
           detail::fold(x, cols).possible;
  }

  template <class U>
  static Matrix<U> matrix(Labelled<T> const& x, Labels const& batch, Labels const& rows,
                          Labels const& cols, U* data) {
    detail::Folded const t = detail::fold(x, batch);
    detail::Folded const r = detail::fold(x, rows);
    detail::Folded const c = detail::fold(x, cols);
    // a single row or column may have any stride: choose one that BLAS takes
    std::int64_t row_stride = r.stride;
    std::int64_t col_stride = c.stride;
    if (r.extent <= 1) row_stride = col_stride == 1 ? c.extent : 1;
    if (c.extent <= 1) col_stride = row_stride == 1 ? r.extent : 1;
    return {data, r.extent, c.extent, row_stride, col_stride, t.stride};
  }
  static Matrix<T const> view(Labelled<T> const& x, Labels const& batch, Labels const& rows,
                              Labels const& cols) {
    return matrix<T const>(x, batch, rows, cols, x.data);
  }

  static Labelled<T> view_in_order(Labelled<T> const& x, Labels const& order) {
    Labelled<T> out = x;
    for (int k = 0; k < order.size; ++k) {
      int const d = x.find(order.at[k]);
      out.layout.extent[k] = x.layout.extent[d];
      out.layout.stride[k] = x.layout.stride[d];
      out.label[k] = x.label[d];
    }
    return out;
  }

  Labelled<T> permuted(Labelled<T> const& x, Labels const& order) {
    Labelled<T> wanted = view_in_order(x, order);
    if (wanted.layout.contiguous()) return wanted;
    Labelled<T> out = wanted;
    out.layout = wanted.layout.packed();
    out.keep = take(out.layout.elements());
    copy_packed(exec_, wanted.data, wanted.layout, static_cast<T*>(out.keep.data()));
    out.data = static_cast<T const*>(out.keep.data());
    return out;
  }

  /// `x` summed over the labels that neither `other` nor `out` has.
  Labelled<T> summed(Labelled<T> const& x, Labelled<T> const& other, Labels const& out) {
    auto const stays = [&](int d) {
      return out.contains(x.label[d]) || other.find(x.label[d]) >= 0;
    };
    Labelled<T> less;
    Layout source;  // the dims that stay, then the others
    for (bool const kept : {true, false})
      for (int d = 0; d < x.layout.rank; ++d) {
        if (stays(d) != kept) continue;
        if (kept) less.label[less.layout.rank] = x.label[d];
        if (kept) less.layout.extent[less.layout.rank++] = x.layout.extent[d];
        source.extent[source.rank] = x.layout.extent[d];
        source.stride[source.rank++] = x.layout.stride[d];
      }
    if (less.layout.rank == x.layout.rank) return x;
    less.layout = less.layout.packed();
    less.keep = take(less.layout.elements());
    using Sum = SumReducer<T>;
    ReducePlan const plan = plan_reduce<Sum>(exec_, source, less.layout.rank);
    Buffer const work = pool_.template take<Space>(static_cast<std::size_t>(plan.workspace));
    reduce<Sum>(exec_, plan, x.data, static_cast<T*>(less.keep.data()), work.data());
    less.data = static_cast<T const*>(less.keep.data());
    return less;
  }

  /// The result as a labelled block without gaps.
  static Labelled<T> target(Labelled<T> const& a, Labelled<T> const& b, Labels const& out,
                            T const* data) {
    Labelled<T> c;
    c.data = data;
    c.layout.rank = out.size;
    for (int k = 0; k < out.size; ++k) {
      int const in_a = a.find(out.at[k]);
      c.label[k] = out.at[k];
      c.layout.extent[k] = in_a >= 0 ? a.layout.extent[in_a] : b.layout.extent[b.find(out.at[k])];
    }
    c.layout = c.layout.packed();
    return c;
  }

  Exec const& exec_;
  Pool& pool_;
  Between between_;
};

}  // namespace shardtype::kernels
