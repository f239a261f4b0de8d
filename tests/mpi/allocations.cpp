// Repeated operations allocate nothing after their first calls, neither with new nor from the
// system into the pool: manual collectives, blocking and started; started strict collectives;
// products on a ring.
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/counted_new.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

using Int = std::int64_t;

template <class Run>
void allocates_nothing(Mesh<X, Y> const& mesh, Run run) {
  run();
  run();
  std::size_t const blocks = mesh.state().pool().allocations();
  std::size_t const before = allocated;
  for (int k = 0; k < 20; ++k) run();
  CHECK(allocated == before);
  CHECK(mesh.state().pool().allocations() == blocks);
}

// The waits run in the reverse order of the starts, so each exchange has the same role in every
// round.
template <class T>
T settled(Pending<T> pending) {
  return std::move(pending).wait();
}

}  // namespace

TEST_CASE("manual collectives, at once and started") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  detail::ManualScope const inside(mesh);
  Int const px = mesh.size_of<X>();
  Int const p = px * mesh.size_of<Y>();
  auto const a = raw_local<Int, Dim<I>, Dim<J>>(mesh, {p, 4});
  std::vector<Int> starts, ones(static_cast<std::size_t>(px), 1);
  for (Int g = 0; g < px; ++g) starts.push_back(g);
  std::vector<Int> const mine(static_cast<std::size_t>(px), mesh.coordinate<X>());
  op::RaggedRows const rows{starts, ones, mine, ones};
  SourceDestination const pair[] = {{0, 0}};
  allocates_nothing(mesh, [&] {
    (void)all_reduce<X, Y>(a);
    (void)all_reduce<Max, Y>(a);
    (void)all_gather<Y, X, I>(a);
    (void)reduce_scatter<X, Y, I>(a);
    (void)all_to_all<X, Y, I, J>(a);
    (void)all_to_all<Y, X, I, I>(a);
    (void)rotate<X, Y>(a, 1);
    (void)permute<Y>(a, {{0, 0}});
    (void)broadcast_from<X>(a, 0);
    (void)ragged_all_to_all<X>(a, a, rows);
    (void)axis_index<X>();
    (void)unreduced<X>(a);
  });
  allocates_nothing(mesh, [&] {
    auto sum = start(op::AllReduce<X, Y>{}, a);
    auto most = start(op::AllReduce<Max, Y>{}, a);
    auto whole = start(op::AllGather<Y, X, I>{}, a);
    auto part = start(op::ReduceScatter<X, Y, I>{}, a);
    auto turned = start(op::AllToAll<X, Y, I, J>{}, a);
    auto dealt = start(op::AllToAll<Y, X, I, I>{}, a);
    auto next = start(op::Rotate<X, Y>{1}, a);
    auto moved = start(op::Permute<Y>{pair}, a);
    auto first = start(op::BroadcastFrom<X>{0}, a);
    auto ragged = start(op::RaggedAllToAll<X>{rows}, a, a);
    (void)settled(std::move(ragged));
    (void)settled(std::move(first));
    (void)settled(std::move(moved));
    (void)settled(std::move(next));
    (void)settled(std::move(dealt));
    (void)settled(std::move(turned));
    (void)settled(std::move(part));
    (void)settled(std::move(whole));
    (void)settled(std::move(most));
    (void)settled(std::move(sum));
  });
}

TEST_CASE("strict collectives, at once and started") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = zeros<double, Dim<I, X>, Dim<J>>(mesh, {37, 24});
  auto const unreduced = to_partial<X>(zeros<double, Dim<I>, Dim<J>>(mesh, {37, 24}));
  allocates_nothing(mesh, [&] {
    (void)all_gather<X>(a);
    (void)all_to_all<X, I, J>(a);
    (void)all_reduce<X>(unreduced);
    (void)reduce_scatter<X, J>(unreduced);
  });
  allocates_nothing(mesh, [&] {
    auto whole = start(op::AllGather<X>{}, a);
    auto turned = start(op::AllToAll<X, I, J>{}, a);
    auto sum = start(op::AllReduce<X>{}, unreduced);
    auto part = start(op::ReduceScatter<X, J>{}, unreduced);
    (void)settled(std::move(part));
    (void)settled(std::move(sum));
    (void)settled(std::move(turned));
    (void)settled(std::move(whole));
  });
}

TEST_CASE("products, step by step and on a ring") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = zeros<double, Dim<I, X>, Dim<J>>(mesh, {37, 24});
  auto const whole = zeros<double, Dim<J>, Dim<K>>(mesh, {24, 29});
  auto const inner = zeros<double, Dim<I>, Dim<J, X>>(mesh, {37, 24});
  auto const rows = zeros<double, Dim<J, X>, Dim<K>>(mesh, {24, 29});
  harness::Sending const small({.message_bytes = 256});
  for (Overlap const how : {Overlap::none, Overlap::ring, Overlap::bidirectional, Overlap::shared,
                            Overlap::automatic}) {
    INFO("overlap " << static_cast<int>(how));
    allocates_nothing(mesh, [&] {
      (void)matmul<Dim<I>, Dim<K>>(a, whole, how);
      (void)matmul<Dim<I>, Dim<K>>(inner, whole, how);
      (void)matmul<Dim<I, X>, Dim<K>>(inner, rows, how);
      (void)matmul<Dim<I>, Dim<K>>(inner, rows, how);
    });
  }
}
