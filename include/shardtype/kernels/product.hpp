#pragma once
/// The local product of two labelled blocks. Labels are grouped into batch, M, N and K; contiguous
/// groups are passed to gemm directly, others are permuted first.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/convert.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/few_terms.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/gemm.hpp>
#include <shardtype/kernels/gemm_bfloat16.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/plan/product_layout.hpp>
#include <shardtype/rules/contraction.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::kernels {

/// A block with a label on each dim.
template <class T>
struct Labelled : planning::LabelledLayout {
  T const* data = nullptr;
  Buffer keep{};  ///< keeps the memory alive
};

/// A callback that a long computation calls now and then, for communication progress.
struct Between {
  void (*call)(void*) = nullptr;
  void* with = nullptr;
};

/// Runs local products with scratch memory from one pool. Products of bfloat16 are computed in
/// float, on copies of the operands or by instructions for them, and rounded once. With a Between,
/// a long product is cut into pieces of some milliseconds, with a call after each.
template <class T, class Exec>
class Product {
  using Space = typename Exec::memory_space;
  using Roles = planning::ProductRoles;
  using Computed = shardtype::detail::computed_t<T>;

 public:
  Product(Exec const& exec, Pool& pool, Between between = {})
      : exec_(exec), pool_(pool), between_(between) {}

