// top_k along a split dim, compared with that of whole rows: equal elements and NaN, uneven and
// empty blocks, dims before and after, candidates and search, gradients, automatic mode; plans.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

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
using Grid = Mesh<X, Y>;

// The plan of a function: of few elements two gathers of candidates, of many a search.
struct S : Axis<"S", 4> {};
struct Long : Index<"Long", 100000> {};
template <Int k>
constexpr auto best = [](auto const& a) { return top_k<Long, K, Dim<K>>(square(a), k).values; };
constexpr auto few = plan(best<10>, type<Tensor<float, Dim<Long, S>>>);
static_assert(few.count(Collective::all_gather) == 2 && few.count(Collective::all_reduce) == 0);
static_assert(few.bytes_per_rank() == 3 * 10 * (4 + 8));
constexpr auto many = plan(best<20000>, type<Tensor<float, Dim<Long, S>>>);
static_assert(many.count(Collective::all_reduce) == 4);
static_assert(many.bytes_per_rank() < 20000 * (4 + 8));

// Of few different values, with NaN.
template <class T>
T element(Int i, Int j) {
  auto h = static_cast<std::uint64_t>(i * 131 + j * 65537 + 1) * 0x9E3779B97F4A7C15U;
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9U >> 20;
  if constexpr (!std::is_integral_v<T>)
    if (h % 7 == 0) return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  return static_cast<T>(static_cast<float>(static_cast<Int>(h % 23) - 11));
}

// Local elements that differ; NaN is NaN.
template <class A>
Int differ(A const& a, A const& b) {
  if (a.extents() != b.extents()) return 1;
  auto const x = harness::host_block(a);
  auto const y = harness::host_block(b);
  Int bad = 0;
  for (Int k = 0; k < a.local_size(); ++k) {
    auto const p = x.data()[k];
    auto const q = y.data()[k];
    if (!(p == q) && (p == p || q == q)) ++bad;
  }
  return bad;
}
template <class Found, class Right>
Int differ_both(Found const& found, Right const& right) {
  using Values = std::remove_cvref_t<decltype(found.values)>;
  using Places = std::remove_cvref_t<decltype(found.places)>;
  return differ(found.values, reshard<Values>(right.values)) +
         differ(found.places, reshard<Places>(right.places));
}

template <class T>
Int wrong(Grid const& mesh, Int n, Int m, Int k) {
  auto const first = from_function<T, Dim<I, X, Y>, Dim<J>>(mesh, {n, m}, element<T>);
  auto const last = from_function<T, Dim<J, X>, Dim<I, Y>>(
      mesh, {m, n}, [](Int j, Int i) { return element<T>(i, j); });
  auto const right = top_k<I, K>(reshard<Dim<I>, Dim<J>>(first), k);
  auto const right_last = top_k<I, K>(reshard<Dim<J>, Dim<I>>(last), k);
  auto const found = top_k<I, K, Dim<K>, Dim<J>>(first, k);
  static_assert(std::is_same_v<decltype(found.values), Tensor<T, Dim<K>, Dim<J>>> &&
                std::is_same_v<decltype(found.places), Tensor<Int, Dim<K>, Dim<J>>>);
  return differ_both(found, right) +
         differ_both(top_k<I, K, Dim<J, X>, Dim<K>>(last, k), right_last) +
         differ_both(top_k<I, K, Tensor<T, Dim<J, X>, Dim<K, Y>>>(last, k), right_last) +
         differ_both(top_k<I, K, Dim<K, X>, Dim<J, Y>>(first, k), right) +
         differ_both(top_k<I, K, Dim<K>, Dim<J>>(reshard<Dim<I, Cyclic<Y, 2>>, Dim<J>>(first), k),
                     right);
}

}  // namespace

