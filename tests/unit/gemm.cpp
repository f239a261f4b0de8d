// The local matrix product compared with a naive triple loop. The data are small integers, so that
// every order of summation gives the same bits.
// OPTIMIZE: 1

#include "shardtype/kernels/gemm.hpp"

#include <Kokkos_Core.hpp>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace shardtype::kernels;
using Exec = Kokkos::DefaultHostExecutionSpace;

/// The memory layout of a test matrix.
enum class Layout { rows, columns, padded_rows, padded_columns, spread, backwards };

constexpr std::array<Layout, 6> layouts = {Layout::rows,        Layout::columns,
                                           Layout::padded_rows, Layout::padded_columns,
                                           Layout::spread,      Layout::backwards};

/// A batch of matrices and their memory; the gaps have a value that must not change.
template <class T>
struct Owned {
  std::vector<T> memory;
  Matrix<T> view;

  static T gap() { return T(77); }

  Owned(std::int64_t batch, std::int64_t rows, std::int64_t cols, Layout layout) {
    std::int64_t rs = 0, cs = 0;
    switch (layout) {
      case Layout::rows:
        rs = cols;
        cs = 1;
        break;
      case Layout::columns:
        rs = 1;
        cs = rows;
        break;
      case Layout::padded_rows:
        rs = cols + 3;
        cs = 1;
        break;
      case Layout::padded_columns:
        rs = 1;
        cs = rows + 5;
        break;
      case Layout::spread:
        rs = 2 * cols + 1;
        cs = 2;
        break;
      case Layout::backwards:
        rs = -cols - 2;
        cs = 1;
        break;
    }
    std::int64_t const size =
        std::abs(rs) * std::max<std::int64_t>(rows, 1) + cs * std::max<std::int64_t>(cols, 1) + 1;
    memory.assign(static_cast<std::size_t>(size * batch + 1), gap());
    std::int64_t const start = rs < 0 ? -rs * std::max<std::int64_t>(rows - 1, 0) : 0;
    view = {memory.data() + start, rows, cols, rs, cs, size};
  }

  void fill(std::mt19937& random) {
    std::uniform_int_distribution<int> small(-4, 4);
    for_each([&](T& x, std::int64_t, std::int64_t, std::int64_t) {
      if constexpr (std::is_arithmetic_v<T>) {
        x = static_cast<T>(small(random));
      } else {
        using R = typename T::value_type;
        x = T(static_cast<R>(small(random)), static_cast<R>(small(random)));
      }
    });
  }

  template <class F>
  void for_each(F&& f) {
    std::int64_t const batch = (static_cast<std::int64_t>(memory.size()) - 1) / view.batch_stride;
    for (std::int64_t t = 0; t < batch; ++t) {
      for (std::int64_t i = 0; i < view.rows; ++i) {
        for (std::int64_t j = 0; j < view.cols; ++j) {
          f(*view.member(t).block(i, j, 1, 1).data, t, i, j);
        }
      }
    }
  }
};

template <class T>
T at(Matrix<T> const& x, std::int64_t t, std::int64_t i, std::int64_t j) {
  return x.data[t * x.batch_stride + i * x.row_stride + j * x.col_stride];
}

struct Sizes {
  std::int64_t batch, m, n, k;
};

/// Runs `product` on random data and compares all of C's memory, gaps included.
template <class T, class F>
void check(Sizes const& s, Layout la, Layout lb, Layout lc, bool accumulate, F const& product) {
  std::mt19937 random(static_cast<unsigned>(s.m * 131 + s.n * 17 + s.k));
  Owned<T> a(s.batch, s.m, s.k, la), b(s.batch, s.k, s.n, lb), c(s.batch, s.m, s.n, lc);
  a.fill(random);
  b.fill(random);
  c.fill(random);
  Owned<T> expected(s.batch, s.m, s.n, lc);
  expected.for_each([&](T& x, std::int64_t t, std::int64_t i, std::int64_t j) {
    T sum = accumulate ? at(c.view, t, i, j) : T(0);
    for (std::int64_t p = 0; p < s.k; ++p) {
      sum = static_cast<T>(sum + at(a.view, t, i, p) * at(b.view, t, p, j));
    }
    x = sum;
  });
  if (!accumulate && !std::is_integral_v<T>) {
    // without accumulation C is only written: its old values must not affect the result
    c.for_each([](T& x, std::int64_t, std::int64_t, std::int64_t) {
      x = T(std::numeric_limits<float>::quiet_NaN());
    });
  }
  product(s.batch, a.view, b.view, c.view, accumulate);
  INFO("batch " << s.batch << " m " << s.m << " n " << s.n << " k " << s.k << " layouts "
                << static_cast<int>(la) << static_cast<int>(lb) << static_cast<int>(lc)
                << " accumulate " << accumulate);
  bool const same = c.memory == expected.memory;
  REQUIRE(same);
}

