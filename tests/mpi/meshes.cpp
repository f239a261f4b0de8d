// Meshes of one to four axes, over all or some ranks in any order: coordinates, groups, values.
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using namespace shardtype::automatic_mode;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct W : Axis<"W"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

// Lists of `n` of the job's ranks: the first ones, the last ones backwards, every other one first,
// and a rotation.
std::vector<std::vector<int>> orders(int n) {
  int const all = on_ranks::rank_total();
  std::vector<std::vector<int>> out(4);
  for (int k = 0; k < n; ++k) {
    out[0].push_back(k);
    out[1].push_back(all - 1 - k);
    out[3].push_back((k + all / 2) % all);
  }
  for (int start : {1, 0})
    for (int r = start; r < all; r += 2)
      if (static_cast<int>(out[2].size()) < n) out[2].push_back(r);
  return out;
}

// The position of this rank in the list, or -1.
int place_in(std::vector<int> const& ranks) {
  for (std::size_t k = 0; k < ranks.size(); ++k)
    if (ranks[k] == on_ranks::my_rank()) return static_cast<int>(k);
  return -1;
}

// Checks the sum of the positions of the group's members, along each axis and along all.
template <class... Xs>
void check_groups(Mesh<Xs...> const& mesh, std::array<std::int64_t, sizeof...(Xs)> const& sizes,
                  std::vector<int> const& ranks) {
  int const place = place_in(ranks);
  CHECK(mesh.here() == (place >= 0));
  CHECK(mesh.size() == static_cast<int>(ranks.size()));
  if (!mesh.here()) return;
  MeshState& state = mesh.state();
  std::int64_t stride = 1;
  for (std::size_t m = sizeof...(Xs); m-- > 0;) {
    std::int64_t const coordinate = place / stride % sizes[m];
    CHECK(state.coords()[m] == coordinate);
    int const position = static_cast<int>(m);
    Comm& group = state.group(&position, 1);
    CHECK(group.size() == sizes[m]);
    CHECK(group.rank() == coordinate);
    std::int64_t sum = place;
    group.all_reduce(&sum, &sum, 1, ReduceKind::sum);
    std::int64_t expected = 0;
    for (std::int64_t g = 0; g < sizes[m]; ++g) expected += place + (g - coordinate) * stride;
    CHECK(sum == expected);
    stride *= sizes[m];
  }
}

template <class... Dims, class... Xs>
void check_values(Mesh<Xs...> const& mesh) {
  auto f = [](std::int64_t i, std::int64_t j) { return static_cast<double>(i * 100 + j); };
  auto const a = from_function<double, Dims...>(mesh, {11, 6}, f);
  auto const whole = reshard<Dim<I>, Dim<J>>(a);
  CHECK(whole.local_size() == (mesh.here() ? 66 : 0));
  int bad = 0;
  auto const block = harness::host_block(whole);
  detail::for_each_element(whole, [&](std::int64_t k, auto const& at) {
    if (block.data()[k] != f(at[0], at[1])) ++bad;
  });
  CHECK(bad == 0);
  // the sum over I of a[I, J]: a product that reduces
  auto const ones = full<double, Dim<I>>(mesh, {11}, 1.0);
  auto const sums = einsum<Dim<J>>(a, ones);
  CHECK(sums.local_size() == (mesh.here() ? 6 : 0));
  auto const sums_here = harness::host_block(sums);
  if (mesh.here())
    for (std::size_t j = 0; j < 6; ++j)
      if (sums_here(j) != 5500.0 + 11.0 * static_cast<double>(j)) ++bad;
  CHECK(bad == 0);
}

// `n` as a product of `axes` factors, with the larger factors first or last.
template <std::size_t Axes>
std::vector<std::array<std::int64_t, Axes>> grids(std::int64_t n) {
  std::array<std::int64_t, Axes> forth{};
  forth.fill(1);
  std::size_t k = 0;
  for (std::int64_t p = 2; n > 1;)
    if (n % p == 0) {
      forth[k++ % Axes] *= p;
      n /= p;
    } else {
      ++p;
    }
  std::array<std::int64_t, Axes> back = forth;
  for (std::size_t m = 0; m < Axes; ++m) back[m] = forth[Axes - 1 - m];
  return {forth, back};
}

