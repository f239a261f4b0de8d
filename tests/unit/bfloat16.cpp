// The element type bfloat16: what conversions and operators round, for every pattern of bits and
// against a search for the nearest among them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <shardtype/core/bfloat16.hpp>

#include "harness/catch.hpp"

using shardtype::bfloat16;

namespace {

using Limits = std::numeric_limits<bfloat16>;

static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
static_assert(std::is_trivially_default_constructible_v<bfloat16>);
static_assert(std::is_convertible_v<bfloat16, float> && !std::is_convertible_v<float, bfloat16>);
static_assert(!std::is_convertible_v<double, bfloat16> && !std::is_convertible_v<int, bfloat16>);
static_assert(std::is_constructible_v<bfloat16, double> && std::is_constructible_v<bfloat16, int>);

// The promotion of JAX: an integer does not widen, float and double do.
template <class T>
constexpr bool is_half(T) {
  return std::is_same_v<T, bfloat16>;
}
constexpr bfloat16 two(2);
static_assert(is_half(two + two) && is_half(two * 3) && is_half(1 - two) && is_half(-two));
static_assert(std::is_same_v<decltype(two / 1.0F), float>);
static_assert(std::is_same_v<decltype(1.0 + two), double>);
static_assert(two + two == 4 && two - 3 == -1 && 1 / two == 0.5F && two * two == 4.0);

// Constants.
static_assert(static_cast<float>(Limits::max()) == 0x1.fep127F);
static_assert(static_cast<float>(Limits::min()) == 0x1p-126F);
static_assert(static_cast<float>(Limits::lowest()) == -0x1.fep127F);
static_assert(static_cast<float>(Limits::epsilon()) == 0x1p-7F);
static_assert(bfloat16(1) + Limits::epsilon() > bfloat16(1));
static_assert(static_cast<float>(Limits::denorm_min()) == 0x1p-133F);
static_assert(static_cast<float>(Limits::infinity()) == std::numeric_limits<float>::infinity());
static_assert(Limits::quiet_NaN() != Limits::quiet_NaN());

bfloat16 of_bits(std::uint32_t bits) {
  return bfloat16::from_bits(static_cast<std::uint16_t>(bits));
}

// The finite numbers from the least to the largest.
std::vector<double> finite() {
  std::vector<double> out;
  for (std::uint32_t k = 0; k < 0x7F80; ++k) {
    out.push_back(static_cast<double>(of_bits(k)));
    if (k > 0) out.push_back(-out.back());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The nearest, by search: of two that are equally near the one whose last digit is zero.
float nearest(std::vector<double> const& all, double x) {
  if (std::isnan(x)) return std::numeric_limits<float>::quiet_NaN();
  double const top = all.back();
  double const half_step = 0x1p119;  // half of the distance of the largest two
  if (std::abs(x) >= top + half_step)
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(x));
  if (std::abs(x) >= top) return static_cast<float>(std::copysign(top, x));
  auto const above = std::lower_bound(all.begin(), all.end(), x);
  double const high = *above;
  if (high == x) return static_cast<float>(x);
  double const low = *(above - 1);
  if (x - low != high - x) return static_cast<float>(x - low < high - x ? low : high);
  bool const even = (bfloat16(static_cast<float>(low)).bits() & 1U) == 0;
  return static_cast<float>(even ? low : high);
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("every pattern of bits survives the way to float and back, and the way to double") {
  int bad = 0;
  for (std::uint32_t k = 0; k < 0x10000; ++k) {
    bfloat16 const x = of_bits(k);
    if (bfloat16(static_cast<float>(x)).bits() != k) ++bad;
    bool const nan = x != x;
    if (nan != std::isnan(static_cast<float>(x)) || nan != ((k & 0x7FFF) > 0x7F80)) ++bad;
    bfloat16 const back(static_cast<double>(static_cast<float>(x)));
    if (nan ? back == back : back.bits() != k) ++bad;
    if ((-x).bits() != (k ^ 0x8000)) ++bad;
  }
  CHECK(bad == 0);
}

TEST_CASE("a float becomes the nearest bfloat16, halves to even") {
  auto const all = finite();
  int bad = 0;
  auto const check = [&](std::uint32_t bits) {
    auto const x = std::bit_cast<float>(bits);
    if (!same(bfloat16(x), nearest(all, x))) ++bad;
  };
  // around every number, and the middle of every two, subnormal ones and the largest included
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (std::uint32_t const lower : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      check(upper << 16 | lower);
  std::mt19937 draw(7);
  for (int k = 0; k < 200000; ++k) check(static_cast<std::uint32_t>(draw()));
  CHECK(bad == 0);
  CHECK(bfloat16(0x1.fefffep127F) == Limits::max());
  CHECK(bfloat16(0x1.ffp127F) == Limits::infinity());
  CHECK(std::signbit(static_cast<float>(bfloat16(-0.0F))));
  // a NaN with digits only in the lower half is no infinity
  CHECK(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST_CASE("a double is rounded once") {
  auto const all = finite();
  int bad = 0;
  std::mt19937_64 draw(11);
  for (int k = 0; k < 200000; ++k) {
    // most of them beside a middle, where float would round to it first
    auto const upper = static_cast<std::uint32_t>(draw() % 0x7F00);
    double const low = static_cast<double>(of_bits(upper));
    double const high = static_cast<double>(of_bits(upper + 1));
    double const beside =
        std::ldexp(static_cast<double>(draw() % 5) - 2, -static_cast<int>(draw() % 40));
    double const x = (low + high) / 2 + (high - low) * 0x1p-12 * beside;
    if (!same(bfloat16(x), nearest(all, x)) || !same(bfloat16(-x), -nearest(all, x))) ++bad;
  }
  for (double const x : {1e300, -1e300, 1e-300, 0x1p-134, 0x1.8p-134, 0x1.00000000001p-134,
                         0x1.ffp127, 0x1.feffffffffffp127})
    if (!same(bfloat16(x), nearest(all, x))) ++bad;
  CHECK(bad == 0);
  CHECK(bfloat16(1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7F);
}

TEST_CASE("operators round the exact result of float") {
  std::mt19937 draw(3);
  int bad = 0;
  for (int k = 0; k < 200000; ++k) {
    bfloat16 const a = of_bits(static_cast<std::uint32_t>(draw()) & 0xFFFF);
    bfloat16 const b = of_bits(static_cast<std::uint32_t>(draw()) & 0xFFFF);
    float const x = a;
    float const y = b;
    bfloat16 const results[] = {a + b, a - b, a * b, a / b};
    float const floats[] = {x + y, x - y, x * y, x / y};
    for (int i = 0; i < 4; ++i)
      if (!same(results[i], bfloat16(floats[i]))) ++bad;
    if ((a < b) != (x < y) || (a == b) != (x == y) || (a >= b) != (x >= y)) ++bad;
    bfloat16 sum = a;
    sum += b;
    if (!same(sum, a + b)) ++bad;
  }
  CHECK(bad == 0);
  CHECK(bfloat16(257) == 256);
  CHECK(bfloat16(259) == 260);
  CHECK(bfloat16(true) == 1);
}
