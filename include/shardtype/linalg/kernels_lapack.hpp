#pragma once
/// LAPACK for local matrices, by its Fortran interface. Each routine is overloaded for float, double and their complex
/// numbers, takes sizes as they are, finds its work memory itself, and returns `info`: 0, or what LAPACK says.
///
/// LAPACK's matrices are column-major: element (i, j) is a[i + j * ld]. A row-major matrix is its transpose, so a
/// row-major block goes in as the transposed problem (`Trans::yes` where there is one, the other triangle of a
/// symmetric one), or is packed first (kernels_stack.hpp).
///
/// The lengths of strings, which Fortran compilers append to the arguments, are not passed: no routine reads them.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/gemm_blas.hpp>

namespace shardtype::linalg::kernels {

/// Which triangle of a matrix is read or written.
enum class Triangle : char { lower = 'L', upper = 'U' };
/// The matrix itself, its transpose, or its conjugate transpose.
enum class Trans : char { no = 'N', yes = 'T', conjugate = 'C' };
/// Whether ones stand for the diagonal.
enum class Diagonal : char { general = 'N', unit = 'U' };
enum class Side : char { left = 'L', right = 'R' };

/// Whether this program has LAPACK.
#ifdef SHARDTYPE_HAVE_LAPACK
inline constexpr bool have_lapack = true;
#else
inline constexpr bool have_lapack = false;
#endif

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = true;

/// The real numbers of T.
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Kokkos::complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename RealOf<T>::type;

}  // namespace shardtype::linalg::kernels

#ifdef SHARDTYPE_HAVE_LAPACK

namespace shardtype::linalg::kernels {

namespace detail {

using Int = std::int32_t;

// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-macro-usage,bugprone-macro-parentheses): Fortran's names
// Of the element type with prefix `p` and, for names that differ for complex numbers, `q` (or, un) and `s` (sy, he).
#define SHARDTYPE_LAPACK_OF(p, q, s)                                                              \
  extern "C" {                                                                                    \
  void p##getrf_(Int const*, Int const*, void*, Int const*, Int*, Int*);                          \
  void p##getrs_(char const*, Int const*, Int const*, void const*, Int const*, Int const*, void*, \
                 Int const*, Int*);                                                               \
  void p##laswp_(Int const*, void*, Int const*, Int const*, Int const*, Int const*, Int const*);  \
  void p##potrf_(char const*, Int const*, void*, Int const*, Int*);                               \
  void p##potrs_(char const*, Int const*, Int const*, void const*, Int const*, void*, Int const*, \
                 Int*);                                                                           \
  void p##trsm_(char const*, char const*, char const*, char const*, Int const*, Int const*,       \
                void const*, void const*, Int const*, void*, Int const*);                         \
  void p##geqrf_(Int const*, Int const*, void*, Int const*, void*, void*, Int const*, Int*);      \
  void p##geqrt3_(Int const*, Int const*, void*, Int const*, void*, Int const*, Int*);            \
  void p##q##gqr_(Int const*, Int const*, Int const*, void*, Int const*, void const*, void*,      \
                  Int const*, Int*);                                                              \
  void p##gecon_(char const*, Int const*, void const*, Int const*, void const*, void*, void*,     \
                 void*, Int*);                                                                    \
  }
SHARDTYPE_LAPACK_OF(s, or, sy)
SHARDTYPE_LAPACK_OF(d, or, sy)
SHARDTYPE_LAPACK_OF(c, un, he)
SHARDTYPE_LAPACK_OF(z, un, he)
#undef SHARDTYPE_LAPACK_OF
extern "C" {
void ssyevd_(char const*, char const*, Int const*, void*, Int const*, void*, void*, Int const*,
             Int*, Int const*, Int*);
void dsyevd_(char const*, char const*, Int const*, void*, Int const*, void*, void*, Int const*,
             Int*, Int const*, Int*);
void cheevd_(char const*, char const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, Int*, Int const*, Int*);
void zheevd_(char const*, char const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, Int*, Int const*, Int*);
void sgesdd_(char const*, Int const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, void*, Int const*, Int*, Int*);
void dgesdd_(char const*, Int const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, void*, Int const*, Int*, Int*);
void cgesdd_(char const*, Int const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, void*, Int const*, void*, Int*, Int*);
void zgesdd_(char const*, Int const*, Int const*, void*, Int const*, void*, void*, Int const*,
             void*, Int const*, void*, Int const*, void*, Int*, Int*);
}

