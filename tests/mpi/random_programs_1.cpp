// Random programs that mix all operations, strict and named: programs 1 to 25 of 200, drawn as
// tests/unit/random_programs.cpp draws them, as real programs against the dense meaning.
// WHEN: one in 2
// CLANG_STEPS: 33554432
// RANKS: 1 2 4 6 8
// TIMEOUT: 300
#include "harness/real_programs.hpp"

TEST_CASE("random programs 1 to 25") {
  programs::run_programs<1>(std::make_integer_sequence<std::uint64_t, 25>{});
}
