// Schedules of a pipeline beside a simulation of its own: slots, idle part, stored microbatches,
// and their time where passes and moves take given ones, for all small numbers of ranks,
// microbatches and chunks; their text; what is refused.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/pipeline/types_plan.hpp>
#include <shardtype/pipeline/types_time.hpp>
#include <shardtype/types.hpp>

#include "harness/catch.hpp"

using namespace shardtype::pipeline;
namespace st = shardtype;

// As the papers say.
static_assert(bubble(gpipe(4, 8)) == Fraction(3, 11));
static_assert(bubble(one_forward_one_backward(4, 8)) == Fraction(3, 11));
static_assert(bubble(interleaved(4, 8, 2)) == Fraction(3, 19));
static_assert(bubble(gpipe(1, 5)) == Fraction(0, 7));
static_assert(peak_stored(gpipe(4, 8), 0) == 8 && peak_stored(gpipe(4, 8), 3) == 8);
static_assert(peak_stored(one_forward_one_backward(4, 8), 0) == 4);
static_assert(peak_stored(one_forward_one_backward(4, 8), 3) == 1);
static_assert(peak_stored(interleaved(4, 8, 2), 0) == 11);
static_assert(interleaved(4, 8, 1) != one_forward_one_backward(4, 8));
static_assert(slots(gpipe(3, 2)) == 8);
// of the forward passes alone
static_assert(bubble(forward_only(gpipe(4, 8))) == Fraction(3, 11));
static_assert(bubble(forward_only(interleaved(4, 8, 2))) == Fraction(3, 19));
static_assert(slots(forward_only(one_forward_one_backward(3, 2))) == 4);
static_assert(peak_stored(forward_only(gpipe(4, 8)), 0) == 0);
// a backward pass of two units: (M + S - 1) * 3, the same part idle
static_assert(predict(gpipe(4, 8), {1, 2}).seconds == 33);
static_assert(predict(one_forward_one_backward(4, 8), {1, 2}).idle == 3.0 / 11);

struct X : st::Axis<"X", 2> {};
struct B : st::Index<"B", 6> {};
struct D : st::Index<"D", 5> {};
constexpr Plan moves =
    plan(interleaved(3, 6, 2), st::type<st::Tensor<float, st::Dim<B, X>, st::Dim<D>>>);
static_assert(moves.block_bytes == 3 * 5 * 4);
static_assert(moves.bytes_per_microbatch() == 2 * 5 * 60 && moves.bytes() == 6 * 600);
static_assert(moves.bytes_sent(0) == 6 * 3 * 60 && moves.bytes_sent(1) == 6 * 4 * 60);
constexpr Plan forward_moves = plan(forward_only(interleaved(3, 6, 2)), 60);
static_assert(forward_moves.bytes() == 6 * 5 * 60 && forward_moves.bytes_sent(0) == 6 * 2 * 60);
static_assert(forward_moves.bytes_sent(2) == 6 * 60);
static_assert(plan(gpipe(1, 4), 8).bytes() == 0 && plan(gpipe(1, 4), 8).bytes_sent(0) == 0);

namespace {

struct Step {
  bool forward;
  int stage, microbatch;
};

// What one rank does, as Megatron-LM describes it: a warm-up, pairs of a forward and a backward
// pass, and the rest.
std::vector<Step> program(Schedule const& s, int rank) {
  int const total = s.microbatches * s.chunks;
  auto const step = [&](bool forward, int k) {
    int chunk = k % (s.ranks * s.chunks) / s.ranks;
    if (!forward) chunk = s.chunks - 1 - chunk;
    int const microbatch = s.chunks == 1 ? k : k / (s.ranks * s.chunks) * s.ranks + k % s.ranks;
    return Step{forward, (s.chunks == 1 ? 0 : chunk) * s.ranks + rank, microbatch};
  };
  int warm = s.ranks - rank - 1;
  if (s.order == Order::gpipe) warm = total;
  if (s.chunks > 1) warm = 2 * warm + (s.chunks - 1) * s.ranks;
  if (s.forward_only) warm = total;
  warm = std::min(warm, total);
  std::vector<Step> out;
  for (int k = 0; k < warm; ++k) out.push_back(step(true, k));
  for (int k = warm; k < total; ++k) {
    out.push_back(step(true, k));
    out.push_back(step(false, k - warm));
  }
  for (int k = total - warm; k < total && !s.forward_only; ++k) out.push_back(step(false, k));
  return out;
}

// The times of passes and moves, in units.
struct Units {
  int forward = 1, backward = 1, move = 0, embed = 0, unembed = 0, head = 0;
};

// Runs the programs: when each pass ends.
struct Simulation {
  std::map<std::tuple<bool, int, int>, int> ends;
  std::vector<int> stored;
  int last = 0;
  int busy = 0;

