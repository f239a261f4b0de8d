// Operations that only move elements, along the last dim: flip, concat, slice, repeat, roll, pad
// and transpose, and flip and repeat of whole rows, against plain loops. Rows of all widths to 70
// and some longer ones, one row, none, uneven and empty blocks, elements of 1 to 16 bytes, parts of
// rows with gaps between them.
// RANKS: 1 3
// TIMEOUT: 300
#include <cstdint>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;

template <class T>
T drawn(Int i, Int j) {
  Int const n = (i * 37 + j * 11 + i * j) % 113;
  return T(static_cast<float>(std::is_same_v<T, bool> ? n % 5 / 3 : n));
}

// The elements of `a` are those that `element(i, j)` gives, row by row.
template <class A, class Element>
void check_rows(char const* what, A const& a, Int height, Int width, Element const& element) {
  auto const got = to_host(a);
  REQUIRE(got.size() == static_cast<std::size_t>(height * width));
  Int wrong = 0;
  for (Int i = 0; i < height; ++i)
    for (Int j = 0; j < width; ++j)
      wrong += got[static_cast<std::size_t>(i * width + j)] == element(i, j) ? 0 : 1;
  INFO(what << " of " << height << " x " << width);
  CHECK(wrong == 0);
}

template <class T>
void check_moves(Mesh<X> const& mesh, Int height, Int width) {
  INFO(height << " rows of " << width << " elements of " << sizeof(T) << " bytes");
  auto const made = [&](Int more, Int from) {
    return from_function<T, Dim<I, X>, Dim<J>>(mesh, {height, width + more},
                                               [=](Int i, Int j) { return drawn<T>(i, j + from); });
  };
  auto const x = [](Int i, Int j) { return drawn<T>(i, j); };
  auto const a = made(0, 0);
  check_rows("flip", flip<J>(a), height, width, [&](Int i, Int j) { return x(i, width - 1 - j); });
  // two parts of one width, two of different widths, three
  check_rows("concat of two", concat<J>(a, made(0, width)), height, 2 * width, x);
  check_rows("concat of uneven ones", concat<J>(a, made(3, width)), height, 2 * width + 3, x);
  check_rows("concat of three", concat<J>(a, made(1, width), made(0, 2 * width + 1)), height,
             3 * width + 1, x);
  auto const wide = made(5, 0);
  for (Int const begin : {Int{0}, Int{1}, Int{5}})
    check_rows("slice", slice<J>(wide, begin, begin + width), height, width,
               [&](Int i, Int j) { return x(i, j + begin); });
  check_rows("slice in steps", slice<J>(wide, 0, width + 4, 2), height, (width + 5) / 2,
             [&](Int i, Int j) { return x(i, 2 * j); });
  check_rows("repeat", repeat<J, K>(a, 3), height, 3 * width,
             [&](Int i, Int j) { return x(i, j / 3); });
  check_rows("roll", roll<J>(a, 2), height, width,
             [&](Int i, Int j) { return x(i, (j + 2 * width - 2) % width); });
  check_rows("pad", pad<J>(a, 2, 1), height, width + 3,
             [&](Int i, Int j) { return j < 2 || j >= width + 2 ? T(0.0F) : x(i, j - 2); });
  // whole rows, in the reverse order and several times
  auto const here = from_function<T, Dim<I>, Dim<J>>(mesh, {height, width}, x);
  check_rows("flip of rows", flip<I>(here), height, width,
             [&](Int i, Int j) { return x(height - 1 - i, j); });
  check_rows("repeat of rows", repeat<I, K>(here, 3), 3 * height, width,
             [&](Int i, Int j) { return x(i / 3, j); });
  auto const turned = transpose<J, I>(a);
  check_rows("transpose", turned, width, height, [&](Int j, Int i) { return x(i, j); });
  check_rows("transpose back", transpose<I, J>(turned), height, width, x);
}

}  // namespace

TEST_CASE("rows are moved as plain loops move them", "") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  auto const all = [&](auto zero) {
    using T = decltype(zero);
    for (Int width = 1; width <= 70; ++width)
      for (Int const height : {0, 1, 3, 19})
        if (height == 19 || width % 8 == 1) check_moves<T>(mesh, height, width);
    for (Int const width : {127, 128, 129, 500, 1025}) check_moves<T>(mesh, 9, width);
    check_moves<T>(mesh, 2, 70001);
    check_moves<T>(mesh, 5003, 3);
  };
  all(false);
  all(bfloat16(0.0F));
  all(std::int32_t{0});
  all(0.0);
  all(Kokkos::complex<double>());
}

// Results that bypass the cache where one rank has them.
TEST_CASE("large blocks are moved as plain loops move them", "") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  check_moves<std::int32_t>(mesh, 360004, 7);
  check_moves<bfloat16>(mesh, 9001, 503);
  check_moves<double>(mesh, 2, 600003);
}
