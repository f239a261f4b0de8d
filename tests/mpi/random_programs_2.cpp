// Random programs that mix all operations, strict and named: programs 26 to 50 of 200, drawn as
// tests/unit/random_programs.cpp draws them, as real programs against the dense meaning.
// WHEN: all
// WHEN: one in 2
// CLANG_STEPS: 33554432
// RANKS: 1 2 4 6 8
// TIMEOUT: 300
#include "harness/real_programs.hpp"

TEST_CASE("random programs 26 to 50") {
  programs::run_programs<26>(std::make_integer_sequence<std::uint64_t, 25>{});
}
