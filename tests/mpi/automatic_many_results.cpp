// Programs of 1 to 16 results and of 65, more than one value of a program may read: values, and
// what the plan holds; and shard_map of 16.
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using Int = std::int64_t;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<Int, Dim<I, X>, Dim<J>>;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }

// Every third result turned, every third split over both axes.
template <std::size_t K>
using Result =
    std::conditional_t<K % 3 == 0, Tensor<Int, Dim<I>, Dim<J, X>>,
                       std::conditional_t<K % 3 == 1, Tensor<Int, Dim<J>, Dim<I, Y, X>>, A>>;
template <std::size_t K>
Int wanted(Int i, Int j) {
  return f(i, j) * static_cast<Int>(K + 2) - static_cast<Int>(K);
}
template <std::size_t K, class R>
int wrong(R const& result) {
  if constexpr (K % 3 == 1) {
    return on_ranks::wrong(result, [](Int j, Int i) { return wanted<K>(i, j); });
  } else {
    return on_ranks::wrong(result, [](Int i, Int j) { return wanted<K>(i, j); });
  }
}

template <std::size_t... K>
void several(Mesh<X, Y> const& mesh, std::array<Int, 2> n, std::index_sequence<K...>) {
  INFO(sizeof...(K) << " results of " << n[0] << " x " << n[1]);
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, n, f);
  auto const e = share(lazy(a) * Int{1});
  auto const results = evaluate<Outs<Result<K>...>>(
      mesh, std::tuple((e * static_cast<Int>(K + 2) - static_cast<Int>(K))...));
  static_assert(std::is_same_v<decltype(results), std::tuple<Result<K>...> const>);
  CHECK((wrong<K>(std::get<K>(results)) + ...) == 0);
}

struct P : Axis<"P", 4> {};
struct L : Index<"L", 64> {};
struct M : Index<"M", 64> {};
using B = Tensor<float, Dim<L, P>, Dim<M>>;
using Turned = Tensor<float, Dim<L>, Dim<M, P>>;
template <std::size_t>
using Always = Turned;

// The steps of `N` results of as many operands: each is computed and turned, and they are held to
// the end.
template <std::size_t... K>
constexpr auto plan_of(std::index_sequence<K...>) {
  return plan_traced<std::conditional_t<K + 1 != 0, B, void>...>(
      [](auto... b) { return evaluate<Outs<Always<K>...>>(std::tuple((b * 2.0F)...)); });
}
template <std::size_t N>
inline constexpr auto results_plan = plan_of(std::make_index_sequence<N>{});

constexpr std::int64_t block = 64 * 64 / 4 * 4;
static_assert(results_plan<1>.collectives() == 1);
static_assert(results_plan<8>.count(Collective::all_to_all) == 8);
static_assert(results_plan<9>.count(Collective::all_to_all) == 9 &&
              results_plan<9>.collectives() == 9);
static_assert(results_plan<16>.count(Collective::all_to_all) == 16);
static_assert(results_plan<16>.bytes_per_rank() == 2 * results_plan<8>.bytes_per_rank());
// the last value read is turned while the others are held: of 8 and of more the same
static_assert(results_plan<8>.temporary_bytes() >= 8 * block);
static_assert(results_plan<9>.temporary_bytes() >= results_plan<8>.temporary_bytes() + block);
static_assert(results_plan<9>.temporary_bytes() < results_plan<8>.temporary_bytes() + 2 * block);
static_assert(results_plan<16>.temporary_bytes() >= results_plan<8>.temporary_bytes() + 8 * block);
static_assert(results_plan<16>.temporary_bytes() < results_plan<8>.temporary_bytes() + 9 * block);

}  // namespace

TEST_CASE("1 to 16 results of one program, and 65") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 3}, {0, 4}}) {
    several(mesh, n, std::make_index_sequence<1>{});
    several(mesh, n, std::make_index_sequence<7>{});
    several(mesh, n, std::make_index_sequence<8>{});
    several(mesh, n, std::make_index_sequence<9>{});
    several(mesh, n, std::make_index_sequence<12>{});
    several(mesh, n, std::make_index_sequence<16>{});
    several(mesh, n, std::make_index_sequence<65>{});
  }
}

TEST_CASE("a limit on memory counts all results that are held") {
  CHECK(!dry_run<B>([](auto b) {
           return [&]<std::size_t... K>(std::index_sequence<K...>) {
             return evaluate<Outs<Always<K>...>>(std::tuple((b * static_cast<float>(K))...));
           }(std::make_index_sequence<12>{});
         })
             .within(results_plan<12>.temporary_bytes() - 1)
             .planned()
             .plan.possible);
  CHECK(dry_run<B>([](auto b) {
          return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return evaluate<Outs<Always<K>...>>(std::tuple((b * static_cast<float>(K))...));
          }(std::make_index_sequence<12>{});
        })
            .within(results_plan<12>.temporary_bytes())
            .planned()
            .plan.possible);
}

TEST_CASE("sixteen results of a shard_map") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 2 * on_ranks::rank_total();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {n, 3}, f);
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    auto const results = shard_map<Outs<std::conditional_t<K != 99, A, void>...>>(
        [](auto b) { return std::tuple((b * static_cast<Int>(K + 2) - static_cast<Int>(K))...); },
        a);
    CHECK((on_ranks::wrong(std::get<K>(results), [](Int i, Int j) { return wanted<K>(i, j); }) +
           ...) == 0);
  }(std::make_index_sequence<16>{});
}
