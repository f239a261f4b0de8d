// Kernels of optimizers' steps: every element as the formula has it, and with the bits of an update
// of that element alone, for all types of blocks and sizes around those of vectors, tiles and
// calls.
// OPTIMIZE: 2
// COMPILERS: both
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"

using namespace shardtype;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;
using Wide = long double;

namespace {

constexpr std::array<Int, 16> sizes = {0,   1,   2,   3,   7,    15,   16,   17,
                                       100, 511, 512, 513, 4095, 4096, 4097, 9001};
constexpr Int step = 3;
constexpr double rate = 0.01;
constexpr double scale = 0.5;

/// A parameter, its gradient, its moments, and the master copy.
template <class W, class G, class C>
struct Parameter {
  std::vector<W> weights;
  std::vector<G> gradient;
  std::vector<C> m, v, master;

  Parameter(Draw& draw, Int n, bool mastered) {
    auto const drawn = [&] { return static_cast<float>(draw.below(2001)) / 700.0F - 1.4F; };
    for (Int k = 0; k < n; ++k) {
      C const x = static_cast<C>(drawn());
      weights.push_back(static_cast<W>(x));
      gradient.push_back(static_cast<G>(k % 11 == 5 ? 0.0F : drawn()));
      m.push_back(k % 11 == 5 ? C(0) : static_cast<C>(drawn()));
      v.push_back(static_cast<C>(std::abs(drawn())));
      if (mastered) master.push_back(x);
    }
  }
  /// The element `k` alone.
  Parameter(Parameter const& of, std::size_t k)
      : weights{of.weights[k]}, gradient{of.gradient[k]}, m{of.m[k]}, v{of.v[k]} {
    if (!of.master.empty()) master = {of.master[k]};
  }
  void resize(std::size_t n) {
    weights.resize(n);
    gradient.resize(n);
    m.resize(n);
    v.resize(n);
    if (!master.empty()) master.resize(n);
  }
  template <class O>
  void update(O const& optimizer, Int n) {
    train::kernels::Blocks<W, G, C, O::moments> blocks{
        weights.data(), weights.data(), gradient.data(), {m.data()}, nullptr};
    if constexpr (O::moments == 2) blocks.moments[1] = v.data();
    if (!master.empty()) blocks.master = master.data();
    train::kernels::update(Host(), optimizer.template body<C>(rate, step, optimizer.decay), blocks,
                           static_cast<C>(scale), n);
  }
};

/// Whether two numbers have the same bits, or are both NaN, whose bits may differ.
template <class T>
bool same(T a, T b) {
  if (a != a) return b != b;
  if constexpr (std::is_same_v<T, bfloat16>) {
    return a.bits() == b.bits();
  } else {
    return a == b && std::signbit(a) == std::signbit(b);
  }
}

/// The weight after a step, by the formulas as PyTorch's pages have them.
Wide stepped(train::AdamW const& o, Wide x, Wide g, Wide m, Wide v) {
  m = o.beta1 * m + (1 - Wide(o.beta1)) * g;
  v = o.beta2 * v + (1 - Wide(o.beta2)) * g * g;
  // in double, as the kernel gets them: what is left of 1 has few digits
  Wide const mean = m / (1 - std::pow(o.beta1, static_cast<double>(step + 1)));
  Wide const square = v / (1 - std::pow(o.beta2, static_cast<double>(step + 1)));
  return x - rate * o.decay * x - rate * mean / (std::sqrt(square) + o.epsilon);
}
Wide stepped(train::Sgd const& o, Wide x, Wide g, Wide m, Wide) {
  g += o.decay * x;
  m = o.momentum * m + g;
  return x - rate * (o.nesterov ? g + o.momentum * m : m);
}
Wide stepped(train::Lion const& o, Wide x, Wide g, Wide m, Wide) {
  Wide const u = o.beta1 * m + (1 - Wide(o.beta1)) * g;
  return x - rate * o.decay * x - rate * static_cast<Wide>((u > 0) - (u < 0));
}

template <class W, class G, class C, class O>
void check_sizes(O const& optimizer, bool mastered) {
  Draw draw(1);
  for (Int const n : sizes) {
    INFO("elements " << n);
    auto const count = static_cast<std::size_t>(n);
    Parameter<W, G, C> const before(draw, n + 1, mastered);  // the last one is not updated
    Parameter<W, G, C> after = before;
    after.update(optimizer, n);
    for (std::size_t k = 0; k < count; ++k) {
      Parameter<W, G, C> one(before, k);
      one.update(optimizer, 1);
      REQUIRE(same(after.weights[k], one.weights[0]));
      REQUIRE(same(after.m[k], one.m[0]));
      REQUIRE(same(after.v[k], one.v[0]));
      C const x = mastered ? after.master[k] : static_cast<C>(after.weights[k]);
      if (mastered) {
        REQUIRE(same(x, one.master[0]));
        REQUIRE(same(after.weights[k], static_cast<W>(x)));
      }
      Wide const was = mastered ? Wide(before.master[k]) : Wide(static_cast<C>(before.weights[k]));
      Wide const want = stepped(optimizer, was, Wide(static_cast<C>(before.gradient[k])) * scale,
                                Wide(before.m[k]), Wide(before.v[k]));
      Wide const digits = !mastered && std::is_same_v<W, bfloat16>
                              ? Wide(0x1p-8)
                              : Wide(std::numeric_limits<C>::epsilon());
      REQUIRE(std::abs(Wide(x) - want) <= 4 * digits * (std::abs(want) + 1));
    }
    REQUIRE(same(after.weights[count], before.weights[count]));
    REQUIRE(same(after.m[count], before.m[count]));
    REQUIRE(same(after.v[count], before.v[count]));
    if (mastered) REQUIRE(same(after.master[count], before.master[count]));
  }
}
template <class O>
void check_types(O const& optimizer) {
  check_sizes<float, float, float>(optimizer, false);
  check_sizes<double, double, double>(optimizer, false);
  check_sizes<bfloat16, bfloat16, float>(optimizer, true);
  check_sizes<bfloat16, bfloat16, float>(optimizer, false);
  check_sizes<bfloat16, float, float>(optimizer, true);
  check_sizes<float, float, float>(optimizer, true);
}

}  // namespace

