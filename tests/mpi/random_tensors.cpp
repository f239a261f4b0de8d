// NEEDS: Random123
// The bits of a random tensor are the same for every sharding and any number of ranks: each block
// is compared with values computed here from the global index.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K", 6> {};

/// The mesh of the same ranks in reverse order.
Mesh<X, Y> reversed_mesh() {
  int const n = on_ranks::rank_total();
  std::vector<int> ranks;
  for (int r = n; r-- > 0;) ranks.push_back(r);
  return Mesh<X, Y>(MPI_COMM_WORLD, {n % 2 == 0 ? n / 2 : n, n % 2 == 0 ? 2 : 1}, ranks);
}

/// Whether each element of the local block has the bits of `expected(n)`, where n is its row-major
/// index in the whole tensor.
template <class A, class Expected>
bool same_bits(A const& a, Expected const& expected) {
  using T = typename A::element;
  std::vector<T> const block = detail::block_on_host(a);
  bool same = true;
  detail::for_each_element(a, [&](std::int64_t k, std::array<std::int64_t, A::rank> const& at) {
    std::int64_t n = 0;
    for (std::size_t d = 0; d < A::rank; ++d) n = n * a.extents()[d] + at[d];
    T const want = expected(n);
    same = same && std::memcmp(&want, &block[static_cast<std::size_t>(k)], sizeof(T)) == 0;
  });
  return same;
}

/// Checks `make` for many shardings of {rows, columns}, on two meshes.
template <class T, class Make, class Expected>
void everywhere(Make make, Expected const& expected) {
  for (auto const& mesh : {on_ranks::two_axes<X, Y>(), reversed_mesh()})
    for (auto const& e : {std::array<std::int64_t, 2>{7, 5}, {16, 12}, {1, 700}, {2, 3}, {0, 4}}) {
      auto same = [&]<class... Parts>() {
        auto const a = make.template operator()<T, Parts...>(mesh, e);
        CHECK(same_bits(a, expected));
      };
      same.template operator()<Dim<I>, Dim<J>>();
      same.template operator()<Dim<I, X>, Dim<J>>();
      same.template operator()<Dim<I, Y>, Dim<J, X>>();
      same.template operator()<Dim<I>, Dim<J, X, Y>>();
      same.template operator()<Dim<I, Y, X>, Dim<J>>();
      same.template operator()<Dim<I>, Dim<J, Y>, Reduced<X>>();
      same.template operator()<Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 3>>>();
    }
}

}  // namespace

TEST_CASE("uniform numbers are the same bits on every mesh") {
  auto make = []<class... Parts>(auto const& mesh, auto const& e) {
    return uniform<Parts...>(mesh, e, RandomKey{7}, -2, 3);
  };
  everywhere<float>(make, random::Uniform<float>{7, -2, 5, 3, std::nextafter(3.0F, -2.0F)});
  everywhere<double>(make, random::Uniform<double>{7, -2, 5, 3, std::nextafter(3.0, -2.0)});
}

TEST_CASE("normal numbers are the same bits on every mesh") {
  auto make = []<class... Parts>(auto const& mesh, auto const& e) {
    return normal<Parts...>(mesh, e, RandomKey{8}, 1, 3);
  };
  everywhere<float>(make, random::Normal<float>{8, 1, 3});
  auto make_complex = []<class... Parts>(auto const& mesh, auto const& e) {
    return normal<Parts...>(mesh, e, RandomKey{8}, {1, -1}, 3);
  };
  everywhere<Kokkos::complex<double>>(
      make_complex, random::Normal<Kokkos::complex<double>>{8, 1, -1, 3 * 0.70710678118654752440});
}

