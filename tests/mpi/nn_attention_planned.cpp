// Options and segments of attention in automatic mode, beside strict mode.
// RANKS: 1 2 4 8
#include <cmath>
#include <cstdint>
#include <tuple>

#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Heads = Tensor<double, Dim<B, X>, Dim<S>, Dim<H, Y>, Dim<F>>;
using InRows = Tensor<double, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;

auto drawn(int seed) {
  return [seed](std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t f) {
    return std::sin(static_cast<double>(seed + 7 * b + 31 * s + 101 * h + 3 * f));
  };
}
constexpr auto document = [](std::int64_t b, std::int64_t s) { return (s + b) / 4; };
constexpr nn::AttentionOptions options{.window = 5, .soft_cap = 2};
constexpr nn::AttentionOptions with_alibi{.window = 5, .soft_cap = 2, .alibi = 8};

// The loss of attention with segments, which reads no sharding.
struct Loss {
  nn::AttentionOptions options;
  constexpr auto operator()(auto const& q, auto const& k, auto const& v, auto const& ids) const {
    return sum(square(nn::attention(q, k, v, ids, ids, options)));
  }
};

}  // namespace

TEST_CASE("attention with options and segments is planned as it runs in strict mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const q = from_function<Heads>(mesh, {3, 13, 3, 2}, drawn(1));
  auto const k = from_function<Heads>(mesh, {3, 13, 3, 2}, drawn(2));
  auto const v = from_function<Heads>(mesh, {3, 13, 3, 2}, drawn(3));
  auto const ids = from_function<std::int64_t, Dim<B, X>, Dim<S>>(mesh, {3, 13}, document);
  auto const got = evaluate(mesh, value_and_grad<0, 1, 2>(Loss{options}), q, k, v, ids);
  auto const whole = [](auto const& a) { return reshard<Dim<B>, Dim<S>, Dim<H>, Dim<F>>(a); };
  auto const want = value_and_grad<0, 1, 2>(Loss{options})(whole(q), whole(k), whole(v),
                                                           reshard<Dim<B>, Dim<S>>(ids));
  CHECK(std::abs(item(got.value) - item(want.value)) < 1e-10);
  CHECK(allclose(whole(std::get<0>(got.grad)), std::get<0>(want.grad), 1e-10, 1e-12));
  CHECK(allclose(whole(std::get<1>(got.grad)), std::get<1>(want.grad), 1e-10, 1e-12));
  CHECK(allclose(whole(std::get<2>(got.grad)), std::get<2>(want.grad), 1e-10, 1e-12));
  // the heads of a block are known forward
  CHECK(array_equal(evaluate<Heads>(mesh, nn::attention(lazy(q), lazy(k), lazy(v), with_alibi)),
                    nn::attention(q, k, v, with_alibi)));
  CHECK(on_ranks::code_of([&] {
          (void)evaluate(mesh, value_and_grad<0, 1, 2>(Loss{with_alibi}), q, k, v, ids);
        }) == "E41");
}

TEST_CASE("a ring with options and segments is recorded") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const q = from_function<InRows>(mesh, {2, 13, 3, 2}, drawn(1));
  auto const ids = from_function<std::int32_t, Dim<B>, Dim<S, X>>(mesh, {2, 13}, document);
  auto const of_keys = reshard<Dim<B>, Dim<S>>(ids);
  auto const ring = [](auto const& a, auto const& b, auto const& c) {
    return nn::attention<InRows>(a, a, a, b, c, with_alibi);
  };
  CHECK(array_equal(evaluate<InRows>(mesh, ring, q, ids, of_keys), ring(q, ids, of_keys)));
}
