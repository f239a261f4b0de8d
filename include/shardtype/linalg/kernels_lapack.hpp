#pragma once
/// LAPACK for local matrices, by its Fortran interface. Each routine is overloaded for float,
/// double and their complex numbers, takes sizes as they are, finds its work memory itself, and
/// returns `info`: 0, or what LAPACK says.
///
/// LAPACK's matrices are column-major: element (i, j) is a[i + j * ld]. A row-major matrix is its
/// transpose, so a row-major block goes in as the transposed problem (`Trans::yes` where there is
/// one, the other triangle of a symmetric one), or is packed first (kernels_stack.hpp).
///
/// The lengths of strings, which Fortran compilers append to the arguments, are not passed: no
/// routine reads them.

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
/// Which vectors are found beside values: none, all, or as many as there are values.
enum class Job : char { values = 'N', all = 'V', least = 'S' };

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

// Fortran's names:
// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
// Routines for the element type with prefix `p`; in names that differ for complex
// numbers `q` is or, un, and `s` is sy, he.
#define SHARDTYPE_LAPACK_OF(p, q, s)                                                              \
  extern "C" {                                                                                    \
  void p##getrf_(Int const*, Int const*, void*, Int const*, Int*, Int*);                          \
  void p##getrs_(char const*, Int const*, Int const*, void const*, Int const*, Int const*, void*, \
                 Int const*, Int*);                                                               \
  void p##potrf_(char const*, Int const*, void*, Int const*, Int*);                               \
  void p##trsm_(char const*, char const*, char const*, char const*, Int const*, Int const*,       \
                void const*, void const*, Int const*, void*, Int const*);                         \
  void p##geqrf_(Int const*, Int const*, void*, Int const*, void*, void*, Int const*, Int*);      \
  void p##geqrt3_(Int const*, Int const*, void*, Int const*, void*, Int const*, Int*);            \
  void p##q##gqr_(Int const*, Int const*, Int const*, void*, Int const*, void const*, void*,      \
                  Int const*, Int*);                                                              \
  void p##q##mqr_(char const*, char const*, Int const*, Int const*, Int const*, void const*,      \
                  Int const*, void const*, void*, Int const*, void*, Int const*, Int*);           \
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
    static constexpr auto potrf = &p##potrf_;   \
    static constexpr auto trsm = &p##trsm_;     \
    static constexpr auto geqrf = &p##geqrf_;   \
    static constexpr auto geqrt3 = &p##geqrt3_; \
    static constexpr auto orgqr = &p##q##gqr_;  \
    static constexpr auto ormqr = &p##q##mqr_;  \
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

/// An argument as Fortran takes it: the address of a number, an option's letter or a matrix.
template <class T>
auto address(T const& x) {
  if constexpr (std::is_pointer_v<T>) {
    return x;
  } else if constexpr (std::is_enum_v<T>) {
    return reinterpret_cast<char const*>(&x);
  } else {
    return &x;
  }
}
/// Calls a routine, and returns its last argument, `info`.
template <class Routine, class... As>
Int run(Routine routine, As const&... as) {
  Int info = 0;
  routine(detail::address(as)..., &info);
  return info;
}
/// The same of one whose last arguments but `info` are work memory of T and its size, which is
/// asked for first.
template <class T, class Routine, class... As>
Int run_with_work(Routine routine, Int least, As const&... as) {
  T first{};
  detail::run(routine, as..., &first, Int{-1});
  Int const size = std::max(detail::asked(first), least);
  return detail::run(routine, as..., detail::room<T>(size).data(), size);
}

}  // namespace detail

