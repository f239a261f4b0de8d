// Random programs that mix all operations, on simulated ranks: if the rules accept a program, it
// has the dense meaning after every instruction.
// TIMEOUT: 600
// OPTIMIZE: 1
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/draw_programs.hpp"
#include "harness/interpreter.hpp"
#include "harness/meaning.hpp"

using namespace programs;

TEST_CASE("100,000 random programs keep the dense meaning, instruction by instruction") {
  std::array<int, static_cast<std::size_t>(op_count)> met{};
  std::array<int, static_cast<std::size_t>(op_count)> unreduced{};
  for (std::uint64_t seed = 1; seed <= 100000; ++seed) {
    Program const p = generate(seed, most_instructions);
    Draw draw(seed + 7);
    planning::Sizing z = random_extents(draw, p);
    for (int x = 0; x < axes; ++x) z.sizes.at[x] = draw.one_in(8) ? 3 : 1 + draw.below(2);
    Interpreter ranks(z);
    std::vector<Distributed> values;
    std::vector<Distributed> dense;
    for (int k = 0; k < inputs; ++k) {
      values.push_back(input(p, k, z));
      dense.push_back(meant_input(p, k, z));
    }
    for (int k = 0; k < p.size; ++k) {
      Instruction const& in = p.code[k];
      auto const of = [&](std::vector<Distributed> const& v, int which) -> Distributed const& {
        return v[static_cast<std::size_t>(in.operand[which])];
      };
      values.push_back(ranks.run(in, of(values, 0), of(values, 1), of(values, 2)));
      dense.push_back(meaning(in, of(dense, 0), of(dense, 1), of(dense, 2), z));
      CAPTURE(seed, k, static_cast<int>(in.op));
      REQUIRE(ranks.sound);
      REQUIRE(stands_for(values.back(), dense.back(), z));
      ++met[static_cast<std::size_t>(in.op)];
      unreduced[static_cast<std::size_t>(in.op)] += in.result.unreduced.empty() ? 0 : 1;
    }
  }
  for (std::size_t op = 0; op < met.size(); ++op) {
    CAPTURE(op, met[op], unreduced[op]);
    CHECK(met[op] > 500);
  }
}

TEST_CASE("the programs that run as real ones have every operation") {
  std::array<int, static_cast<std::size_t>(op_count)> met{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Program const p = generate(seed, 4);
    for (int k = 0; k < p.size; ++k) ++met[static_cast<std::size_t>(p.code[k].op)];
  }
  for (std::size_t op = 0; op < met.size(); ++op) {
    CAPTURE(op);
    CHECK(met[op] > 0);
  }
}

TEST_CASE("programs of automatic mode have every operation that it records") {
  std::array<int, static_cast<std::size_t>(op_count)> met{};
  for (std::uint64_t seed = 1; seed <= automatic_programs; ++seed) {
    Program const p = generate(seed, automatic_length, DrawnFor::automatic);
    CHECK(p.size == automatic_length);
    for (int k = 0; k < p.size; ++k) ++met[static_cast<std::size_t>(p.code[k].op)];
  }
  for (std::size_t op = 0; op < met.size(); ++op) {
    CAPTURE(op);
    CHECK((met[op] > 0) == case_of(static_cast<Op>(op)).recorded);
  }
}

namespace {

bool same(Program const& a, Program const& b) {
  bool out = a.size == b.size;
  for (int k = 0; k < inputs; ++k)
    out = out && a.input[k] == b.input[k] && a.input_element[k] == b.input_element[k];
  for (int k = 0; k < a.size; ++k)
    out = out && a.code[k].op == b.code[k].op && a.code[k].result == b.code[k].result;
  return out;
}
template <std::uint64_t... Seed>
constexpr std::array<Program, sizeof...(Seed)> drawn(
    std::integer_sequence<std::uint64_t, Seed...>) {
  return {generate(Seed, 4)...};
}

}  // namespace

TEST_CASE("the compiler draws the programs that are drawn when it runs") {
  static constexpr auto in_compiler = drawn(std::make_integer_sequence<std::uint64_t, 20>{});
  for (std::uint64_t seed = 0; seed < in_compiler.size(); ++seed) {
    CAPTURE(seed);
    CHECK(same(in_compiler[seed], generate(seed, 4)));
  }
}
