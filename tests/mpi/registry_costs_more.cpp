// Automatic mode beside strict mode, for the operations of the registry on drawn layouts.
// RANKS: 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 600
#include "harness/cases/samples.hpp"
#include "harness/registry_costs.hpp"

TEST_CASE("no further operation costs more than its named call, or holds more than planned") {
  registry_costs::check_all<samples::other_samples>(50);
}
