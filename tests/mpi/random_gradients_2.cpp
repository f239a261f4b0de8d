// Random programs of up to ten operations, strict and named, with gradients: programs 16 to 30 of
// 240, drawn at compile time, against a dense reverse mode on whole arrays. `scripts/test --all`
// runs the others.
// WHEN: all
// CLANG_STEPS: 33554432
// RANKS: 1 2 4 8
// TIMEOUT: 300
#include "harness/real_gradients.hpp"

TEST_CASE("random programs with gradients 16 to 30") {
  gradient_programs::run_programs<16>(std::make_integer_sequence<std::uint64_t, 15>{});
}
