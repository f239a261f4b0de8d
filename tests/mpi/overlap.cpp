// Products that communicate while they compute: the same result and the same bytes as without
// overlap, for every sharding over two axes that a ring supports, and for those that fall back.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

using Int = std::int64_t;
constexpr std::array ways{Overlap::ring, Overlap::bidirectional, Overlap::shared,
                          Overlap::automatic};

// Small integers, so that sums are exact in any order.
template <class T>
T entry(Int at) {
  return static_cast<T>(static_cast<float>((at * 7919) % 13 - 6));
}

template <class A, class B>
int differences(A const& a, B const& b) {
  if (a.local_extents() != b.local_extents()) return 1000000;
  int n = 0;
  auto const ours = harness::host_block(a);
  auto const theirs = harness::host_block(b);
  for (Int k = 0; k < a.local_size(); ++k) n += ours.data()[k] == theirs.data()[k] ? 0 : 1;
  return n;
}

// The bytes of all ranks together. The bytes per rank differ for uneven blocks: for a gather the
// count is of received bytes, for a ring and for a window of sent bytes.
Int all_bytes() {
  Int const mine = shim::bytes() + runtime::run_time.exchanged_in_windows;
  Int all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// Checks that `run(overlap)` gives the same result for all policies as without overlap, and sends
// the same bytes unless the reduction passes pieces of `odd` size round the ring.
template <class Run>
void same(Run run, bool odd = false, std::source_location where = std::source_location::current()) {
  INFO("product of line " << where.line());
  shim::reset();
  runtime::run_time.exchanged_in_windows = 0;
  auto const expected = run(Overlap::none);
  Int const bytes = all_bytes();
  for (Overlap const how : ways) {
    INFO("overlap " << static_cast<int>(how));
    if (how == Overlap::shared) (void)run(how);  // the ranks agree on a larger window by messages
    shim::reset();
    runtime::run_time.exchanged_in_windows = 0;
    auto const got = run(how);
    static_assert(std::is_same_v<decltype(got), decltype(expected)>);
    CHECK(differences(got, expected) == 0);
    // with lowered counts, products without overlap use single messages, which are not counted
    bool const counted = !odd && runtime::run_time.sending().largest_count > 1000;
    if (Int const sent = all_bytes(); counted) CHECK(sent == bytes);
  }
}

template <class T, class... Dims>
auto tensor(Mesh<X, Y> const& mesh, std::array<Int, sizeof...(Dims)> const& extents) {
  return from_function<T, Dims...>(mesh, extents, [](auto... at) {
    Int number = 0;
    ((number = number * 31 + at), ...);
    return entry<T>(number);
  });
}

template <class T>
void check_products(Mesh<X, Y> const& mesh, Int i, Int j, Int k) {
  INFO(i << " x " << j << " times " << j << " x " << k);
  Int const p = mesh.size_of<X>() * mesh.size_of<Y>();
  auto const odd = [&](Int n, Int size) { return n % size != 0; };
  // the first or second operand is gathered along a free dim, outermost and innermost
  auto const a = tensor<T, Dim<I, X>, Dim<J>>(mesh, {i, j});
  auto const b = tensor<T, Dim<J>, Dim<K, X>>(mesh, {j, k});
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X>>(a, b, how); });
  same([&](Overlap how) { return matmul<Dim<K, X>, Dim<I>>(a, b, how); });
  same([&](Overlap how) { return matmul<Dim<I, X>, Dim<K>>(a, b, how); });
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K>>(a, b, how); });
  auto const turned = tensor<T, Dim<J>, Dim<I, X>>(mesh, {j, i});
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X>>(turned, b, how); });
  // along the contracted dim
  auto const c = tensor<T, Dim<J, X>, Dim<K>>(mesh, {j, k});
  auto const d = tensor<T, Dim<K>, Dim<J, X>>(mesh, {k, j});
  same([&](Overlap how) { return matmul<Dim<I, X>, Dim<K>>(a, c, how); });
  same([&](Overlap how) { return matmul<Dim<I, X>, Dim<K>>(a, d, how); });
  same([&](Overlap how) { return matmul<Dim<I, X>, Dim<K>>(c, a, how); });
  // several axes in either order
  auto const e = tensor<T, Dim<I, Y, X>, Dim<J>>(mesh, {i, j});
  auto const f = tensor<T, Dim<J>, Dim<K, X, Y>>(mesh, {j, k});
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X, Y>>(e, f, how); });
  same([&](Overlap how) { return matmul<Dim<I, Y>, Dim<K>>(e, f, how); });
  // sums: scattered along either dim, and replicated
  auto const g = tensor<T, Dim<I>, Dim<J, X>>(mesh, {i, j});
  same([&](Overlap how) { return matmul<Dim<I, X>, Dim<K>>(g, c, how); });
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X>>(g, c, how); });
  same([&](Overlap how) { return matmul<Dim<K, X>, Dim<I>>(g, c, how); });
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K>>(g, c, how); },
       odd(i, mesh.size_of<X>()) || odd(i * k, mesh.size_of<X>()));
  auto const u = tensor<T, Dim<I>, Dim<J, X, Y>>(mesh, {i, j});
  auto const v = tensor<T, Dim<J, X, Y>, Dim<K>>(mesh, {j, k});
  same([&](Overlap how) { return matmul<Dim<I, X, Y>, Dim<K>>(u, v, how); });
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K>>(u, v, how); }, odd(i, p) || odd(i * k, p));
  // gathered over one axis, reduced over the other
  auto const w = tensor<T, Dim<I, X>, Dim<J, Y>>(mesh, {i, j});
  auto const x = tensor<T, Dim<J, Y>, Dim<K, X>>(mesh, {j, k});
  same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X>>(w, x, how); }, true);
  same([&](Overlap how) { return matmul<Dim<I, Y>, Dim<K, X>>(w, x, how); });
}

}  // namespace

