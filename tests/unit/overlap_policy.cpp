// The choice of overlap for a product with communication, from the rates of a machine; and those
// rates as text.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/overlap/policy.hpp>
#include <shardtype/runtime/machine_file.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using overlap::fastest;
using overlap::route;
using overlap::Workload;

namespace {

Machine network(double latency, double bytes_per_second, double cut_product = 1.1) {
  Machine m;
  m.latency = latency;
  m.bytes_per_second = bytes_per_second;
  m.cut_product = cut_product;
  return m;
}

// The rates in `text`, or the code and message of its Error.
std::string said_of(std::string const& text) {
  try {
    return to_text(machine_from_text(text, "rates.txt"));
  } catch (Error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("communication that takes long is hidden") {
  Machine const m = network(50e-6, 117e6);
  CHECK(fastest({.product = 0.09, .communication = 0.08, .ranks = 2, .chunks = 8}, m) ==
        Overlap::ring);
  CHECK(fastest({.product = 0.01, .communication = 0.5, .ranks = 2, .chunks = 8}, m) ==
        Overlap::ring);
  // from both neighbours, where there are two
  CHECK(fastest({.product = 0.1, .communication = 0.12, .ranks = 4, .chunks = 8}, m) ==
        Overlap::bidirectional);
  CHECK(fastest({.product = 0.1, .communication = 0.12, .ranks = 4, .chunks = 8, .sums = true},
                m) == Overlap::ring);
}

TEST_CASE("what is short is not worth a product in pieces") {
  CHECK(fastest({.product = 0.1, .communication = 0.005, .ranks = 2, .chunks = 8},
                network(2e-6, 10e9)) == Overlap::none);
  CHECK(fastest({.product = 0.1, .communication = 0.02, .ranks = 2, .chunks = 8},
                network(2e-6, 10e9)) == Overlap::ring);
  // a slower product in pieces hides less
  CHECK(fastest({.product = 0.1, .communication = 0.02, .ranks = 2, .chunks = 8},
                network(2e-6, 10e9, 1.3)) == Overlap::none);
  CHECK(fastest({}, {}) == Overlap::none);
}

TEST_CASE("messages are as many as pay") {
  std::int64_t const row = 8192;  // bytes
  std::int64_t last = 0;
  for (std::int64_t rows : {1, 4, 64, 256, 1024, 4096}) {
    std::int64_t const chunks = route(Overlap::ring, rows, row, network(50e-6, 117e6)).chunks;
    CHECK(chunks >= last);
    CHECK(chunks <= 16);
    last = chunks;
  }
  CHECK(last == 16);
  CHECK(route(Overlap::ring, 0, row, {}).chunks == 1);
  CHECK(route(Overlap::ring, 3, std::int64_t{1} << 30, {}).chunks == 3);
  // where each message costs much, fewer messages
  CHECK(route(Overlap::ring, 1024, row, network(1e-3, 117e6)).chunks <
        route(Overlap::ring, 1024, row, network(50e-6, 117e6)).chunks);
  auto const both = route(Overlap::bidirectional, 1024, row, network(50e-6, 117e6));
  CHECK(both.directions == 2);
  CHECK(both.chunks <= route(Overlap::ring, 1024, row, network(50e-6, 117e6)).chunks);
}

TEST_CASE("the rates of a machine as text") {
  Machine const m{1.5e-6, 12.5e9, 1.2e12, 3e11, 1.07, 1.3};
  Machine const back = machine_from_text("# a comment\n\n" + to_text(m), "rates.txt");
  CHECK(to_text(back) == to_text(m));
  CHECK(back.latency == 1.5e-6);
  CHECK(back.cut_product == 1.07);
  CHECK(back.reducing == 1.3);
  CHECK(machine_from_text("  latency\t3e-6  # of a switch\r\n", "rates.txt").latency == 3e-6);
  CHECK(machine_from_text("", "rates.txt").latency == Machine{}.latency);
  for (std::string const wrong : {"latency", "latency two", "latency 2e-6 s", "latency -1",
                                  "latency 0", "latency nan", "latency inf", "speed 3", "2e-6"}) {
    INFO(wrong);
    std::string const said = said_of("cut_product 1\n" + wrong + "\n");
    CHECK(said.find("[shardtype E68] rates.txt line 2: '" + wrong + "' is no rate") == 0);
  }
}
