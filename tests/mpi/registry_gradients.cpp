// Gradients of automatic mode beside those of strict mode, for the operations of the registry on
// drawn layouts.
// RANKS: 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 600
#include "harness/registry_gradients.hpp"

#include "harness/cases.hpp"
#include "harness/cases/samples.hpp"

using registry_gradients::check_all;

TEST_CASE("gradients of operations along dims") {
  registry_costs::Grid const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  for (auto const name : check_all<samples::along_samples>(mesh, 10))
    std::printf("without %s\n", std::string(name).c_str());
}
TEST_CASE("gradients of further operations") {
  registry_costs::Grid const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  for (auto const name : check_all<samples::other_samples>(mesh, 10))
    std::printf("without %s\n", std::string(name).c_str());
}
TEST_CASE("gradients of operations of families") {
  registry_costs::Grid const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  for (auto const name : check_all<samples::nn_samples>(mesh, 10))
    std::printf("without %s\n", std::string(name).c_str());
  for (auto const name : check_all<samples::linalg_samples>(mesh, 10))
    std::printf("without %s\n", std::string(name).c_str());
}