/// The routines for one element type.
template <class T>
struct Lapack;
#define SHARDTYPE_LAPACK_TYPE(T, p, q, s)       \
  template <>                                   \
  struct Lapack<T> {                            \
    static constexpr auto getrf = &p##getrf_;   \
    static constexpr auto getrs = &p##getrs_;   \
    static constexpr auto laswp = &p##laswp_;   \
    static constexpr auto potrf = &p##potrf_;   \
    static constexpr auto potrs = &p##potrs_;   \
    static constexpr auto trsm = &p##trsm_;     \
    static constexpr auto geqrf = &p##geqrf_;   \
    static constexpr auto geqrt3 = &p##geqrt3_; \
    static constexpr auto orgqr = &p##q##gqr_;  \
    static constexpr auto gecon = &p##gecon_;   \
    static constexpr auto syevd = &p##s##evd_;  \
    static constexpr auto gesdd = &p##gesdd_;   \
  };
SHARDTYPE_LAPACK_TYPE(float, s, or, sy)
SHARDTYPE_LAPACK_TYPE(double, d, or, sy)
SHARDTYPE_LAPACK_TYPE(Kokkos::complex<float>, c, un, he)
SHARDTYPE_LAPACK_TYPE(Kokkos::complex<double>, z, un, he)
#undef SHARDTYPE_LAPACK_TYPE
// NOLINTEND(readability-identifier-naming,cppcoreguidelines-macro-usage,bugprone-macro-parentheses)

/// A size as LAPACK takes it; blocks of more than 2^31 - 1 rows are refused before (E41).
constexpr Int size(std::int64_t n) { return static_cast<Int>(n); }
/// A leading dimension.
constexpr Int lead(std::int64_t n) { return static_cast<Int>(std::max<std::int64_t>(n, 1)); }
/// The size of work memory that a query returned in its first element.
template <class T>
Int asked(T const& first) {
  if constexpr (is_complex<T>) {
    return static_cast<Int>(first.real());
  } else {
    return static_cast<Int>(first);
  }
}
template <class T>
std::vector<T> room(Int n) {
  return std::vector<T>(static_cast<std::size_t>(std::max<Int>(n, 1)));
}

}  // namespace detail

