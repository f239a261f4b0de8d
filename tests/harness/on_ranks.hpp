// Helpers of tests that run on several ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/create.hpp>

#include "harness/host_block.hpp"

namespace on_ranks {

inline int rank_total() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}
inline int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// A mesh of all ranks: X has two ranks if their number is even, else one; Y has the others.
template <class X, class Y>
shardtype::Mesh<X, Y> two_axes() {
  int const n = rank_total();
  return shardtype::Mesh<X, Y>(MPI_COMM_WORLD, {n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n});
}

// Meshes of all ranks: a grid that is as square as possible, and a single row.
inline std::vector<std::array<std::int64_t, 2>> grids() {
  int const n = rank_total();
  int rows = 1;
  for (int k = 1; k * k <= n; ++k)
    if (n % k == 0) rows = k;
  return {{rows, n / rows}, {n, 1}};
}

// The code of the Error that `run` throws, or "none".
template <class Run>
std::string code_of(Run run) {
  try {
    run();
  } catch (shardtype::Error const& e) {
    return e.code();
  }
  return "none";
}

// The number of local elements that differ from `value(global indices)`.
template <class A, class Value>
int wrong(A const& a, Value value) {
  int bad = 0;
  auto const block = harness::host_block(a);
  shardtype::detail::for_each_element(
      a, [&](std::int64_t at, std::array<std::int64_t, A::rank> const& index) {
        if (block.data()[at] != std::apply(value, index)) ++bad;
      });
  return bad;
}

}  // namespace on_ranks
