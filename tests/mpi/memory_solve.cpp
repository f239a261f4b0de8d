// Linear algebra of tensors in the memory of the default execution space, on the host: there and
// back, with gradients. On the guarded device (tests/guard) these are two memories.
#include <array>
#include <cstdint>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using Host = Kokkos::HostSpace;
using Int = std::int64_t;

constexpr auto solved = [](auto const& a, auto const& b) {
  return to_memory<>(linalg::solve<I, J>(to_memory<Host>(a), to_memory<Host>(b)));
};
constexpr auto total = [](auto const& a, auto const& b) {
  return all_reduce<X>(sum(solved(a, b)));
};

// Diagonal matrices: with 2^k on the diagonal of matrix k, so that quotients are exact. Row i of b
// is k + i + 1.
double diagonal(Int k) { return static_cast<double>(Int{2} << k); }

TEST_CASE("solve on the host") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Int const n : {5, 1, 0}) {
    auto const a = from_function<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {n, 3, 3}, [](Int k, Int i, Int j) { return i == j ? diagonal(k) : 0.0; });
    auto const b = from_function<double, Dim<B, X>, Dim<I>>(
        mesh, {n, 3}, [](Int k, Int i) { return static_cast<double>(k + i + 1); });
    Tensor<double, Dim<B, X>, Dim<J>> const x = solved(a, b);
    Tensor<double, Dim<B, X>, Dim<I>> const slope = grad<1>(total)(a, b);
    auto const found = harness::host_block(x);
    auto const slopes = harness::host_block(slope);
    Int wrong = 0;
    detail::for_each_element(x, [&](Int at, std::array<Int, 2> const& index) {
      auto const [k, i] = index;
      if (found.data()[at] != static_cast<double>(k + i + 1) / diagonal(k)) ++wrong;
      if (slopes.data()[at] != 1 / diagonal(k)) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

}  // namespace