TEST_CASE("AdamW of blocks") { check_types(train::AdamW{{.decay = 0.1}}); }
TEST_CASE("gradient descent of blocks") {
  check_types(train::Sgd{{.decay = 0.1}});
  check_types(train::Sgd{{.decay = 0.1}, 0.9});
  check_types(train::Sgd{{.decay = 0.1}, 0.9, true});
}
TEST_CASE("Lion of blocks") { check_types(train::Lion{{.decay = 0.1}}); }

TEST_CASE("numbers that are not finite, and zeros") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  float const nan = std::numeric_limits<float>::quiet_NaN();
  Draw draw(1);
  auto const check = [&](auto const& optimizer) {
    for (Int const n : {Int{5}, Int{16}, Int{37}}) {
      Parameter<float, float, float> p(draw, n, false);
      p.gradient[0] = inf;
      p.gradient[1] = nan;
      p.m[2] = -inf;
      p.gradient[3] = p.m[3] = p.v[3] = p.weights[3] = 0;
      auto const before = p;
      p.update(optimizer, n);
      for (std::size_t k = 0; k < p.weights.size(); ++k) {
        Parameter<float, float, float> one(before, k);
        one.update(optimizer, 1);
        CHECK(same(p.weights[k], one.weights[0]));
        CHECK(std::isfinite(p.weights[k]) ==
              std::isfinite(static_cast<float>(stepped(optimizer, Wide(before.weights[k]),
                                                       Wide(before.gradient[k]) * scale,
                                                       Wide(before.m[k]), Wide(before.v[k])))));
      }
      CHECK(p.weights[3] == 0);
      CHECK(p.m[3] == 0);
      CHECK(std::isnan(p.weights[1]));
    }
  };
  check(train::AdamW{{.decay = 0.1}});
  check(train::Sgd{{.decay = 0.1}, 0.9});
  auto const sign = train::Lion{{.decay = 0.1}};
  Parameter<float, float, float> p(draw, 37, false);
  p.gradient[0] = inf;
  p.gradient[20] = -inf;
  p.gradient[1] = p.gradient[36] = nan;
  p.gradient[3] = p.m[3] = 0;
  auto const before = p;
  p.update(sign, 37);
  CHECK(std::isnan(p.weights[1]));
  CHECK(std::isnan(p.weights[36]));
  for (std::size_t const k : {std::size_t{0}, std::size_t{3}, std::size_t{20}}) {
    INFO(k);
    Wide const want =
        stepped(sign, Wide(before.weights[k]), Wide(before.gradient[k]), Wide(before.m[k]), 0);
    CHECK(std::abs(Wide(p.weights[k]) - want) < 1e-6);
  }
}

TEST_CASE("scaled and converted blocks") {
  Draw draw(1);
  for (Int const n : sizes) {
    std::vector<float> x;
    for (Int k = 0; k <= n; ++k) x.push_back(static_cast<float>(draw.below(2001)) / 700.0F);
    std::vector<bfloat16> small;
    for (float const v : x) small.push_back(bfloat16(v));
    auto y = x;
    auto scaled = small;
    std::vector<bfloat16> rounded(x.size(), bfloat16(7.0F));
    std::vector<float> wide(x.size(), 7.0F);
    train::kernels::scale(Host(), y.data(), n, 0.3F);
    train::kernels::scale(Host(), scaled.data(), n, 0.3F);
    train::kernels::convert(Host(), x.data(), rounded.data(), n);
    train::kernels::convert(Host(), small.data(), wide.data(), n);
    for (std::size_t k = 0; k < x.size(); ++k) {
      bool const in = static_cast<Int>(k) < n;
      REQUIRE(same(y[k], in ? x[k] * 0.3F : x[k]));
      REQUIRE(same(scaled[k], in ? bfloat16(static_cast<float>(small[k]) * 0.3F) : small[k]));
      REQUIRE(same(rounded[k], bfloat16(in ? x[k] : 7.0F)));
      REQUIRE(same(wide[k], in ? static_cast<float>(small[k]) : 7.0F));
    }
  }
}
