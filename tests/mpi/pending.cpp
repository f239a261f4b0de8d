// Collectives that are started and waited for later: the same results as blocking ones, in strict
// and in manual mode; rounds of many pending collectives, waited for in another order on every
// rank; misuse.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

// Whether the local blocks of two values of one type are equal.
template <class A>
bool equal(A const& a, A const& b) {
  auto const ours = harness::host_block(a);
  auto const theirs = harness::host_block(b);
  return a.extents() == b.extents() && a.local_extents() == b.local_extents() &&
         std::equal(ours.data(), ours.data() + a.local_size(), theirs.data());
}

// Checks that the blocking and the started collective agree, also on the sent bytes.
template <class Now, class Later>
void same(Now now, Later later) {
  shim::reset();
  auto const expected = now();
  Int const bytes = shim::bytes();
  shim::reset();
  auto pending = later();
  static_assert(
      std::is_same_v<decltype(pending), Pending<std::remove_const_t<decltype(expected)>>>);
  static_assert(!std::is_copy_constructible_v<decltype(pending)>);
  auto moved = std::move(pending);
  while (!moved.test()) sched_yield();
  auto const got = std::move(moved).wait();
  CHECK(shim::bytes() == bytes);
  CHECK(equal(got, expected));
  // without a test in between
  auto const again = later().wait();
  CHECK(equal(again, expected));
}

Int value(Int rank, Int i, Int j) { return (rank + 1) * 10000 + i * 100 + j; }

