// Global variables of a program that have names of local variables in our headers: under -Wshadow,
// which the tests have, and with our headers as -I, no warning comes from them. Before and after
// the include, because g++ looks at a template's locals again where it is used.
// OPTIMIZE: 1
#include <array>
#include <cstdint>

[[maybe_unused]] static int block = 0, rows = 0, here = 0, there = 0, offset = 0, axes = 0,
                            sizing = 0, memory = 0;

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

namespace {
struct X : shardtype::Axis<"X"> {};
struct I : shardtype::Index<"I"> {};
struct J : shardtype::Index<"J"> {};
}  // namespace

[[maybe_unused]] static int same = 0, equal = 0, a = 0, b = 0, c = 0, k = 0, n = 0, d = 0, s = 0,
                            out = 0, op = 0, run = 0, plan = 0, step = 0, from = 0, to = 0,
                            value = 0, values = 0, other = 0, object = 0, order = 0, place = 0,
                            blocks = 0, table = 0, dims = 0, stride = 0, begin = 0, where = 0,
                            mesh = 0, extents = 0;

TEST_CASE("globals with the names of our locals") {
  using A = shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J>>;
  shardtype::Mesh<X> const ranks(MPI_COMM_WORLD, {1});
  auto const x =
      shardtype::full<float, shardtype::Dim<I, X>, shardtype::Dim<J>>(ranks, {4, 3}, 2.0F);
  A const y = x * 2 + x;
  auto const product = shardtype::einsum<shardtype::Dim<I>>(y, x);
  auto const sorted = shardtype::sort<J>(shardtype::flip<J>(y));
  auto const e = shardtype::evaluate<shardtype::Dim<I, X>, shardtype::Dim<J>>(
      ranks, shardtype::lazy(sorted) * x);
  CHECK(shardtype::item(shardtype::sum<shardtype::Tensor<float>>(e)) == 4 * 3 * 12.0F);
  CHECK(shardtype::to_host(product)[0] == 36.0F);
}
