// Sorting along a split dim, compared with sorting the whole dim: distributions of the elements,
// uneven and empty blocks, dims before and after, in strict, automatic and traced mode; what is
// sent and held, against plans.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
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
struct K : Index<"K"> {};

using Int = std::int64_t;

// The plan of a function.
struct S : Axis<"S", 4> {};
struct Long : Index<"Long", 50000> {};
using LongRow = Tensor<float, Dim<Long, S>>;
constexpr auto squares_in_order = [](auto const& a) { return sort<Long, Dim<Long, S>>(square(a)); };
static_assert(plan(squares_in_order, type<LongRow>).count(Collective::all_to_all) == 1);
static_assert(plan(squares_in_order, type<LongRow>).count(Collective::all_gather) == 1);

enum class Data { drawn, sorted, reversed, equal, two, hostile, by_rank };
constexpr Data kinds[] = {Data::drawn, Data::sorted,  Data::reversed, Data::equal,
                          Data::two,   Data::hostile, Data::by_rank};

std::uint64_t hash(Int i) {
  auto h = static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9U;
  return h ^ h >> 27;
}

// Element `i` of `n`; `other` is its index along the other dims. Hostile: NaNs of both signs, both
// zeros, infinities, the least and the largest numbers.
template <class T>
T element(Data data, Int i, Int n, Int other) {
  std::uint64_t const h = hash(i * 131 + other * 65537) >> 8;
  switch (data) {
    case Data::sorted:
      return static_cast<T>(i);
    case Data::reversed:
      return static_cast<T>(n - i);
    case Data::equal:
      return static_cast<T>(1);
    case Data::two:
      return static_cast<T>(h & 1U);
    case Data::by_rank:
      return static_cast<T>(2 * i < n ? 100 + h % 20 : h % 20);
    case Data::hostile:
      if constexpr (std::is_floating_point_v<T>) {
        using Limits = std::numeric_limits<T>;
        T const all[] = {Limits::quiet_NaN(),
                         -Limits::quiet_NaN(),
                         T(0),
                         -T(0),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::denorm_min(),
                         T(1)};
        return all[h % 10];
      } else {
        using Limits = std::numeric_limits<T>;
        return h % 3 == 0 ? Limits::lowest() : h % 3 == 1 ? Limits::max() : T(1);
      }
    case Data::drawn:
      break;
  }
  return static_cast<T>(static_cast<double>(h % 4001) / 8 - 250);
}

// Number of bytes in which the local blocks differ.
template <class A>
Int differing(A const& a, A const& b) {
  auto const x = harness::host_block(a);
  auto const y = harness::host_block(b);
  Int bad = a.extents() == b.extents() ? 0 : 1;
  auto const bytes = static_cast<std::size_t>(a.local_size()) * sizeof(typename A::element);
  std::vector<char> first(bytes);
  std::vector<char> second(bytes);
  if (bytes > 0) std::memcpy(first.data(), x.data(), bytes);
  if (bytes > 0) std::memcpy(second.data(), y.data(), bytes);
  for (std::size_t k = 0; k < bytes; ++k) bad += first[k] != second[k] ? 1 : 0;
  return bad;
}

template <class T>
auto vector_of(Mesh<X, Y> const& mesh, Int n, Data data) {
  return from_function<T, Dim<I, X, Y>>(mesh, {n},
                                        [=](Int i) { return element<T>(data, i, n, 0); });
}

template <class T>
Int wrong_vectors(Mesh<X, Y> const& mesh, Int n, Data data) {
  using Split = Dim<I, X, Y>;
  auto const a = vector_of<T>(mesh, n, data);
  auto const whole = reshard<Dim<I>>(a);
  Int bad = 0;
  for (op::Order const order : {op::Order::ascending, op::Order::descending}) {
    auto const sorted = sort<I, Split>(a, order);
    static_assert(std::is_same_v<decltype(sorted), decltype(a)>);
    bad += differing(sorted, reshard<Split>(sort<I>(whole, order)));
    bad += differing(argsort<I, Split>(a, order), reshard<Split>(argsort<I>(whole, order)));
  }
  return bad;
}

template <class A>
auto slice_of_rows(A const& a) {
  return at<J, Dim<I, X, Y>>(a, 1);
}