/// P A = L U of the m x n matrix a, in place; `pivots` of min(m, n), from 1 on: row k was exchanged
/// with row pivots[k]. Returns 0, or k if the k-th pivot is 0 (from 1 on); the factors are complete
/// then too.
template <class T>
std::int32_t getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, std::int32_t* pivots) {
  using detail::lead, detail::size;
  if (m <= 0 || n <= 0) return 0;
  return detail::run(detail::Lapack<T>::getrf, detail::size(m), detail::size(n), a,
                     detail::lead(lda), pivots);
}
/// b = op(A)^-1 b for the factors of getrf, with `count` columns of b.
template <class T>
std::int32_t getrs(Trans op, std::int64_t n, std::int64_t count, T const* a, std::int64_t lda,
                   std::int32_t const* pivots, T* b, std::int64_t ldb) {
  using detail::lead, detail::size;
  if (n <= 0 || count <= 0) return 0;
  return detail::run(detail::Lapack<T>::getrs, op, detail::size(n), detail::size(count), a,
                     detail::lead(lda), pivots, b, detail::lead(ldb));
}
/// A = L L^H (lower) or U^H U (upper) in place; the other triangle is neither read nor written.
/// Returns 0, or k if the leading minor of order k is not positive definite.
template <class T>
std::int32_t potrf(Triangle part, std::int64_t n, T* a, std::int64_t lda) {
  return n > 0 ? detail::run(detail::Lapack<T>::potrf, part, detail::size(n), a, detail::lead(lda))
               : 0;
}
/// The m x n matrix b = alpha op(A)^-1 b, or alpha b op(A)^-1 on the right side, for a triangular
/// a. Not checked for zeros of the diagonal.
template <class T>
void trsm(Side side, Triangle part, Trans op, Diagonal diagonal, std::int64_t m, std::int64_t n,
          T const* a, std::int64_t lda, T* b, std::int64_t ldb, T alpha = T(1)) {
  using detail::address, detail::lead, detail::size;
  detail::Int const rows = detail::size(m), cols = detail::size(n), ld = detail::lead(lda),
                    ld_b = detail::lead(ldb);
  if (m > 0 && n > 0)
    detail::Lapack<T>::trsm(detail::address(side), detail::address(part), detail::address(op),
                            detail::address(diagonal), &rows, &cols, &alpha, a, &ld, b, &ld_b);
}
/// The m x n matrix c = alpha op(A) op(B) + beta c, with k the length of the sums.
template <class T>
void gemm(Trans op_a, Trans op_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
          T const* a, std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c,
          std::int64_t ldc) {
  using detail::address, detail::lead, detail::size;
  detail::Int const rows = detail::size(m), cols = detail::size(n), length = detail::size(k),
                    ld_a = detail::lead(lda), ld_b = detail::lead(ldb), ld_c = detail::lead(ldc);
  if (m > 0 && n > 0)
    shardtype::kernels::detail::Blas<T>::gemm(detail::address(op_a), detail::address(op_b), &rows,
                                              &cols, &length, &alpha, a, &ld_a, b, &ld_b, &beta, c,
                                              &ld_c);
}
/// A = Q R in place: R in the upper triangle, reflectors below it and in `tau` of min(m, n).
template <class T>
std::int32_t geqrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* tau) {
  using detail::lead, detail::size;
  if (m <= 0 || n <= 0) return 0;
  return detail::run_with_work<T>(detail::Lapack<T>::geqrf, detail::size(n), detail::size(m),
                                  detail::size(n), a, detail::lead(lda), tau);
}
/// A = Q R in place, of at least as many rows m as columns n: R in the upper triangle, below it V,
/// whose diagonal is 1, of Q = I - V T V^H; the n x n upper triangle T goes to `t`. By halves, so
/// that most of it is products.
template <class T>
void geqrt3(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* t, std::int64_t ldt) {
  using detail::lead, detail::size;
  if (n > 0)
    detail::run(detail::Lapack<T>::geqrt3, detail::size(m), detail::size(n), a, detail::lead(lda),
                t, detail::lead(ldt));
}
/// The first n columns of Q, m x n, of k reflectors of geqrf, in place (ungqr for complex numbers).
template <class T>
std::int32_t orgqr(std::int64_t m, std::int64_t n, std::int64_t k, T* a, std::int64_t lda,
                   T const* tau) {
  using detail::lead, detail::size;
  if (m <= 0 || n <= 0) return 0;
  return detail::run_with_work<T>(detail::Lapack<T>::orgqr, detail::size(n), detail::size(m),
                                  detail::size(n), detail::size(k), a, detail::lead(lda), tau);
}
/// The m x n matrix c = Q c, or Q^H c if `adjoint`, or with Q on the right, of k reflectors of
/// geqrf (unmqr for complex numbers).
template <class T>
std::int32_t ormqr(Side side, bool adjoint, std::int64_t m, std::int64_t n, std::int64_t k,
                   T const* a, std::int64_t lda, T const* tau, T* c, std::int64_t ldc) {
  using detail::lead, detail::size;
  if (m <= 0 || n <= 0 || k <= 0) return 0;
  Trans const op = !adjoint ? Trans::no : is_complex<T> ? Trans::conjugate : Trans::yes;
  return detail::run_with_work<T>(detail::Lapack<T>::ormqr, detail::size(std::max(m, n)), side, op,
                                  detail::size(m), detail::size(n), detail::size(k), a,
                                  detail::lead(lda), tau, c, detail::lead(ldc));
}
/// Eigenvalues `w`, ascending, and, if `vectors`, eigenvectors in place of the symmetric or
/// Hermitian matrix a, of which one triangle is read (heevd for complex numbers). Returns 0, or
/// what LAPACK says where it does not converge.
template <class T>
std::int32_t syevd(bool vectors, Triangle part, std::int64_t n, T* a, std::int64_t lda,
                   real_t<T>* w) {
  using R = real_t<T>;
  using detail::Int, detail::room;
  if (n <= 0) return 0;
  auto const run = [&](T* work, Int size, [[maybe_unused]] R* reals, [[maybe_unused]] Int size_r,
                       Int* numbers, Int size_i) {
    auto const start = [&](auto const&... more) {
      return detail::run(detail::Lapack<T>::syevd, vectors ? Job::all : Job::values, part,
                         detail::size(n), a, detail::lead(lda), w, work, size, more...);
    };
    if constexpr (is_complex<T>) {
      return start(reals, size_r, numbers, size_i);
    } else {
      return start(numbers, size_i);
    }
  };
  T first{};
  R first_r{};
  Int first_i = 0;
  run(&first, -1, &first_r, -1, &first_i, -1);
  Int const size = detail::asked(first), size_r = detail::asked(first_r);
  return run(detail::room<T>(size).data(), size, detail::room<R>(size_r).data(), size_r,
             detail::room<Int>(first_i).data(), first_i);
}
/// Singular values `s`, descending, of the m x n matrix a, which is overwritten, and, if `vectors`,
/// the first min(m, n) columns of U and rows of V^H. Returns 0, or what LAPACK says where it does
/// not converge.
template <class T>
std::int32_t gesdd(bool vectors, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                   real_t<T>* s, T* u, std::int64_t ldu, T* vt, std::int64_t ldvt) {
  using detail::lead, detail::size;
  std::int64_t const least = std::min(m, n);
  if (least <= 0) return 0;
  auto work_i = detail::room<detail::Int>(detail::size(8 * least));
  [[maybe_unused]] auto work_r = detail::room<real_t<T>>(
      is_complex<T> ? detail::size(std::max(5 * least * least + 5 * least,
                                            2 * std::max(m, n) * least + 2 * least * least + least))
                    : 1);
  auto const run = [&](T* work, detail::Int length) {
    auto const start = [&](auto const&... more) {
      return detail::run(detail::Lapack<T>::gesdd, vectors ? Job::least : Job::values,
                         detail::size(m), detail::size(n), a, detail::lead(lda), s, u,
                         detail::lead(ldu), vt, detail::lead(ldvt), work, length, more...);
    };
    if constexpr (is_complex<T>) {
      return start(work_r.data(), work_i.data());
    } else {
      return start(work_i.data());
    }
  };
  T first{};
  run(&first, -1);
  detail::Int const length = detail::asked(first);
  return run(detail::room<T>(length).data(), length);
}
/// The reciprocal of the condition in the 1-norm, estimated, of the factors of getrf; `norm`: that
/// of the matrix.
template <class T>
real_t<T> gecon(std::int64_t n, T const* a, std::int64_t lda, real_t<T> norm) {
  using More = std::conditional_t<is_complex<T>, real_t<T>, detail::Int>;
  using detail::lead, detail::size;
  real_t<T> result(1);
  if (n > 0)
    detail::run(detail::Lapack<T>::gecon, '1', detail::size(n), a, detail::lead(lda), norm, &result,
                detail::room<T>(detail::size(4 * n)).data(),
                detail::room<More>(detail::size(2 * n)).data());
  return result;
}

}  // namespace shardtype::linalg::kernels

#endif