auto block_of_rank(Grid const& mesh, Int n, Int m) {
  auto a = raw_local<Int, Dim<I>, Dim<J>>(mesh, {n, m});
  Int const rank = mesh.coordinate<X>() * mesh.size_of<Y>() + mesh.coordinate<Y>();
  harness::write_block(a, [&](auto const& v) {
    for (Int i = 0; i < n; ++i)
      for (Int j = 0; j < m; ++j)
        v(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = value(rank, i, j);
  });
  return a;
}

template <class... Xs>
void check_manual(Grid const& mesh, Int n, Int m) {
  INFO("block " << n << " x " << m);
  detail::ManualScope const inside(mesh);
  Int const p = axis_size<Xs...>();
  auto const a = block_of_rank(mesh, n, m);
  auto const wide = block_of_rank(mesh, n, m * p);
  auto const real = cast<double>(wide);
  same([&] { return all_reduce<Xs...>(a); }, [&] { return start(op::AllReduce<Xs...>{}, a); });
  same([&] { return all_reduce<Max, Xs...>(a); },
       [&] { return start(op::AllReduce<Max, Xs...>{}, a); });
  same([&] { return all_reduce<Mean, Xs...>(real); },
       [&] { return start(op::AllReduce<Mean, Xs...>{}, real); });
  same([&] { return all_gather<Xs..., I>(a); },
       [&] { return start(op::AllGather<Xs..., I>{}, a); });
  same([&] { return all_gather<Xs..., J>(a, to_varying); },
       [&] { return start(op::AllGather<Xs..., J, checking::ToVarying>{}, a); });
  same([&] { return all_gather<Xs..., K>(a, to_reduced); },
       [&] { return start(op::AllGather<Xs..., K, checking::ToReduced>{}, a); });
  same([&] { return reduce_scatter<Xs..., J>(wide); },
       [&] { return start(op::ReduceScatter<Xs..., J>{}, wide); });
  same([&] { return reduce_scatter<Min, Xs..., J>(wide); },
       [&] { return start(op::ReduceScatter<Min, Xs..., J>{}, wide); });
  same([&] { return reduce_scatter<Mean, Xs..., J>(real); },
       [&] { return start(op::ReduceScatter<Mean, Xs..., J>{}, real); });
  same([&] { return all_to_all<Xs..., J, I>(wide); },
       [&] { return start(op::AllToAll<Xs..., J, I>{}, wide); });
  same([&] { return all_to_all<Xs..., J, J>(wide); },
       [&] { return start(op::AllToAll<Xs..., J, J>{}, wide); });
  std::vector<SourceDestination> pairs;
  for (int g = 0; g + 1 < static_cast<int>(p); ++g) pairs.push_back({g + 1, g});
  same([&] { return permute<Xs...>(a, pairs); },
       [&] { return start(op::Permute<Xs...>{pairs}, a); });
  same([&] { return permute<Xs...>(a, {}); }, [&] { return start(op::Permute<Xs...>{}, a); });
  for (Int const by : {Int{1}, Int{-1}, p})
    same([&] { return rotate<Xs...>(a, by); }, [&] { return start(op::Rotate<Xs...>{by}, a); });
  int const last = static_cast<int>(p - 1);
  same([&] { return broadcast_from<Xs...>(a, last); },
       [&] { return start(op::BroadcastFrom<Xs...>{last}, a); });
  same([&] { return broadcast_from<Xs...>(a, 0, to_varying); },
       [&] { return start(op::BroadcastFrom<Xs..., checking::ToVarying>{0}, a); });
  // one row from each rank to each rank
  auto const g = static_cast<std::size_t>(p);
  std::vector<Int> from(g), ones(g, n > 0 ? 1 : 0), to(g, 0);
  auto const out = full_local<Int, Dim<I>, Dim<J>>({p, m}, -1);
  auto const index = axis_index<Xs...>();
  Int const me = harness::host_block(index)();
  for (Int& t : to) t = me;
  op::RaggedRows const rows{from, ones, to, ones};
  same([&] { return ragged_all_to_all<Xs...>(a, out, rows); },
       [&] { return start(op::RaggedAllToAll<Xs...>{rows}, a, out); });
}

void check_strict(Grid const& mesh, Int n, Int m) {
  INFO("tensor " << n << " x " << m);
  auto const f = [](Int i, Int j) { return i * 1000 + j; };
  auto const a = from_function<Int, Dim<I, X, Y>, Dim<J>>(mesh, {n, m}, f);
  auto const b = from_function<Int, Dim<J, X>, Dim<I, Y>>(mesh, {m, n}, f);
  auto const unreduced = einsum<I, J>(b, full<Int, Dim<J, X>, Dim<I, Y>>(mesh, {m, n}, 1));
  auto const partial = sum<J>(b);
  static_assert(std::is_same_v<decltype(partial), Tensor<Int, Dim<I, Y>, Unreduced<X>> const>);
  same([&] { return all_gather<Y>(a); }, [&] { return start(op::AllGather<Y>{}, a); });
  same([&] { return all_gather<Y, X>(a); }, [&] { return start(op::AllGather<Y, X>{}, a); });
  same([&] { return all_gather<X, Y>(b); }, [&] { return start(op::AllGather<X, Y>{}, b); });
  same([&] { return all_gather<Y>(unreduced); },
       [&] { return start(op::AllGather<Y>{}, unreduced); });
  same([&] { return all_reduce<X>(partial); }, [&] { return start(op::AllReduce<X>{}, partial); });
  same([&] { return reduce_scatter<X, I>(partial); },
       [&] { return start(op::ReduceScatter<X, I>{}, partial); });
  same([&] { return all_to_all<X, J, I>(b); }, [&] { return start(op::AllToAll<X, J, I>{}, b); });
  same([&] { return all_to_all<Y, I, J>(a); }, [&] { return start(op::AllToAll<Y, I, J>{}, a); });
  // an expression is evaluated first
  same([&] { return all_to_all<Y, I, J>(a + a); },
       [&] { return start(op::AllToAll<Y, I, J>{}, a + a); });
  // block-cyclic
  auto const turns = reshard<Dim<I, Cyclic<X, 2>>, Dim<J>>(a);
  same([&] { return all_gather<X>(turns); }, [&] { return start(op::AllGather<X>{}, turns); });
}

}  // namespace

TEST_CASE("started in manual mode") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    for (auto [n, m] : {std::pair<Int, Int>{4, 3}, {1, 1}, {0, 2}, {40, 60}}) {
      check_manual<X>(mesh, n, m);
      check_manual<Y, X>(mesh, n, m);
    }
  }
}

TEST_CASE("started in strict mode") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    for (auto [n, m] : {std::pair<Int, Int>{8, 6}, {7, 5}, {1, 1}, {0, 3}, {301, 97}})
      check_strict(mesh, n, m);
  }
}

TEST_CASE("messages that are cut, for counts that no int holds") {
  harness::Sending const cut({.largest_count = 5});
  auto const mesh = on_ranks::two_axes<X, Y>();
  check_strict(mesh, 8, 6);
  check_manual<X>(mesh, 4, 3);
}

