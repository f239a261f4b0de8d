// quantile and median, compared with sorted rows on one rank: distributions of the elements, uneven
// and empty blocks, NaN, dims before and after, strict, named, automatic and manual mode; plans.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using Int = std::int64_t;

// The plan of a function: a search, of which no step depends on the length of rows.
struct S : Axis<"S", 4> {};
struct Long : Index<"Long", 50000> {};
constexpr auto middle = [](auto const& a) { return median<Long, Tensor<float>>(square(a)); };
static_assert(plan(middle, type<Tensor<float, Dim<Long, S>>>).count(Collective::all_reduce) == 4);
static_assert(plan(middle, type<Tensor<float, Dim<Long, S>>>).bytes_per_rank() <
              4 * 2 * 3 * 255 * 8);

enum class Data { drawn, sorted, reversed, equal, infinite, one_nan, many_nan };
constexpr Data kinds[] = {Data::drawn,    Data::sorted,  Data::reversed, Data::equal,
                          Data::infinite, Data::one_nan, Data::many_nan};

template <class T>
T element(Data data, Int i, Int n, Int other) {
  auto h = static_cast<std::uint64_t>(i * 131 + other * 65537 + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9U >> 20;
  auto const drawn = static_cast<T>(static_cast<float>(h % 4001) / 8 - 250);
  auto const nan = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  auto const infinity = static_cast<T>(std::numeric_limits<float>::infinity());
  switch (data) {
    case Data::sorted:
      return static_cast<T>(static_cast<float>(i));
    case Data::reversed:
      return static_cast<T>(static_cast<float>(n - i));
    case Data::equal:
      return static_cast<T>(1.5F);
    case Data::infinite:
      return h % 3 == 0 ? infinity : h % 3 == 1 ? static_cast<T>(-infinity) : drawn;
    case Data::one_nan:
      return i == n / 2 && other == 0 ? nan : drawn;
    case Data::many_nan:
      return h % 2 == 0 ? nan : static_cast<T>(-nan);
    case Data::drawn:
      break;
  }
  return drawn;
}

// The quantile of row `other`.
template <class T>
T right(Data data, Int n, Int other, double q) {
  std::vector<double> all;
  for (Int i = 0; i < n; ++i)
    all.push_back(
        static_cast<double>(static_cast<detail::computed_t<T>>(element<T>(data, i, n, other))));
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const as_element = [](double x) {
    return static_cast<T>(static_cast<detail::computed_t<T>>(x));
  };
  if (n == 0 || std::any_of(all.begin(), all.end(), [](double x) { return x != x; }))
    return as_element(nan);
  std::sort(all.begin(), all.end());
  double const place = q * static_cast<double>(n - 1);
  auto const k = static_cast<std::size_t>(place);
  double const weight = place - std::floor(place);
  double const low = all[k];
  double const high = all[std::min(k + 1, all.size() - 1)];
  if (weight == 0 || low == high) return as_element(low);
  if (!std::isfinite(high - low)) return as_element(low * (1 - weight) + high * weight);
  return as_element(weight < 0.5 ? low + (high - low) * weight
                                 : high - (high - low) * (1 - weight));
}
template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

// Local elements of `a`, of at most one dim, that are not the quantile of their row.
template <class A>
Int wrong(A const& a, Data data, Int n, double q) {
  using T = typename A::element;
  Int bad = 0;
  auto const block = harness::host_block(a);
  detail::for_each_element(a, [&](Int at, std::array<Int, A::rank> const& index) {
    Int other = 0;
    if constexpr (A::rank > 0) other = index[0];
    if (!same(block.data()[at], right<T>(data, n, other, q))) ++bad;
  });
  return bad;
}

constexpr double all_q[] = {0, 0.1, 0.25, 0.5, 0.77, 1};

template <class T>
Int wrong_vectors(Mesh<X, Y> const& mesh, Data data, Int n) {
  auto const a =
      from_function<T, Dim<I, X, Y>>(mesh, {n}, [=](Int i) { return element<T>(data, i, n, 0); });
  auto const whole = reshard<Dim<I>>(a);
  auto const cyclic = reshard<Dim<I, Cyclic<Y, 3>>>(a);
  Int bad = wrong(median<I, Tensor<T>>(a), data, n, 0.5) + wrong(median<I>(whole), data, n, 0.5);
  for (double const q : all_q)
    bad +=
        wrong(quantile<I, Tensor<T>>(a, q), data, n, q) + wrong(quantile<I>(whole, q), data, n, q);
  return bad + wrong(quantile<I, Tensor<T>>(cyclic, 0.3), data, n, 0.3);
}

// Rows that lie in the block next to each other, and those that do not.
template <class T>
Int wrong_matrices(Mesh<X, Y> const& mesh, Data data, Int n, Int m, double q) {
  auto const f = [=](Int i, Int j) { return element<T>(data, i, n, j); };
  auto const first = from_function<T, Dim<I, Y>, Dim<J, X>>(mesh, {n, m}, f);
  auto const last =
      from_function<T, Dim<J, X>, Dim<I, Y>>(mesh, {m, n}, [=](Int j, Int i) { return f(i, j); });
  auto const found = quantile<I, Dim<J, X>>(first, q);
  static_assert(std::is_same_v<decltype(found), Tensor<T, Dim<J, X>> const>);
  return wrong(found, data, n, q) + wrong(quantile<I, Dim<J, X>>(last, q), data, n, q) +
         wrong(quantile<I, Dim<J, X, Y>>(first, q), data, n, q) +
         wrong(quantile<I, Dim<J>>(last, q), data, n, q) +
         wrong(quantile<I>(reshard<Dim<I>, Dim<J, X>>(first), q), data, n, q) +
         wrong(quantile<I>(reshard<Dim<J, X>, Dim<I>>(last), q), data, n, q);
}

}  // namespace

