// Named Fourier transforms of drawn shardings, sizes, norms and ways of exchange: a sample of 20000
// cases for each number of ranks, which `scripts/test --all` runs.
// RANKS: 1 2 3 4 5 6 7 8
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
// TIMEOUT: 300
// NEEDS: FFT
#include "harness/fourier_cases.hpp"

TEST_CASE("drawn transforms") { fourier_cases::run_cases(500); }