  explicit Simulation(Schedule const& s, Units const& units = {}) {
    int const stages = s.ranks * s.chunks;
    std::vector<std::vector<Step>> programs;
    for (int r = 0; r < s.ranks; ++r) programs.push_back(program(s, r));
    std::vector<std::size_t> at(programs.size(), 0);
    std::vector<int> free(programs.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < programs.size(); ++r) {
        for (; at[r] < programs[r].size(); ++at[r]) {
          auto const [forward, stage, m] = programs[r][at[r]];
          int ready = 0;
          if (!forward || stage > 0) {
            auto const before = ends.find(forward               ? std::tuple(true, stage - 1, m)
                                          : stage + 1 == stages ? std::tuple(true, stage, m)
                                                                : std::tuple(false, stage + 1, m));
            if (before == ends.end()) break;
            ready = before->second;
            bool const own = s.ranks == 1 || (!forward && stage + 1 == stages);
            if (!own) ready += units.move;
          }
          int takes = forward ? units.forward : units.backward;
          if (stage == 0) takes += forward ? units.embed : units.unembed;
          if (stage + 1 == stages && forward == s.forward_only) takes += units.head;
          busy += takes;
          free[r] = std::max(free[r], ready) + takes;
          ends[{forward, stage, m}] = free[r];
          last = std::max(last, free[r]);
          moved = true;
        }
      }
    }
    for (auto const& steps : programs) {
      int now = 0, most = 0;
      for (Step const& step : steps) most = std::max(most, now += step.forward ? 1 : -1);
      if (s.forward_only) most = 0;  // no backward pass will read it
      stored.push_back(most);
    }
  }
};

// Whether all of a schedule is as simulated; the first difference as text, empty if there is none.
std::string difference(Schedule const& s, Fraction const& idle) {
  Simulation const expected(s);
  Table const table(s);
  int const ways = s.forward_only ? 1 : 2;
  auto const passes = static_cast<std::size_t>(ways * s.ranks * s.chunks * s.microbatches);
  if (expected.ends.size() != passes) return "the simulation does not end";
  if (table.slots() != expected.last || slots(s) != expected.last) return "slots";
  std::size_t seen = 0;
  int empty = 0;
  for (int r = 0; r < s.ranks; ++r) {
    int now = 0, most = 0;
    for (int t = 0; t < table.slots(); ++t) {
      Slot const slot = table.at(r, t);
      if (slot.pass == Pass::idle) {
        ++empty;
        continue;
      }
      bool const forward = slot.pass == Pass::forward;
      auto const at = expected.ends.find({forward, slot.chunk * s.ranks + r, slot.microbatch});
      if (at == expected.ends.end() || at->second != t + 1)
        return "a slot of rank " + std::to_string(r);
      ++seen;
      most = std::max(most, now += forward ? 1 : -1);
    }
    if (s.forward_only) most = 0;
    if (most != expected.stored[static_cast<std::size_t>(r)] || most != peak_stored(s, r))
      return "what rank " + std::to_string(r) + " stores";
  }
  if (seen != passes) return "passes";
  if (!(bubble(s) == Fraction(empty, s.ranks * table.slots()))) return "the idle part";
  return bubble(s) == idle ? "" : "the idle part, by its formula";
}

// The same of the times of its passes.
std::string time_difference(Schedule const& s, Units const& u) {
  Simulation const expected(s, u);
  auto const of = [](int n) { return static_cast<double>(n); };
  Prediction const got = predict(
      s, {of(u.forward), of(u.backward), of(u.move), of(u.embed), of(u.unembed), of(u.head)});
  double const all = of(expected.last * s.ranks);
  if (got.seconds != of(expected.last)) return "the time";
  return got.idle == (all - of(expected.busy)) / all ? "" : "the idle part of the time";
}

template <class Make>
std::string code_of(Make const& make) {
  try {
    static_cast<void>(make());
  } catch (shardtype::Error const& error) {
    return error.code();
  }
  return "";
}

}  // namespace