TEST_CASE("quantiles of a vector: every distribution, uneven and empty blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Data const data : kinds)
    for (Int const n : {0, 1, 2, 5, 1031}) {
      INFO("data " << static_cast<int>(data) << ", extent " << n);
      CHECK(wrong_vectors<float>(mesh, data, n) == 0);
    }
  for (Data const data : {Data::drawn, Data::infinite, Data::one_nan}) {
    CHECK(wrong_vectors<double>(mesh, data, 517) == 0);
    CHECK(wrong_vectors<bfloat16>(mesh, data, 517) == 0);
  }
}

TEST_CASE("quantiles of the rows of a matrix, and other shardings of the result") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : {std::array<Int, 2>{0, 3}, {3, 0}, {1, 5}, {37, 5}, {300, 3}})
    for (Data const data : {Data::infinite, Data::one_nan}) {
      INFO("data " << static_cast<int>(data) << ", extents " << n[0] << " " << n[1]);
      CHECK(wrong_matrices<float>(mesh, data, n[0], n[1], 0.3) == 0);
    }
  CHECK(wrong_matrices<double>(mesh, Data::drawn, 37, 5, 0.5) == 0);
  // a pending sum is finished first
  auto const a = from_function<float, Dim<I, X>, Dim<J>>(
      mesh, {23, 4}, [](Int i, Int j) { return element<float>(Data::drawn, i, 23, j); });
  CHECK(wrong(median<I, Dim<J, Y>>(to_partial<Y>(a)), Data::drawn, 23, 0.5) == 0);
}

TEST_CASE("in automatic mode and in shard_map") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 24;
  auto const a = from_function<float, Dim<I, X>, Dim<J, Y>>(
      mesh, {n, 24}, [=](Int i, Int j) { return element<float>(Data::drawn, i, n, j); });
  CHECK(wrong(evaluate<Dim<J, X>>(mesh, median<I>(lazy(a))), Data::drawn, n, 0.5) == 0);
  CHECK(wrong(evaluate<Dim<J>>(mesh, quantile<I, Dim<J, Y>>(lazy(a), 0.3)), Data::drawn, n, 0.3) ==
        0);
  auto const rows = reshard<Dim<I>, Dim<J, X, Y>>(a);
  CHECK(wrong(shard_map<Dim<J, X, Y>>([](auto block) { return median<I>(block); }, rows),
              Data::drawn, n, 0.5) == 0);
}

TEST_CASE("plans: searches alone, which send as much for rows of any length") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  bool const shared = on_ranks::rank_total() > 1;
  auto const check = [&](auto const& op, auto const& a, auto const& run) {
    auto const plan = plan_at(op, a);
    CHECK((plan.count(Collective::all_reduce) > 0) == shared);
    CHECK(plan.count(Collective::all_to_all) + plan.count(Collective::all_gather) == 0);
    auto& memory = runtime::run_time.memory;
    Int const others = memory.now() - a.local_size() * static_cast<Int>(sizeof(float));
    memory.reset();
    static_cast<void>(run(a));
    INFO("held " << memory.most() - others << ", planned " << plan.peak_bytes());
    CHECK(memory.most() - others <= plan.peak_bytes());
  };
  auto const vector = from_function<float, Dim<I, X, Y>>(
      mesh, {80011}, [](Int i) { return element<float>(Data::drawn, i, 0, 0); });
  check(op::Quantile<I, Tensor<float>>{}, vector,
        [](auto const& a) { return median<I, Tensor<float>>(a); });
  auto const matrix = from_function<float, Dim<I, X, Y>, Dim<J>>(
      mesh, {8011, 7}, [](Int i, Int j) { return element<float>(Data::drawn, i, 0, j); });
  check(op::Quantile<I, Dim<J>>{}, matrix, [](auto const& a) { return median<I, Dim<J>>(a); });
}

TEST_CASE("errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = full<float, Dim<I>>(mesh, {5}, 1.0F);
  for (double const q : {-0.1, 1.1, std::nan("")})
    CHECK(on_ranks::code_of([&] { quantile<I>(a, q); }) == "E41");
}