  /// Whether `a`, `b` and `c` can be passed to one gemm without copies: no label is in only one of
  /// them, and each group of labels has a single stride.
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
    return planning::folds(a, r.batch, r.rows, r.inner) &&
           planning::folds(b, r.batch, r.inner, r.cols) &&
           planning::folds(c, r.batch, r.rows, r.cols);
  }
  /// Writes the product of such blocks to `data`, with the layout of `c`, or adds it to `data`.
  void write(Labelled<T> const& a, Labelled<T> const& b, Labelled<T> const& c, T* data, bool add) {
    Labels out;
    for (int d = 0; d < c.layout.rank; ++d) out.push(c.label[d]);
    Roles const r(a, b, out);
    if (c.layout.elements() == 0) return;
    multiply(planning::fold(c, r.batch).extent, view(a, r.batch, r.rows, r.inner),
             view(b, r.batch, r.inner, r.cols), matrix(c, r.batch, r.rows, r.cols, data), add);
  }

  /// Writes the product of `a` and `b` to `c`, contiguous and with dims in the order of `out`:
  /// labels of both that are not in `out` are contracted, labels of only one are summed.
  void operator()(Labelled<T> a, Labelled<T> b, Labels const& out, T* c) {
    a = summed(a, b, out);
    b = summed(b, a, out);
    planning::ProductSteps const s(a, b, out, any_strides);
    auto const& [batch, rows, cols, inner] = s.roles;
    Labelled<T> result;
    static_cast<planning::LabelledLayout&>(result) = s.result;
    Buffer scratch;
    T* data = c;
    if (s.turns) {
      scratch = take(result.layout.elements());
      data = static_cast<T*>(scratch.data());
    }
    if (s.packs_a) a = permuted(a, s.roles.order_of_a());
    if (s.packs_b) b = permuted(b, s.roles.order_of_b());
    multiply(planning::fold(result, batch).extent, view(a, batch, rows, inner),
             view(b, batch, inner, cols), matrix(result, batch, rows, cols, data), false);
    if (s.turns) {
      planning::LabelledLayout const wanted = planning::view_in_order(result, out);
      kernels::copy_packed(exec_, static_cast<T const*>(data), wanted.layout, c);
    }
  }

  /// Whether the kernel multiplies operands with any strides at full speed.
  static constexpr bool any_strides = detail::gemm_vendor<Exec, T>() == detail::GemmVendor::none;
  /// Workspace bytes of our own kernel for a product; that of BLAS is unknown.
  static std::int64_t kernel_bytes(Exec const& exec, planning::GemmSize const& n) {
    if (!n.own_kernel) return 0;
    if (shardtype::detail::is_converted<T> &&
        detail::gemm_vendor<Exec, Computed>() != detail::GemmVendor::none)
      return 0;
    return static_cast<std::int64_t>(
        kernels::gemm_workspace_bytes<Computed>(exec, n.batch, n.rows, n.cols, n.inner));
  }

 private:
  template <class U = T>
  Buffer take(std::int64_t elements) {
    return pool_.template take<Space>(static_cast<std::size_t>(elements) * sizeof(U));
  }

  void multiply(std::int64_t batch, Matrix<T const> const& a, Matrix<T const> const& b,
                Matrix<T> const& c, bool add) {
    if constexpr (!shardtype::detail::is_converted<T>) {
      multiply_as<T>(batch, a, b, c, add);
    } else {
      Buffer const memory[3] = {take<Computed>(batch * a.rows * a.cols),
                                take<Computed>(batch * b.rows * b.cols),
                                take<Computed>(batch * c.rows * c.cols)};
      if (kernels::multiply_few_terms<T>(exec_, batch, a, b, c, add)) {
        runtime::fence(exec_);
        return;
      }
      auto const of_a = kernels::packed_like(a, static_cast<Computed*>(memory[0].data()));
      auto const of_b = kernels::packed_like(b, static_cast<Computed*>(memory[1].data()));
      auto const of_c = kernels::packed_like(c, static_cast<Computed*>(memory[2].data()));
      if (add) kernels::convert<T>(exec_, batch, c, of_c);
      if (!multiply_pairs(batch, a, b, of_c, add, memory) &&
          !multiply_thin(batch, a, b, of_c, add)) {
        kernels::convert(exec_, batch, a, of_a);
        kernels::convert(exec_, batch, b, of_b);
        multiply_as<Computed>(batch, of_a, of_b, of_c, add);
      }
      kernels::convert<Computed>(exec_, batch, of_c, c);
      runtime::fence(exec_);  // before the copies are given back
    }
  }

  /// Whether it has multiplied few columns or rows by the kernels for these, in pieces.
  bool multiply_thin(std::int64_t batch, Matrix<T const> const& a, Matrix<T const> const& b,
                     Matrix<Computed> const& c, bool add) {
    if (between_.call == nullptr) return kernels::multiply_thin<T>(exec_, batch, a, b, c, add);
    constexpr std::int64_t piece = std::int64_t{1} << 24;  // elements; about a millisecond
    bool const tall = c.rows >= c.cols;
    std::int64_t const longer = tall ? c.rows : c.cols;
    // pieces of 64 or more, so that all are computed by these kernels if the first one is
    std::int64_t const pieces = std::clamp<std::int64_t>(longer * a.cols / piece, 1,
                                                         std::max<std::int64_t>(longer / 64, 1));
    for (std::int64_t t = 0; t < batch; ++t)
      for (std::int64_t p = 0; p < pieces; ++p) {
        std::int64_t const i = longer * p / pieces;
        std::int64_t const n = longer * (p + 1) / pieces - i;
        auto const part = [&](auto const& x) {
          return tall ? x.member(t).block(i, 0, n, x.cols) : x.member(t).block(0, i, x.rows, n);
        };
        if (!kernels::multiply_thin<T>(exec_, 1, tall ? part(a) : a.member(t),
                                       tall ? b.member(t) : part(b), part(c), add))
          return false;
        runtime::fence(exec_);
        between_.call(between_.with);
      }
    return batch > 0;
  }

  /// Whether it has multiplied by the instructions for bfloat16, on the host with what is to be the
  /// copies in float as memory for packed operands.
  bool multiply_pairs([[maybe_unused]] std::int64_t batch,
                      [[maybe_unused]] Matrix<T const> const& a,
                      [[maybe_unused]] Matrix<T const> const& b,
                      [[maybe_unused]] Matrix<Computed> const& c, [[maybe_unused]] bool add,
                      [[maybe_unused]] Buffer const* memory) {
    if constexpr (is_host_exec<Exec> && std::is_same_v<T, bfloat16>) {
      detail::PairSums const sums = detail::pair_sums();
      bool const turned = c.col_stride != 1;
      if (sums == nullptr ||
          !detail::pairs_fit(turned ? c.cols : c.rows, turned ? c.rows : c.cols, a.cols))
        return false;
      auto* const words_a = static_cast<std::uint32_t*>(memory[0].data());
      auto* const words_b = static_cast<std::uint32_t*>(memory[1].data());
      for (std::int64_t t = 0; t < batch; ++t)
        detail::multiply_pairs(exec_, sums, a.member(t), b.member(t), c.member(t), add, words_a,
                               words_b, [this] {
                                 if (between_.call == nullptr) return;
                                 runtime::fence(exec_);
                                 between_.call(between_.with);
                               });
      return true;
    } else {
      return kernels::gemm_bfloat16(exec_, batch, a, b, c, add);
    }
  }

  template <class U>
  void multiply_as(std::int64_t batch, Matrix<U const> const& a, Matrix<U const> const& b,
                   Matrix<U> const& c, bool add) {
    std::size_t const wanted = kernels::gemm_workspace_bytes<Exec, U>(exec_, batch, a, b, c);
    Buffer const work = wanted == 0 ? Buffer{} : pool_.template take<Kokkos::HostSpace>(wanted);
    constexpr double piece = 2.5e8;  // flops; a few milliseconds on one core
    double const flops = 2.0 * static_cast<double>(batch) * static_cast<double>(c.rows) *
                         static_cast<double>(c.cols) * static_cast<double>(a.cols);
    if (between_.call == nullptr || flops < 2 * piece) {
      kernels::gemm<Exec, U>(exec_, batch, a, b, c, add, work.data(), work.bytes());
      // one after the other, products below a piece take as long as large ones
      if (between_.call != nullptr && flops >= piece / 16) {
        runtime::fence(exec_);
        between_.call(between_.with);
      }
      return;
    }
    auto const pieces = static_cast<std::int64_t>(std::min(flops / piece, 1e6));
    for (std::int64_t t = 0; t < batch; ++t) {
      // pieces of few rows are slow
      std::int64_t const cuts = std::clamp<std::int64_t>(pieces / batch, 1, (c.rows + 63) / 64);
      std::int64_t const rows = (c.rows + cuts - 1) / cuts;
      for (std::int64_t i = 0; i < c.rows; i += rows) {
        std::int64_t const n = std::min(rows, c.rows - i);
        kernels::gemm<Exec, U>(exec_, 1, a.member(t).block(i, 0, n, a.cols), b.member(t),
                               c.member(t).block(i, 0, n, c.cols), add, work.data(), work.bytes());
        runtime::fence(exec_);
        between_.call(between_.with);
      }
    }
  }

  template <class U>
  static Matrix<U> matrix(Labelled<T> const& x, Labels const& batch, Labels const& rows,
                          Labels const& cols, U* data) {
    planning::MatrixLayout const m(x, batch, rows, cols);
    return {data, m.rows, m.cols, m.row_stride, m.col_stride, m.batch_stride};
  }
  static Matrix<T const> view(Labelled<T> const& x, Labels const& batch, Labels const& rows,
                              Labels const& cols) {
    return matrix<T const>(x, batch, rows, cols, x.data);
  }

  Labelled<T> permuted(Labelled<T> const& x, Labels const& order) {
    planning::LabelledLayout const wanted = planning::view_in_order(x, order);
    Labelled<T> out;
    static_cast<planning::LabelledLayout&>(out) = wanted;
    out.layout = wanted.layout.packed();
    out.keep = take(out.layout.elements());
    kernels::copy_packed(exec_, x.data, wanted.layout, static_cast<T*>(out.keep.data()));
    out.data = static_cast<T const*>(out.keep.data());
    return out;
  }

  /// `x` summed over the labels that neither `other` nor `out` has.
  Labelled<T> summed(Labelled<T> const& x, Labelled<T> const& other, Labels const& out) {
    Labelled<T> less;
    static_cast<planning::LabelledLayout&>(less) = planning::summed(x, other, out);
    if (less.layout.rank == x.layout.rank) return x;
    Layout source;  // the kept dims, then the others
    for (bool const kept : {true, false})
      for (int d = 0; d < x.layout.rank; ++d) {
        if ((less.find(x.label[d]) >= 0) != kept) continue;
        source.extent[source.rank] = x.layout.extent[d];
        source.stride[source.rank++] = x.layout.stride[d];
      }
    less.keep = take(less.layout.elements());
    using Sum = SumReducer<T>;
    ReducePlan const plan = kernels::plan_reduce<Sum>(exec_, source, less.layout.rank);
    Buffer const work = kernels::take_workspace<Space>(pool_, plan);
    kernels::reduce<Sum>(exec_, plan, x.data, static_cast<T*>(less.keep.data()), work.data());
    less.data = static_cast<T const*>(less.keep.data());
    return less;
  }

  Exec const& exec_;
  Pool& pool_;
  Between between_;
};

}  // namespace shardtype::kernels
