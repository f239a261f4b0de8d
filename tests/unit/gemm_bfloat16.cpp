// The packed product of bfloat16 compared with a naive triple loop, with sums in plain C++ and,
// where the processor has them, by its instructions. What is exact in float has the same bits in
// every order; the others are compared with sums in double.
// OPTIMIZE: 1

#include "shardtype/kernels/gemm_bfloat16.hpp"

#include <Kokkos_Core.hpp>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "shardtype/kernels/product.hpp"

namespace {

using namespace shardtype::kernels;
using shardtype::bfloat16;
using Exec = Kokkos::DefaultHostExecutionSpace;
using Int = std::int64_t;
using detail::PairTile;

/// Zero, with its sign, for a denormal number.
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

/// The sums in plain C++: what vdpbf16ps computes. A product of two bfloat16 has at most 16
/// significant bits: of these roundings only that of the addition changes a value.
void plain_sums(Int pairs, std::uint32_t const* a, std::uint32_t const* b, float* c, Int row_stride,
                bool add) {
  auto const half = [](std::uint32_t word, bool high) {
    return flushed(
        float{bfloat16::from_bits(static_cast<std::uint16_t>(high ? word >> 16 : word))});
  };
  for (int i = 0; i < PairTile::rows; ++i)
    for (int j = 0; j < PairTile::cols; ++j) {
      float sum = 0;
      for (Int p = 0; p < pairs; ++p) {
        std::uint32_t const x = a[p * PairTile::rows + i];
        std::uint32_t const y = b[p * PairTile::cols + j];
        for (bool const high : {true, false})
          sum = flushed(std::fma(half(x, high), half(y, high), sum));
      }
      float& to = c[i * row_stride + j];
      to = add ? to + sum : sum;
    }
}

struct Sizes {
  Int m, n, k;
};

/// Rows and columns of A, B and C may lie either way, with gaps.
struct Ways {
  bool a, b, c;  ///< whether columns are contiguous
  Int gap;
};

template <class T>
Matrix<T> matrix(T* data, Int rows, Int cols, bool columns, Int gap) {
  return {data, rows, cols, columns ? 1 : cols + gap, columns ? rows + gap : 1, 0};
}

/// Compares the product by `sums` of whole numbers, and of others, with a triple loop.
void check(detail::PairSums sums, Sizes const& s, Ways const& ways, bool add, bool whole) {
  std::mt19937 random(static_cast<unsigned>(s.m * 131 + s.n * 17 + s.k));
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> small(-4, 4);
  auto const next = [&] {
    return bfloat16(whole ? static_cast<float>(small(random)) : normal(random));
  };
  auto const room = [&](Int rows, Int cols) {
    return static_cast<std::size_t>((rows + ways.gap) * (cols + ways.gap));
  };
  std::vector<bfloat16> memory_a(room(s.m, s.k));
  std::vector<bfloat16> memory_b(room(s.k, s.n));
  for (auto& x : memory_a) x = next();
  for (auto& x : memory_b) x = next();
  std::vector<float> memory_c(room(s.m, s.n), 3);
  auto const a = matrix<bfloat16 const>(memory_a.data(), s.m, s.k, ways.a, ways.gap);
  auto const b = matrix<bfloat16 const>(memory_b.data(), s.k, s.n, ways.b, ways.gap);
  auto const c = matrix(memory_c.data(), s.m, s.n, ways.c, ways.gap);
  REQUIRE(detail::pairs_fit(ways.c ? s.n : s.m, ways.c ? s.m : s.n, s.k));
  // no word behind what the operands have elements for is touched
  std::vector<std::uint32_t> words_a(static_cast<std::size_t>(s.m * s.k) + 1, 0xABCDU);
  std::vector<std::uint32_t> words_b(static_cast<std::size_t>(s.k * s.n) + 1, 0xABCDU);
  int called = 0;
  detail::multiply_pairs(Exec(), sums, a, b, c, add, words_a.data(), words_b.data(),
                         [&] { ++called; });
  Exec().fence();
  CHECK(called > 0);
  CHECK(words_a.back() == 0xABCDU);
  CHECK(words_b.back() == 0xABCDU);
  INFO("m " << s.m << " n " << s.n << " k " << s.k << " ways " << ways.a << ways.b << ways.c
            << " gap " << ways.gap << " add " << add);
  bool right = true;
  Int inside = 0;
  for (Int i = 0; i < s.m; ++i)
    for (Int j = 0; j < s.n; ++j) {
      double sum = add ? 3 : 0;
      double size = std::fabs(sum);
      for (Int p = 0; p < s.k; ++p) {
        double const term = double{float{a.data[i * a.row_stride + p * a.col_stride]}} *
                            double{float{b.data[p * b.row_stride + j * b.col_stride]}};
        sum += term;
        size += std::fabs(term);
      }
      double const off = std::fabs(double{c.data[i * c.row_stride + j * c.col_stride]} - sum);
      right = right && off <= (whole ? 0 : size * static_cast<double>(s.k) * 0x1p-24);
    }
  // the gaps
  for (float const x : memory_c) inside += x == 3.0F ? 0 : 1;
  right = right && inside <= s.m * s.n;
  REQUIRE(right);
}

void check_all(detail::PairSums sums) {
  for (bool const whole : {true, false})
    for (bool const add : {false, true})
      for (int way = 0; way < 8; ++way)
        for (Int const gap : {0, 3}) {
          Ways const ways{(way & 1) != 0, (way & 2) != 0, (way & 4) != 0, gap};
          for (Sizes const& s : {Sizes{32, 32, 2}, {36, 64, 48}, {47, 45, 5}, {40, 61, 33}})
            check(sums, s, ways, add, whole);
        }
  // beyond one block along each dim
  for (bool const add : {false, true}) {
    check(sums, {2 * PairTile::block_m + 5, 37, 7}, {false, false, false, 0}, add, true);
    check(sums, {33, 37, 2 * PairTile::block_k + 3}, {false, true, false, 1}, add, true);
    check(sums, {33, PairTile::block_m + 40, PairTile::block_k + 2}, {true, false, true, 0}, add,
          true);
  }
}

}  // namespace

