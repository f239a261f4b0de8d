// Products with random labels, batch dims, shardings and extents, strict and named, as values of
// rules, planner and executor. The results are compared with the dense meaning, the bytes with the
// plan.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/simulate.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};

// A random sharding of these labels over up to three axes; some axes are unreduced if `unreduced`.
Spec random_spec(Draw& draw, std::vector<int> labels, bool unreduced) {
  draw.shuffle(labels);
  Spec s;
  for (int l : labels) s.add(l);
  std::vector<int> axes{0, 1, 2};
  draw.shuffle(axes);
  for (int x : axes) {
    int const where = draw.below(s.rank + 2);
    if (where < s.rank) {
      s.dims[where].axes.push(x);
    } else if (unreduced && where == s.rank && draw.below(3) == 0) {
      s.unreduced.insert(x);
    }
  }
  return s;
}

std::int64_t left(Extents const& at) {
  return (at[0] + 3 * at[1] + 5 * at[2] + 2 * at[3] + at[4]) % 5 - 2;
}
std::int64_t right(Extents const& at) {
  return (2 * at[0] + at[1] + 3 * at[2] + at[3] + 4 * at[4]) % 7 - 3;
}

// The indices of only the tensor's own labels: the others do not change its elements.
Extents only_labels_of(Spec const& s, Extents const& at) {
  Extents out;
  for (int d = 0; d < s.rank; ++d) out.at[s.dims[d].label] = at[s.dims[d].label];
  return out;
}

// Small integers, which every element type represents exactly.
template <class T>
T as(std::int64_t n) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(n);
  } else {
    return T(static_cast<typename T::value_type>(n));
  }
}

struct Grid {
  Mesh<X, Y, Z> mesh;
  AxisMap axes;
};

// This rank's block of a distributed value, in the executor's representation.
template <class T>
execute::Value<T> block_of_value(Grid& g, simulate::Distributed const& v, Sizing const& z,
                                 std::int64_t rank) {
  std::int64_t const n = local_elements(v.spec, z.extents, z.sizes, g.axes.coords);
  Buffer memory = g.mesh.state().pool().template take<Kokkos::HostSpace>(
      static_cast<std::size_t>(n) * sizeof(T));
  T* out = static_cast<T*>(memory.data());
  for (auto const& element : v.held[static_cast<std::size_t>(rank)])
    if (element) *out++ = as<T>(*element);
  return execute::whole_value<T>(v.spec, z, g.axes.coords, memory);
}

// Runs a plan under MPI. Returns the number of elements that differ from the dense product, plus
// one if the bytes differ from the plan's.
template <class T>
int run(Grid& g, Plan const& plan, Sizing const& z) {
  std::int64_t const me = simulate::rank_of(z.sizes, g.axes.coords);
  auto const da = simulate::distribute(plan.operands[0], z, left);
  auto const db = simulate::distribute(plan.operands[1], z, right);
  auto a = block_of_value<T>(g, da, z, me);
  auto b = block_of_value<T>(g, db, z, me);
  shim::reset();
  Buffer const result = execute::ProductRun<T, Kokkos::HostSpace>(g.mesh.state(), g.axes, z,
                                                                  std::source_location::current())
                            .run(plan, a, b, Overlap::none);
  int bad = shim::bytes() == plan.bytes(g.axes.coords) ? 0 : 1;

  // dense: sum over the labels that the result lacks
  Spec const& c = plan.result;
  Spec loop;
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < plan.operands[k].rank; ++d)
      if (loop.find(plan.operands[k].dims[d].label) < 0) loop.add(plan.operands[k].dims[d].label);
  std::vector<std::int64_t> dense(static_cast<std::size_t>(simulate::volume(c, z.extents)), 0);
  for (std::int64_t k = 0; k < simulate::volume(loop, z.extents); ++k) {
    Extents const at = simulate::indices(loop, z.extents, k);
    dense[static_cast<std::size_t>(simulate::place(c, z.extents, at))] +=
        left(only_labels_of(plan.operands[0], at)) * right(only_labels_of(plan.operands[1], at));
  }
  // unreduced values are added over their group
  AxisList unreduced;
  for (int x = 0; x < max_axes; ++x)
    if (c.unreduced.contains(x)) unreduced.push(x);
  std::int64_t const n = local_elements(c, z.extents, z.sizes, g.axes.coords);
  std::vector<T> mine(static_cast<T const*>(result.data()),
                      static_cast<T const*>(result.data()) + n);
  if (unreduced.size > 0) {
    int positions[max_axes];
    for (int k = 0; k < unreduced.size; ++k) positions[k] = g.axes.position[unreduced[k]];
    Comm& group = g.mesh.state().group(positions, unreduced.size);
    group.all_reduce(mine.data(), mine.data(), n, ReduceKind::sum);
  }
  auto element = mine.begin();
  for (std::int64_t k = 0; k < simulate::volume(c, z.extents); ++k) {
    Extents const at = simulate::indices(c, z.extents, k);
    if (!simulate::holds(c, z, g.axes.coords, at)) continue;
    if (*element++ != as<T>(dense[static_cast<std::size_t>(k)])) ++bad;
  }
  return bad;
}