TEST_CASE("schedules are as simulated") {
  int compared = 0;
  Units const drawn[] = {{}, {1, 2}, {3, 5, 1}, {2, 4, 3, 1, 1, 2}, {1, 1, 7, 0, 3, 5}};
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (int m = 1; m <= 16; ++m) {
      for (Units const& units : drawn) {
        CAPTURE(ranks, m, units.backward, units.move);
        CHECK(time_difference(gpipe(ranks, m), units) == "");
        CHECK(time_difference(one_forward_one_backward(ranks, m), units) == "");
        CHECK(time_difference(forward_only(gpipe(ranks, m)), units) == "");
        if (m % ranks != 0) continue;
        CHECK(time_difference(interleaved(ranks, m, 2), units) == "");
        CHECK(time_difference(forward_only(interleaved(ranks, m, 2)), units) == "");
      }
      Fraction const plain(ranks - 1, m + ranks - 1);
      CAPTURE(ranks, m);
      CHECK(predict(gpipe(ranks, m), {}).seconds == slots(gpipe(ranks, m)));
      CHECK(difference(gpipe(ranks, m), plain) == "");
      CHECK(difference(one_forward_one_backward(ranks, m), plain) == "");
      CHECK(difference(forward_only(one_forward_one_backward(ranks, m)), plain) == "");
      for (int chunks = 1; chunks <= 3; ++chunks) {
        CAPTURE(chunks);
        if (m % ranks != 0) {
          CHECK(code_of([&] { return interleaved(ranks, m, chunks); }) == "E85");
          continue;
        }
        Fraction const idle(ranks - 1, chunks * m + ranks - 1);
        CHECK(difference(interleaved(ranks, m, chunks), idle) == "");
        CHECK(difference(forward_only(interleaved(ranks, m, chunks)), idle) == "");
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("schedules as text") {
  CHECK(draw(gpipe(2, 2)) ==
        "rank 0  F0 F1 .  .  B0 B1\n"
        "rank 1  .  F0 F1 B0 B1 .\n");
  CHECK(draw(one_forward_one_backward(2, 3)) ==
        "rank 0  F0 F1 .  B0 F2 B1 .  B2\n"
        "rank 1  .  F0 B0 F1 B1 F2 B2 .\n");
  CHECK(draw(interleaved(2, 2, 2)) ==
        "rank 0  F0.0 F1.0 F0.1 F1.1 .    B0.1 .    B1.1 B0.0 B1.0\n"
        "rank 1  .    F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 .\n");
  CHECK(draw(forward_only(interleaved(2, 2, 2))) ==
        "rank 0  F0.0 F1.0 F0.1 F1.1 .\n"
        "rank 1  .    F0.0 F1.0 F0.1 F1.1\n");
}

TEST_CASE("plans as text") {
  CHECK(explain(plan(one_forward_one_backward(2, 3), 100)) ==
        "rank 0  F0 F1 .  B0 F2 B1 .  B2\n"
        "rank 1  .  F0 B0 F1 B1 F2 B2 .\n"
        "idle: 1/4 of 8 slots\n"
        "each microbatch moves 2 blocks of 100 B, 200 B\n"
        "rank 0 sends 300 B, stores 2 microbatches\n"
        "rank 1 sends 300 B, stores 1 microbatch\n");
  for (int ranks = 1; ranks <= 4; ++ranks) {
    std::int64_t sent = 0;
    for (int r = 0; r < ranks; ++r) sent += plan(interleaved(ranks, 12, 3), 1).bytes_sent(r);
    CHECK(sent == plan(interleaved(ranks, 12, 3), 1).bytes());
  }
}

TEST_CASE("refused schedules") {
  CHECK(code_of([] { return gpipe(0, 1); }) == "E85");
  CHECK(code_of([] { return one_forward_one_backward(2, 0); }) == "E85");
  CHECK(code_of([] { return interleaved(2, 2, 0); }) == "E85");
  CHECK(code_of([] { return gpipe(8192, 8192); }) == "E85");
  CHECK(code_of([] { return peak_stored(gpipe(2, 2), 2); }) == "E85");
  CHECK(code_of([] { return forward_only(Schedule{Order::gpipe, 0, 1, 1}); }) == "E85");
  CHECK(code_of([] { return Table(Schedule{Order::interleaved, 3, 4, 2}); }) == "E85");
}