// Rows that lie in the block next to each other, and those that do not.
template <class T>
Int wrong_matrices(Mesh<X, Y> const& mesh, Int n, Int m, Data data) {
  auto const f = [=](Int i, Int j) { return element<T>(data, i, n, j); };
  auto const first = from_function<T, Dim<I, Y>, Dim<J, X>>(mesh, {n, m}, f);
  auto const last =
      from_function<T, Dim<J, X>, Dim<I, Y>>(mesh, {m, n}, [=](Int j, Int i) { return f(i, j); });
  Int bad = 0;
  {
    auto const whole = reshard<Dim<I>, Dim<J, X>>(first);
    bad += differing(sort<I, Dim<I, Y>, Dim<J, X>>(first),
                     reshard<Dim<I, Y>, Dim<J, X>>(sort<I>(whole)));
    bad += differing(argsort<I, Dim<I, Y>, Dim<J, X>>(first),
                     reshard<Dim<I, Y>, Dim<J, X>>(argsort<I>(whole)));
  }
  auto const whole = reshard<Dim<J, X>, Dim<I>>(last);
  constexpr auto down = op::Order::descending;
  bad += differing(sort<I, Dim<J, X>, Dim<I, Y>>(last, down),
                   reshard<Dim<J, X>, Dim<I, Y>>(sort<I>(whole, down)));
  bad += differing(argsort<I, Dim<J, X>, Dim<I, Y>>(last, down),
                   reshard<Dim<J, X>, Dim<I, Y>>(argsort<I>(whole, down)));
  return bad;
}

}  // namespace

TEST_CASE("sort and argsort along a split dim: every distribution, uneven and empty blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Data const data : kinds)
    for (Int const n : {5, 1031}) {
      INFO("data " << static_cast<int>(data) << ", extent " << n);
      CHECK(wrong_vectors<float>(mesh, n, data) == 0);
    }
  for (Int const n : {0, 1}) CHECK(wrong_vectors<float>(mesh, n, Data::equal) == 0);
  for (Data const data : {Data::drawn, Data::hostile}) {
    CHECK(wrong_vectors<double>(mesh, 517, data) == 0);
    CHECK(wrong_vectors<Int>(mesh, 517, data) == 0);
    CHECK(wrong_vectors<std::int32_t>(mesh, 517, data) == 0);
    CHECK(wrong_vectors<bool>(mesh, 517, data) == 0);
    CHECK(wrong_vectors<bfloat16>(mesh, 517, data) == 0);
  }
}

TEST_CASE("other shardings of the result, and automatic mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const f = [](Int i, Int j) { return element<float>(Data::drawn, i, 45, j); };
  auto const a = from_function<float, Dim<I, X, Y>, Dim<J>>(mesh, {45, 6}, f);
  auto const whole = sort<I>(reshard<Dim<I>, Dim<J>>(a));
  CHECK(differing(sort<I, Dim<I>, Dim<J>>(a), whole) == 0);
  CHECK(differing(sort<I, Dim<I, X>, Dim<J>>(a), reshard<Dim<I, X>, Dim<J>>(whole)) == 0);
  CHECK(differing(sort<I, Dim<I, X>, Dim<J, Y>>(a), reshard<Dim<I, X>, Dim<J, Y>>(whole)) == 0);
  CHECK(differing(sort<I, Dim<I>, Dim<J, X>>(a), reshard<Dim<I>, Dim<J, X>>(whole)) == 0);
  // rows that are not split yet, and pending sums
  CHECK(differing(sort<I, Dim<I, X>, Dim<J>>(reshard<Dim<I>, Dim<J>>(a)),
                  reshard<Dim<I, X>, Dim<J>>(whole)) == 0);
  CHECK(differing(sort<I, Dim<I, X>, Dim<J>>(to_partial<X>(reshard<Dim<I, X>, Dim<J>>(a))),
                  reshard<Dim<I, X>, Dim<J>>(whole)) == 0);
}

