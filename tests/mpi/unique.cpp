// unique along a split dim, compared with a dense one: distributions of the elements, uneven and
// empty blocks, results that are too long and too short; automatic mode; what is sent and held,
// against plans.
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct U : Index<"U"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

// The plan of a function.
struct S : Axis<"S", 4> {};
struct Long : Index<"Long", 40000> {};
constexpr auto of_squares = [](auto const& a) {
  return unique<Long, U, Dim<U, S>>(square(a), 1000, 0).values;
};
constexpr auto sorted_first = plan(of_squares, type<Tensor<float, Dim<Long, S>>>);
static_assert(sorted_first.count(Collective::all_gather) == 2);
static_assert(sorted_first.count(Collective::all_to_all) == 3);

enum class Data { drawn, sorted, reversed, equal, two, hostile, by_rank };
constexpr Data kinds[] = {Data::drawn, Data::sorted,  Data::reversed, Data::equal,
                          Data::two,   Data::hostile, Data::by_rank};

// Element `i` of `n`. Hostile: NaNs of both signs, both zeros, infinities.
template <class T>
T element(Data data, Int i, Int n) {
  auto h = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9U >> 20;
  switch (data) {
    case Data::sorted:
      return static_cast<T>(static_cast<float>(i / 3));
    case Data::reversed:
      return static_cast<T>(static_cast<float>(n - i));
    case Data::equal:
      return static_cast<T>(1);
    case Data::two:
      return static_cast<T>(static_cast<float>(h & 1U));
    case Data::by_rank:
      return static_cast<T>(static_cast<float>(2 * i < n ? 7 : 3));
    case Data::hostile:
      if constexpr (!std::is_integral_v<T>) {
        constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
        constexpr auto infinity = std::numeric_limits<float>::infinity();
        float const all[] = {nan, -nan, 0, -0.0F, infinity, -infinity, 1, -1};
        return static_cast<T>(all[h % 8]);
      }
      [[fallthrough]];
    case Data::drawn:
      break;
  }
  return static_cast<T>(static_cast<float>(h % 97) - 48);
}

// What is right: values, counts, and the number of all.
template <class T>
struct Dense {
  std::vector<T> values;
  std::vector<Int> counts;
  Int distinct = 0;

  Dense(Data data, Int size, Int n, T fill) {
    std::vector<std::pair<T, Int>> in_order;
    for (Int i = 0; i < size; ++i) in_order.emplace_back(element<T>(data, i, size), i);
    auto const less = [](T const& x, T const& y) { return x < y || (x == x && y != y); };
    std::sort(in_order.begin(), in_order.end(), [&](auto const& x, auto const& y) {
      if (less(x.first, y.first)) return true;
      return !less(y.first, x.first) && x.second < y.second;
    });
    std::vector<T> all;
    for (auto const& each : in_order) all.push_back(each.first);
    for (std::size_t k = 0; k < all.size(); ++k) {
      bool const same =
          k > 0 && (all[k] == all[k - 1] || (all[k] != all[k] && all[k - 1] != all[k - 1]));
      if (!same) ++distinct;
      if (distinct > n) continue;
      if (!same) {
        values.push_back(all[k]);
        counts.push_back(0);
      }
      ++counts.back();
    }
    values.resize(static_cast<std::size_t>(n), fill);
    counts.resize(static_cast<std::size_t>(n), 0);
  }
};

// Local elements that differ; NaN is NaN, and 0 is not -0.
template <class A, class T>
Int differ(A const& a, std::vector<T> const& right) {
  auto const block = harness::host_block(a);
  Int const begin = a.rows()[0].range().begin;
  Int bad = a.extents()[0] == static_cast<Int>(right.size()) ? 0 : 1;
  for (Int k = 0; k < a.local_size(); ++k) {
    T const x = block.data()[k];
    T const y = right[static_cast<std::size_t>(begin + k)];
    bool same = x == y || (x != x && y != y);
    if constexpr (!std::is_integral_v<T>) same = same && (x != y || T(1) / x == T(1) / y);
    bad += same ? 0 : 1;
  }
  return bad;
}
template <class Found, class T>
Int differ_all(Found const& found, Dense<T> const& right) {
  Int const distinct = item(found.distinct);
  return differ(found.values, right.values) + differ(found.counts, right.counts) +
         (distinct == right.distinct ? 0 : 1);
}

template <class T>
Int wrong(Grid const& mesh, Int size, Data data, Int n, T fill) {
  auto const a = from_function<T, Dim<I, X, Y>>(mesh, {size},
                                                [=](Int i) { return element<T>(data, i, size); });
  Dense<T> const right(data, size, n, fill);
  auto const found = unique<I, U, Dim<U, X, Y>>(a, n, fill);
  static_assert(std::is_same_v<decltype(found.values), Tensor<T, Dim<U, X, Y>>> &&
                std::is_same_v<decltype(found.counts), Tensor<Int, Dim<U, X, Y>>> &&
                std::is_same_v<decltype(found.distinct), Tensor<Int>>);
  return differ_all(found, right) + differ_all(unique<I, U, Dim<U>>(a, n, fill), right) +
         differ_all(unique<I, U>(reshard<Dim<I>>(a), n, fill), right);
}

}  // namespace