/// All combinations of layouts for one size.
template <class T, class F>
void check_layouts(Sizes const& s, F const& product) {
  for (Layout la : layouts) {
    for (Layout lb : layouts) {
      for (Layout lc : layouts) {
        check<T>(s, la, lb, lc, false, product);
        check<T>(s, la, lb, lc, true, product);
      }
    }
  }
}

/// Small and degenerate sizes in all layouts, then more of them in random layouts.
template <class T, class F>
void check_sizes(F const& product) {
  for (Sizes const& s :
       {Sizes{2, 7, 5, 3}, Sizes{1, 1, 5, 4}, Sizes{1, 5, 1, 4}, Sizes{1, 2, 2, 1},
        Sizes{1, 2, 3, 0}, Sizes{2, 1, 1, 90}, Sizes{2, 1, 70, 33}, Sizes{2, 70, 1, 33}}) {
    check_layouts<T>(s, product);
  }
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> extent(0, 70);
  auto const run = [&](Sizes const& s) {
    auto const pick = [&] { return layouts[static_cast<std::size_t>(extent(random)) % 6]; };
    Layout const la = pick(), lb = pick(), lc = pick();
    check<T>(s, la, lb, lc, extent(random) % 2 == 0, product);
  };
  for (Sizes const& s : {Sizes{1, 1, 1, 1}, Sizes{0, 3, 3, 3}, Sizes{2, 0, 3, 3}, Sizes{2, 3, 0, 3},
                         Sizes{2, 3, 4, 0}, Sizes{1, 0, 0, 0}, Sizes{5, 3, 2, 4},
                         Sizes{1, 24, 64, 1}, Sizes{1, 13, 37, 29}}) {
    for (int i = 0; i < 8; ++i) run(s);
  }
  for (int i = 0; i < 30; ++i) {
    auto const batch = extent(random) % 4;
    auto const m = extent(random), n = extent(random), k = extent(random);
    run({batch, m, n, k});
  }
}

/// Sizes beyond one block along each dimension.
template <class T, class F>
void check_blocks(F const& product) {
  for (bool accumulate : {false, true}) {
    check<T>({1, 1021, 67, 31}, Layout::rows, Layout::rows, Layout::rows, accumulate, product);
    check<T>({1, 17, 41, 1601}, Layout::rows, Layout::columns, Layout::rows, accumulate, product);
    check<T>({1, 2801, 3, 530}, Layout::rows, Layout::rows, Layout::columns, accumulate, product);
  }
}

/// The public function, with and without a workspace.
struct Front {
  template <class T>
  void operator()(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b, Matrix<T> const& c,
                  bool accumulate) const {
    Exec const exec;
    std::vector<char> workspace(gemm_workspace_bytes(exec, batch, a, b, c));
    bool const given = (c.rows + c.cols) % 2 == 0;
    gemm(exec, batch, a, b, c, accumulate, given ? workspace.data() : nullptr, workspace.size());
    exec.fence();
  }
};

/// The packed kernel, also for products where the public function selects another one. `workers` 0
/// means all of the execution space.
struct Packed {
  std::int64_t workers = 0;

  template <class T>
  void operator()(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b, Matrix<T> const& c,
                  bool accumulate) const {
    Exec const exec;
    auto const m = c.rows, n = c.cols, k = a.cols;
    if (workers == 0) {
      std::vector<char> workspace(gemm_workspace_bytes<T>(exec, batch, m, n, k));
      kokkos_gemm(exec, batch, a, b, c, accumulate, workspace.data(), workspace.size());
    } else if (batch > 0 && m > 0 && n > 0) {
      std::vector<char> workspace(std::max(detail::gemm_host_bytes<T>(batch, m, n, k, workers),
                                           detail::gemm_host_bytes<T>(batch, n, m, k, workers)));
      detail::gemm_host<Exec, T>(exec, workers, batch, a, b, c, accumulate, workspace.data());
    }
    exec.fence();
  }
};