template <class Check, class... Xs>
void check_all(Type<Mesh<Xs...>>, Check values) {
  for (int n : {on_ranks::rank_total(), (on_ranks::rank_total() + 1) / 2})
    for (auto const& ranks : orders(n))
      for (auto const& sizes : grids<sizeof...(Xs)>(n)) {
        INFO("ranks " << n << ", first " << ranks[0]);
        Mesh<Xs...> const mesh(MPI_COMM_WORLD, sizes, ranks);
        check_groups(mesh, sizes, ranks);
        values(mesh);
      }
}

}  // namespace

TEST_CASE("one axis") {
  check_all(type<Mesh<X>>, [](auto const& mesh) { check_values<Dim<I, X>, Dim<J>>(mesh); });
}
TEST_CASE("two axes") {
  check_all(type<Mesh<X, Y>>, [](auto const& mesh) { check_values<Dim<I, Y>, Dim<J, X>>(mesh); });
}
TEST_CASE("three axes") {
  check_all(type<Mesh<X, Y, Z>>,
            [](auto const& mesh) { check_values<Dim<I, Z, X>, Dim<J, Y>>(mesh); });
}
TEST_CASE("four axes") {
  check_all(type<Mesh<X, Y, Z, W>>,
            [](auto const& mesh) { check_values<Dim<I, W, X>, Dim<J, Z, Y>>(mesh); });
}

TEST_CASE("a mesh of ranks of another communicator") {
  // the job's ranks backwards, without the last one if there are several
  int const all = on_ranks::rank_total();
  MPI_Comm back = MPI_COMM_NULL;
  bool const in = all == 1 || on_ranks::my_rank() != all - 1;
  MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, all - on_ranks::my_rank(), &back);
  if (in) {
    std::int64_t const n = all == 1 ? 1 : all - 1;
    Mesh<X> const mesh(back, {n});
    CHECK(mesh.coordinate<X>() == (all == 1 ? 0 : n - 1 - on_ranks::my_rank()));
    CHECK(mesh.state().job_ranks().front() == (all == 1 ? 0 : n - 1));
    check_values<Dim<I, X>, Dim<J>>(mesh);
    MPI_Comm_free(&back);
  }
}

TEST_CASE("sizes and rank lists that do not fit") {
  int const all = on_ranks::rank_total();
  auto code = [](auto make) {
    try {
      make();
    } catch (Error const& e) {
      return e.code();
    }
    return std::string("none");
  };
  struct Two : Axis<"Two", 2> {};
  CHECK(code([&] { Mesh<X>(MPI_COMM_WORLD, {all + 1}); }) == "E10");
  CHECK(code([&] { Mesh<X, Two>{MPI_COMM_WORLD}; }) ==
        (all == 1 ? "E10" : (all % 2 == 1 ? "E14" : "none")));
  CHECK(code([&] { Mesh<Two>(MPI_COMM_WORLD, {1}); }) == "E11");
  CHECK(code([&] { Mesh<X>(MPI_COMM_WORLD, {0}); }) == "E11");
  CHECK(code([&] { Mesh<X>(MPI_COMM_WORLD, {1}, {all}); }) == "E12");
  CHECK(code([&] { Mesh<X, Y>(MPI_COMM_WORLD, {1, 1}, {0, 0}); }) == "E12");
}

TEST_CASE("an axis without a size takes the ranks that the others leave") {
  int const all = on_ranks::rank_total();
  Mesh<X> const line(MPI_COMM_WORLD);
  CHECK(line.size() == all);
  CHECK(line.size_of<X>() == all);
  CHECK(line.coordinate<X>() == on_ranks::my_rank());
  struct One : Axis<"One", 1> {};
  struct Two : Axis<"Two", 2> {};
  Mesh<One, X> const behind(MPI_COMM_WORLD);
  CHECK(behind.size_of<X>() == all);
  if (all % 2 != 0) return;
  Mesh<X, Two> const grid(MPI_COMM_WORLD);
  CHECK(grid.size() == all);
  CHECK(grid.size_of<X>() == all / 2);
  CHECK(grid.size_of<Two>() == 2);
  CHECK(grid.coordinate<Two>() == on_ranks::my_rank() % 2);
}