TEST_CASE("unique along a split dim: every distribution, results of all lengths") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Data const data : kinds)
    for (Int const size : {0, 1, 5, 317})
      for (Int const n : {Int{0}, Int{1}, Int{3}, Int{40}, size, size + 9}) {
        INFO("data " << static_cast<int>(data) << ", " << size << " elements, extent " << n);
        CHECK(wrong<float>(mesh, size, data, n, -1.0F) == 0);
      }
  for (Data const data : {Data::drawn, Data::hostile}) {
    CHECK(wrong<double>(mesh, 517, data, 120, 0.0) == 0);
    CHECK(wrong<Int>(mesh, 517, data, 120, Int{-7}) == 0);
    CHECK(wrong<std::int32_t>(mesh, 517, data, 60, 5) == 0);
    CHECK(wrong<bfloat16>(mesh, 517, data, 120, bfloat16(2)) == 0);
  }
}

TEST_CASE("other operands: unreduced, block-cyclic, where each element is, errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  constexpr Int size = 83;
  constexpr Int n = 100;
  constexpr float behind = std::numeric_limits<float>::infinity();
  auto const a = from_function<float, Dim<I, X>>(
      mesh, {size}, [](Int i) { return element<float>(Data::drawn, i, size); });
  Dense<float> const right(Data::drawn, size, n, behind);
  auto const found = unique<I, U, Dim<U, Y>>(to_partial<Y>(a), n, behind);
  CHECK(differ_all(found, right) == 0);
  CHECK(differ_all(unique<I, Dim<I, X>>(reshard<Dim<I, Cyclic<X, 2>>>(a), n, behind), right) == 0);
  auto const inverse = searchsorted<U>(reshard<Dim<U>>(found.values), a);
  CHECK(array_equal(take<U>(reshard<Dim<U>>(found.values), inverse), a));
  CHECK(on_ranks::code_of([&] { unique<I, U, Dim<U>>(a, -1, 0); }) == "E41");
}

TEST_CASE("automatic mode, manual mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  constexpr Int size = 58;
  constexpr Int n = 60;
  auto const a = from_function<Int, Dim<I, X>>(
      mesh, {size}, [](Int i) { return element<Int>(Data::drawn, i, size); });
  Dense<Int> const right(Data::drawn, size, n, Int{9});
  auto const [values, counts, distinct] = unique<I, U, Dim<U, X>>(lazy(a) + 0, n, 9);
  CHECK(differ(evaluate<Dim<U, X>>(mesh, values), right.values) == 0);
  CHECK(differ(evaluate<Dim<U, X>>(mesh, counts), right.counts) == 0);
  CHECK(item(evaluate<>(mesh, distinct)) == right.distinct);
  auto const whole = unique<I, U>(lazy(a), n, 9).counts;
  CHECK(differ(evaluate<Dim<U>>(mesh, whole), right.counts) == 0);
  auto const in_blocks = shard_map<Dim<U>>(
      [](auto const& x) { return unique<I, U>(x, n, Int{9}).values; }, reshard<Dim<I>>(a));
  CHECK(differ(in_blocks, right.values) == 0);
}

TEST_CASE("plans: steps and memory; no rank has more than its blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  bool const shared = on_ranks::rank_total() > 1;
  auto const check = [&](Int size, Int n, auto const& f) {
    auto const a = from_function<float, Dim<I, X, Y>>(mesh, {size}, f);
    auto& memory = runtime::run_time.memory;
    Int const block = a.local_size() * static_cast<Int>(sizeof(float));
    Int const others = memory.now() - block;
    {
      auto const sorted = sort<I, Dim<I, X, Y>>(a);
      op::SharedUnique<float, I, U> const op{{n, 0}};
      auto const plan = plan_at(op, sorted);
      CHECK(plan.count(Collective::all_gather) == (shared ? 1 : 0));
      CHECK(plan.count(Collective::all_to_all) == (shared ? 2 : 0));
      if (shared) CHECK(plan.bytes_per_rank() <= std::min(a.local_size() + 8, n) * 12 + 1000);
      memory.reset();
      shim::reset();
      auto const found = call(op, std::source_location::current(), sorted);
      Int const held = memory.most() - others - block;
      INFO("held " << held << ", planned " << plan.peak_bytes() << ", block " << block);
      CHECK(held <= plan.peak_bytes());
      CHECK(shim::bytes() <= plan.bytes_per_rank());
      CHECK(plan.peak_bytes() <= 2 * held + 10000);
    }
    memory.reset();
    auto const found = unique<I, U, Dim<U, X, Y>>(a, n, 0);
    Int const result = found.values.local_size() * 12;
    INFO("held " << memory.most() - others << ", of blocks " << block << " and " << result);
    CHECK(memory.most() - others <= 4 * std::max(3 * block, result) + 200000);
  };
  constexpr Int size = 200003;
  auto const all_differ = [](Int i) { return static_cast<float>(i * 7919 % size); };
  check(size, size, all_differ);
  check(size, 100, all_differ);
  check(size, 1000, [](Int i) { return static_cast<float>(i % 700); });
}