TEST_CASE("many under way, waited for in any order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  detail::ManualScope const inside(mesh);
  Int const px = mesh.size_of<X>();
  Int const py = mesh.size_of<Y>();
  Int const p = px * py;
  Int const me = mesh.coordinate<X>() * py + mesh.coordinate<Y>();
  auto const right = block_of_rank(mesh, 6, 3);
  // the same draws on all ranks; only the order of the waits differs
  std::mt19937 all(7);
  std::mt19937 own(static_cast<unsigned>(100 + me));
  auto const draw = [&](Int n) { return static_cast<Int>(all() % static_cast<unsigned>(n)); };
  int bad = 0;
  std::size_t allocations = 0;
  int const rounds = on_ranks::rank_total() == 8 ? 10000 : 1000;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) allocations = mesh.state().pool().allocations();
    Int const n = draw(50) == 0 ? 2000 : draw(5) * p;
    auto const a = block_of_rank(mesh, n, 1);
    // some collectives of all kinds
    auto const maybe = [&](auto start) {
      std::optional<decltype(start())> out;
      if (draw(8) < 5) out.emplace(start());
      return out;
    };
    auto total = maybe([&] { return start(op::AllReduce<X, Y>{}, a); });
    Int const by = draw(2 * p) - p;
    auto turned = maybe([&] { return start(op::Rotate<Y, X>{by}, a); });
    auto whole = maybe([&] { return start(op::AllGather<Y, I>{}, a); });
    auto const twice = block_of_rank(mesh, 2 * p, 1);
    auto pieces = maybe([&] { return start(op::AllToAll<X, Y, I, I>{}, twice); });
    int const root = static_cast<int>(draw(px));
    auto told = maybe([&] { return start(op::BroadcastFrom<X>{root}, a); });
    auto parts = maybe([&] { return start(op::ReduceScatter<X, Y, I>{}, twice); });
    auto most = maybe([&] { return start(op::AllReduce<Max, X>{}, a); });
    int const giver = static_cast<int>(draw(py));
    int const taker = static_cast<int>(draw(py));
    std::array const pair{SourceDestination{giver, taker}};
    auto given = maybe([&] { return start(op::Permute<Y>{pair}, a); });
    auto const product = matmul(relabel<I, K>(transpose<J, I>(right)), right);  // computes while
                                                                                // the collectives
                                                                                // are pending
    bad += product.extents() == std::array<Int, 2>{6, 6} ? 0 : 1;
    if (draw(3) == 0) bad += item(all_reduce<X, Y>(axis_index<X, Y>())) == p * (p - 1) / 2 ? 0 : 1;

    std::array<int, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(order.begin(), order.end(), own);
    for (int const which : order) {
      auto const check = [&](auto const& got, auto expected) {
        auto const block = harness::host_block(got);
        for (Int i = 0; i < got.local_size(); ++i) bad += block.data()[i] == expected(i) ? 0 : 1;
      };
      if (which == 0 && total)
        check(std::move(*total).wait(), [&](Int i) {
          Int s = 0;
          for (Int r = 0; r < p; ++r) s += value(r, i, 0);
          return s;
        });
      if (which == 1 && turned) {
        Int const place = mesh.coordinate<Y>() * px + mesh.coordinate<X>();
        Int const from = ((place - by) % p + p) % p;
        check(std::move(*turned).wait(),
              [&](Int i) { return value(from % px * py + from / px, i, 0); });
      }
      if (which == 2 && whole)
        check(std::move(*whole).wait(),
              [&](Int i) { return value(mesh.coordinate<X>() * py + i / n, i % n, 0); });
      if (which == 3 && pieces)
        check(std::move(*pieces).wait(), [&](Int i) { return value(i / 2, 2 * me + i % 2, 0); });
      if (which == 4 && told)
        check(std::move(*told).wait(),
              [&](Int i) { return value(root * py + mesh.coordinate<Y>(), i, 0); });
      if (which == 5 && parts)
        check(std::move(*parts).wait(), [&](Int i) {
          Int s = 0;
          for (Int r = 0; r < p; ++r) s += value(r, 2 * me + i, 0);
          return s;
        });
      if (which == 6 && most)
        check(std::move(*most).wait(),
              [&](Int i) { return value((px - 1) * py + mesh.coordinate<Y>(), i, 0); });
      if (which == 7 && given)
        check(std::move(*given).wait(), [&](Int i) {
          return mesh.coordinate<Y>() == taker ? value(mesh.coordinate<X>() * py + giver, i, 0) : 0;
        });
    }
  }
  CHECK(bad == 0);
  CHECK_FALSE(mesh.state().exchanges().any());
  CHECK(mesh.state().pool().allocations() <= allocations + 8);
}