TEST_CASE("top_k along a split dim: all positions of the dim, uneven and empty blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : {std::array<Int, 2>{0, 3}, {1, 2}, {5, 1}, {9, 4}, {41, 3}, {7, 0}})
    for (Int const k : {Int{0}, Int{1}, Int{3}, Int{8}, n[0]}) {
      if (k > n[0]) continue;
      INFO(k << " of " << n[0] << " in " << n[1] << " rows");
      CHECK(wrong<float>(mesh, n[0], n[1], k) == 0);
    }
  CHECK(wrong<std::int32_t>(mesh, 41, 3, 6) == 0);
  CHECK(wrong<bfloat16>(mesh, 41, 3, 6) == 0);
  // the index of the result may be that of the operand
  auto const a =
      from_function<float, Dim<I, X>>(mesh, {19}, [](Int i) { return element<float>(i, 0); });
  CHECK(differ_both(top_k<I, Dim<I>>(a, 4), top_k<I>(reshard<Dim<I>>(a), 4)) == 0);
  // a pending sum is finished first
  CHECK(differ_both(top_k<I, K, Dim<K>>(to_partial<Y>(a), 4), top_k<I, K>(reshard<Dim<I>>(a), 4)) ==
        0);
  CHECK(on_ranks::code_of([&] { top_k<I, K, Dim<K>>(a, 20); }) == "E41");
  CHECK(on_ranks::code_of([&] { top_k<I, K, Dim<K>>(a, -1); }) == "E41");
}

TEST_CASE("of many elements the last is found by a search; sent and held as planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  bool const shared = on_ranks::rank_total() > 1;
  auto const check = [&](auto const& a, Int k, bool searches) {
    op::SharedTopK<I, K> const op{k};
    auto const plan = plan_at(op, a);
    CHECK((plan.count(Collective::all_reduce) > 0) == (shared && searches));
    CHECK(plan.count(Collective::all_gather) == (!shared ? 0 : searches ? 3 : 2));
    auto& memory = runtime::run_time.memory;
    Int const others = memory.now() - a.local_size() * static_cast<Int>(sizeof(float));
    memory.reset();
    auto const found = call(op, std::source_location::current(), a);
    INFO("held " << memory.most() - others << ", planned " << plan.peak_bytes());
    CHECK(memory.most() - others <= plan.peak_bytes());
    auto const whole = top_k<I, K>(reshard<Dim<I>, Dim<J>>(a), k);
    CHECK(differ(std::get<0>(found), whole.values) == 0);
    CHECK(differ(std::get<1>(found), whole.places) == 0);
  };
  auto const column = from_function<float, Dim<I, X, Y>, Dim<J>>(mesh, {25013, 1}, element<float>);
  check(column, 12000, true);
  check(column, 40, false);
  auto const columns = from_function<float, Dim<I, X, Y>, Dim<J>>(
      mesh, {25013, 3}, [](Int i, Int j) { return static_cast<float>((i * 7919 + j) % 25013); });
  check(columns, 11000, true);
  check(columns, 25013, false);
}

TEST_CASE("gradients, automatic mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
      mesh, {23, 6}, [](Int i, Int j) { return static_cast<double>((i * 17 + j * 5) % 23); });
  auto const weights = from_function<double, Dim<K>, Dim<J, Y>>(
      mesh, {4, 6}, [](Int k, Int j) { return static_cast<double>(k * 6 + j + 1); });
  auto const whole = reshard<Dim<I>, Dim<J, Y>>(a);
  auto const right = grad<0>([&](auto const& x) {
    return sum<Tensor<double>>(top_k<I, K>(x, 4).values * weights);
  })(whole);
  auto const found = grad<0>([&](auto const& x) {
    return sum<Tensor<double>>(top_k<I, K, Dim<K>, Dim<J, Y>>(x, 4).values * weights);
  })(a);
  static_assert(std::is_same_v<decltype(found), Tensor<double, Dim<I, X>, Dim<J, Y>> const>);
  CHECK(differ(found, reshard<Dim<I, X>, Dim<J, Y>>(right)) == 0);
  // of a result that is split
  auto const split = reshard<Dim<K, X>, Dim<J, Y>>(weights);
  auto const of_split = grad<0>([&](auto const& x) {
    return sum<Tensor<double>>(top_k<I, K, Dim<K, X>, Dim<J, Y>>(x, 4).values * split);
  })(a);
  CHECK(differ(found, of_split) == 0);

  auto const best = top_k<I, K>(whole, 4);
  auto const recorded = top_k<I, K, Dim<K>, Dim<J, X>>(lazy(a) * 2.0, 4);
  auto const values = evaluate<Dim<K>, Dim<J, X>>(mesh, recorded.values);
  CHECK(differ(values, reshard<Dim<K>, Dim<J, X>>(best.values * 2.0)) == 0);
  CHECK(differ(evaluate<Dim<K>, Dim<J, X>>(mesh, recorded.places),
               reshard<Dim<K>, Dim<J, X>>(best.places)) == 0);
}
