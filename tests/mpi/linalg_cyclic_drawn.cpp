// LU, Cholesky and their solves of one matrix over all ranks: a sample of the cases of
// harness/cyclic_cases.hpp, of kinds, extents, block sizes, right-hand sides and orders of the
// dims; ranks without columns; panels in the window and by messages.
// RANKS: 1 2 3 4 6 8
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
#include "harness/cyclic_cases.hpp"

TEST_CASE("drawn matrices over all ranks") {
  cyclic_cases::Ranks world;
  // fewer on more ranks, which share the cores; of each number of ranks others
  int const ranks = world.comm.size();
  int const count = 144 / ranks;
  cyclic_cases::Tally const t = cyclic_cases::run_cases(world, count, 144 * ranks);
  INFO(t.wrong << t.solved << " solved, the worst " << t.worst << " times LAPACK's error");
  CHECK(t.wrong.empty());
  CHECK(t.solved > count / 3);
}

// Panels that are too long to be sent at once wait for the slow rank, in slots that the others
// would use again. In the window the owners of the next panels would overwrite what a rank still
// reads: on 4 ranks and more three panels follow one without help of its owner.
TEST_CASE("a rank that is late gets the right panels") {
  cyclic_cases::Ranks world;
  cyclic_cases::Case c;
  c.n = 500;
  c.block = 64;
  c.right = 1;
  cyclic_cases::Whole const whole(c);
  std::vector<std::int32_t> alone;
  auto const one = cyclic_cases::solve_alone(c, whole, alone);
  for (int const slow : {0, world.comm.size() - 1})
    panel_ways::in_each([&](panel_ways::Way const&) {
      INFO("rank " << slow << " is slow");
      auto const found = cyclic_cases::solve(world, c, whole, slow);
      CHECK((found.pivots == alone));
      CHECK(whole.error(found.x, 1) <= 10 * std::max(1., whole.error(one, 1)));
    });
}
