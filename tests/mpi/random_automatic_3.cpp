// Random programs of automatic mode, of all operations that it records: programs 61 to 90 of 120,
// from and to drawn shardings, against the dense meaning.
// WHEN: one in 2
// CLANG_STEPS: 33554432
// RANKS: 1 2 4 8
// TIMEOUT: 300
#include "harness/automatic_programs.hpp"

TEST_CASE("automatic programs 61 to 90") {
  programs::run_automatic_programs<61>(std::make_integer_sequence<std::uint64_t, 30>{});
}