TEST_CASE("bfloat16: rounded once, and never up to the end of a uniform distribution") {
  using Half = bfloat16;
  auto make = []<class... Parts>(auto const& mesh, auto const& e) {
    return uniform<Parts...>(mesh, e, RandomKey{7}, Half(-2), Half(3));
  };
  Half const below_three(2.984375F);
  everywhere<Half>(make, random::Uniform<Half>{7, -2, 5, Half(3), below_three});
  auto make_normal = []<class... Parts>(auto const& mesh, auto const& e) {
    return normal<Parts...>(mesh, e, RandomKey{8}, Half(1), 3);
  };
  everywhere<Half>(make_normal, random::Normal<Half>{8, 1, 3});
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::array<std::int64_t, 1> const e = {100000};
  auto const u = uniform<Half, Dim<I, X>>(mesh, e, RandomKey{7}).tensor();
  auto const f = uniform<float, Dim<I, X>>(mesh, e, RandomKey{7}).tensor();
  CHECK(item(max<Tensor<Half>>(u)) == 1 - 0x1p-8F);
  CHECK(item(max<Tensor<float>>(abs(cast<float>(u) - f))) <= 0x1p-8F);
  CHECK(item(max<Tensor<Half>>(uniform<Half, Dim<I>>(mesh, e, RandomKey{7}, Half(-1), Half(0)))) <
        0);
  CHECK(item(max<Tensor<Half>>(uniform<Half, Dim<I>>(mesh, e, RandomKey{7}, Half(-2), Half(-1)))) <
        -1);
  auto const t = truncated_normal<Half, Dim<I, Y>>(mesh, e, RandomKey{9}, Half(1), Half(2));
  CHECK(item(min<Tensor<Half>>(t)) == 1);
  CHECK(item(max<Tensor<Half>>(t)) == 2);
  auto const b = bernoulli<Half, Dim<I, Y>>(mesh, e, RandomKey{10}, 0.25);
  CHECK(item(sum<Tensor<std::int64_t>>(cast<std::int64_t>(b))) ==
        item(sum<Tensor<std::int64_t>>(
            bernoulli<std::int64_t, Dim<I, Y>>(mesh, e, RandomKey{10}, 0.25))));
}

TEST_CASE("the other distributions on one sharding each") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const t = truncated_normal<double, Dim<I, X>, Dim<J, Y>>(mesh, {33, 7}, RandomKey{9}, 1, 2);
  CHECK(same_bits(
      t, random::TruncatedNormal<double>{9, 1, 2, random::normal_below(1), random::normal_below(-2),
                                         random::normal_below(-1) - random::normal_below(-2)}));
  auto const f = truncated_normal<float, Dim<I, X, Y>>(mesh, {100}, RandomKey{9}, -1, 2);
  CHECK(same_bits(f, random::TruncatedNormal<float>{
                         9, -1, 2, random::normal_below(-1), random::normal_below(-2),
                         random::normal_below(2) - random::normal_below(-1)}));
  auto const w = exponential<float, Dim<I, X, Y>>(mesh, {100}, RandomKey{9}, 0.5);
  CHECK(same_bits(w, random::Exponential<float>{9, 0.5}));
  auto const e = gumbel<double, Dim<I, Y>, Dim<J, X>>(mesh, {33, 7}, RandomKey{9}, 1, 2);
  CHECK(same_bits(e, random::Gumbel<double>{9, 1, 2}));
  auto const g = gamma<double, Dim<I, Cyclic<X, 2>>, Dim<J, Y>>(mesh, {33, 7}, RandomKey{9}, 0.3);
  CHECK(same_bits(g, random::Gamma<double>{9, 0.3, 1}));
  auto const b = bernoulli<std::int32_t, Dim<I, Y>>(mesh, {100}, RandomKey{10}, 0.25);
  CHECK(same_bits(b, random::Bernoulli<std::int32_t>{10, std::uint64_t{1} << 51}));
  auto const t_or_f = bernoulli<bool, Dim<I, Y>>(mesh, {100}, RandomKey{10}, 0.25);
  std::vector<std::int32_t> const ones = to_host(b);
  std::vector<std::uint8_t> const bits = to_host(t_or_f);
  CHECK(std::equal(ones.begin(), ones.end(), bits.begin(), bits.end()));
  auto const i = integers<std::int64_t, Dim<I>, Dim<J, Y>>(mesh, {3, 40}, RandomKey{11}, -5, 6);
  CHECK(same_bits(i, random::Integers<std::int64_t>{11, static_cast<std::uint64_t>(-5), 11,
                                                    (0 - std::uint64_t{11}) % 11}));
  auto const s = integers<std::int32_t, Dim<I>, Dim<J, Y>>(mesh, {3, 40}, RandomKey{11}, -5, 6);
  CHECK(same_bits(s, [&](std::int64_t n) {
    return random::Integers<std::int32_t>{11, static_cast<std::uint64_t>(-5), 11, 5}(n);
  }));
}