/// The kernel for devices, run here.
struct Teams {
  template <class T>
  void operator()(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b, Matrix<T> const& c,
                  bool accumulate) const {
    Exec const exec;
    detail::gemm_team<Exec, T>(exec, batch, a, b, c, accumulate);
    exec.fence();
  }
};

template <class T>
void check_type() {
  check_sizes<T>(Front());
  check_sizes<T>(Packed());
  check_sizes<T>(Packed{3});
  check_sizes<T>(Teams());
  check_blocks<T>(Front());
  check_blocks<T>(Packed());
  check_blocks<T>(Packed{3});
}

}  // namespace

TEST_CASE("gemm float", "[gemm]") { check_type<float>(); }
TEST_CASE("gemm double", "[gemm]") { check_type<double>(); }
TEST_CASE("gemm int32", "[gemm]") { check_type<std::int32_t>(); }
TEST_CASE("gemm int64", "[gemm]") { check_type<std::int64_t>(); }
TEST_CASE("gemm complex float", "[gemm]") { check_type<Kokkos::complex<float>>(); }
TEST_CASE("gemm complex double", "[gemm]") { check_type<Kokkos::complex<double>>(); }

TEST_CASE("gemm takes one factor for a whole batch", "[gemm]") {
  std::vector<double> const a = {1, 2, 3, 4};
  std::vector<double> const b = {1, 0, 0, 1, 0, 1, 1, 0};
  std::vector<double> c(8, -1);
  gemm(Exec(), 2, {a.data(), 2, 2, 2, 1, 0}, {b.data(), 2, 2, 2, 1, 4},
       Matrix<double>{c.data(), 2, 2, 2, 1, 4}, false);
  Exec().fence();
  REQUIRE(c == std::vector<double>{1, 2, 3, 4, 2, 1, 4, 3});
}

TEST_CASE("blas_can tells unit strides from others", "[gemm]") {
  std::vector<float> x(64);
  auto const can = [&](std::int64_t rows, std::int64_t cols, std::int64_t rs, std::int64_t cs) {
    Matrix<float> const m{x.data(), rows, cols, rs, cs};
    Matrix<float> const a{x.data(), rows, 2, 2, 1};
    Matrix<float> const b{x.data(), 2, cols, cols, 1};
    return blas_can(a, b, m);
  };
  std::int64_t const big = std::int64_t{1} << 31;
  CHECK(can(3, 4, 4, 1));
  CHECK(can(3, 4, 1, 3));
  CHECK(can(3, 4, 9, 1));
  CHECK_FALSE(can(3, 4, 3, 1));
  CHECK_FALSE(can(3, 4, 8, 2));
  CHECK_FALSE(can(3, 4, -4, 1));
  CHECK_FALSE(can(3, 4, 0, 1));
  CHECK(can(3, 4, big - 1, 1));
  CHECK_FALSE(can(3, 4, big, 1));
  // A stride along one element is never used.
  CHECK(can(1, 4, big, 1));
  CHECK(can(1, 4, -1, 7));
  CHECK_FALSE(can(1, 4, 1, big));
  CHECK(can(4, 1, 5, 0));
  CHECK(can(1, 1, -5, 0));
  CHECK_FALSE(can(4, 1, -5, 1));
  CHECK(can(0, 4, 0, 0));
  Matrix<std::int32_t> const ints{nullptr, 2, 2, 2, 1};
  CHECK_FALSE(blas_can(ints, ints, ints));
  CHECK(gemm_direct<Exec>(ints, ints, ints));
}

#ifdef SHARDTYPE_HAVE_BLAS

namespace {

/// BLAS with large dimensions split; layouts that BLAS does not support are skipped.
struct CutBlas {
  std::int64_t limit;

  template <class T>
  void operator()(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b, Matrix<T> const& c,
                  bool accumulate) const {
    if (blas_can(a, b, c)) {
      blas_gemm(batch, a, b, c, accumulate, limit);
    } else {
      Front()(batch, a, b, c, accumulate);
    }
  }
};

}  // namespace

TEST_CASE("blas_gemm cuts dimensions beyond 32 bits", "[gemm]") {
  for (std::int64_t limit : {std::int64_t{1}, std::int64_t{4}, std::int64_t{13}}) {
    check_sizes<float>(CutBlas{limit});
    check_sizes<Kokkos::complex<double>>(CutBlas{limit});
  }
}

#endif