std::array<std::int64_t, 3> grid_for(int ranks) {
  switch (ranks) {
    case 1:
      return {1, 1, 1};
    case 4:
      return {2, 1, 2};
    case 6:
      return {3, 1, 2};
    case 8:
      return {2, 2, 2};
    default:
      return {1, ranks, 1};
  }
}

template <class T>
void draws(unsigned first, unsigned count) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Grid g{Mesh<X, Y, Z>(MPI_COMM_WORLD, grid_for(ranks)), {}};
  g.axes = map_axes(g.mesh.state(), Scope<Tensor<T, Reduced<X, Y, Z>>>::names);
  int strict = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    Draw draw(seed);
    std::vector<int> of_a;
    std::vector<int> of_b;
    std::vector<int> kept;
    for (int l = 0; l < 5; ++l) {
      switch (draw.below(7)) {
        case 0:
          of_a.push_back(l);
          kept.push_back(l);
          break;
        case 1:
          of_b.push_back(l);
          kept.push_back(l);
          break;
        case 2:
          of_a.push_back(l);
          of_b.push_back(l);
          kept.push_back(l);
          break;
        case 3:
        case 4:
          of_a.push_back(l);
          of_b.push_back(l);
          break;
        case 5:
          (draw.below(2) == 0 ? of_a : of_b).push_back(l);
          break;
        default:
          break;
      }
    }
    Sizing z;
    z.sizes = g.axes.sizes;
    z.element_bytes = sizeof(T);
    for (int l = 0; l < 5; ++l) z.extents.at[l] = draw.below(12) == 0 ? 0 : 1 + draw.below(6);
    Spec const a = random_spec(draw, of_a, true);
    Spec const b = random_spec(draw, of_b, true);
    Spec const wanted = random_spec(draw, kept, true);
    INFO("seed " << seed);
    Labels const out = labels_of(wanted);
    if (Verdict const v = rules::contraction(a, b, out); v) {
      ++strict;
      Plan const plan = planning::strict_contraction_plan(a, b, v.result, z);
      CHECK(plan.collectives() == 0);
      CHECK(run<T>(g, plan, z) == 0);
    }
    if (rules::named_contraction(a, b, wanted, true))
      CHECK(run<T>(g, planning::contraction_plan(a, b, wanted, z), z) == 0);
  }
  CHECK(strict > 0);
}

}  // namespace

TEST_CASE("random labels, batch dims and shardings: double") { draws<double>(1, 250); }
TEST_CASE("random labels, batch dims and shardings: float") { draws<float>(1000, 60); }
TEST_CASE("random labels, batch dims and shardings: int64") { draws<std::int64_t>(2000, 60); }
TEST_CASE("random labels, batch dims and shardings: int32") { draws<std::int32_t>(3000, 60); }
TEST_CASE("random labels, batch dims and shardings: complex") {
  draws<Kokkos::complex<double>>(4000, 60);
  draws<Kokkos::complex<float>>(5000, 60);
}
