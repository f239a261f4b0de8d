// at<I> and named slices along split dims, against the elements that they take: uneven and empty
// blocks, steps, elements of all kinds; what they send is what their plans say, by the shim, and no
// more than rows of the result where that is less.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct Head : Index<"Head"> {};

// Ranks along X of on_ranks::two_axes.
std::int64_t x_ranks() { return on_ranks::rank_total() % 2 == 0 ? 2 : 1; }

template <class T>
T element_at(std::int64_t i, std::int64_t j) {
  if constexpr (std::is_same_v<T, bool>) {
    return (i * 3 + j) % 4 < 2;
  } else {
    return static_cast<T>(static_cast<float>(1 + i * 17 + j));
  }
}

// Runs `run`, which is `op` on `a`: it sends what the plan says.
template <class Op, class A, class Run>
auto as_planned(Op const& op, A const& a, Run run) {
  Plan const p = plan_at(op, a);
  using R = checking::Resolve<Op, A>;
  core::Coords const me = runtime::map_axes(a.mesh().state(), R::S::names).coords;
  shim::reset();
  auto result = run();
  CHECK(shim::bytes() == p.bytes(me));
  return result;
}

template <class T, class A, class B, class... Out, class M>
void check_at(M const& mesh, std::array<std::int64_t, 2> const& n) {
  auto const a =
      from_function<T, A, B>(mesh, n, [](auto i, auto j) { return element_at<T>(i, j); });
  for (std::int64_t const k : {std::int64_t{0}, n[0] / 2, n[0] - 1}) {
    if (k < 0 || k >= n[0]) continue;
    INFO("row " << k << " of " << n[0] << " x " << n[1]);
    auto const row = as_planned(op::At<I, Out...>{k}, a, [&] { return at<I, Out...>(a, k); });
    CHECK(on_ranks::wrong(row, [&](auto j) { return element_at<T>(k, j); }) == 0);
    // one row is reduced at most, whose shares are rounded up
    CHECK(shim::bytes() <= 2 * (n[1] + 2) * static_cast<std::int64_t>(sizeof(T)));
    // strict: nothing is sent, one rank has the row
    shim::reset();
    auto const unreduced = at<I>(a, k);
    CHECK(shim::bytes() == 0);
    CHECK(to_host(reshard<Dim<J>>(unreduced)) == to_host(row));
  }
}

TEST_CASE("one row of a dim, split or not") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 2> const& n :
       {std::array<std::int64_t, 2>{5, 7}, {1, 3}, {9, 1}, {3, 0}, {0, 4}, {33, 2}}) {
    check_at<float, Dim<I, X>, Dim<J>, Dim<J>>(mesh, n);
    check_at<double, Dim<I>, Dim<J, X>, Dim<J, X>>(mesh, n);
    check_at<std::int32_t, Dim<I, X>, Dim<J, Y>, Dim<J, Y>>(mesh, n);
    check_at<bool, Dim<I, Y, X>, Dim<J>, Dim<J>>(mesh, n);
    check_at<Kokkos::complex<double>, Dim<I, X>, Dim<J>, Dim<J, X>>(mesh, n);
    check_at<std::int64_t, Dim<I, X>, Dim<J>, Dim<J, Y>>(mesh, n);
  }
  auto const a = from_function<float, Dim<J, X>, Dim<I>>(
      mesh, {4, 3}, [](auto j, auto i) { return element_at<float>(i, j); });
  CHECK(on_ranks::wrong(at<I>(a, 2), [](auto j) { return element_at<float>(2, j); }) == 0);
  CHECK(on_ranks::wrong(at<I>(a * 2, 1), [](auto j) { return 2 * element_at<float>(1, j); }) == 0);
  CHECK(on_ranks::code_of([&] { at<I>(a, 3); }) == "E41");
  CHECK(on_ranks::code_of([&] { at<I>(a, -1); }) == "E41");
  CHECK(on_ranks::code_of([&] { at<I, Dim<J>>(a, 3); }) == "E41");
  auto const dealt = reshard<Dim<I, Cyclic<X, 2>>, Dim<J>>(a);
  CHECK(on_ranks::wrong(at<I, Dim<J, Y>>(dealt, 2),
                        [](auto j) { return element_at<float>(2, j); }) == 0);
  // of what is unreduced, of blocks, and in automatic mode
  auto const unreduced = at<I>(to_partial<Y>(a), 2);
  CHECK(on_ranks::wrong(all_reduce<Y>(unreduced), [](auto j) { return element_at<float>(2, j); }) ==
        0);
  auto const b = from_function<float, Dim<I>, Dim<J, X>>(
      mesh, {3, 4 * x_ranks()}, [](auto i, auto j) { return element_at<float>(i, j); });
  auto const blocks = shard_map<Dim<J, X>>([](auto const& block) { return at<I>(block, 1); }, b);
  CHECK(on_ranks::wrong(blocks, [](auto j) { return element_at<float>(1, j); }) == 0);
  auto const planned = evaluate<Dim<J>>(mesh, at<I>(lazy(b) * 2, 1));
  CHECK(on_ranks::wrong(planned, [](auto j) { return 2 * element_at<float>(1, j); }) == 0);
}

