// Reshards: every pair of shardings of a matrix over two axes, a sample of rank-3 tensors over
// three axes (500 pairs on 2 x 2 x 2 ranks), packed and as views, unreduced operands of all kinds,
// MPI counts in pieces. Checks values, bytes, and the numbers of packing and unpacking kernels.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/run_reshard.hpp"
#include "harness/sending.hpp"
#include "harness/simulate.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;
using run_reshard::Operand;

namespace {

struct P : Axis<"P"> {};
struct Q : Axis<"Q"> {};
struct R : Axis<"R"> {};
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

std::int64_t element(Extents const& at) { return at[0] * 101 + at[1] * 13 + at[2] * 7 + 1; }

// See run_reshard; runs both layouts of the operand.
int run(MeshState& mesh, AxisMap const& axes, Spec const& from, Spec const& to, Sizing const& z,
        bool check_bytes = true) {
  return run_reshard::run(mesh, axes, from, to, z, element, Operand::packed, check_bytes) +
         run_reshard::run(mesh, axes, from, to, z, element, Operand::view, check_bytes);
}

Sizing sizing(AxisMap const& axes, std::array<std::int64_t, 3> const& extents) {
  Sizing z;
  z.sizes = axes.sizes;
  for (std::size_t l = 0; l < 3; ++l) z.extents.at[l] = extents[l];
  z.element_bytes = 8;
  return z;
}

std::array<std::int64_t, 2> matrix_grid() {
  switch (on_ranks::rank_total()) {
    case 4:
      return {2, 2};
    case 6:
      return {2, 3};
    case 8:
      return {4, 2};
    default:
      return {1, on_ranks::rank_total()};
  }
}

}  // namespace

TEST_CASE("every pair of shardings of a matrix on two axes") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, matrix_grid());
  AxisMap const axes = map_axes(mesh.state(), Scope<Tensor<float, Reduced<X, Y>>>::names);
  auto const extents = GENERATE(values<std::array<std::int64_t, 3>>(
      {{16, 24, 0}, {13, 7, 0}, {3, 2, 0}, {0, 5, 0}, {1, 11, 0}}));
  Sizing const z = sizing(axes, extents);
  std::vector<Spec> const specs = simulate::all_specs(2, 2, true);
  int pairs = 0;
  for (std::size_t a = 0; a < specs.size(); ++a)
    for (std::size_t b = 0; b < specs.size(); ++b) {
      if (!rules::reshard(specs[a], specs[b])) continue;
      ++pairs;
      INFO("from " << a << " to " << b << " of " << extents[0] << " x " << extents[1]);
      CHECK(run(mesh.state(), axes, specs[a], specs[b], z) == 0);
      if (b % 3 == 0) {  // dims in the other order
        Spec swapped = specs[b];
        std::swap(swapped.dims[0], swapped.dims[1]);
        CHECK(run(mesh.state(), axes, specs[a], swapped, z) == 0);
      }
    }
  CHECK(pairs == 223);
}

TEST_CASE("a sample of rank-3 tensors on three axes") {
  int const ranks = on_ranks::rank_total();
  std::array<std::int64_t, 3> grid{1, 1, ranks};
  if (ranks == 4) grid = {2, 2, 1};
  if (ranks == 6) grid = {1, 2, 3};
  if (ranks == 8) grid = {2, 2, 2};
  Mesh<X, Y, Z> mesh(MPI_COMM_WORLD, grid);
  AxisMap const axes = map_axes(mesh.state(), Scope<Tensor<float, Reduced<X, Y, Z>>>::names);
  std::vector<Spec> const specs = simulate::all_specs(3, 3, true);
  std::mt19937 engine(7);
  std::size_t const draws = ranks == 8 ? 500 : 60;
  for (std::size_t k = 0; k < draws;) {
    Spec from = specs[engine() % specs.size()];
    Spec to = specs[engine() % specs.size()];
    if (!rules::reshard(from, to)) continue;
    // every third draw: dims in another order, and reduced axes instead of replicated ones
    if (k % 3 == 0) {
      std::swap(to.dims[engine() % 3], to.dims[engine() % 3]);
      for (int x = 0; x < 3; ++x) {
        if (from.state(x) == AxisState::replicated) from.reduced.insert(x);
        if (to.state(x) == AxisState::replicated && engine() % 2 == 0) to.reduced.insert(x);
      }
    }
    Sizing const z = sizing(axes, k % 2 == 0 ? std::array<std::int64_t, 3>{5, 7, 6}
                                             : std::array<std::int64_t, 3>{3, 11, 4});
    INFO("draw " << k);
    CHECK(run(mesh.state(), axes, from, to, z) == 0);
    ++k;
  }
}