TEST_CASE("categories: the largest of logits and Gumbel numbers, on every mesh; never -inf") {
  double const inf = std::numeric_limits<double>::infinity();
  auto const logit = [&](std::int64_t i, std::int64_t j) {
    return (i + j) % 3 == 0 ? -inf : static_cast<double>((3 * i + j) % 5) / 2;
  };
  for (auto const& mesh : {on_ranks::two_axes<X, Y>(), reversed_mesh()})
    for (std::int64_t const rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{23}}) {
      random::Gumbel<double> const noise{15, 0, 1};
      auto const expected = [&](std::int64_t i) {
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < 7; ++j)
          if (logit(i, j) + noise(7 * i + j) > logit(i, best) + noise(7 * i + best)) best = j;
        return best;
      };
      RandomKey const key{15};
      using A = Tensor<double, Dim<I, Y>, Dim<J>>;
      auto const a = from_function<A>(mesh, {rows, 7}, logit);
      CHECK(same_bits(categorical<J>(a, key), expected));
      CHECK(same_bits(categorical<J>(a + 1.0, key), expected));
      CHECK(same_bits(categorical<Dim<I, X>>(a, key), expected));
      auto const split = reshard<Dim<I>, Dim<J, X>>(a);
      CHECK(same_bits(categorical<Dim<I>>(split, key), expected));
      auto const cyclic = reshard<Dim<I, Cyclic<X, 2>>, Dim<J>>(a);
      CHECK(same_bits(categorical<J>(cyclic, key), expected));
      CHECK(same_bits(evaluate<Dim<I, X>>(mesh, categorical<J>(lazy(split), key)), expected));
    }
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const given = from_function<float, Dim<J>>(
      mesh, {3}, [](std::int64_t j) { return std::log(static_cast<float>(j + 1)); });
  auto const many =
      map<Dim<I, X>, Dim<J>>(functions::Add{}, zeros<float, Dim<I, X>>(mesh, {60000}), given);
  auto const drawn = categorical<J>(many, RandomKey{16});
  for (std::int64_t j = 0; j < 3; ++j) {  // five deviations
    double const share = static_cast<double>(item(count_nonzero<Tensor<std::int64_t>>(drawn == j)));
    CHECK(std::abs(share - 10000.0 * static_cast<double>(j + 1)) < 600);
  }
}

TEST_CASE("permutations are the same on every mesh, and complete") {
  for (auto const& mesh : {on_ranks::two_axes<X, Y>(), reversed_mesh()})
    for (std::int64_t n : {0, 1, 2, 7, 1000, 1024, 1025, 65537}) {
      auto const p = permutation<std::int64_t, Dim<I, Y, X>>(mesh, {n}, RandomKey{12});
      std::vector<std::int64_t> const small = random::shuffled(12, n <= 1024 ? n : 0);
      random::Feistel<std::int64_t> const large(12, n);
      CHECK(same_bits(p, [&](std::int64_t k) {
        return n <= 1024 ? small[static_cast<std::size_t>(k)] : large(k);
      }));
      auto const q = permutation<std::int32_t, Dim<I, X>>(mesh, {n}, RandomKey{12});
      auto const whole = to_host(q);
      std::vector<bool> used(static_cast<std::size_t>(n), false);
      for (std::int32_t k : whole) used.at(static_cast<std::size_t>(k)) = true;
      CHECK(static_cast<std::int64_t>(std::count(used.begin(), used.end(), true)) == n);
      CHECK(to_host(p) == std::vector<std::int64_t>(whole.begin(), whole.end()));
      std::int64_t const chosen = n / 3;
      CHECK(to_host(choice<std::int32_t, Dim<I, X>>(mesh, {chosen}, RandomKey{12}, n)) ==
            std::vector<std::int32_t>(whole.begin(), whole.begin() + chosen));
      CHECK(to_host(choice<std::int64_t, Dim<I, Y, X>>(mesh, {n}, RandomKey{12}, n)) == to_host(p));
    }
  auto const mesh = on_ranks::two_axes<X, Y>();
  CHECK(on_ranks::code_of([&] { choice<std::int64_t, Dim<I, X>>(mesh, {4}, RandomKey{12}, 3); }) ==
        "E30");
  CHECK(on_ranks::code_of([&] {
          choice<std::int32_t, Dim<I, X>>(mesh, {4}, RandomKey{12}, std::int64_t{1} << 32);
        }) == "E30");
}

