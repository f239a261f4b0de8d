// The ways in which panels of one matrix over a mesh axis travel: in the node's shared window or by
// messages, with look-ahead or without.
#pragma once

#include <algorithm>
#include <cstdint>
#include <source_location>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/while_set.hpp"
#include "shim/pmpi.hpp"

namespace panel_ways {

struct Way {
  bool window = true;
  bool ahead = true;
};
inline constexpr Way all[] = {{true, true}, {true, false}, {false, true}, {false, false}};

// Panels travel in this way while it exists.
struct Travel {
  explicit Travel(Way const& way)
      : window(shardtype::runtime::run_time.settings.linalg.window, way.window),
        ahead(shardtype::runtime::run_time.settings.linalg.ahead, way.ahead) {}
  harness::WhileSet<bool> window;
  harness::WhileSet<bool> ahead;
};

// `body(way)` in each of them.
template <class Body>
void in_each(Body body) {
  for (Way const& way : all) {
    INFO((way.window ? "in the window" : "by messages") << (way.ahead ? "" : ", no look-ahead"));
    Travel const travel(way);
    body(way);
  }
}

// Growing the window of a mesh sends messages: makes it large enough before bytes are counted.
template <class Mesh>
void prepare(Mesh const& mesh) {
  mesh.state().window().reserve(1 << 23);
}

// What ranks give each other: by messages, by the shim's count, and in windows.
class Counted {
 public:
  Counted() { shim::reset(); }
  std::int64_t messages() const { return shim::bytes(); }
  std::int64_t windows() const {
    return shardtype::runtime::run_time.exchanged_in_windows - before_;
  }
  std::int64_t bytes() const { return messages() + windows(); }

 private:
  std::int64_t before_ = shardtype::runtime::run_time.exchanged_in_windows;
};

// Runs an operation on one matrix over many ranks. What all of them give each other is what their
// plans say, where a plan counts what arrives, as of a broadcast; `exact`: not only at most, as
// where pivots decide. No rank holds more than the plan has.
template <class Op, class... As>
auto measured(bool exact, Op const& op, As const&... as) {
  INFO(Op::name);
  shardtype::Plan const plan = shardtype::plan_at(op, as...);
  CHECK(plan.count(shardtype::Collective::all_gather) == 0);
  auto& memory = shardtype::runtime::run_time.memory;
  std::int64_t const before = memory.now();
  std::int64_t given = 0;
  ((given += measured_plan::block_bytes(as)), ...);
  memory.reset();
  Counted const counted;
  auto out = shardtype::call(op, std::source_location::current(), as...);
  std::int64_t mine[2] = {counted.bytes(), plan.bytes(shardtype::coords_in(op, as...))};
  std::int64_t const held = memory.most() - before + given;
  CHECK(mine[1] <= plan.bytes_per_rank());
  std::int64_t ranks[2] = {};
  MPI_Allreduce(mine, ranks, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(ranks[0] <= ranks[1]);
  if (exact) CHECK(ranks[0] == ranks[1]);
  INFO("held " << held << ", planned " << plan.peak_bytes());
  CHECK(held <= plan.peak_bytes());
  if (exact && plan.peak_bytes() >= measured_plan::large && counted.windows() == 0)
    CHECK(static_cast<double>(plan.peak_bytes()) <=
          1.1 * static_cast<double>(measured_plan::most_of_ranks(held)));
  return out;
}
template <class Op, class... As>
auto measured(Op const& op, As const&... as) {
  return measured(true, op, as...);
}

}  // namespace panel_ways
