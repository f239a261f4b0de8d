// LU, Cholesky and their solves of one matrix over all ranks: a sample of the cases of harness/cyclic_cases.hpp, of kinds,
// extents, block sizes, right-hand sides and orders of the dims; ranks without columns.
// OPTIMIZE: 1
#include "harness/cyclic_cases.hpp"

TEST_CASE("drawn matrices over all ranks") {
  shardtype::runtime::Comm world([] {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
  }());
  // fewer on more ranks, which share the cores; of each number of ranks others
  int const ranks = world.size();
  int const count = 144 / ranks;
  cyclic_cases::Tally const t = cyclic_cases::run_cases(world, count, 144 * ranks);
  INFO(t.wrong << t.solved << " solved, the worst " << t.worst << " times LAPACK's error");
  CHECK(t.wrong.empty());
  CHECK(t.solved > count / 3);
}
