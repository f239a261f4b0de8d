// Tensors in another memory: copies there and back, functions, products, reshards and gradients in
// both, against elements and gradients that are known. On the host both memories are one; on the
// guarded device (tests/guard) they are not.
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cstdint>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using Int = std::int64_t;
using Host = Kokkos::HostSpace;

struct Sizes {
  Int i, j;
};
constexpr Sizes sizes[] = {{13, 6}, {1, 5}, {0, 3}};

double f(Int i, Int j) { return static_cast<double>(i * 100 + j); }

// The elements of the calling rank that are not those of `right(i, j)`.
template <class A, class Right>
Int wrong(A const& a, Right right) {
  Int bad = 0;
  auto const block = harness::host_block(a);
  detail::for_each_element(a, [&](Int at, std::array<Int, A::rank> const& index) {
    if (block.data()[at] != right(index)) ++bad;
  });
  return bad;
}
auto times(double by) {
  return [by](std::array<Int, 2> const& at) { return by * f(at[0], at[1]); };
}
template <class... Dims>
auto matrix(Mesh<X> const& mesh, Sizes n) {
  return from_function<double, Dims...>(mesh, {n.i, n.j}, f);
}

// There and back: types, elements, and memory of their own.
template <class... Dims>
void check_copies(Mesh<X> const& mesh, Sizes n) {
  auto const a = matrix<Dims...>(mesh, n);
  Tensor<double, Dims..., Memory<Host>> const there = to_memory<Host>(a);
  Tensor<double, Dims...> back = to_memory<>(there);
  CHECK(wrong(there, times(1)) == 0);
  CHECK(wrong(back, times(1)) == 0);
  if (a.local_size() > 0) {
    harness::write_block(back, [](auto const& block) { block.data()[0] = -1; });
    CHECK((wrong(a, times(1)) == 0 && wrong(there, times(1)) == 0 && wrong(back, times(1)) == 1));
  }
  measured_plan::check(
      "to_memory", op::ToMemory<Host>{}, [](auto const& x) { return to_memory<Host>(x); }, a);
  measured_plan::check(
      "to_memory", op::ToMemory<>{}, [](auto const& x) { return to_memory<>(x); }, there);
}

TEST_CASE("copies") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Sizes const n : sizes) {
    check_copies<Dim<I, X>, Dim<J>>(mesh, n);
    check_copies<Dim<I>, Dim<J, X>>(mesh, n);
    check_copies<Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, n);
  }
}

TEST_CASE("other element types, and unreduced sums") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, {9, 4});
  auto const half = to_memory<Host>(cast<bfloat16>(a * 0 + 2));
  CHECK(wrong(half, [](auto const&) { return static_cast<bfloat16>(2.0F); }) == 0);
  auto const truths = to_memory<Host>(a < 300);
  CHECK(wrong(truths, [](std::array<Int, 2> const& at) { return f(at[0], at[1]) < 300; }) == 0);
  auto const sums = to_memory<>(all_reduce<X>(to_memory<Host>(sum<I>(a))));
  CHECK(wrong(sums, [](std::array<Int, 1> const& at) { return f(36, 9 * at[0]); }) == 0);
}

TEST_CASE("named, in both memories") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Sizes const n : sizes) {
    auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    Tensor<double, Dim<I>, Dim<J, X>, Memory<Host>> const there =
        to_memory<Host, Dim<I>, Dim<J, X>>(a * 2);
    CHECK(wrong(there, times(2)) == 0);
    Tensor<double, Dim<I>, Dim<J>> const back = to_memory<Dim<I>, Dim<J>>(there);
    CHECK(wrong(back, times(2)) == 0);
    CHECK(wrong(reshard<Dim<I, X>, Dim<J>>(there + there), times(4)) == 0);
  }
  auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, {9, 4});
  measured_plan::check(
      "named", op::Named<op::ToMemory<Host>, Dim<I>, Dim<J, X>>{},
      [](auto const& x) { return to_memory<Host, Dim<I>, Dim<J, X>>(x); }, a);
}

TEST_CASE("of blocks, in manual mode") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, {16, 4});
  auto const twice = shard_map<Dim<I, X>, Dim<J>>(
      [](auto const& block) {
        auto const there = to_memory<Host>(block);
        return to_memory<>(there + there);
      },
      a);
  CHECK(wrong(twice, times(2)) == 0);
}

// sum of a * a, computed in the other memory: the gradient is 2 a, in the memory of a.
constexpr auto squares = [](auto const& a) {
  auto const there = to_memory<Host>(a);
  return sum(there * there);
};
constexpr auto squares_there = [](auto const& a) {
  auto const here = to_memory<>(a);
  return sum(here * here);
};

TEST_CASE("gradients") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Sizes const n : sizes) {
    auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    auto const total = [](auto const& v) { return all_reduce<X>(squares(v)); };
    auto const [loss, gradient] = value_and_grad<0>(total)(a);
    static_assert(
        std::is_same_v<std::remove_cvref_t<decltype(gradient)>, Tensor<double, Dim<I, X>, Dim<J>>>);
    CHECK(wrong(gradient, times(2)) == 0);
    auto const there = to_memory<Host>(a);
    auto const total_there = [](auto const& v) { return all_reduce<X>(squares_there(v)); };
    CHECK(wrong(grad<0>(total_there)(there), times(2)) == 0);
  }
}

TEST_CASE("automatic mode") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Sizes const n : sizes) {
    auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    auto const there = to_memory<Host>(lazy(a) * 3);
    Tensor<double, Dim<I>, Dim<J, X>, Memory<Host>> const split =
        evaluate<Dim<I>, Dim<J, X>>(mesh, there + there);
    CHECK(wrong(split, times(6)) == 0);
    Tensor<double, Dim<I>, Dim<J>> const back =
        evaluate<Dim<I>, Dim<J>>(mesh, to_memory<>(there + lazy(split)));
    CHECK(wrong(back, times(9)) == 0);
    Tensor<double, Dim<I, X>, Dim<J>> const named =
        evaluate<Dim<I, X>, Dim<J>>(mesh, to_memory<Dim<I>, Dim<J, X>>(there));
    CHECK(wrong(named, times(3)) == 0);
  }
}

TEST_CASE("gradients in automatic mode") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Sizes const n : sizes) {
    auto const a = matrix<Dim<I, X>, Dim<J>>(mesh, n);
    auto const [loss, gradient] = evaluate(mesh, value_and_grad<0>(squares), a);
    CHECK(wrong(gradient, times(2)) == 0);
  }
}

}  // namespace