TEST_CASE("packed products of bfloat16 by sums in plain C++") { check_all(&plain_sums); }

TEST_CASE("packed products of bfloat16 by the processor's sums") {
#ifdef SHARDTYPE_BFLOAT16_DOTS
  if (shardtype::runtime::best_instructions() >= shardtype::runtime::Instructions::avx512_bf16) {
    check_all(&detail::pair_sums_by_dots);
    return;
  }
#endif
  std::puts("this processor has no AVX512_BF16");
}

TEST_CASE("the processor's sums have the bits of those in plain C++") {
#ifdef SHARDTYPE_BFLOAT16_DOTS
  if (shardtype::runtime::best_instructions() >= shardtype::runtime::Instructions::avx512_bf16) {
    std::mt19937 random(5);
    // exponents of each range: sums that round, that become denormal, and that overflow
    for (auto const& [least, most] : {std::pair{115U, 140U}, {40U, 80U}, {0U, 4U}, {150U, 255U}})
      for (Int const pairs : {1, 2, 7, 40}) {
        std::uniform_int_distribution<unsigned> exponent(least, most);
        auto const half = [&] {
          return static_cast<std::uint32_t>((random() & 0x807FU) | exponent(random) << 7U);
        };
        std::vector<std::uint32_t> a(static_cast<std::size_t>(pairs * PairTile::rows));
        std::vector<std::uint32_t> b(static_cast<std::size_t>(pairs * PairTile::cols));
        for (auto* const words : {&a, &b})
          for (auto& x : *words) x = half() | half() << 16U;
        std::vector<float> by_dots(static_cast<std::size_t>(PairTile::rows * PairTile::cols));
        std::vector<float> plain(by_dots.size());
        detail::pair_sums_by_dots(pairs, a.data(), b.data(), by_dots.data(), PairTile::cols, false);
        plain_sums(pairs, a.data(), b.data(), plain.data(), PairTile::cols, false);
        bool same = true;
        for (std::size_t k = 0; k < plain.size(); ++k)
          same = same && (std::memcmp(&by_dots[k], &plain[k], sizeof(float)) == 0 ||
                          (std::isnan(by_dots[k]) && std::isnan(plain[k])));
        INFO("exponents from " << least << ", pairs " << pairs);
        CHECK(same);
      }
  }
#endif
}

TEST_CASE("a sum of products has the same bits wherever its element lies") {
  auto sums = std::vector<detail::PairSums>{&plain_sums};
#ifdef SHARDTYPE_BFLOAT16_DOTS
  if (shardtype::runtime::best_instructions() >= shardtype::runtime::Instructions::avx512_bf16)
    sums.push_back(&detail::pair_sums_by_dots);
#endif
  // rows and columns of blocks whose edges lie elsewhere, against those of the whole
  Int const m = 45;
  Int const n = 77;
  Int const k = PairTile::block_k + 31;
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::vector<bfloat16> a(static_cast<std::size_t>(m * k));
  std::vector<bfloat16> b(static_cast<std::size_t>(k * n));
  for (auto* const x : {&a, &b})
    for (auto& value : *x) value = bfloat16(normal(random));
  std::vector<std::uint32_t> words_a(a.size());
  std::vector<std::uint32_t> words_b(b.size());
  auto const product = [&](detail::PairSums by, Int row, Int rows, Int col, Int cols) {
    std::vector<float> c(static_cast<std::size_t>(rows * cols));
    detail::multiply_pairs(
        Exec(), by, matrix<bfloat16 const>(a.data(), m, k, false, 0).block(row, 0, rows, k),
        matrix<bfloat16 const>(b.data(), k, n, false, 0).block(0, col, k, cols),
        matrix(c.data(), rows, cols, false, 0), false, words_a.data(), words_b.data(), [] {});
    Exec().fence();
    return c;
  };
  for (auto const by : sums) {
    auto const whole = product(by, 0, m, 0, n);
    for (auto const& [row, rows] : {std::pair<Int, Int>{0, 13}, {5, 40}, {33, 12}})
      for (auto const& [col, cols] : {std::pair<Int, Int>{0, 33}, {9, 68}, {45, 32}}) {
        auto const part = product(by, row, rows, col, cols);
        bool same = true;
        for (Int i = 0; i < rows; ++i)
          for (Int j = 0; j < cols; ++j)
            same = same && part[static_cast<std::size_t>(i * cols + j)] ==
                               whole[static_cast<std::size_t>((row + i) * n + col + j)];
        INFO("rows from " << row << ", columns from " << col);
        CHECK(same);
      }
  }
}