template <class T, class A, class B, class... Out, class M>
void check_slice(M const& mesh, std::array<std::int64_t, 2> const& n) {
  auto const a =
      from_function<T, A, B>(mesh, n, [](auto i, auto j) { return element_at<T>(i, j); });
  for (std::int64_t const begin : {std::int64_t{0}, n[0] / 3, n[0]})
    for (std::int64_t const end : {begin, std::min(n[0], begin + 1), n[0]})
      for (std::int64_t const step : {1, 2, 3}) {
        INFO("rows " << begin << " to " << end << " by " << step << " of " << n[0] << " x "
                     << n[1]);
        auto const got = as_planned(op::Slice<I, Head, Out...>{begin, end, step}, a,
                                    [&] { return slice<I, Head, Out...>(a, begin, end, step); });
        CHECK(got.template extent<Head>() == (end - begin + step - 1) / step);
        auto const whole = reshard<Dim<Head>, Dim<J>>(got);
        CHECK(on_ranks::wrong(
                  whole, [&](auto h, auto j) { return element_at<T>(begin + h * step, j); }) == 0);
      }
}

TEST_CASE("named slices along split dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 2> const& n :
       {std::array<std::int64_t, 2>{5, 7}, {1, 3}, {9, 1}, {3, 0}, {0, 4}, {33, 2}}) {
    check_slice<float, Dim<I, X>, Dim<J>, Dim<Head>, Dim<J>>(mesh, n);
    check_slice<double, Dim<I, X>, Dim<J>, Dim<Head, X>, Dim<J>>(mesh, n);
    check_slice<std::int32_t, Dim<I, X>, Dim<J, Y>, Dim<Head, X>, Dim<J, Y>>(mesh, n);
    check_slice<bool, Dim<I, Y, X>, Dim<J>, Dim<Head>, Dim<J, X>>(mesh, n);
    check_slice<float, Dim<I>, Dim<J, Y>, Dim<J, Y>, Dim<Head, X>>(mesh, n);
    check_slice<float, Dim<I, Cyclic<X, 2>>, Dim<J>, Dim<Head>, Dim<J, Y>>(mesh, n);
  }
  // few rows of many: they are added up, and no others are sent; of all rows, each is sent once
  std::int64_t const p = x_ranks();
  auto const a = from_function<float, Dim<I, X>, Dim<J>>(
      mesh, {100000, 8}, [](auto i, auto j) { return element_at<float>(i, j); });
  using Few = op::Slice<I, Head, Dim<Head>, Dim<J>>;
  CHECK(plan_at(Few{10, 12}, a).bytes_per_rank() <= 2 * 2 * 8 * 4);
  using Split = op::Slice<I, Head, Dim<Head>, Dim<J, X>>;
  Plan const all = plan_at(Split{0, 100000}, a);
  CHECK(all.count(Collective::all_gather) == 0);
  CHECK(all.bytes_per_rank() <= 100000 * 8 * 4 / p);
  check_slice<float, Dim<I, X>, Dim<J>, Dim<Head>, Dim<J>>(mesh, {1000, 8});
  CHECK(on_ranks::code_of([&] { slice<I, Head, Dim<Head>, Dim<J>>(a, 3, 100001); }) == "E41");
  // of what is unreduced over another axis
  auto const unreduced = slice<I, Head, Dim<Head>, Dim<J>>(to_partial<Y>(a), 7, 11);
  CHECK(on_ranks::wrong(unreduced, [](auto h, auto j) { return element_at<float>(7 + h, j); }) ==
        0);
}

}  // namespace
