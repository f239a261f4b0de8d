// What an operation sends and the memory it asks for, against its plan.
#pragma once

#include <algorithm>
#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "shim/pmpi.hpp"

namespace measured_plan {

// From here on peaks are held to a tenth; below, small change counts.
inline constexpr std::int64_t large = 1'000'000;

// Bytes of a tensor's block here; a number has none.
template <class A>
std::int64_t block_bytes(A const& a) {
  if constexpr (shardtype::is_tensor<A>) {
    return a.local_size() * static_cast<std::int64_t>(sizeof(typename A::element));
  } else {
    return 0;
  }
}

inline std::int64_t most_of_ranks(std::int64_t mine) {
  std::int64_t most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

// Runs `run`, and checks what it sent and the most memory it asked for at once against `plan`, whose operands have
// `given` bytes here and live as long.
template <class Run>
void check(shardtype::Plan const& plan, shardtype::Coords const& at, std::int64_t given, Run run) {
  auto& memory = shardtype::detail::bytes_in_use;
  std::int64_t const others = memory.now() - given;
  memory.reset();
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
  if (peak >= large) CHECK(static_cast<double>(peak) <= 1.1 * static_cast<double>(busiest));
}

// `op` of these operands, run by `run`.
template <class Op, class Run, class... As>
void check(char const* what, Op const& op, Run run, As const&... as) {
  INFO(what);
  std::int64_t given = 0;
  ((given += block_bytes(as)), ...);
  check(shardtype::plan_at(op, as...), shardtype::coords_in(op, as...), given,
        [&] { return run(as...); });
}

}  // namespace measured_plan
