// Windows that ranks of one node share: after `meet` each rank reads the values that the others
// wrote before it, in every round and after the window grows. If the memory is not available, all
// ranks get the same refusal and the window is unchanged. What a rank has posted is seen by those
// that wait for it.
#include <cstdint>

#include <unistd.h>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

MPI_Comm copy_of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return copy;
}

using Int = std::int64_t;

// Every rank writes a number for each other rank, and reads the numbers that the others wrote for
// it.
int rounds(runtime::SharedWindow& window, int rank, int size, Int first, int count) {
  int wrong = 0;
  detail::List<int> group;
  for (int g = 0; g < size; ++g) group.push_back(g);
  auto* const all = static_cast<Int*>(window.data());
  for (Int round = first; round < first + count; ++round) {
    window.enter();
    if (round % 17 == rank) usleep(200);  // a rank that is late
    for (int g = 0; g < size; ++g) all[rank * size + g] = round * 1000 + rank * 31 + g;
    window.meet(group);
    if (round % 13 == rank) usleep(200);  // and a rank that reads slowly
    for (int g = 0; g < size; ++g)
      wrong += all[g * size + rank] == round * 1000 + g * 31 + rank ? 0 : 1;
    window.leave();
  }
  return wrong;
}

}  // namespace

TEST_CASE("what was written before meeting is read after") {
  runtime::Comm const comm(copy_of_world());
  runtime::SharedWindow window(comm);
  Int const n = Int{comm.size()} * comm.size() * 8;
  REQUIRE(window.reserve(n));
  CHECK(rounds(window, comm.rank(), comm.size(), 1, 2000) == 0);
  SECTION("also after it has grown") {
    for (Int more = 2; more < 40; more *= 3) {
      REQUIRE(window.reserve(n * more));
      CHECK(rounds(window, comm.rank(), comm.size(), more * 10000, 300) == 0);
    }
  }
  SECTION("what the node has no room for is refused, and the window serves on") {
    CHECK_FALSE(window.reserve(Int{1} << 56));
    CHECK_FALSE(window.reserve(Int{1} << 56));
    REQUIRE(window.reserve(n));
    CHECK(rounds(window, comm.rank(), comm.size(), 5000, 100) == 0);
  }
}

// A pipeline through fewer places than there are numbers: each rank in turn writes one, all read it
// at their own pace, and a place is written again when all have read it. Progress begins anew in
// every use.
TEST_CASE("ranks wait for what others post") {
  runtime::Comm const comm(copy_of_world());
  runtime::SharedWindow window(comm);
  constexpr Int places = 3;
  REQUIRE(window.reserve(places * 8));
  auto* const place = static_cast<Int*>(window.data());
  int const rank = comm.rank();
  int const size = comm.size();
  auto const written = [](Int k) { return 2 * k + 1; };
  auto const read = [](Int k) { return 2 * k + 2; };
  int wrong = 0;
  for (Int use = 0; use < 20; ++use) {
    Int const count = 50 + use;
    Int const last = use % 3 == 0 ? count / 2 : count;  // all leave early, as after a failure
    window.enter();
    for (Int k = 0; k < last; ++k) {
      if ((k + use) % 17 == rank) usleep(200);
      int const owner = static_cast<int>(k % size);
      if (owner == rank) {
        for (int g = 0; g < size && k >= places; ++g) window.wait_for(g, read(k - places));
        place[k % places] = use * 1000 + k;
        window.post(written(k));
      }
      window.wait_for(owner, written(k));
      if ((k + use) % 13 == rank) usleep(200);
      wrong += place[k % places] == use * 1000 + k ? 0 : 1;
      window.post(read(k));
    }
    window.leave(read(count));
  }
  CHECK(wrong == 0);
}

TEST_CASE("two windows at once, one of some ranks") {
  runtime::Comm const world(copy_of_world());
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank() % 2, world.rank(), &half);
  runtime::Comm const part(half);
  runtime::SharedWindow some(part);
  REQUIRE(some.reserve(Int{part.size()} * part.size() * 8));
  runtime::SharedWindow all(world);
  REQUIRE(all.reserve(Int{world.size()} * world.size() * 8));
  for (int turn = 0; turn < 20; ++turn) {
    CHECK(rounds(some, part.rank(), part.size(), turn * 100 + 1, 10) == 0);
    CHECK(rounds(all, world.rank(), world.size(), turn * 100 + 1, 10) == 0);
  }
}
