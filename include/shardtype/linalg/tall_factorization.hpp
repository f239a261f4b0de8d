#pragma once
/// Runs QR of one tall matrix whose rows are split over ranks.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <tuple>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/linalg/kernels_scale.hpp>
#include <shardtype/linalg/spectral.hpp>
#include <shardtype/linalg/tall.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

#ifdef SHARDTYPE_HAVE_LAPACK

/// QR of the rows that the ranks of `comm` hold: `rows` has this rank's; q and r are written row by
/// row.
template <class T>
class TallFactorization {
 public:
  using R = linalg::kernels::real_t<T>;
  using Stack = linalg::kernels::Stack<T const>;

  /// `held`: how many rows each rank has.
  TallFactorization(Comm& comm, linalg::detail::TallScratch const& room,
                    detail::List<std::int64_t> const& held, Stack const& rows, T* scratch, T* q,
                    T* r)
      : comm_(comm), room_(room), n_(room.n), held_(held), rows_(rows), triangle_(r), q_(q) {
    piece_ = scratch;
    own_ = piece_ + room.piece();
    factor_ = own_ + room.own();
    all_ = factor_ + room.own();
    sent_ = all_ + room.all();
    gathered_ = sent_ + linalg::detail::triangle(n_);
    tau_ = gathered_ + (room.ranks * linalg::detail::triangle(n_));
    for (int g = 0; g < comm.size(); ++g) counts_.push_back(linalg::detail::triangle(n_));
  }

