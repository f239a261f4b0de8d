// Compares the bytes that an operation sends and the memory that it allocates with its plan.
#pragma once

#include <algorithm>
#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "shim/pmpi.hpp"

namespace measured_plan {

// From this size on, the measured peak must be within a tenth of the planned one.
inline constexpr std::int64_t large = 1'000'000;

// The bytes of the local block of a tensor or a Halo; 0 for a number.
template <class A>
std::int64_t block_bytes(A const& a) {
  if constexpr (requires { a.local_size(); }) {
    return a.local_size() * static_cast<std::int64_t>(sizeof(typename A::element));
  } else {
    return 0;
  }
}

// This rank's coordinates along the axes of a plan.
template <class... Axes>
shardtype::Coords at(shardtype::FunctionPlan const& plan, shardtype::Mesh<Axes...> const& mesh) {
  shardtype::Coords out;
  for (int k = 0; k < plan.axes; ++k)
    ((plan.axis_id[k] == shardtype::core::identity<Axes>
          ? void(out.at[k] = mesh.template coordinate<Axes>())
          : void()),
     ...);
  return out;
}

inline std::int64_t most_of_ranks(std::int64_t mine) {
  std::int64_t most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

// Runs `run`, and checks its sent bytes and its peak memory against `plan`. The operands have
// `given` bytes on this rank and stay alive.
template <class Run>
void check(shardtype::Plan const& plan, shardtype::Coords const& at, std::int64_t given, Run run) {
  auto& memory = shardtype::runtime::run_time.memory;
  std::int64_t const others = memory.now() - given;
  auto& staging = shardtype::runtime::run_time.staging;
  std::int64_t const staged_before = staging.now();
  memory.reset();
  staging.reset();
  shim::reset();
  std::int64_t sent = 0;
  {
    auto const result = run();
    sent = shim::bytes();
  }
  std::int64_t const mark = memory.most() - others;
  std::int64_t const busiest = most_of_ranks(mark);
  std::int64_t const peak = plan.peak_bytes();
  INFO("sent " << sent << ", planned " << plan.bytes(at) << "; held " << mark << ", at most "
               << busiest << ", planned " << peak);
  CHECK(memory.now() - others == given);
  CHECK(sent == plan.bytes(at));
  CHECK(mark <= peak);
  INFO("staged " << staging.most() << ", planned " << plan.staging_bytes());
  CHECK(staging.now() == staged_before);
  CHECK(staging.most() - staged_before <= plan.staging_bytes());
  if (peak >= large) CHECK(static_cast<double>(peak) <= 1.1 * static_cast<double>(busiest));
}

// Checks `op` of these operands, which `run` runs.
template <class Op, class Run, class... As>
void check(char const* what, Op const& op, Run run, As const&... as) {
  INFO(what);
  std::int64_t given = 0;
  ((given += block_bytes(as)), ...);
  check(shardtype::plan_at(op, as...), shardtype::coords_in(op, as...), given,
        [&] { return run(as...); });
}

}  // namespace measured_plan
