// NEEDS: Random123
// The distributions as functions of the element's number: known bits, statistics with fixed keys,
// permutations, and counters beyond 2^32.
// OPTIMIZE: 1
// g++ fuses products with sums by default wherever it may; here clang does as well, and no bit may
// change.
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/generate.hpp>
#include <shardtype/random/distributions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/normal_below.hpp>
#include <shardtype/random/shuffle.hpp>
#include <shardtype/random/waiting_times.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using random::Bits;
using random::draw;

namespace {

constexpr std::int64_t many = 200000;
__extension__ using Wide = unsigned __int128;

template <class Value>
std::vector<double> numbers(Value const& value, std::int64_t n = many) {
  std::vector<double> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(static_cast<double>(value(k)));
  return out;
}

double mean_of(std::vector<double> const& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}
double variance_of(std::vector<double> const& x) {
  double const mean = mean_of(x);
  double sum = 0;
  for (double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}
double correlation(std::vector<double> const& x, std::vector<double> const& y) {
  double const mx = mean_of(x);
  double const my = mean_of(y);
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - mx) * (y[k] - my);
  return sum / static_cast<double>(x.size()) / std::sqrt(variance_of(x) * variance_of(y));
}

/// Kolmogorov-Smirnov: sqrt(n) times the largest distance to the distribution function; above 1.63
/// with probability 1 %.
template <class Below>
double distance(std::vector<double> x, Below below) {
  std::sort(x.begin(), x.end());
  auto const n = static_cast<double>(x.size());
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    double const p = below(x[k]);
    largest =
        std::max({largest, p - static_cast<double>(k) / n, static_cast<double>(k + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

/// Chi-square of counts that should be equal, in deviations from its mean.
double chi_square(std::vector<std::int64_t> const& counts) {
  std::int64_t total = 0;
  for (std::int64_t c : counts) total += c;
  auto const expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double sum = 0;
  for (std::int64_t c : counts) sum += std::pow(static_cast<double>(c) - expected, 2) / expected;
  auto const freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

template <class T>
random::Integers<T> integers_in(std::uint64_t key, std::int64_t low, std::int64_t high) {
  auto const span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return {key, static_cast<std::uint64_t>(low), span, (0 - span) % span};
}

random::TruncatedNormal<double> truncated(std::uint64_t key, double low, double high) {
  double const inside = low > 0 ? random::normal_below(-low) - random::normal_below(-high)
                                : random::normal_below(high) - random::normal_below(low);
  return {key, low, high, random::normal_below(low), random::normal_below(-high), inside};
}

}  // namespace

TEST_CASE("Philox4x32-10 gives the published bits") {
  // Random123's known answers (kat_vectors); words of counter and key are least significant first
  using Philox = r123::Philox4x32_R<10>;
  auto known = [](Philox::ctr_type const& c, Philox::key_type const& k,
                  std::array<std::uint32_t, 4> const& expected) {
    Philox::ctr_type const out = Philox{}(c, k);
    for (std::size_t w = 0; w < 4; ++w) CHECK(out.v[w] == expected[w]);
  };
  constexpr std::uint32_t ones = 0xffffffffU;
  known({{0, 0, 0, 0}}, {{0, 0}}, {0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
  known({{ones, ones, ones, ones}}, {{ones, ones}},
        {0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU});
  known({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}}, {{0xa4093822U, 0x299f31d0U}},
        {0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U});
  // and the library's layout of counter and key
  Bits const zero = draw(0, 0);
  CHECK(zero.a == 0xe169c58d6627e8d5U);
  CHECK(zero.b == 0x9b00dbd8bc57ac4cU);
  Philox::ctr_type const c = {{0x89abcdefU, 0x01234567U, 5, 2}};
  Philox::ctr_type const out = Philox{}(c, {{0x76543210U, 0xfedcba98U}});
  Bits const bits = draw(0xfedcba9876543210U, 0x0123456789abcdefU, 5, random::Purpose::split);
  CHECK(bits.a == (out.v[0] | std::uint64_t{out.v[1]} << 32));
  CHECK(bits.b == (out.v[2] | std::uint64_t{out.v[3]} << 32));
}

TEST_CASE("numbers stay what they are") {
  // programs rely on the values of a key; these hold on every machine
  random::Uniform<double> const d{7, 0, 1, 1, std::nextafter(1.0, 0.0)};
  CHECK(d(0) == 0x1.8013f3b9e8c0fp-1);
  CHECK(d(1) == 0x1.972f7826d05d1p-1);
  CHECK(d(std::int64_t{1} << 40) == 0x1.440da6e3a1ffep-2);
  CHECK(random::Uniform<float>{7, 0, 1, 1, std::nextafter(1.0F, 0.0F)}(0) == 0x1.8013f2p-1F);
  random::Normal<float> const f{7, 0, 1};
  CHECK(f(0) == -0x1.4614c6p-2F);
  CHECK(f(5) == 0x1.ec59bap-1F);
  CHECK(random::standard_normal<float>(0x1234567) == -0x1.c80cf8p+2F);
  random::Normal<double> const g{7, 0, 1};
  CHECK(g(0) == -0x1.4614c842c7680p-2);
  CHECK(g(5) == 0x1.ec59bd2e7df1ap-1);
  CHECK(random::standard_normal<double>(0) == 0x1.095b059d67c4cp+3);
  CHECK(random::standard_normal<double>(0x123456789abU) == -0x1.59662c2ea2481p+2);
  CHECK(random::normal_below(-0.7) == 0x1.ef8aa3a8f355fp-3);
  CHECK(random::normal_below(-3.3) == 0x1.fae82e1b2d7b6p-12);
  CHECK(random::normal_below(-30.1) == 0x1.28b587947b1f1p-660);
  auto const h = truncated(7, 3, 4);
  CHECK(h(0) == 0x1.b0c6bd0fa2cd2p+1);
  constexpr int together = random::numbers_per_block;
  auto const hashed = [&](auto const& compute) {
    std::uint64_t hash = 0;
    for (std::int64_t first = 0; first < 51200; first += together) {
      float a[together];
      double b[together];
      double c[together];
      std::int64_t at[together];
      for (int k = 0; k < together; ++k) at[k] = first + k;
      compute(f, a, at);
      compute(g, b, at);
      compute(h, c, at);
      for (int k = 0; k < together; ++k)
        for (std::uint64_t const bits :
             {std::uint64_t{std::bit_cast<std::uint32_t>(a[k])}, std::bit_cast<std::uint64_t>(b[k]),
              std::bit_cast<std::uint64_t>(c[k])})
          hash = hash * 6364136223846793005U + bits;
    }
    return hash;
  };
  // with this file's instructions, and with those that tensors are computed with
  CHECK(hashed([](auto const& value, auto* out, std::int64_t const* at) {
          value.block(together, out, at);
        }) == 0xdda5f64c687ba6e5U);
  CHECK(hashed([](auto const& value, auto* out, std::int64_t const* at) {
          kernels::detail::compute_block(value, together, out, at);
        }) == 0xdda5f64c687ba6e5U);
  CHECK(integers_in<std::int64_t>(7, -5, 6)(std::int64_t{1} << 40) == -1);
  CHECK(random::shuffled(7, 10) == std::vector<std::int64_t>{8, 5, 1, 9, 3, 0, 7, 2, 4, 6});
  random::Feistel<std::int64_t> const place(7, 65537);
  CHECK(place(0) == 60053);
  CHECK(place(2) == 16180);
  CHECK(RandomKey{7}.fold_in(1) == RandomKey{0x902ee7b54a72dd6dU});
  CHECK(RandomKey{7}.split<2>()[1] == RandomKey{0xac39d6b5092c163fU});
}

TEST_CASE("elements beyond 2^32 do not repeat") {
  std::vector<std::uint64_t> seen;
  for (std::uint64_t high = 0; high < 1000; ++high)
    for (std::uint64_t low = 0; low < 3; ++low) seen.push_back(draw(7, high << 32 | low).a);
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  // a block in the middle of 2^21 x 2^20 x 2^10 elements, 2^51 in all
  struct Place {
    KOKKOS_FUNCTION std::int64_t operator()(std::int64_t n) const { return n; }
  };
  kernels::Layout block;
  block.rank = 3;
  std::int64_t const begin[3] = {(1 << 20) + 5, (1 << 19) + 3, 700};
  std::int64_t const length[3] = {2, 3, 300};
  std::int64_t const whole[3] = {std::int64_t{1} << 30, 1 << 10, 1};
  std::int64_t first = 0;
  for (int d = 0; d < 3; ++d) {
    block.extent[d] = length[d];
    block.stride[d] = whole[d];
    first += begin[d] * whole[d];
  }
  using Exec = Kokkos::DefaultHostExecutionSpace;
  std::vector<std::int64_t> data(2 * 3 * 300, -1);
  kernels::generate(Exec{}, data.data(), block, first, Place{});
  Kokkos::fence();
  std::size_t at = 0;
  bool right = true;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 300; ++k)
        right = right &&
                data[at++] == (begin[0] + i) * whole[0] + (begin[1] + j) * whole[1] + begin[2] + k;
  CHECK(right);
}

TEST_CASE("the normal distribution function") {
  long double const root_half = std::sqrt(0.5L);
  for (double x = -37.5; x < 9; x += 0.0137) {
    long double const exact = std::erfc(-static_cast<long double>(x) * root_half) / 2;
    REQUIRE(std::abs(static_cast<long double>(random::normal_below(x)) - exact) < 1e-14L * exact);
  }
  CHECK(random::normal_below(0) == 0.5);
  CHECK(random::normal_below(HUGE_VAL) == 1);
  CHECK(random::normal_below(-HUGE_VAL) == 0);
  CHECK(std::isnan(random::normal_below(std::nan(""))));
}

TEST_CASE("the normal quantile inverts the distribution function") {
  for (double p = 0.4; p > 1e-300; p *= 0.99) {
    double const x = random::normal_quantile(p);
    // d log(p) / dx is about -x, so an error of x of 1e-16 relative shows x^2 times as large
    CHECK(std::abs(random::normal_below(x) / p - 1) < 1e-15 * (4 + x * x));
  }
  for (double p = 0.4; p > 1e-37; p *= 0.999) {
    double const x = random::normal_size<double>(p);
    REQUIRE(std::abs(double{random::normal_size<float>(p)} - x) < 1e-6 * x);
  }
  CHECK(random::normal_quantile(0.5) == 0.0);
  for (double p : {0.25, 0.0625, 0x1p-30})
    CHECK(random::normal_quantile(1 - p) == -random::normal_quantile(p));
}

TEST_CASE("uniform numbers") {
  random::Uniform<double> const d{11, 0, 1, 1, std::nextafter(1.0, 0.0)};
  auto const x = numbers(d);
  CHECK(std::abs(mean_of(x) - 0.5) < 0.002);
  CHECK(std::abs(variance_of(x) - 1.0 / 12) < 0.001);
  CHECK(distance(x, [](double v) { return v; }) < 1.63);
  random::Uniform<float> const f{11, 0, 1, 1, std::nextafter(1.0F, 0.0F)};
  auto const y = numbers(f);
  CHECK(distance(y, [](double v) { return v; }) < 1.63);
  // with one key, both have the same leading bits
  for (std::size_t k = 0; k < 1000; ++k) CHECK(std::floor(x[k] * 0x1p24) * 0x1p-24 == y[k]);
  // the upper end is not reached, though low + range u may round to it
  random::Uniform<float> const top{3, 1, 0x1p-23F, 1 + 0x1p-23F, 1};
  for (double v : numbers(top, 10000)) CHECK(v == 1.0);
  CHECK(*std::min_element(x.begin(), x.end()) >= 0);
  CHECK(*std::max_element(x.begin(), x.end()) < 1);
}

TEST_CASE("normal numbers") {
  auto const x = numbers(random::Normal<double>{13, 0, 1});
  CHECK(std::abs(mean_of(x)) < 0.008);
  CHECK(std::abs(variance_of(x) - 1) < 0.012);
  CHECK(distance(x, random::normal_below) < 1.63);
  auto const y = numbers(random::Normal<float>{13, 0, 1});
  CHECK(distance(y, random::normal_below) < 1.63);
  for (std::size_t k = 0; k < x.size(); ++k)
    if (std::abs(y[k] - x[k]) > 1e-6 * std::abs(x[k])) FAIL("float is not near double");
  auto const shifted = numbers(random::Normal<double>{13, 5, 0.25});
  CHECK(shifted[17] == 5 + 0.25 * x[17]);
  // the largest sizes that bits give
  CHECK(random::standard_normal<double>(0) > 8.2);
  CHECK(random::standard_normal<double>(0) < 8.4);
  CHECK(random::standard_normal<double>(1) == -random::standard_normal<double>(0));
  CHECK(std::abs(random::standard_normal<float>(0) - 8.2F) < 0.1F);
  // tails: as many beyond 3 and 4 deviations as there should be, and as many below
  for (double const size : {3.0, 4.0}) {
    auto const expected = static_cast<double>(many) * random::normal_below(-size);
    auto const beyond = [&](auto const& is) {
      return static_cast<double>(std::count_if(y.begin(), y.end(), is));
    };
    CHECK(std::abs(beyond([&](double v) { return v > size; }) - expected) <
          4 * std::sqrt(expected));
    CHECK(std::abs(beyond([&](double v) { return v < -size; }) - expected) <
          4 * std::sqrt(expected));
  }
  // complex: parts are uncorrelated and share the variance
  random::Normal<Kokkos::complex<double>> const c{17, 1, -2, std::sqrt(0.5)};
  std::vector<double> re;
  std::vector<double> im;
  for (std::int64_t k = 0; k < many; ++k) {
    auto const z = c(k);
    re.push_back(z.real());
    im.push_back(z.imag());
  }
  CHECK(std::abs(mean_of(re) - 1) < 0.006);
  CHECK(std::abs(mean_of(im) + 2) < 0.006);
  CHECK(std::abs(variance_of(re) + variance_of(im) - 1) < 0.01);
  CHECK(std::abs(correlation(re, im)) < 0.008);
}

TEST_CASE("numbers have the same bits alone and in blocks") {
  auto const check = [](auto const& value, std::int64_t first = std::int64_t{1} << 33) {
    using T = decltype(value(0));
    for (int n = 0; n <= random::numbers_per_block; n += n < 20 ? 1 : 59) {
      std::vector<std::int64_t> at;
      for (int k = 0; k < n; ++k) at.push_back(first + k * 977);
      std::vector<T> out(static_cast<std::size_t>(n));
      value.block(n, out.data(), at.data());
      for (std::size_t k = 0; k < at.size(); ++k) REQUIRE(out[k] == value(at[k]));
    }
  };
  check(random::Bernoulli<std::int32_t>{7, std::uint64_t{1} << 51});
  check(random::Bernoulli<bfloat16>{7, std::uint64_t{3} << 51});
  check(random::Normal<float>{7, 1, 2});
  check(random::Normal<double>{7, 1, 2});
  check(random::Normal<bfloat16>{7, 1, 2});
  check(random::Normal<Kokkos::complex<float>>{7, 1, 2, 3});
  check(random::Normal<Kokkos::complex<double>>{7, 1, 2, 3});
  std::array<double, 2> const ends[] = {
      {-1, 2}, {3, 4}, {-HUGE_VAL, -30}, {-HUGE_VAL, -37}, {-HUGE_VAL, HUGE_VAL}};
  for (auto const& [low, high] : ends) {
    check(truncated(7, low, high));
    double const below = random::normal_below(low);
    check(random::TruncatedNormal<float>{7, static_cast<float>(low), static_cast<float>(high),
                                         below, random::normal_below(-high),
                                         random::normal_below(high) - below});
  }
  // the largest parts of bits that are drawn again are a quarter and a half
  for (std::int64_t const high : {std::int64_t{-3}, std::int64_t{6}, std::int64_t{1} << 32,
                                  (std::int64_t{1} << 32) + 1, INT64_MAX / 2, INT64_MAX})
    for (std::int64_t const low : {std::int64_t{-4}, INT64_MIN / 2 - 1, INT64_MIN})
      check(integers_in<std::int64_t>(7, low, high));
  check(integers_in<std::int32_t>(7, -5, 1000000007));
  check(random::Feistel<std::int32_t>(7, 250000), 0);
  check(random::Feistel<std::int64_t>(7, 1 << 18), 5);
  check(random::Feistel<std::int64_t>(7, (std::int64_t{1} << 40) + 1));
  // sizes that numbers seldom have
  double x[random::numbers_per_block];
  for (int k = 0; k < random::numbers_per_block; ++k) x[k] = std::ldexp(0.7, -k * 4);
  random::normal_sizes(random::numbers_per_block, x, x);
  for (int k = 0; k < random::numbers_per_block; ++k)
    CHECK(x[k] == random::normal_size<double>(std::ldexp(0.7, -k * 4)));
}

TEST_CASE("truncated normal numbers") {
  double const infinity = HUGE_VAL;
  std::array<double, 2> const ends[] = {
      {-2, 2}, {-1, 0.5}, {0.3, 0.4},      {3, 4},        {-8, -7},
      {7, 8},  {30, 31},  {-infinity, -1}, {2, infinity}, {-infinity, infinity}};
  for (auto const& [low, high] : ends) {
    auto const x = numbers(truncated(19, low, high), 50000);
    CHECK(*std::min_element(x.begin(), x.end()) >= low);
    CHECK(*std::max_element(x.begin(), x.end()) <= high);
    bool const upper = low > 0;
    double const a = random::normal_below(upper ? -high : low);
    double const b = random::normal_below(upper ? -low : high);
    CHECK(distance(x, [&](double v) {
            double const p = (random::normal_below(upper ? -v : v) - a) / (b - a);
            return upper ? 1 - p : p;
          }) < 1.63);
  }
  random::TruncatedNormal<float> const f{19,
                                         0.25F,
                                         0.5F,
                                         random::normal_below(0.25),
                                         random::normal_below(-0.5),
                                         random::normal_below(-0.25) - random::normal_below(-0.5)};
  for (double v : numbers(f)) REQUIRE((v >= 0.25 && v <= 0.5));
}

TEST_CASE("exponential, Gumbel and gamma numbers") {
  constexpr std::int64_t n = 100000;
  auto const drawn = [](auto const& f) {
    std::vector<double> x;
    for (std::int64_t k = 0; k < n; ++k) x.push_back(f(k));
    return x;
  };
  random::Exponential<double> const waiting{3, 2};
  CHECK(distance(drawn(waiting), [](double x) { return -std::expm1(-x / 2); }) < 1.63);
  random::Gumbel<double> const extreme{4, 1, 2};
  CHECK(distance(drawn(extreme), [](double x) { return std::exp(-std::exp((1 - x) / 2)); }) < 1.63);
  // the distribution functions of two shapes, the moments of others
  CHECK(distance(drawn(random::Gamma<double>{9, 1, 3}),
                 [](double x) { return -std::expm1(-x / 3); }) < 1.63);
  CHECK(distance(drawn(random::Gamma<double>{9, 0.5, 1}),
                 [](double x) { return std::erf(std::sqrt(x)); }) < 1.63);
  for (double const shape : {0.1, 0.99, 2.5, 100.0, 1e6}) {
    std::vector<double> const x = drawn(random::Gamma<double>{7, shape, 1});
    double mean = 0;
    for (double v : x) mean += v / n;
    double variance = 0;
    for (double v : x) variance += (v - mean) * (v - mean) / n;
    INFO(shape << ": mean " << mean << ", variance " << variance);
    CHECK(std::abs(mean - shape) < 4 * std::sqrt(shape / n));
    // the variance of a square is shape^2 (2 + 6 / shape)
    CHECK(std::abs(variance - shape) < 4 * shape * std::sqrt((2 + 6 / shape) / n));
  }
  CHECK(random::Gamma<float>{7, 1e-3, 1}(0) == 0.0F);
  CHECK(random::Gamma<double>{7, 2.5, 1}(0) == 0x1.bb1dfb3f98b4ap+0);
  CHECK(random::Gamma<double>{7, 2.5, 1}(1) == 0x1.ce87b92ddc588p+0);
  CHECK(random::Gamma<double>{7, 0.3, 1}(2) == 0x1.0efc84da386dfp+0);
  CHECK(random::Exponential<double>{7, 1}(0) == 0x1.2660eddaaf22ap-2);
  CHECK(random::Gumbel<double>{7, 0, 1}(1) == 0x1.794a3c343d956p+0);
}

TEST_CASE("integers are remainders of the first bits that are not drawn again") {
  for (std::uint64_t const span :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000},
        std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 63,
        (std::uint64_t{1} << 63) + 1, std::uint64_t{3} << 62, ~std::uint64_t{0}}) {
    std::uint64_t const rejected = (0 - span) % span;
    random::Integers<std::int64_t> const value{7, 11, span, rejected};
    for (std::int64_t n = 0; n < 1000; ++n) {
      std::vector<std::uint64_t> bits;
      for (std::uint32_t attempt = 0; attempt < 64; ++attempt) {
        random::Bits const drawn = draw(7, static_cast<std::uint64_t>(n), attempt);
        bits.push_back(drawn.a);
        bits.push_back(drawn.b);
      }
      std::size_t first = 0;
      while (bits.at(first) < rejected) ++first;
      REQUIRE(value(n) == static_cast<std::int64_t>(11 + bits[first] % span));
    }
  }
  for (std::uint64_t const a : {std::uint64_t{0}, std::uint64_t{0xffffffffU}, ~std::uint64_t{0}})
    for (std::uint64_t const b :
         {std::uint64_t{1}, std::uint64_t{0xffffffffU} << 32, ~std::uint64_t{0}})
      CHECK(random::upper_product(a, b) ==
            static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64));
}

TEST_CASE("bernoulli and integers") {
  for (double p : {0.0, 1.0, 0.5, 0.1, 0.999}) {
    random::Bernoulli<std::int32_t> const b{23, static_cast<std::uint64_t>(std::ceil(p * 0x1p53))};
    double const got = mean_of(numbers(b));
    CHECK(std::abs(got - p) <= 4 * std::sqrt(p * (1 - p) / many));
  }
  for (std::int64_t span : {1, 2, 3, 10, 1000}) {
    auto const value = integers_in<std::int32_t>(29, -4, -4 + span);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(span), 0);
    for (std::int64_t k = 0; k < many; ++k) ++counts.at(static_cast<std::size_t>(value(k) + 4));
    if (span > 1) CHECK(std::abs(chi_square(counts)) < 3);
  }
  // three quarters of 2^64: without rejection, the lower third would be twice as frequent
  auto const wide = integers_in<std::int64_t>(31, INT64_MIN, INT64_MIN / 2 * -1);
  std::vector<std::int64_t> counts(3, 0);
  for (std::int64_t k = 0; k < many; ++k) {
    std::int64_t const v = wide(k);
    REQUIRE(v < INT64_MIN / 2 * -1);
    ++counts[v < INT64_MIN / 2 ? 0 : v < 0 ? 1 : 2];
  }
  CHECK(std::abs(chi_square(counts)) < 3);
  // the whole range but the last
  auto const all = integers_in<std::int64_t>(31, INT64_MIN, INT64_MAX);
  std::vector<std::int64_t> bytes(256, 0);
  for (std::int64_t k = 0; k < many; ++k) ++bytes[static_cast<std::uint64_t>(all(k)) >> 56];
  CHECK(std::abs(chi_square(bytes)) < 3);
}

TEST_CASE("keys name independent streams") {
  RandomKey const key{37};
  CHECK(key == RandomKey{37});
  std::vector<std::uint64_t> bits = {key.bits()};
  for (std::uint64_t k = 0; k < 1000; ++k) bits.push_back(key.fold_in(k).bits());
  for (RandomKey const& k : key.split<100>()) bits.push_back(k.bits());
  for (RandomKey const& k : key.fold_in(3).split<100>()) bits.push_back(k.bits());
  std::sort(bits.begin(), bits.end());
  CHECK(std::adjacent_find(bits.begin(), bits.end()) == bits.end());
  CHECK(key.split<2>()[1] == key.split<3>()[1]);
  auto stream = [](RandomKey k) {
    return numbers(random::Uniform<double>{k.bits(), 0, 1, 1, 1 - 0x1p-53}, 50000);
  };
  auto const parts = key.split<2>();
  std::vector<std::vector<double>> const streams = {stream(key),
                                                    stream(RandomKey{38}),
                                                    stream(key.fold_in(0)),
                                                    stream(key.fold_in(1)),
                                                    stream(key.fold_in(1).fold_in(0)),
                                                    stream(parts[0]),
                                                    stream(parts[1])};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      CHECK(std::abs(correlation(streams[i], streams[j])) < 4 / std::sqrt(50000.0));
    // neighbours in one stream
    std::vector<double> const head(streams[i].begin(), streams[i].end() - 1);
    std::vector<double> const tail(streams[i].begin() + 1, streams[i].end());
    CHECK(std::abs(correlation(head, tail)) < 4 / std::sqrt(50000.0));
  }
}