TEST_CASE("what is packed fits into the copies in float") {
  for (Int m = 1; m < 80; ++m)
    for (Int n = 1; n < 80; ++n)
      for (Int const k : {1, 2, 3, 767, 768, 769, 5000}) {
        if (!detail::pairs_fit(m, n, k)) continue;
        CHECK(m >= PairTile::rows);
        CHECK(n >= PairTile::cols);
        CHECK(detail::pair_words(m, PairTile::rows, k) <= m * k);
        CHECK(detail::pair_words(n, PairTile::cols, k) <= n * k);
      }
  CHECK(detail::pairs_fit(12, 32, 2));
  CHECK(detail::pairs_fit(4096, 4096, 4096));
  CHECK_FALSE(detail::pairs_fit(1, 4096, 4096));
  CHECK_FALSE(detail::pairs_fit(4096, 1, 4096));
  CHECK_FALSE(detail::pairs_fit(64, 64, 1));
}

TEST_CASE("the product of bfloat16 blocks is rounded once") {
  // by the instructions where the processor has them, else in float: the same bits, as all sums are
  // exact in float; few columns or rows by their own kernels, in pieces if communication waits
  using Three = std::array<Int, 3>;
  auto& used = shardtype::runtime::run_time.instructions;
  auto const before = used;
  for (auto const set :
       {shardtype::runtime::Instructions::sse2, shardtype::runtime::Instructions::avx512,
        shardtype::runtime::best_instructions()}) {
    if (set > shardtype::runtime::best_instructions()) continue;
    used = set;
    for (Three const& s : {Three{45, 70, 90},
                           {131, 1, 90},
                           {1, 131, 90},
                           {130, 5, 97},
                           {5, 130, 97},
                           {520, 2, 66000}}) {
      auto const [m, n, k] = s;
      std::vector<bfloat16> a(static_cast<std::size_t>(m * k));
      std::vector<bfloat16> b(static_cast<std::size_t>(k * n));
      std::mt19937 random(3);
      std::uniform_int_distribution<int> small(-15, 15);
      for (auto& x : a) x = bfloat16(small(random));
      for (auto& x : b) x = bfloat16(small(random));
      shardtype::runtime::Pool::Owner pool;
      Exec const exec;
      int called = 0;
      Between const between{[](void* count) { ++*static_cast<int*>(count); }, &called};
      auto const labelled = [](std::vector<bfloat16> const& x, Int rows, Int cols, int row,
                               int col) {
        Labelled<bfloat16> out;
        out.layout.rank = 2;
        out.layout.extent[0] = rows;
        out.layout.extent[1] = cols;
        out.layout = out.layout.packed();
        out.label[0] = static_cast<std::int8_t>(row);
        out.label[1] = static_cast<std::int8_t>(col);
        out.data = x.data();
        return out;
      };
      Labelled<bfloat16> const left = labelled(a, m, k, 0, 1);
      Labelled<bfloat16> const right = labelled(b, k, n, 1, 2);
      for (bool const turned : {false, true})
        for (bool const waits : {false, true}) {
          Product<bfloat16, Exec> product(exec, *pool, waits ? between : Between{});
          shardtype::rules::Labels out;
          out.push(turned ? 2 : 0);
          out.push(turned ? 0 : 2);
          std::vector<bfloat16> c(static_cast<std::size_t>(m * n));
          product(left, right, out, c.data());
          bool same = true;
          for (Int i = 0; i < m; ++i)
            for (Int j = 0; j < n; ++j) {
              float sum = 0;
              for (Int p = 0; p < k; ++p)
                sum += float{a[static_cast<std::size_t>(i * k + p)]} *
                       float{b[static_cast<std::size_t>(p * n + j)]};
              same = same && c[static_cast<std::size_t>(turned ? j * m + i : i * n + j)].bits() ==
                                 bfloat16(sum).bits();
            }
          INFO("m " << m << " n " << n << " k " << k << " turned " << turned << " waits " << waits);
          CHECK(same);
        }
    }
  }
  used = before;
}
