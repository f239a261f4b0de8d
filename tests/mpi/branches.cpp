// branch(number, f0, f1, ..., args...): jax.lax.switch in manual mode, compared with the functions
// themselves; only the selected one runs.
#include <array>
#include <cstdint>
#include <tuple>

#include <shardtype/from_jax.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};

template <class T>
void check_numbers(std::int64_t rows) {
  std::int64_t const ranks = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {ranks});
  auto const a = from_function<double, Dim<I, X>>(mesh, {rows * ranks},
                                                  [](auto i) { return static_cast<double>(i); });
  for (std::int64_t const number : {-7, -1, 0, 1, 2, 3, 4, 1000}) {
    std::int64_t const expected = number < 0 ? 0 : number > 3 ? 3 : number;
    std::array<int, 4> runs{};
    auto const chosen = shard_map<Dim<I, X>>(
        [&](auto const& block) {
          auto const k = full_local<T>({}, static_cast<T>(number));
          return branch(
              k, [&](auto const& b) { return ++runs[0], b + 1.0; },
              [&](auto const& b) { return ++runs[1], varying<X>(all_reduce<X>(b)) * 0.0 - b; },
              [&](auto const& b) { return ++runs[2], b * b; },
              [&](auto const& b) { return ++runs[3], b * 0.5; }, block);
        },
        a);
    CHECK(on_ranks::wrong(chosen, [&](auto i) {
            auto const x = static_cast<double>(i);
            return expected == 0 ? x + 1 : expected == 1 ? -x : expected == 2 ? x * x : x / 2;
          }) == 0);
    for (std::int64_t k = 0; k < 4; ++k)
      CHECK(runs[static_cast<std::size_t>(k)] == (k == expected ? 1 : 0));
  }
}

TEST_CASE("a number chooses among functions, and is moved among them") {
  check_numbers<std::int32_t>(3);
  check_numbers<std::int64_t>(1);
  check_numbers<std::int64_t>(0);
}

TEST_CASE("branches without arguments, of several values, and one alone") {
  std::int64_t const ranks = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {ranks});
  auto const a = from_function<double, Dim<I, X>>(mesh, {2 * ranks},
                                                  [](auto i) { return static_cast<double>(i); });
  // the number is an expression: the number of ranks, at most three
  auto const sums = shard_map<Dim<I, X>>(
      [&](auto const& block) {
        auto const k = all_reduce<X>(varying<X>(full_local<std::int64_t>({}, 1)));
        auto const [sum, scaled] = branch(
            k - 1, [&](auto const& pair) { return pair; },
            [&](auto const& pair) {
              auto const& [x, y] = pair;
              return std::tuple(x * 2.0, y);
            },
            [&](auto const& pair) {
              auto const& [x, y] = pair;
              return std::tuple(x, y * 5.0);
            },
            std::tuple(block, block));
        return jax::switch_(k, [&] { return sum + scaled; }) +
               branch(k, [](auto const& b, double by) { return b * by; }, sum, 0.0);
      },
      a);
  double const factor = ranks == 1 ? 2 : ranks == 2 ? 3 : 6;
  CHECK(on_ranks::wrong(sums, [&](auto i) { return factor * static_cast<double>(i); }) == 0);
}

}  // namespace