/// P A = L U of the m x n matrix a, in place; `pivots` of min(m, n), from 1 on: row k was exchanged with row pivots[k].
/// Returns 0, or k if the k-th pivot is 0 (from 1 on); the factors are complete then too.
template <class T>
std::int32_t getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, std::int32_t* pivots) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), ld = lead(lda);
  detail::Int info = 0;
  if (m > 0 && n > 0) detail::Lapack<T>::getrf(&rows, &cols, a, &ld, pivots, &info);
  return info;
}
/// b = op(A)^-1 b for the factors of getrf, with `count` columns of b.
template <class T>
std::int32_t getrs(Trans op, std::int64_t n, std::int64_t count, T const* a, std::int64_t lda,
                   std::int32_t const* pivots, T* b, std::int64_t ldb) {
  using detail::lead, detail::size;
  detail::Int const rows = size(n), cols = size(count), ld = lead(lda), ld_b = lead(ldb);
  auto const c = static_cast<char>(op);
  detail::Int info = 0;
  if (n > 0 && count > 0)
    detail::Lapack<T>::getrs(&c, &rows, &cols, a, &ld, pivots, b, &ld_b, &info);
  return info;
}
/// Exchanges rows of the n columns of a: k with pivots[k], from 1 on, for k from first to last; backwards if `back`.
template <class T>
void laswp(std::int64_t n, T* a, std::int64_t lda, std::int64_t first, std::int64_t last,
           std::int32_t const* pivots, bool back = false) {
  using detail::lead, detail::size;
  detail::Int const cols = size(n), ld = lead(lda), k1 = size(first), k2 = size(last),
                    step = back ? -1 : 1;
  if (n > 0 && last >= first) detail::Lapack<T>::laswp(&cols, a, &ld, &k1, &k2, pivots, &step);
}
/// A = L L^H (lower) or U^H U (upper) in place; the other triangle is neither read nor written. Returns 0, or k if the
/// leading minor of order k is not positive definite.
template <class T>
std::int32_t potrf(Triangle part, std::int64_t n, T* a, std::int64_t lda) {
  using detail::lead, detail::size;
  detail::Int const rows = size(n), ld = lead(lda);
  auto const u = static_cast<char>(part);
  detail::Int info = 0;
  if (n > 0) detail::Lapack<T>::potrf(&u, &rows, a, &ld, &info);
  return info;
}
/// b = A^-1 b for the factor of potrf.
template <class T>
std::int32_t potrs(Triangle part, std::int64_t n, std::int64_t count, T const* a, std::int64_t lda,
                   T* b, std::int64_t ldb) {
  using detail::lead, detail::size;
  detail::Int const rows = size(n), cols = size(count), ld = lead(lda), ld_b = lead(ldb);
  auto const u = static_cast<char>(part);
  detail::Int info = 0;
  if (n > 0 && count > 0) detail::Lapack<T>::potrs(&u, &rows, &cols, a, &ld, b, &ld_b, &info);
  return info;
}
/// The m x n matrix b = alpha op(A)^-1 b, or alpha b op(A)^-1 on the right side, for a triangular a. Not checked for
/// zeros of the diagonal.
template <class T>
void trsm(Side side, Triangle part, Trans op, Diagonal diagonal, std::int64_t m, std::int64_t n,
          T const* a, std::int64_t lda, T* b, std::int64_t ldb, T alpha = T(1)) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), ld = lead(lda), ld_b = lead(ldb);
  auto const s = static_cast<char>(side), u = static_cast<char>(part), c = static_cast<char>(op),
             d = static_cast<char>(diagonal);
  if (m > 0 && n > 0)
    detail::Lapack<T>::trsm(&s, &u, &c, &d, &rows, &cols, &alpha, a, &ld, b, &ld_b);
}
/// The m x n matrix c = alpha op(A) op(B) + beta c, with k the length of the sums.
template <class T>
void gemm(Trans op_a, Trans op_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
          T const* a, std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), length = size(k), ld_a = lead(lda),
                    ld_b = lead(ldb), ld_c = lead(ldc);
  auto const x = static_cast<char>(op_a), y = static_cast<char>(op_b);
  if (m > 0 && n > 0)
    shardtype::kernels::detail::Blas<T>::gemm(&x, &y, &rows, &cols, &length, &alpha, a, &ld_a, b,
                                              &ld_b, &beta, c, &ld_c);
}
/// A = Q R in place: R in the upper triangle, reflectors below it and in `tau` of min(m, n).
template <class T>
std::int32_t geqrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* tau) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), ld = lead(lda);
  detail::Int info = 0, ask = -1;
  if (m <= 0 || n <= 0) return 0;
  T first{};
  detail::Lapack<T>::geqrf(&rows, &cols, a, &ld, tau, &first, &ask, &info);
  ask = std::max(detail::asked(first), cols);
  auto work = detail::room<T>(ask);
  detail::Lapack<T>::geqrf(&rows, &cols, a, &ld, tau, work.data(), &ask, &info);
  return info;
}
/// A = Q R in place, of at least as many rows m as columns n: R in the upper triangle, below it V, whose diagonal is 1, of Q = I - V T
/// V^H; the n x n upper triangle T goes to `t`. By halves, so that most of it is products.
template <class T>
void geqrt3(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* t, std::int64_t ldt) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), ld = lead(lda), ld_t = lead(ldt);
  detail::Int info = 0;
  if (n > 0) detail::Lapack<T>::geqrt3(&rows, &cols, a, &ld, t, &ld_t, &info);
}
/// The first n columns of Q, m x n, of k reflectors of geqrf, in place (ungqr for complex numbers).
template <class T>
std::int32_t orgqr(std::int64_t m, std::int64_t n, std::int64_t k, T* a, std::int64_t lda,
                   T const* tau) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), count = size(k), ld = lead(lda);
  detail::Int info = 0, ask = -1;
  if (m <= 0 || n <= 0) return 0;
  T first{};
  detail::Lapack<T>::orgqr(&rows, &cols, &count, a, &ld, tau, &first, &ask, &info);
  ask = std::max(detail::asked(first), cols);
  auto work = detail::room<T>(ask);
  detail::Lapack<T>::orgqr(&rows, &cols, &count, a, &ld, tau, work.data(), &ask, &info);
  return info;
}
/// Eigenvalues `w`, ascending, and, if `vectors`, eigenvectors in place of the symmetric or Hermitian matrix a, of
/// which one triangle is read (heevd for complex numbers). Returns 0, or what LAPACK says where it does not converge.
template <class T>
std::int32_t syevd(bool vectors, Triangle part, std::int64_t n, T* a, std::int64_t lda,
                   real_t<T>* w) {
  using R = real_t<T>;
  using detail::lead, detail::size;
  detail::Int const rows = size(n), ld = lead(lda);
  char const job = vectors ? 'V' : 'N';
  auto const u = static_cast<char>(part);
  detail::Int info = 0, ask = -1, ask_r = -1, ask_i = -1, first_i = 0;
  if (n <= 0) return 0;
  T first{};
  R first_r{};
  if constexpr (is_complex<T>) {
    detail::Lapack<T>::syevd(&job, &u, &rows, a, &ld, w, &first, &ask, &first_r, &ask_r, &first_i,
                             &ask_i, &info);
    ask_r = detail::asked(first_r);
  } else {
    detail::Lapack<T>::syevd(&job, &u, &rows, a, &ld, w, &first, &ask, &first_i, &ask_i, &info);
  }
  ask = detail::asked(first);
  ask_i = first_i;
  auto work = detail::room<T>(ask);
  auto work_i = detail::room<detail::Int>(ask_i);
  if constexpr (is_complex<T>) {
    auto work_r = detail::room<R>(ask_r);
    detail::Lapack<T>::syevd(&job, &u, &rows, a, &ld, w, work.data(), &ask, work_r.data(), &ask_r,
                             work_i.data(), &ask_i, &info);
  } else {
    detail::Lapack<T>::syevd(&job, &u, &rows, a, &ld, w, work.data(), &ask, work_i.data(), &ask_i,
                             &info);
  }
  return info;
}
/// Singular values `s`, descending, of the m x n matrix a, which is overwritten, and, if `vectors`, the first min(m, n)
/// columns of U and rows of V^H. Returns 0, or what LAPACK says where it does not converge.
template <class T>
std::int32_t gesdd(bool vectors, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                   real_t<T>* s, T* u, std::int64_t ldu, T* vt, std::int64_t ldvt) {
  using detail::lead, detail::size;
  detail::Int const rows = size(m), cols = size(n), ld = lead(lda), ld_u = lead(ldu),
                    ld_v = lead(ldvt);
  std::int64_t const least = std::min(m, n);
  char const job = vectors ? 'S' : 'N';
  detail::Int info = 0, ask = -1;
  if (least <= 0) return 0;
  T first{};
  auto work_i = detail::room<detail::Int>(size(8 * least));
  [[maybe_unused]] auto work_r = detail::room<real_t<T>>(
      is_complex<T> ? size(std::max(5 * least * least + 5 * least,
                                    2 * std::max(m, n) * least + 2 * least * least + least))
                    : 1);
  auto const run = [&](T* work) {
    if constexpr (is_complex<T>) {
      detail::Lapack<T>::gesdd(&job, &rows, &cols, a, &ld, s, u, &ld_u, vt, &ld_v, work, &ask,
                               work_r.data(), work_i.data(), &info);
    } else {
      detail::Lapack<T>::gesdd(&job, &rows, &cols, a, &ld, s, u, &ld_u, vt, &ld_v, work, &ask,
                               work_i.data(), &info);
    }
  };
  run(&first);
  ask = detail::asked(first);
  auto work = detail::room<T>(ask);
  run(work.data());
  return info;
}
/// The reciprocal of the condition in the 1-norm, estimated, of the factors of getrf; `norm`: that of the matrix.
template <class T>
real_t<T> gecon(std::int64_t n, T const* a, std::int64_t lda, real_t<T> norm) {
  using R = real_t<T>;
  using detail::lead, detail::size;
  detail::Int const rows = size(n), ld = lead(lda);
  char const one = '1';
  detail::Int info = 0;
  R result(1);
  if (n <= 0) return result;
  auto work = detail::room<T>(size(4 * n));
  if constexpr (is_complex<T>) {
    auto work_r = detail::room<R>(size(2 * n));
    detail::Lapack<T>::gecon(&one, &rows, a, &ld, &norm, &result, work.data(), work_r.data(),
                             &info);
  } else {
    auto work_i = detail::room<detail::Int>(rows);
    detail::Lapack<T>::gecon(&one, &rows, a, &ld, &norm, &result, work.data(), work_i.data(),
                             &info);
  }
  return result;
}

}  // namespace shardtype::linalg::kernels

#endif