  /// By reflectors: of chunks of rows, of the chunks' triangles, of the ranks' triangles. What has
  /// fewer rows than columns gives as many rows of a triangle as it has: with rows of zeros below
  /// them, q would lose what falls on those.
  void by_reflectors() {
    namespace lk = linalg::kernels;
    using lk::Trans;
    std::int64_t const high = height(room_.rows);
    std::int64_t at = 0;
    std::fill_n(own_, high * n_, T(0));
    for_chunks([&](std::int64_t begin, std::int64_t h) {
      std::int64_t const k = std::min(h, n_);
      lk::factor_qr(h, n_, piece_, h, tau_);
      for (std::int64_t j = 0; j < n_; ++j)
        for (std::int64_t i = 0; i <= std::min(j, k - 1); ++i)
          own_[at + i + j * high] = piece_[i + j * h];
      lk::orgqr(h, k, k, piece_, h, tau_);
      std::copy_n(piece_, h * k, q_ + begin * n_);
      at += k;
    });
    std::int64_t const k = std::min(high, n_);
    lk::factor_qr(high, n_, own_, high, tau_);
    pack_triangle(own_, high, k);
    lk::orgqr(high, k, k, own_, high, tau_);
    gather();
    std::int64_t tall = 0, mine = 0;
    for (int g = 0; g < comm_.size(); ++g) tall += rows_of_triangle(g);
    std::fill_n(all_, tall * n_, T(0));
    at = 0;
    for (int g = 0; g < comm_.size(); at += rows_of_triangle(g), ++g) {
      if (g == comm_.rank()) mine = at;
      unpack_triangle(g, all_ + at, tall);
    }
    lk::factor_qr(tall, n_, all_, tall, tau_);
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j)
        triangle_[i * n_ + j] = i <= j ? all_[i + j * tall] : T(0);
    lk::orgqr(tall, n_, n_, all_, tall, tau_);
    // own rows of q: those of each chunk, times what the chunks' triangles and the ranks' became
    lk::gemm(Trans::no, Trans::no, high, n_, k, T(1), own_, high, all_ + mine, tall, T(0), factor_,
             high);
    at = 0;
    for (std::int64_t begin = 0; begin < room_.rows; begin += room_.chunk) {
      std::int64_t const h = std::min(room_.chunk, room_.rows - begin), held = std::min(h, n_);
      lk::gemm(Trans::yes, Trans::yes, n_, h, held, T(1), factor_ + at, high, q_ + begin * n_, h,
               T(0), piece_, n_);
      std::copy_n(piece_, h * n_, q_ + begin * n_);
      at += held;
    }
  }

  /// By CholeskyQR2: twice q = a r^-1 with r^H r = a^H a. The sums are added in the order of ranks
  /// on each of them, so all see the same failure. Returns whether the columns are independent
  /// enough.
  bool by_cholesky() {
    namespace lk = linalg::kernels;
    T* const gram = all_;
    for (int const round : {0, 1}) {
      T* const r = round == 0 ? own_ : factor_;
      std::fill_n(gram, n_ * n_, T(0));
      for_chunks([&](std::int64_t begin, std::int64_t h) {
        if (round == 1) load(begin, h);
        lk::gemm(lk::Trans::conjugate, lk::Trans::no, n_, n_, h, T(1), piece_, h, piece_, h, T(1),
                 gram, n_);
      });
      pack_triangle(gram, n_, n_);
      gather();
      std::fill_n(r, n_ * n_, T(0));
      for (std::int64_t g = 0; g < comm_.size(); ++g) add_triangle(g, r);
      if (!lk::finite(r, n_ * n_) || (round == 1 && !near_identity(r))) return false;
      if (lk::potrf(lk::Triangle::upper, n_, r, n_) != 0) return false;
      for_chunks([&](std::int64_t begin, std::int64_t h) {
        if (round == 1) load(begin, h);
        lk::trsm(lk::Side::right, lk::Triangle::upper, lk::Trans::no, lk::Diagonal::general, h, n_,
                 r, n_, piece_, h);
        for (std::int64_t i = 0; i < h; ++i)
          for (std::int64_t j = 0; j < n_; ++j) q_[(begin + i) * n_ + j] = piece_[i + j * h];
      });
    }
    lk::gemm(lk::Trans::no, lk::Trans::no, n_, n_, n_, T(1), factor_, n_, own_, n_, T(0), gram, n_);
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j)
        triangle_[i * n_ + j] = i <= j ? gram[i + j * n_] : T(0);
    return true;
  }

 private:
  /// Rows of the chunks' triangles, one below the other.
  std::int64_t height(std::int64_t rows) const {
    if (rows == 0) return 0;
    std::int64_t const last = rows - (room_.chunks - 1) * room_.chunk;
    return (room_.chunks - 1) * std::min(room_.chunk, n_) + std::min(last, n_);
  }
  /// Calls `f(begin, rows)` for each chunk, of which the piece is a copy, column by column.
  template <class F>
  void for_chunks(F f) {
    for (std::int64_t begin = 0; begin < room_.rows; begin += room_.chunk) {
      std::int64_t const h = std::min(room_.chunk, room_.rows - begin);
      Stack part = rows_;
      part.data += begin * rows_.row_stride;
      part.rows = h;
      linalg::kernels::pack(part, 0, piece_, h);
      f(begin, h);
    }
  }
  /// The piece: rows of q so far.
  void load(std::int64_t begin, std::int64_t h) {
    for (std::int64_t i = 0; i < h; ++i)
      for (std::int64_t j = 0; j < n_; ++j) piece_[i + j * h] = q_[(begin + i) * n_ + j];
  }
  /// The first `k` rows of an upper triangle into the message.
  void pack_triangle(T const* from, std::int64_t ld, std::int64_t k) {
    T* to = sent_;
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i <= j; ++i) *to++ = i < k ? from[i + j * ld] : T(0);
  }
  void gather() {
    if (comm_.size() > 1 && n_ > 0) {
      comm_.all_gather(sent_, gathered_, counts_);
    } else {
      std::copy_n(sent_, linalg::detail::triangle(n_), gathered_);
    }
  }
  template <class F>
  void for_triangle(std::int64_t rank, F f) const {
    T const* from = gathered_ + rank * linalg::detail::triangle(n_);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i <= j; ++i) f(i, j, *from++);
  }
  std::int64_t rows_of_triangle(int rank) const {
    return std::min(held_[static_cast<std::size_t>(rank)], n_);
  }
  /// The rows that a rank has of its triangle; the message has zeros for the others.
  void unpack_triangle(int rank, T* to, std::int64_t ld) const {
    std::int64_t const rows = rows_of_triangle(rank);
    for_triangle(rank, [&](std::int64_t i, std::int64_t j, T const& x) {
      if (i < rows) to[i + j * ld] = x;
    });
  }
  void add_triangle(std::int64_t rank, T* to) const {
    for_triangle(rank, [&](std::int64_t i, std::int64_t j, T const& x) { to[i + j * n_] += x; });
  }
  /// Whether the columns of the first q are nearly orthonormal: then the second one's are to
  /// rounding.
  bool near_identity(T const* gram) const {
    R most(0);
    for (std::int64_t j = 0; j < n_; ++j)
      for (std::int64_t i = 0; i <= j; ++i) {
        T const off = gram[i + j * n_] - T(i == j ? 1 : 0);
        most = std::max(most, linalg::kernels::modulus(off));
      }
    return most * static_cast<R>(n_) <= R(0.5);
  }

  Comm& comm_;
  linalg::detail::TallScratch room_;
  std::int64_t n_;
  detail::List<std::int64_t> held_;
  Stack rows_;
  T* triangle_;
  T* q_;
  T* piece_ = nullptr;
  T* own_ = nullptr;
  T* factor_ = nullptr;
  T* all_ = nullptr;
  T* sent_ = nullptr;
  T* gathered_ = nullptr;
  T* tau_ = nullptr;
  Counts counts_{};
};

