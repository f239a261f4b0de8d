// A disk that is full when a checkpoint is written, synced or closed, on any rank and at any of
// these calls: all ranks get the Error, and what was saved before is loaded bit by bit.
// RANKS: 1 2 4 8
// TIMEOUT: 240
// NEEDS: JSON
// SOURCES: tests/shim/full_disk.cpp
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/catch.hpp"
#include "harness/checkpoint_models.hpp"
#include "shim/full_disk.hpp"

using namespace checkpoint_models;

namespace {

using harness::meet;
using on_ranks::my_rank;
using on_ranks::rank_total;
using shim::DiskCall;

// A small model: each save makes some fifty calls.
template <class P>
using Pair = std::pair<Tensor<float, typename P::template First<I>, typename P::template Second<J>>,
                       Tensor<double, typename P::template Third<I>>>;
template <class P>
Pair<P> pair_of(Mesh<X, Y> const& mesh, std::int64_t salt) {
  Pair<P> out{zeros<typename Pair<P>::first_type>(mesh),
              zeros<typename Pair<P>::second_type>(mesh)};
  fill(out, salt);
  return out;
}

struct Tally {
  int failed = 0;
  int good = 0;
};

// Saves steps while call number `spared` of a kind fails on one rank; each time the last step that
// was saved is loaded.
template <class Save>
Tally try_faults(DiskCall call, int rank, Save save) {
  harness::TempDir const dir("faults");
  std::string const run = dir / "run";
  auto const mesh = on_ranks::two_axes<X, Y>();
  checkpoint::save(run, 1, pair_of<Grid>(mesh, 1));
  std::int64_t good = 1;
  Tally out;
  // until a save makes fewer calls than are spared
  for (int spared = 0; spared < 100; ++spared) {
    std::int64_t const step = good + 1;
    auto const model = pair_of<Turned>(mesh, step);
    meet();
    if (my_rank() == rank) shim::set_disk_fault({call, spared, ENOSPC, "shardtype-faults"});
    std::string const failure = failure_of([&] { save(run, step, model); });
    bool const failed = detail::reduce_number(MPI_COMM_WORLD, shim::disk_faults(), MPI_MAX) > 0;
    shim::set_disk_fault({});
    INFO("call " << static_cast<int>(call) << " of rank " << rank << ", after " << spared << ": "
                 << failure);
    if (failure == "none") {
      ++out.good;
      good = step;
    } else {
      ++out.failed;
      CHECK(failed);
      CHECK(contains(failure, "[shardtype IO8] cannot write " + run));
      CHECK(!contains(failure, "ranks differ"));
      CHECK(!contains(failure, "one rank"));
    }
    meet();
    // what is named by `latest` is whole, and no older than the last step that was saved
    auto loaded = pair_of<Grid>(mesh, 0);
    auto const got = checkpoint::load(run, loaded);
    CHECK(got.step >= good);
    CHECK(wrong(loaded, got.step) == 0);
    for (std::string const& name : harness::names_in(run)) {
      bool const hidden = name.ends_with(".partial") || name.ends_with(".removed");
      CHECK(!hidden);
      if (name.starts_with("step_")) {
        checkpoint::load(run + "/" + name, loaded);
        CHECK(wrong(loaded, checkpoint::latest(mesh, run + "/" + name)->number) == 0);
      }
    }
    meet();
    if (!failed) break;
  }
  return out;
}

auto const at_once = [](std::string const& run, std::int64_t step, auto const& model) {
  checkpoint::save(run, step, model, {}, {.keep = 3});
};
auto const in_a_thread = [](std::string const& run, std::int64_t step, auto const& model) {
  checkpoint::Saver saver(run, {.keep = 3});
  saver.save(step, model);
  saver.wait();
};

template <class Save>
void try_all(Save save) {
  for (int const rank : {0, 1 % rank_total()})  // of 8 the last has nothing to write
    for (DiskCall const call : {DiskCall::write, DiskCall::sync, DiskCall::close}) {
      Tally const t = try_faults(call, rank, save);
      INFO("call " << static_cast<int>(call) << " of rank " << rank);
      CHECK(t.failed > 0);
      CHECK(t.good > 0);
    }
}

}  // namespace

TEST_CASE("a full disk loses nothing that was saved before") { try_all(at_once); }

TEST_CASE("a full disk loses nothing that was saved before when a thread writes") {
  try_all(in_a_thread);
}

TEST_CASE("a single file stays as it was when the disk is full") {
  harness::TempDir const dir("faults");
  std::string const path = dir / "a.safetensors";
  auto const mesh = on_ranks::two_axes<X, Y>();
  checkpoint::save_safetensors(path, pair_of<Grid>(mesh, 1));
  auto const second = pair_of<Turned>(mesh, 2);
  for (DiskCall const call : {DiskCall::write, DiskCall::sync})
    for (int const rank : {0, 1 % rank_total()}) {
      meet();
      if (my_rank() == rank) shim::set_disk_fault({call, 0, ENOSPC, "shardtype-faults"});
      CHECK(contains(failure_of([&] { checkpoint::save_safetensors(path, second); }),
                     "[shardtype IO8] cannot write " + path));
      shim::set_disk_fault({});
      auto loaded = pair_of<Grid>(mesh, 0);
      checkpoint::load_safetensors(path, loaded);
      CHECK(wrong(loaded, 1) == 0);
      CHECK(harness::names_in(dir / ".") == std::vector<std::string>{"a.safetensors"});
    }
}