TEST_CASE("a sample of rank-3 tensors on six axes") {
  int const ranks = on_ranks::rank_total();
  std::array<std::int64_t, 6> grid{1, 1, ranks, 1, 1, 1};
  if (ranks == 4) grid = {2, 1, 1, 1, 2, 1};
  if (ranks == 6) grid = {1, 1, 2, 1, 1, 3};
  if (ranks == 8) grid = {2, 1, 1, 2, 1, 2};
  Mesh<P, Q, R, X, Y, Z> mesh(MPI_COMM_WORLD, grid);
  AxisMap const axes =
      map_axes(mesh.state(), Scope<Tensor<float, Reduced<P, Q, R, X, Y, Z>>>::names);
  std::mt19937 engine(23);
  auto const draw = [&](bool sums) {
    Spec s;
    for (int d = 0; d < 3; ++d) s.add(d);
    unsigned const first = static_cast<unsigned>(engine()) % 6;
    for (unsigned k = 0; k < 6; ++k) {
      auto const x = static_cast<int>((first + 5 * k) % 6);
      auto const where = static_cast<int>(engine() % 5);
      if (where < 3) s.dims[where].axes.push(x);
      if (where == 3 && sums) s.unreduced.insert(x);
    }
    return s;
  };
  for (int k = 0; k < (ranks == 8 ? 200 : 40);) {
    Spec const from = draw(true);
    Spec const to = draw(false);
    if (!rules::reshard(from, to)) continue;
    INFO("draw " << k);
    CHECK(run(mesh.state(), axes, from, to, sizing(axes, {5, 7, 6})) == 0);
    ++k;
  }
}

TEST_CASE("counts that do not fit one MPI call go in pieces") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, matrix_grid());
  AxisMap const axes = map_axes(mesh.state(), Scope<Tensor<float, Reduced<X, Y>>>::names);
  Sizing const z = sizing(axes, {13, 7, 0});
  std::vector<Spec> const specs = simulate::all_specs(2, 2, true);
  harness::Sending const cut({.largest_count = 5});
  for (Spec const& a : specs)
    for (Spec const& b : specs)
      if (rules::reshard(a, b)) CHECK(run(mesh.state(), axes, a, b, z, false) == 0);
}

