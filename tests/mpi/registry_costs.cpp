// Automatic mode beside strict mode, for the operations of the registry on drawn layouts.
// RANKS: 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 600
#include "harness/registry_costs.hpp"

#include "harness/cases.hpp"
#include "harness/cases/samples.hpp"

TEST_CASE("no operation costs more than its named call, or holds more than planned") {
  registry_costs::check_all<samples::along_samples>(50);
}