TEST_CASE("what is under way holds its memory") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = mesh.size_of<X>() * 3;
  auto a = from_function<Int, Dim<I, X>>(mesh, {n}, [](Int i) { return i; });
  auto pending = start(op::AllGather<X>{}, a);
  if (mesh.size_of<X>() > 1) CHECK(code_of([&] { (void)a.mutable_local(); }) == "E21");
  a = full<Int, Dim<I, X>>(mesh, {n}, -1);
  auto const whole = std::move(pending).wait();
  CHECK(on_ranks::wrong(whole, [](Int i) { return i; }) == 0);
  // waiting twice
  CHECK(code_of([&] { (void)std::move(pending).wait(); }) == "E67");
  CHECK(code_of([&] { (void)pending.test(); }) == "E67");
  // assigned to itself it stays pending
  {
    auto pending_still = start(op::AllGather<X>{}, a);
    auto& itself = pending_still;
    pending_still = std::move(itself);
    CHECK(on_ranks::wrong(std::move(pending_still).wait(), [](Int) { return -1; }) == 0);
  }
  // the assignment waits for the collective that it replaces
  auto next = start(op::AllGather<X>{}, a);
  for (int k = 0; k < 3; ++k) {
    auto const now = std::move(next).wait();
    CHECK(on_ranks::wrong(now, [](Int) { return -1; }) == 0);
    next = start(op::AllGather<X>{}, a);
  }
  (void)std::move(next).wait();
  // an exception leaves nothing pending, nor does a start that fails
  {
    detail::ManualScope const inside(mesh);
    auto const block = block_of_rank(mesh, 1, 1);
    CHECK(code_of([&] { (void)start(op::BroadcastFrom<X>{99}, block).wait(); }) == "E64");
    std::vector<Int> const p(static_cast<std::size_t>(mesh.size_of<X>()), 1000);
    CHECK(code_of([&] { (void)start(op::RaggedAllToAll<X>{{p, p, p, p}}, block, block).wait(); }) ==
          "E64");
    CHECK_FALSE(mesh.state().exchanges().any());
  }
  try {
    auto const lost = start(op::AllGather<X>{}, a);
    throw std::runtime_error("of the program");
  } catch (std::runtime_error const&) {
  }
  CHECK_FALSE(mesh.state().exchanges().any());
}

TEST_CASE("half of the ranks start something") {
  int const n = on_ranks::rank_total();
  if (n < 2) return;
  Mesh<X> const mesh(MPI_COMM_WORLD, {n / 2});
  auto const a = from_function<Int, Dim<I, X>>(mesh, {n / 2 * 3}, [](Int i) { return i; });
  auto pending = start(op::AllGather<X>{}, a);
  auto const b = std::move(pending).wait();
  CHECK(b.extent<I>() == n / 2 * 3);
  if (mesh.here()) CHECK(on_ranks::wrong(b, [](Int i) { return i; }) == 0);
}

TEST_CASE("a long product lets MPI work") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const f = [](Int i, Int j) { return static_cast<float>((i * 7 + j * 3) % 11); };
  auto const a = from_function<float, Dim<I>, Dim<J>>(mesh, {700, 650}, f);
  auto const b = from_function<float, Dim<J>, Dim<K>>(mesh, {650, 600}, f);
  auto const expected = matmul(a, b);
  auto const moved = from_function<Int, Dim<I, X>>(mesh, {99}, [](Int i) { return i; });
  auto pending = start(op::AllGather<X>{}, moved);
  auto const product = matmul(a, b);
  CHECK(equal(product, expected));
  auto const g = [](Int k, Int i, Int j) { return static_cast<float>((k + i * 5 + j) % 7); };
  auto const many = from_function<float, Dim<K>, Dim<I>, Dim<J>>(mesh, {40, 180, 170}, g);
  auto const others = from_function<float, Dim<K>, Dim<J>, Dim<N>>(mesh, {40, 170, 160}, g);
  auto const cut = einsum<K, I, N>(many, others);
  CHECK(on_ranks::wrong(std::move(pending).wait(), [](Int i) { return i; }) == 0);
  CHECK(equal(cut, einsum<K, I, N>(many, others)));
}
