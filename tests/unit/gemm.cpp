// The local matrix product compared with a naive triple loop. The data are small integers, so that
// every order of summation gives the same bits.
// OPTIMIZE: 1

#include "shardtype/kernels/gemm.hpp"

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/few_terms.hpp"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "shardtype/core/bfloat16.hpp"
#include "shardtype/kernels/product.hpp"
#include "shardtype/kernels/thin_product.hpp"
#include "shardtype/runtime/run_time.hpp"

namespace {

using namespace shardtype::kernels;
using Exec = Kokkos::DefaultHostExecutionSpace;

/// The memory layout of a test matrix.
enum class MemoryLayout { rows, columns, padded_rows, padded_columns, spread, backwards };

constexpr std::array<MemoryLayout, 6> layouts = {
    MemoryLayout::rows,           MemoryLayout::columns, MemoryLayout::padded_rows,
    MemoryLayout::padded_columns, MemoryLayout::spread,  MemoryLayout::backwards};

/// A batch of matrices and their memory; the gaps have a value that must not change.
template <class T>
struct Owned {
  std::vector<T> memory;
  Matrix<T> view;

  static T gap() { return T(77); }

  Owned(std::int64_t batch, std::int64_t rows, std::int64_t cols, MemoryLayout layout) {
    std::int64_t rs = 0, cs = 0;
    switch (layout) {
      case MemoryLayout::rows:
        rs = cols;
        cs = 1;
        break;
      case MemoryLayout::columns:
        rs = 1;
        cs = rows;
        break;
      case MemoryLayout::padded_rows:
        rs = cols + 3;
        cs = 1;
        break;
      case MemoryLayout::padded_columns:
        rs = 1;
        cs = rows + 5;
        break;
      case MemoryLayout::spread:
        rs = 2 * cols + 1;
        cs = 2;
        break;
      case MemoryLayout::backwards:
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
void check(Sizes const& s, MemoryLayout la, MemoryLayout lb, MemoryLayout lc, bool accumulate,
           F const& product) {
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
  for (MemoryLayout la : layouts) {
    for (MemoryLayout lb : layouts) {
      for (MemoryLayout lc : layouts) {
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
    MemoryLayout const la = pick(), lb = pick(), lc = pick();
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
    check<T>({1, 1021, 67, 31}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows,
             accumulate, product);
    check<T>({1, 17, 41, 1601}, MemoryLayout::rows, MemoryLayout::columns, MemoryLayout::rows,
             accumulate, product);
    check<T>({1, 2801, 3, 530}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::columns,
             accumulate, product);
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

namespace {

/// Sets the processor's best instructions until its end.
struct Best {
  shardtype::runtime::Instructions before = shardtype::runtime::run_time.instructions;
  Best() { shardtype::runtime::run_time.instructions = shardtype::runtime::best_instructions(); }
  ~Best() { shardtype::runtime::run_time.instructions = before; }
  Best(Best const&) = delete;
  Best& operator=(Best const&) = delete;
  /// Whether the kernels for few columns run here.
  static bool thin() {
    bool const has =
        shardtype::runtime::best_instructions() >= shardtype::runtime::Instructions::avx512;
    if (!has) std::puts("this processor has no AVX-512");
    return has;
  }
};

/// Products that kernels of our own take: whole numbers are exact, and all of C's memory is
/// compared; other numbers stay within the bound of sums of rounded terms.
template <class T, class R, class Multiply>
void check_taken(Multiply const& multiply, Sizes const& s, MemoryLayout la, MemoryLayout lb,
                 MemoryLayout lc, bool accumulate, bool whole) {
  std::mt19937 random(static_cast<unsigned>(s.m * 131 + s.n * 17 + s.k));
  std::normal_distribution<float> normal;
  Owned<T> a(s.batch, s.m, s.k, la), b(s.batch, s.k, s.n, lb);
  Owned<R> c(s.batch, s.m, s.n, lc);
  std::uniform_int_distribution<int> small(-4, 4);
  auto const fill = [&](auto& x) {
    x.for_each([&](auto& y, std::int64_t, std::int64_t, std::int64_t) {
      using Y = std::remove_reference_t<decltype(y)>;
      y = whole ? Y(static_cast<float>(small(random))) : Y(normal(random));
    });
  };
  fill(a);
  fill(b);
  fill(c);
  Owned<R> expected = c;
  expected.view.data = expected.memory.data() + (c.view.data - c.memory.data());
  Owned<R> bound = expected;
  bound.view.data = bound.memory.data() + (c.view.data - c.memory.data());
  expected.for_each([&](R& x, std::int64_t t, std::int64_t i, std::int64_t j) {
    double sum = accumulate ? static_cast<double>(x) : 0;
    double size = std::fabs(sum);
    for (std::int64_t p = 0; p < s.k; ++p) {
      double const term =
          static_cast<double>(at(a.view, t, i, p)) * static_cast<double>(at(b.view, t, p, j));
      sum += term;
      size += std::fabs(term);
    }
    x = static_cast<R>(sum);
    *bound.view.member(t).block(i, j, 1, 1).data = static_cast<R>(size);
  });
  if (!accumulate)
    c.for_each([](R& x, std::int64_t, std::int64_t, std::int64_t) {
      x = std::numeric_limits<R>::quiet_NaN();
    });
  Exec const exec;
  Matrix<T const> const left = a.view, right = b.view;
  INFO("batch " << s.batch << " m " << s.m << " n " << s.n << " k " << s.k << " layouts "
                << static_cast<int>(la) << static_cast<int>(lb) << static_cast<int>(lc)
                << " accumulate " << accumulate << " whole " << whole);
  REQUIRE(multiply(exec, s.batch, left, right, c.view, accumulate));
  exec.fence();
  bool right_values = true;
  if (whole) {
    right_values = c.memory == expected.memory;
  } else {
    R const each = static_cast<R>(s.k) * std::numeric_limits<R>::epsilon();
    for (std::size_t k = 0; k < c.memory.size(); ++k)
      right_values =
          right_values && std::fabs(c.memory[k] - expected.memory[k]) <= each * bound.memory[k];
  }
  REQUIRE(right_values);
}
template <class T, class R>
void check_thin(Sizes const& s, MemoryLayout la, MemoryLayout lb, MemoryLayout lc, bool accumulate,
                bool whole) {
  auto const multiply = [](auto const&... x) { return multiply_thin(x...); };
  check_taken<T, R>(multiply, s, la, lb, lc, accumulate, whole);
}

/// Few terms, many rows and columns.
template <class T>
void check_few_terms(Sizes const& s, MemoryLayout la, MemoryLayout lb, MemoryLayout lc,
                     bool accumulate, bool whole) {
  auto const multiply = [](auto const&... x) { return multiply_few_terms(x...); };
  check_taken<T, T>(multiply, s, la, lb, lc, accumulate, whole);
}

template <class T, class R>
void check_thin_type() {
  if (!Best::thin()) return;
  Best const set;
  // of the longer operand the terms or the rows must be neighbours
  std::array<MemoryLayout, 5> const unit = {MemoryLayout::rows, MemoryLayout::columns,
                                            MemoryLayout::padded_rows, MemoryLayout::padded_columns,
                                            MemoryLayout::backwards};
  std::mt19937 random(11);
  auto const pick = [&] { return layouts[random() % 6]; };
  for (std::int64_t n = 2; n <= 32; ++n)
    for (MemoryLayout const big : unit)
      for (bool const turned : {false, true}) {
        std::int64_t const m = 1000000 / (n * 131) + 131 + static_cast<std::int64_t>(random() % 9);
        std::int64_t const k = 131 + static_cast<std::int64_t>(random() % 70);
        bool const accumulate = random() % 2 == 0;
        bool const whole = random() % 3 != 0;
        MemoryLayout const other = pick(), result = pick();
        if (turned)
          check_thin<T, R>({1, n, m, k}, other, big, result, accumulate, whole);
        else
          check_thin<T, R>({1, m, n, k}, big, other, result, accumulate, whole);
      }
  for (bool const accumulate : {false, true}) {
    check_thin<T, R>({3, 997, 5, 317}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows,
                     accumulate, true);
    check_thin<T, R>({3, 5, 997, 317}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows,
                     accumulate, true);
    // beyond one block of terms, and of rows
    check_thin<T, R>({1, 131, 31, 4097}, MemoryLayout::rows, MemoryLayout::columns,
                     MemoryLayout::rows, accumulate, true);
    check_thin<T, R>({1, 31, 1131, 257}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows,
                     accumulate, true);
    check_thin<T, R>({1, 2, 9001, 67}, MemoryLayout::rows, MemoryLayout::rows,
                     MemoryLayout::columns, accumulate, true);
    check_thin<T, R>({1, 66, 2, 40001}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows,
                     accumulate, true);
  }
}

/// Few terms and few columns, or rows.
template <class T, class R>
void check_short_type() {
  std::mt19937 random(12);
  for (std::int64_t k = 1; k <= 16; ++k)
    for (std::int64_t n = 1; n <= 16; ++n) {
      std::int64_t const m = 1024 + static_cast<std::int64_t>(random() % 300);
      bool const accumulate = random() % 2 == 0;
      bool const whole = random() % 3 != 0;
      std::int64_t const batch = 1 + static_cast<std::int64_t>(random() % 2);
      MemoryLayout const big = random() % 2 == 0 ? MemoryLayout::rows : MemoryLayout::columns;
      MemoryLayout const other = layouts[random() % 6], result = layouts[random() % 6];
      check_thin<T, R>({batch, m, n, k}, big, other, result, accumulate, whole);
      check_thin<T, R>({batch, m, n, k}, big, other, MemoryLayout::rows, !accumulate, whole);
      // of the transposed the rows are columns
      check_thin<T, R>({batch, n, m, k}, other, big, result, accumulate, whole);
    }
}

/// Values of single rows do not depend on those around, and a NaN stays in its row.
template <class T, class R>
void check_thin_rows(bool columns) {
  if (!Best::thin()) return;
  Best const set;
  Exec const exec;
  std::int64_t const m = 1003, n = 7, k = 531;
  Owned<T> a(1, m, k, columns ? MemoryLayout::columns : MemoryLayout::rows),
      b(1, k, n, MemoryLayout::rows);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (Owned<T>* const x : {&a, &b})
    x->for_each([&](T& y, std::int64_t, std::int64_t, std::int64_t) { y = T(normal(random)); });
  Matrix<T const> const left = a.view, right = b.view;
  auto const product = [&](std::int64_t row, std::int64_t rows) {
    std::vector<R> c(static_cast<std::size_t>(rows * n));
    REQUIRE(multiply_thin(exec, 1, left.block(row, 0, rows, k), right,
                          Matrix<R>{c.data(), rows, n, n, 1, 0}, false));
    exec.fence();
    return c;
  };
  std::vector<R> const whole = product(0, m);
  for (std::int64_t const row : {1, 61, 130}) {
    std::vector<R> const part = product(row, m - row - 3);
    CHECK(std::equal(part.begin(), part.end(), whole.begin() + row * n));
  }
  for (std::int64_t const row : {std::int64_t{0}, std::int64_t{5}, m - 1})
    for (std::int64_t const term : {std::int64_t{0}, k - 1}) {
      T& x = *a.view.block(row, term, 1, 1).data;
      T const before = x;
      x = T(std::numeric_limits<float>::quiet_NaN());
      std::vector<R> const c = product(0, m);
      x = before;
      bool right_rows = true;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          auto const at = static_cast<std::size_t>(i * n + j);
          right_rows = right_rows && (i == row ? std::isnan(c[at]) : c[at] == whole[at]);
        }
      CHECK(right_rows);
    }
}

}  // namespace

TEST_CASE("products with few columns or rows", "[gemm]") {
  check_thin_type<float, float>();
  check_thin_type<double, double>();
  check_thin_type<shardtype::bfloat16, float>();
}

TEST_CASE("products with few terms and few columns or rows", "[gemm]") {
  check_short_type<float, float>();
  check_short_type<double, double>();
  check_short_type<shardtype::bfloat16, float>();
}

TEST_CASE("products of few terms", "[gemm]") {
  Best const set;
  namespace run = shardtype::runtime;
  std::mt19937 random(13);
  auto const pick = [&] { return layouts[random() % 6]; };
  using enum MemoryLayout;
  for (auto const instructions :
       {run::Instructions::sse2, run::Instructions::avx2, run::best_instructions()}) {
    run::run_time.instructions = std::min(instructions, run::best_instructions());
    for (std::int64_t k = 1; k <= 8; ++k) {
      std::int64_t const m = 64 + static_cast<std::int64_t>(random() % 80);
      std::int64_t const n = 64 + static_cast<std::int64_t>(random() % 1300);
      auto const batch = 1 + static_cast<std::int64_t>(random() % 2);
      bool const accumulate = random() % 2 == 0;
      bool const turned = random() % 2 == 0;
      check_few_terms<shardtype::bfloat16>({batch, turned ? n : m, turned ? m : n, k}, pick(),
                                           pick(), turned ? columns : padded_rows, accumulate,
                                           true);
    }
    // of floats only results beyond the cache
    check_few_terms<float>({1, 1301, 3301, 3}, pick(), pick(), padded_rows, false, true);
    check_few_terms<double>({2, 1101, 1003, 7}, pick(), pick(), columns, false, false);
  }
  Exec const exec;
  std::vector<float> x(64 * 9), y(64 * 64);
  auto const taken = [&](std::int64_t rows, std::int64_t terms) {
    return multiply_few_terms(exec, 1, Matrix<float const>{x.data(), rows, terms, terms, 1},
                              Matrix<float const>{x.data(), terms, 64, 64, 1},
                              Matrix<float>{y.data(), rows, 64, 64, 1}, false);
  };
  CHECK_FALSE(taken(64, 4));  // in the cache
  CHECK_FALSE(taken(64, 9));
  CHECK_FALSE(taken(2, 1));
}

TEST_CASE("rows of products with few columns do not depend on others", "[gemm]") {
  for (bool const columns : {false, true}) {
    check_thin_rows<float, float>(columns);
    check_thin_rows<double, double>(columns);
    check_thin_rows<shardtype::bfloat16, float>(columns);
  }
}

TEST_CASE("gemm passes few columns on and leaves other products alone", "[gemm]") {
  Best const set;
  check<float>({1, 2000, 5, 300}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows, false,
               Front());
  check<double>({2, 5, 2000, 300}, MemoryLayout::rows, MemoryLayout::rows, MemoryLayout::rows, true,
                Front());
  check_sizes<float>(Front());
  check_sizes<double>(Front());
  // too small, not thin, without a unit stride; and with instructions that lack the kernels
  Exec const exec;
  auto const taken = [&](std::int64_t m, std::int64_t n, std::int64_t k, MemoryLayout la) {
    Owned<float> a(1, m, k, la), b(1, k, n, MemoryLayout::rows), c(1, m, n, MemoryLayout::rows);
    Matrix<float const> const left = a.view, right = b.view;
    bool const out = multiply_thin(exec, 1, left, right, c.view, true);
    exec.fence();
    return out;
  };
  CHECK_FALSE(taken(64, 4, 64, MemoryLayout::rows));
  CHECK_FALSE(taken(512, 33, 512, MemoryLayout::rows));
  CHECK_FALSE(taken(1024, 4, 1024, MemoryLayout::spread));
  CHECK_FALSE(taken(65536, 4, 17, MemoryLayout::rows));
  CHECK_FALSE(taken(1000, 4, 16, MemoryLayout::rows));
  CHECK(taken(65536, 4, 16, MemoryLayout::rows));
  CHECK_FALSE(taken(0, 4, 16, MemoryLayout::rows));
  CHECK(taken(1024, 4, 1024, MemoryLayout::rows) == Best::thin());
  shardtype::runtime::run_time.instructions = shardtype::runtime::Instructions::avx2;
  CHECK_FALSE(taken(1024, 4, 1024, MemoryLayout::rows));
}

// Movements go on while products are computed: also beside many products that are too small to be
// cut, but not at the cost of tiny ones.
TEST_CASE("a product calls what lets movements go on", "[gemm]") {
  struct Case {
    std::int64_t n;
    int calls;
  };
  for (Case const c : {Case{32, 0}, {256, 1}, {768, 3}}) {
    auto const size = static_cast<std::size_t>(c.n * c.n);
    std::vector<float> const ones(size, 1);
    std::vector<float> product(size);
    auto const labelled = [&](std::int8_t row, std::int8_t col) {
      Labelled<float> out;
      out.layout.rank = 2;
      out.layout.extent[0] = out.layout.extent[1] = c.n;
      out.layout = out.layout.packed();
      out.label[0] = row;
      out.label[1] = col;
      out.data = ones.data();
      return out;
    };
    shardtype::runtime::Pool::Owner pool;
    int called = 0;
    Between const between{[](void* count) { ++*static_cast<int*>(count); }, &called};
    shardtype::rules::Labels out;
    out.push(0);
    out.push(2);
    Product<float, Exec>(Exec(), *pool, between)(labelled(0, 1), labelled(1, 2), out,
                                                 product.data());
    INFO("n " << c.n);
    CHECK(called == c.calls);
    CHECK(std::count(product.begin(), product.end(), static_cast<float>(c.n)) ==
          static_cast<std::int64_t>(size));
  }
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

/// BLAS in parts, as threads share a product, one after the other.
struct BlasInParts {
  std::int64_t parts;

  template <class T>
  void operator()(std::int64_t batch, Matrix<T> const& a, Matrix<T> const& b, Matrix<T> const& c,
                  bool accumulate) const {
    if (!blas_can(a, b, c) || a.cols == 0) return Front()(batch, a, b, c, accumulate);
    detail::GemmParts<T> const work{a, b, c, accumulate, parts};
    for (std::int64_t k = 0; k < batch * parts; ++k) work(k);
  }
};

static_assert(detail::gemm_parts(1, 1024, 1024, 1024, 2) == 2);
static_assert(detail::gemm_parts(1, 64, 1024, 1024, 16) == 16);
static_assert(detail::gemm_parts(1, 64, 100, 1024, 16) == 1);  // parts would be too narrow
static_assert(detail::gemm_parts(3, 1024, 1024, 1024, 8) == 3);
static_assert(detail::gemm_parts(8, 1024, 1024, 1024, 8) == 1);
static_assert(detail::gemm_parts(1, 64, 128, 16, 2) == 1);  // too small to share

}  // namespace

TEST_CASE("blas_gemm cuts dimensions beyond 32 bits", "[gemm]") {
  for (std::int64_t limit : {std::int64_t{1}, std::int64_t{4}, std::int64_t{13}}) {
    check_sizes<float>(CutBlas{limit});
    check_sizes<Kokkos::complex<double>>(CutBlas{limit});
  }
}

TEST_CASE("products in parts for threads are the same products", "[gemm]") {
  for (std::int64_t parts : {2, 5}) check_sizes<float>(BlasInParts{parts});
}

#endif