#endif

/// A matrix of rows that lie one after the other, or memory for one, of which `copy` writes the
/// elements to their places.
template <class T>
struct RowMajor {
  linalg::kernels::Stack<T> to;
  Buffer apart{};
  template <class A>
  RowMajor(A const& like, linalg::kernels::Stack<T> const& stack) : to(stack) {
    if (!in_place()) apart = linalg::detail::room<T>(like, to.rows * to.width);
  }
  bool in_place() const {
    return to.row_stride == to.width && to.plain_columns() && to.cols.stride[0] == 1;
  }
  T* data() const { return in_place() ? to.data : static_cast<T*>(apart.data()); }
  void copy() const {
    for (std::int64_t i = 0; !in_place() && i < to.rows; ++i)
      for (std::int64_t j = 0; j < to.width; ++j)
        to.data[i * to.row_stride + linalg::kernels::offset(to.cols, j)] = data()[i * to.width + j];
  }
};

}  // namespace shardtype::execute

namespace shardtype::op {

template <class I, class J, class K, bool cholesky>
template <class R, class A>
typename R::results TallQr<I, J, K, cholesky>::run(std::source_location const& where,
                                                   A const& a) const {
  linalg::detail::need_lapack("qr");
  typename R::results out = execute::results_to_write<R>(*this, a);
  if (!a.mesh().here()) return out;
#ifdef SHARDTYPE_HAVE_LAPACK
  using T = typename A::element;
  constexpr auto const& matrix = R::S::parsed[0].spec;
  constexpr auto rows = matrix.find(R::S::parsed[R::operands].spec.dims[0].label);
  auto& mesh = a.mesh().state();
  runtime::AxisMap const map = runtime::map_axes(mesh, R::S::names);
  runtime::Comm& comm = execute::group_of(mesh, map, matrix.dims[rows].axes);
  auto const mine = linalg::detail::matrices<I, J>(a);
  mesh.agreement().agree("qr", where, {a.extents()[0], a.extents()[1], cholesky ? 1 : 0});
  runtime::fence(runtime::instance<typename A::memory_space::execution_space>());
  linalg::detail::TallScratch const room(mine.rows, mine.width, comm.size(), sizeof(T));
  runtime::Buffer const scratch = linalg::detail::room<T>(a, room.elements());
  detail::List<std::int64_t> held;
  for (int g = 0; g < comm.size(); ++g)
    held.push_back(core::held(a.extents()[rows], matrix.dims[rows].axes, map.sizes,
                              core::member(matrix.dims[rows].axes, map.sizes, map.coords, g)));
  auto& [q, r] = out;
  execute::RowMajor<T> const columns(
      a, linalg::detail::stack_beside<A, I, J, I>(q, execute::written(q)));
  execute::RowMajor<T> const triangle(
      a, linalg::detail::stack_beside<A, I, J, K>(r, execute::written(r)));
  execute::TallFactorization<T> run(comm, room, held, mine, static_cast<T*>(scratch.data()),
                                    columns.data(), triangle.data());
  if (!cholesky) {
    run.by_reflectors();
  } else if (!run.by_cholesky()) {
    throw Error("E83",
                "the columns of the matrix are too close to dependent, or not numbers, for qr "
                "with cholesky_qr; qr without it finds orthonormal ones",
                FailedOn::every_rank);
  }
  columns.copy();
  triangle.copy();
#endif
  return out;
}

}  // namespace shardtype::op
