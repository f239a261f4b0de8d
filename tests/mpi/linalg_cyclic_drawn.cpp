// LU, Cholesky and their solves of one matrix over all ranks: a sample of the cases of harness/cyclic_cases.hpp, of kinds,
// extents, block sizes, right-hand sides and orders of the dims; ranks without columns.
// OPTIMIZE: 1
#include "harness/cyclic_cases.hpp"

TEST_CASE("drawn matrices over all ranks") {
  shardtype::runtime::Comm world(cyclic_cases::all_ranks());
  // fewer on more ranks, which share the cores; of each number of ranks others
  int const ranks = world.size();
  int const count = 144 / ranks;
  cyclic_cases::Tally const t = cyclic_cases::run_cases(world, count, 144 * ranks);
  INFO(t.wrong << t.solved << " solved, the worst " << t.worst << " times LAPACK's error");
  CHECK(t.wrong.empty());
  CHECK(t.solved > count / 3);
}

// Panels that are too long to be sent at once wait for the slow rank, in slots that the others would use again.
TEST_CASE("a rank that is late gets the right panels") {
  shardtype::runtime::Comm world(cyclic_cases::all_ranks());
  cyclic_cases::Case c;
  c.n = 500;
  c.block = 64;
  c.right = 1;
  cyclic_cases::Whole const whole(c);
  std::vector<std::int32_t> pivots, alone;
  auto const x = cyclic_cases::solve(world, c, whole, pivots, world.size() - 1);
  auto const one = cyclic_cases::solve_alone(c, whole, alone);
  CHECK((pivots == alone));
  CHECK(whole.error(x, 1) <= 10 * std::max(1., whole.error(one, 1)));
}