TEST_CASE("every form of a product on a ring") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, grid);
    for (std::array<Int, 3> const n : {std::array<Int, 3>{16, 24, 8},
                                       {7, 5, 11},
                                       {1, 3, 1},
                                       {3, 1, 2},
                                       {0, 4, 5},
                                       {4, 0, 5},
                                       {53, 31, 47}})
      check_products<double>(mesh, n[0], n[1], n[2]);
    check_products<float>(mesh, 16, 16, 16);
    check_products<Kokkos::complex<float>>(mesh, 9, 8, 10);
    // few terms: their sums have 8 digits, so no rounding depends on the order
    check_products<bfloat16>(mesh, 5, 7, 6);
    check_products<bfloat16>(mesh, 40, 6, 33);
  }
}

TEST_CASE("it is a ring that runs") {
  int const p = on_ranks::rank_total();
  int const me = on_ranks::my_rank();
  if (p < 2) return;
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {p, 1});
  auto const bytes = [&](auto run) {
    shim::reset();
    run();
    return shim::bytes();
  };
  Int const n = 2 * p - 1;  // the last block has one row, the others two
  auto const a = tensor<double, Dim<I, X>, Dim<J>>(mesh, {n, 3});
  auto const b = tensor<double, Dim<J>, Dim<K, X>>(mesh, {3, 2 * p});
  // the last rank receives all rows but its own, and sends all rows but those of the first rank
  Int const gathered = bytes([&] { matmul<Dim<I>, Dim<K, X>>(a, b); });
  Int const ring = bytes([&] { matmul<Dim<I>, Dim<K, X>>(a, b, Overlap::ring); });
  if (me == p - 1) CHECK(gathered == 24 * (n - 1));
  if (me == p - 1) CHECK(ring == 24 * (n - 2));
  // one row of sums: its reduction ends on the first rank, which passes it on round the ring to the
  // last
  auto const c = tensor<double, Dim<J>, Dim<I, X>>(mesh, {1, n});
  auto const d = tensor<double, Dim<I, X>, Dim<K>>(mesh, {n, 4});
  Int const sent = bytes([&] { matmul<Dim<J>, Dim<K>>(c, d, Overlap::ring); });
  CHECK(sent == (me > 0 && me < p - 1 ? 64 : 32));
}

TEST_CASE("blocks in many messages") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, grid);
    {
      harness::Sending const small({.message_bytes = 128});
      check_products<double>(mesh, 53, 31, 47);
      check_products<float>(mesh, 96, 64, 80);
    }
    check_products<double>(mesh, 230, 110, 190);
    harness::Sending const cut({.largest_count = 40});  // elements; then no ring runs
    check_products<double>(mesh, 21, 12, 17);
  }
}