TEST_CASE("permutations are bijections") {
  for (std::int64_t n : {1, 2, 3, 7, 1000, 1025, 65536, 65537}) {
    random::Feistel<std::int64_t> const place(41, n);
    std::vector<bool> used(static_cast<std::size_t>(n), false);
    bool once = true;
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t const to = place(k);
      REQUIRE(to >= 0);
      REQUIRE(to < n);
      once = once && !used[static_cast<std::size_t>(to)];
      used[static_cast<std::size_t>(to)] = true;
    }
    CHECK(once);
  }
  for (std::int64_t n : {0, 1, 2, 7, 1000}) {
    auto order = random::shuffled(43, n);
    std::sort(order.begin(), order.end());
    for (std::int64_t k = 0; k < n; ++k) CHECK(order[static_cast<std::size_t>(k)] == k);
    CHECK(order.size() == static_cast<std::size_t>(n));
  }
  // beyond 2^32: a sample has no element twice
  random::Feistel<std::int64_t> const large(47, std::int64_t{10} << 32);
  std::vector<std::int64_t> sample;
  for (std::int64_t k = 0; k < 100000; ++k) sample.push_back(large(k * 429496));
  std::sort(sample.begin(), sample.end());
  CHECK(std::adjacent_find(sample.begin(), sample.end()) == sample.end());
  CHECK(sample.back() > std::int64_t{9} << 32);
  CHECK(sample.back() < std::int64_t{10} << 32);
}

