// Automatic mode beside strict mode, for the operations of the registry on drawn layouts.
// RANKS: 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 600
#include "harness/cases/samples.hpp"
#include "harness/registry_costs.hpp"

TEST_CASE("no operation of a family costs more than its named call, or holds more than planned") {
  registry_costs::check_all<samples::nn_samples>(50);
  registry_costs::check_all<samples::fft_samples>(50);
  registry_costs::check_all<samples::linalg_samples>(50);
}