TEST_CASE("named collectives on tensors") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, matrix_grid());
  auto f = [](auto i, auto j) { return static_cast<double>(i * 100 + j); };
  auto wrong = [&](auto const& a) {
    int bad = 0;
    auto const block = harness::host_block(a);
    detail::for_each_element(a, [&](std::int64_t k, auto const& at) {
      if (block.data()[k] != f(at[0], at[1])) ++bad;
    });
    return bad;
  };
  auto const a = from_function<double, Dim<I, X, Y>, Dim<J>>(mesh, {11, 6}, f);
  auto const gathered = all_gather<Y>(a);
  static_assert(std::is_same_v<decltype(gathered), Tensor<double, Dim<I, X>, Dim<J>> const>);
  CHECK(wrong(gathered) == 0);
  CHECK(wrong(all_gather<Y, X>(a)) == 0);
  auto const for_use = all_gather<Y>(a, to_reduced);
  static_assert(
      std::is_same_v<decltype(for_use), Tensor<double, Dim<I, X>, Dim<J>, Reduced<Y>> const>);
  CHECK(wrong(for_use) == 0);
  CHECK(wrong(start(op::AllGather<Y, X, checking::ToReduced>{}, a).wait()) == 0);
  auto const moved = all_to_all<Y, I, J>(a);
  static_assert(std::is_same_v<decltype(moved), Tensor<double, Dim<I, X>, Dim<J, Y>> const>);
  CHECK(wrong(moved) == 0);
  CHECK(wrong(reshard<Dim<I, Y, X>, Dim<J>>(a)) == 0);
  CHECK(plan_at(op::Reshard<Dim<I, Y, X>, Dim<J>>{}, a).collectives() <= 1);

  // one cast, however the parameter is stored
  using Used = Tensor<double, Dim<I>, Dim<J>, Reduced<X>>;
  auto const used = [&](auto const& w, int gathers, std::int64_t bytes) {
    shim::reset();
    auto const as = used_as<Reduced<X>>(w);
    static_assert(std::is_same_v<decltype(as), Used const>);
    CHECK(shim::bytes() == bytes);
    CHECK(wrong(as) == 0);
    CHECK(wrong(used_as<Used>(w)) == 0);
    CHECK(wrong(used_as<Dim<I>, Dim<J>, Reduced<X>>(w)) == 0);
    CHECK(plan_at(op::UsedAs<Reduced<X>>{}, w).collectives() == gathers);
  };
  auto const whole = from_function<double, Dim<I>, Dim<J>>(mesh, {11, 6}, f);
  auto const split = from_function<double, Dim<I, X>, Dim<J>>(mesh, {11, 6}, f);
  used(whole, 0, 0);
  used(reduced<X>(whole), 0, 0);
  used(split, 1, (11 - split.template local_extent<I>()) * 6 * 8);
  auto const both =
      used_as<Reduced<X>>(from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {11, 6}, f));
  static_assert(
      std::is_same_v<decltype(both), Tensor<double, Dim<I>, Dim<J, Y>, Reduced<X>> const>);
  CHECK(wrong(both) == 0);

  // each rank's own summand: the sum over Y of (y + 1) f
  auto part = zeros<double, Dim<I, X>, Dim<J>, Unreduced<Y>>(mesh, {11, 6});
  double const y = static_cast<double>(mesh.template coordinate<Y>());
  double const py = static_cast<double>(mesh.template size_of<Y>());
  harness::write_block(part, [&](auto const& view) {
    for (std::size_t i = 0; i < view.extent(0); ++i)
      for (std::size_t j = 0; j < view.extent(1); ++j)
        view(i, j) = (y + 1) * f(part.template global_index<I>(static_cast<std::int64_t>(i)),
                                 static_cast<std::int64_t>(j));
  });
  double const total = py * (py + 1) / 2;
  auto scaled = [&](auto const& t) {
    int bad = 0;
    auto const block = harness::host_block(t);
    detail::for_each_element(t, [&](std::int64_t k, auto const& at) {
      if (block.data()[k] != total * f(at[0], at[1])) ++bad;
    });
    return bad;
  };
  CHECK(scaled(all_reduce<Y>(part)) == 0);
  CHECK(scaled(reduce_scatter<Y, J>(part)) == 0);
  CHECK(scaled(reduce_scatter<Y, I>(part)) == 0);
  // the operand is unchanged: an all_reduce in place would have changed it
  CHECK(scaled(all_reduce<Y>(part)) == 0);

  // maxima and minima
  auto most = zeros<std::int32_t, Dim<I>, Unreduced<Max, X, Y>>(mesh, {5});
  auto least = zeros<std::int32_t, Dim<I>, Unreduced<Min, X, Y>>(mesh, {5});
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  harness::write_block(most, [&](auto const& view) {
    for (std::size_t i = 0; i < 5; ++i) view(i) = me * static_cast<int>(i);
  });
  harness::write_block(least, [&](auto const& view) {
    for (std::size_t i = 0; i < 5; ++i) view(i) = -me * static_cast<int>(i);
  });
  auto const m = all_reduce<X, Y>(most);
  auto const l = reshard<Dim<I, Y>>(least);
  auto const m_here = harness::host_block(m);
  auto const l_here = harness::host_block(l);
  for (std::int64_t i = 0; i < 5; ++i)
    CHECK(m_here(static_cast<std::size_t>(i)) == (on_ranks::rank_total() - 1) * i);
  for (std::int64_t i = 0; i < l.template local_extent<I>(); ++i)
    CHECK(l_here(static_cast<std::size_t>(i)) ==
          -(on_ranks::rank_total() - 1) * l.template global_index<I>(i));
}