TEST_CASE("a network with a table of its numbers is the same permutation") {
  for (std::int64_t n : {1025, 2048, 2049, 100000, 1 << 26})
    for (std::uint64_t key : {std::uint64_t{61}, ~std::uint64_t{0}}) {
      CAPTURE(n, key);
      random::Feistel<std::int64_t> const place(key, n);
      using Words = random::TabulatedWords;
      REQUIRE(place.high_bits <= Words::most_bits);
      auto const table = Words::table(place.words, place.high_bits, place.rounds);
      random::Feistel<std::int64_t, Words> const other(place, {table.data(), place.high_bits});
      std::int64_t different = 0;
      for (std::int64_t k = 0; k < n; k += 1 + n / 5000) different += place(k) != other(k) ? 1 : 0;
      CHECK(other(n - 1) == place(n - 1));
      CHECK(different == 0);
    }
}

TEST_CASE("permutations are random") {
  // all 24 orders of 4
  std::vector<std::int64_t> orders(256, 0);
  for (std::uint64_t key = 0; key < 24000; ++key) {
    auto const p = random::shuffled(RandomKey{53}.fold_in(key).bits(), 4);
    ++orders[static_cast<std::size_t>(p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3])];
  }
  orders.erase(std::remove(orders.begin(), orders.end(), 0), orders.end());
  CHECK(orders.size() == 24);
  CHECK(std::abs(chi_square(orders)) < 3);
  // where the network sends one element over many keys; and pairs: the difference of two images
  std::int64_t const n = 1500;
  for (std::int64_t element : {0, 1, 777, 1499}) {
    std::vector<std::int64_t> counts(30, 0);
    std::vector<std::int64_t> gaps(29, 0);
    for (std::uint64_t key = 0; key < 30000; ++key) {
      random::Feistel<std::int64_t> const place(key, n);
      std::int64_t const to = place(element);
      ++counts[static_cast<std::size_t>(to / 50)];
      std::int64_t const gap = (place((element + 1) % n) - to + n) % n;  // 1 to 1499
      ++gaps[static_cast<std::size_t>((gap - 1) % 29)];
    }
    CHECK(std::abs(chi_square(counts)) < 3);
    // 1499 = 51 * 29 + 20 gaps: nearly even
    CHECK(std::abs(chi_square(gaps)) < 6);
  }
  // a long one: order of the images is uncorrelated with that of the elements, fixed points are few
  random::Feistel<std::int64_t> const place(59, many);
  auto const images = numbers(place);
  std::vector<double> elements;
  std::int64_t fixed = 0;
  for (std::int64_t k = 0; k < many; ++k) {
    elements.push_back(static_cast<double>(k));
    fixed += images[static_cast<std::size_t>(k)] == elements.back() ? 1 : 0;
  }
  CHECK(std::abs(correlation(images, elements)) < 4 / std::sqrt(static_cast<double>(many)));
  CHECK(fixed < 8);
}
