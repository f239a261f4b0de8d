// After an error that the program catches, the library is usable; also programs that
// SHARDTYPE_CHECK=agree must accept. Runs on 8 ranks, with and without the check.
// SOURCES: tests/harness/yield.cpp
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "../harness/host_block.hpp"

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct P : Axis<"P"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N", 20> {};

namespace {

using Grid = Mesh<X, Y>;

void expect(bool holds, std::string const& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

// Runs `body` and checks that it throws an Error with this code.
template <class Body>
void expect_error(std::string const& code, Body body) {
  try {
    body();
  } catch (Error const& e) {
    expect(e.code() == code, "expected " + code + ", got " + e.what());
    return;
  }
  expect(false, "expected " + code);
}

// A product with communication: checks that the mesh and the library still work.
void work(Grid const& mesh) {
  auto const a = full<float, Dim<I, X>, Dim<J, Y>>(mesh, {6, 9}, 2.0f);
  auto const b = full<float, Dim<J, Y>, Dim<K>>(mesh, {9, 7}, 3.0f);
  auto const c = all_reduce<Y>(matmul(a, b));
  for (float x : to_host(c)) expect(x == 54.0f, "6 * 9");
}

void caught_errors(Environment& env, Grid const& mesh) {
  auto const a = full<float, Dim<I, X>, Dim<J>>(mesh, {6, 9}, 1.0f);
  expect_error("E20", [&] { zeros<float, Dim<N, X>>(mesh, {21}); });
  work(mesh);
  expect_error("E20", [&] { zeros<float, Dim<I, X>>(mesh, {-1}); });
  expect_error("E24", [&] { matmul(a, zeros<float, Dim<J>, Dim<K, Y>>(mesh, {8, 7})); });
  work(mesh);
  expect_error("E24",
               [&] { explain(op::Matmul<>{}, a, zeros<float, Dim<J>, Dim<K>>(mesh, {8, 7})); });
  expect_error("E22", [&] { from_host<float, Dim<I, X>>(mesh, {6}, std::vector<float>(5)); });
  expect_error("E10", [&] { Mesh<P>(env.world(), {9}); });
  expect_error("E11", [&] { Grid(env.world(), {4, 2}); });
  expect_error("E12", [&] { Mesh<P>(env.world(), {2}, {5, 5}); });
  work(mesh);
  expect_error("E23", [&] {
    Grid const other(env.world());
    matmul(a, zeros<float, Dim<J>, Dim<K, Y>>(other, {9, 7}));
  });
  work(mesh);
  expect_error("E21", [&] {
    auto mine = a;
    mine.mutable_local();
  });
  auto mine = a.clone();
  harness::write_block(mine, [](auto const& block) {
    if (block.size() > 0) block(0, 0) = 5.0f;
  });
  expect(!a.shared(), "a copy that is gone does not hold the memory");
  expect_error("IO1", [&] { load_npy<float, Dim<I, X>, Dim<J, Y>>(mesh, "no/such/file.npy"); });
  work(mesh);
  expect_error("IO8", [&] { save_npy(a, "no/such/folder/file.npy"); });
  work(mesh);
}

// On one rank only, between collectives.
void caught_alone(Environment& env, Grid const& mesh) {
  if (env.rank() == 3) {
    try {
      throw std::runtime_error("only here");
    } catch (std::exception const&) {
    }
    auto a = zeros<float, Dim<I>>(mesh, {4});
    auto const held = a;
    expect_error("E21", [&] { a.mutable_local(); });
  }
  work(mesh);
  // an error after the end of a mesh
  try {
    Grid const inner(env.world());
    work(inner);
    if (env.rank() == 3) throw std::runtime_error("only here");
  } catch (std::exception const&) {
    expect(env.rank() == 3, "only rank 3 threw");
  }
  work(mesh);
}

void two_meshes(Environment& env, Grid const& mesh) {
  Grid const other(env.world(), {2, 4}, {7, 6, 5, 4, 3, 2, 1, 0});
  Mesh<P> const even(env.world(), {4}, {6, 4, 2, 0});
  Mesh<P> const odd(env.world(), {4}, {1, 3, 5, 7});
  for (int k = 0; k < 3; ++k) {
    work(mesh);
    work(other);
    Mesh<P> const& mine = env.rank() % 2 == 0 ? even : odd;
    // a varying number of steps on one mesh, always two on the other
    int const rounds = env.rank() % 2 == 0 ? k : 2;
    for (int r = 0; r < rounds; ++r) {
      auto const sum = all_reduce<P>(full<double, Unreduced<P>>(mine, {}, 1.5));
      expect(item(sum) == 1.5, "one rank of four holds the summand");
    }
  }
}

// A mesh may be destroyed earlier on one rank than on another, and more often.
void uneven_ends(Environment& env, Grid const& mesh) {
  std::optional<decltype(zeros<float, Dim<I, X>>(mesh, {9}))> kept;
  {
    Grid const inner(env.world());
    work(inner);
    if (env.rank() == 0) kept = zeros<float, Dim<I, X>>(inner, {9});
  }
  work(mesh);
  for (int k = 0; k < 20; ++k) work(Grid(env.world()));
  kept.reset();
  work(mesh);
}

// Blocks of one call with a number of rows that differs from rank to rank.
void uneven_rows(Environment& env, Grid const& mesh) {
  auto const rows = static_cast<std::size_t>(env.rank() % 3);
  (void)shard_map<Dim<I>>(mesh, [&] {
    auto const a = varying<Y>(full_local<float, Dim<I>>({static_cast<std::int64_t>(rows)}, 1.0f));
    auto const out = varying<Y>(zeros_local<float, Dim<I>>({2}));
    std::vector<std::int64_t> const none(4, 0);
    auto const moved = ragged_all_to_all<Y>(a, out, {none, none, none, none});
    return all_reduce<Max, Y>(moved);
  });
  work(mesh);
}

// Tensors without a mesh object, and at the end of the program.
std::optional<Tensor<float, Dim<I, X>>> last_tensor;
std::optional<Grid> last_mesh;

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Grid const mesh(env.world());
  work(mesh);
  caught_errors(env, mesh);
  caught_alone(env, mesh);
  two_meshes(env, mesh);
  uneven_ends(env, mesh);
  uneven_rows(env, mesh);
  last_mesh.emplace(env.world());
  last_tensor = zeros<float, Dim<I, X>>(*last_mesh, {9});
  work(mesh);
  if (env.rank() == 0) std::puts("came to its end");
}