// With little memory rows cannot be brought together.
TEST_CASE("automatic mode sorts rows where they are split") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Split = Dim<I, X, Y>;
  auto const a = vector_of<float>(mesh, 200003, Data::drawn);
  auto const whole = reshard<Dim<I>>(a);
  bool const shared = on_ranks::rank_total() > 1;
  auto const check = [&](auto const& e, auto const& limit, auto const& of_whole) {
    auto const p = planned(evaluate_to<Split>, mesh, e, limit);
    bool exchanges = false;
    for (int k = 0; k < p.plan.size; ++k) exchanges = exchanges || p.plan.is_own_call(k);
    CHECK((!shared || exchanges));
    CHECK(differing(evaluate<Split>(mesh, e, limit), reshard<Split>(of_whole)) == 0);
  };
  check(sort<I>(lazy(a)), MemoryLimit<1'900'000>{}, sort<I>(whole));
  if (shared) check(argsort<I>(lazy(a)), MemoryLimit<6'000'000>{}, argsort<I>(whole));
}

TEST_CASE("gradients: each cotangent goes to where its element came from") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 7, 90}) {
    auto const a = from_function<float, Dim<I, X, Y>, Dim<J>>(
        mesh, {n, 3}, [=](Int i, Int j) { return element<float>(Data::drawn, i, n, j); });
    auto const weights = from_function<float, Dim<I, X, Y>, Dim<J>>(
        mesh, {n, 3}, [](Int i, Int j) { return static_cast<float>(10 * i + j); });
    auto const g = grad([&](auto const& x) {
      return sum(sort<I, Dim<I, X, Y>, Dim<J>>(x, op::Order::descending) * weights);
    })(a);
    auto const of_whole = grad([&](auto const& x) {
      return sum(sort<I>(x, op::Order::descending) * reshard<Dim<I>, Dim<J>>(weights));
    })(reshard<Dim<I>, Dim<J>>(a));
    CHECK(differing(g, reshard<Dim<I, X, Y>, Dim<J>>(of_whole)) == 0);
    auto const vector = slice_of_rows(a);
    auto const along =
        grad([&](auto const& x) { return sum(square(sort<I, Dim<I, X>>(x))); })(vector);
    CHECK(differing(along, (vector + vector).tensor()) == 0);
  }
}

TEST_CASE("rows of matrices") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : {std::array<Int, 2>{0, 3}, {3, 0}, {1, 5}, {37, 5}, {300, 3}})
    for (Data const data : {Data::hostile, Data::by_rank}) {
      INFO("data " << static_cast<int>(data) << ", extents " << n[0] << " " << n[1]);
      CHECK(wrong_matrices<float>(mesh, n[0], n[1], data) == 0);
    }
  CHECK(wrong_matrices<double>(mesh, 37, 5, Data::drawn) == 0);
}

TEST_CASE("plans: steps, and at most four blocks of memory") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  bool const shared = on_ranks::rank_total() > 1;
  auto const check = [&](auto const& op, auto const& a, Int rounds, Int places, auto const& run) {
    auto const plan = plan_at(op, a);
    if (rounds > 0) CHECK(plan.count(Collective::all_reduce) == (shared ? rounds : 0));
    CHECK(plan.count(Collective::all_gather) == (shared ? 1 : 0));
    CHECK(plan.count(Collective::all_to_all) == (shared ? 1 + places : 0));
    auto& memory = runtime::run_time.memory;
    Int const block = a.local_size() * static_cast<Int>(sizeof(float));
    Int const others = memory.now() - block;
    memory.reset();
    static_cast<void>(run(a));
    Int const most = memory.most() - others;
    INFO("held " << most << ", planned " << plan.peak_bytes() << ", block " << block);
    CHECK(most <= plan.peak_bytes());
    if (shared) CHECK(plan.peak_bytes() <= (places > 0 ? 12 : 4) * block + 200000);
  };
  auto const a = vector_of<float>(mesh, 800011, Data::drawn);
  check(op::Sort<I, Dim<I, X, Y>>{}, a, 4, 0,
        [](auto const& x) { return sort<I, Dim<I, X, Y>>(x); });
  check(op::ArgSort<I, Dim<I, X, Y>>{}, a, 4, 1,
        [](auto const& x) { return argsort<I, Dim<I, X, Y>>(x); });
  auto const b = from_function<float, Dim<I, X, Y>, Dim<J>>(
      mesh, {80011, 7}, [](Int i, Int j) { return element<float>(Data::drawn, i, 0, j); });
  check(op::Sort<I, Dim<I, X, Y>, Dim<J>>{}, b, 0, 0,
        [](auto const& x) { return sort<I, Dim<I, X, Y>, Dim<J>>(x); });
}