TEST_CASE("no dims, static extents, unreduced sums and maxima, ranks outside") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  random::Uniform<double> const u{13, 0, 1, 1, std::nextafter(1.0, 0.0)};
  CHECK(item(uniform<double>(mesh, {}, RandomKey{13})) == u(0));
  CHECK(same_bits(uniform<double, Dim<K, X>>(mesh, RandomKey{13}), u));
  CHECK(normal<float, Dim<K, X>>(mesh, RandomKey{13}).extents()[0] == 6);
  CHECK(truncated_normal<float, Dim<K, X>>(mesh, RandomKey{13}, 0, 1).extents()[0] == 6);
  CHECK(bernoulli<double, Dim<K, X>>(mesh, RandomKey{13}, 0.5).extents()[0] == 6);
  CHECK(exponential<bfloat16, Dim<K, X>>(mesh, RandomKey{13}).extents()[0] == 6);
  CHECK(gumbel<float, Dim<K, X>>(mesh, RandomKey{13}).extents()[0] == 6);
  CHECK(gamma<float, Dim<K, X>>(mesh, RandomKey{13}, 2).extents()[0] == 6);
  CHECK(integers<std::int32_t, Dim<K, X>>(mesh, RandomKey{13}, 0, 2).extents()[0] == 6);
  CHECK(permutation<std::int32_t, Dim<K, X>>(mesh, RandomKey{13}).extents()[0] == 6);
  auto const sum = uniform<double, Dim<I, X>, Unreduced<Y>>(mesh, {50}, RandomKey{13});
  CHECK(same_bits(all_reduce<Y>(sum), u));
  if (mesh.template coordinate<Y>() > 0) CHECK(same_bits(sum, [](std::int64_t) { return 0.0; }));
  auto const most = uniform<double, Dim<I, X>, Unreduced<Max, Y>>(mesh, {50}, RandomKey{13});
  CHECK(same_bits(all_reduce<Y>(most), u));
  auto const order = permutation<std::int64_t, Dim<I>, Unreduced<Y>>(mesh, {2000}, RandomKey{13});
  CHECK(same_bits(all_reduce<Y>(order), random::Feistel<std::int64_t>(13, 2000)));
  Mesh<X> const one(MPI_COMM_WORLD, {1}, {on_ranks::rank_total() - 1});
  auto const a = uniform<double, Dim<I, X>>(one, {5}, RandomKey{13});
  CHECK(a.local_size() == (one.here() ? 5 : 0));
  CHECK(same_bits(a, u));
}

TEST_CASE("parameters that make no distribution") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto refused_as_e30 = [](auto make) {
    try {
      static_cast<void>(make());
      FAIL("nothing was thrown");
    } catch (Error const& e) {
      CHECK(e.code() == "E30");
    }
  };
  float const most = std::numeric_limits<float>::max();
  RandomKey const key{14};
  using Extents = std::array<std::int64_t, 1>;
  Extents const e{3};
  refused_as_e30([&] { return uniform<float, Dim<I, X>>(mesh, e, key, 1, 1); });
  refused_as_e30([&] { return uniform<float, Dim<I, X>>(mesh, e, key, -most, most); });
  refused_as_e30([&] { return normal<float, Dim<I, X>>(mesh, e, key, 0, -1); });
  refused_as_e30([&] { return truncated_normal<float, Dim<I, X>>(mesh, e, key, 2, 1); });
  refused_as_e30([&] { return truncated_normal<float, Dim<I, X>>(mesh, e, key, 50, 51); });
  refused_as_e30([&] { return bernoulli<float, Dim<I, X>>(mesh, e, key, 1.5); });
  refused_as_e30([&] { return exponential<float, Dim<I, X>>(mesh, e, key, 0); });
  refused_as_e30([&] { return gumbel<double, Dim<I, Y>, Dim<J, X>>(mesh, {3, 1}, key, HUGE_VAL); });
  refused_as_e30([&] { return gamma<float, Dim<K, X>>(mesh, key, 0); });
  refused_as_e30([&] { return integers<std::int32_t, Dim<I, X>>(mesh, e, key, 3, 3); });
  refused_as_e30([&] {
    return integers<std::int32_t, Dim<I, X>>(mesh, e, key, 0, (std::int64_t{1} << 31) + 1);
  });
  CHECK_NOTHROW(integers<std::int32_t, Dim<I, X>>(mesh, e, key, 0, std::int64_t{1} << 31));
  CHECK_NOTHROW(truncated_normal<float, Dim<I, X>>(mesh, e, key, -HUGE_VALF, HUGE_VALF));
}