TEST_CASE("what a ring does not take is run step by step") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  SECTION("elements without a gemm") {
    auto const a = tensor<Int, Dim<I, X>, Dim<J>>(mesh, {7, 6});
    auto const b = tensor<Int, Dim<J>, Dim<K, X>>(mesh, {6, 5});
    same([&](Overlap how) { return matmul<Dim<I>, Dim<K, X>>(a, b, how); });
  }
  SECTION("block-cyclic dims") {
    auto const a = tensor<double, Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, {9, 6});
    auto const b = tensor<double, Dim<J>, Dim<K>>(mesh, {6, 5});
    same([&](Overlap how) { return matmul<Dim<I>, Dim<K>>(a, b, how); });
  }
  SECTION("labels that no single gemm takes") {
    auto const a = tensor<double, Dim<I, X>, Dim<J>, Dim<L>>(mesh, {6, 4, 5});
    auto const b = tensor<double, Dim<L>, Dim<K>, Dim<J>>(mesh, {5, 3, 4});
    same([&](Overlap how) { return einsum<Dim<I>, Dim<K>>(a, b, how); });
    // an index of only one operand is summed first
    auto const c = tensor<double, Dim<L>, Dim<K>>(mesh, {5, 3});
    same([&](Overlap how) { return einsum<Dim<I>, Dim<K>>(a, c, how); });
  }
  SECTION("batch dims, split or whole") {
    auto const a = tensor<double, Dim<B, Y>, Dim<I, X>, Dim<J>>(mesh, {5, 6, 4});
    auto const b = tensor<double, Dim<B, Y>, Dim<J>, Dim<K>>(mesh, {5, 4, 3});
    same([&](Overlap how) { return einsum<Dim<B, Y>, Dim<I>, Dim<K>>(a, b, how); });
    same([&](Overlap how) { return einsum<Dim<B>, Dim<I>, Dim<K>>(a, b, how); });
    auto const c = tensor<double, Dim<B, X>, Dim<I>, Dim<J>>(mesh, {5, 6, 4});
    auto const d = tensor<double, Dim<B>, Dim<J>, Dim<K>>(mesh, {5, 4, 3});
    same([&](Overlap how) { return einsum<Dim<B>, Dim<I>, Dim<K>>(c, d, how); });
  }
  SECTION("strict products send nothing") {
    auto const a = tensor<double, Dim<I, X>, Dim<J>>(mesh, {7, 6});
    auto const b = tensor<double, Dim<J>, Dim<K>>(mesh, {6, 5});
    same([&](Overlap how) { return matmul(a, b, how); });
  }
}

TEST_CASE("a ring beside what is under way") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = tensor<double, Dim<I, X>, Dim<J>>(mesh, {40, 30});
  auto const b = tensor<double, Dim<J>, Dim<K, X>>(mesh, {30, 50});
  auto pending = start(op::AllGather<X>{}, a);
  auto const c = matmul<Dim<I>, Dim<K, X>>(a, b, Overlap::ring);
  CHECK(differences(matmul(std::move(pending).wait(), b), c) == 0);
}

TEST_CASE("empty operands, before there is a window") {
  for (Overlap const how : ways) {
    auto const mesh = on_ranks::two_axes<X, Y>();
    auto const a = zeros<double, Dim<I, X>, Dim<J>>(mesh, {0, 5});
    auto const b = zeros<double, Dim<J>, Dim<K>>(mesh, {5, 3});
    CHECK(matmul<Dim<I>, Dim<K>>(a, b, how).extents() == std::array<Int, 2>{0, 3});
    auto const c = zeros<double, Dim<I>, Dim<J, X>>(mesh, {4, 0});
    auto const d = zeros<double, Dim<J, X>, Dim<K>>(mesh, {0, 3});
    CHECK(on_ranks::wrong(matmul<Dim<I>, Dim<K>>(c, d, how), [](Int, Int) { return 0.0; }) == 0);
    CHECK(on_ranks::wrong(matmul<Dim<I, X>, Dim<K>>(c, d, how), [](Int, Int) { return 0.0; }) == 0);
  }
}
