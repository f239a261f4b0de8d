// What moe takes for its form and its function, and capacities of any number of rows; small, for
// the sanitizers.
// RANKS: 1 2 4
#include <cstdint>
#include <limits>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct S : Index<"S"> {};
struct E : Index<"E"> {};
struct D : Index<"D"> {};
struct F : Index<"F"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Into = T<Dim<E, X>, Dim<D>, Dim<F>>;
using From = T<Dim<E, X>, Dim<F>, Dim<D>>;

template <class A>
std::vector<double> numbers(A const& a) {
  auto const host = to_host(a);
  return {host.begin(), host.end()};
}

// The members of gated experts.
struct Experts {
  Into gate, up;
  From down;
};
struct Case {
  Mesh<X> mesh{MPI_COMM_WORLD, {on_ranks::rank_total()}};
  T<Dim<S, X>, Dim<D>> x = normal<T<Dim<S, X>, Dim<D>>>(mesh, {9, 4}, RandomKey{1});
  T<Dim<D>, Dim<E>> r = normal<T<Dim<D>, Dim<E>>>(mesh, {4, 5}, RandomKey{2});
  Experts p{normal<Into>(mesh, {5, 4, 3}, RandomKey{3}),
            normal<Into>(mesh, {5, 4, 3}, RandomKey{4}),
            normal<From>(mesh, {5, 3, 4}, RandomKey{5})};
  template <class... Rest>
  std::vector<double> plain(Rest const&... rest) const {
    return numbers(nn::moe(x, nn::router<E>(matmul(x, r), 2), p.gate, p.down, rest...));
  }
};

}  // namespace

TEST_CASE("the function of experts is silu, or the one that is given, with a form or without") {
  Case const c;
  auto const silus = c.plain(nn::Ragged{}, nn::Silu{});
  CHECK(c.plain() == silus);
  CHECK(c.plain(nn::Silu{}) == silus);
  auto const gelus = c.plain(nn::Ragged{}, nn::Gelu{});
  CHECK(c.plain(nn::Gelu{}) == gelus);
  CHECK(gelus != silus);
  auto const routes = nn::router<E>(matmul(c.x, c.r), 2);
  auto const gated = numbers(
      nn::moe(c.x, routes, nn::Gated{c.p.gate, c.p.up}, c.p.down, nn::Ragged{}, nn::Silu{}));
  CHECK(numbers(nn::moe(c.x, routes, nn::Gated{c.p.gate, c.p.up}, c.p.down)) == gated);
  CHECK(numbers(nn::moe(c.x, routes, c.p)) == gated);
}

TEST_CASE("capacities: of no rows, of more than there are, and of no number of rows") {
  Case const c;
  auto const routes = nn::router<E>(matmul(c.x, c.r), 2);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(c.plain(nn::Capacity{0}) == std::vector<double>(36, 0.0));
  CHECK(item(nn::dropped_rows<E>(routes, 5, 0)) == 18);
  CHECK(c.plain(nn::Capacity{most}) == c.plain());
  CHECK(item(nn::dropped_rows<E>(routes, 5, most)) == 0);
  auto const gradient = grad<0>([&](auto const& x) {
    return sum<T<>>(square(nn::moe(x, routes, c.p.gate, c.p.down, nn::Capacity{0})) + x);
  })(c.x);
  CHECK(numbers(gradient) == std::vector<double>(36, 1.0));
  // all ranks throw: else the next collective ends the test
  for (nn::Capacity const& form : {nn::Capacity{-1}, nn::Capacity{}, nn::Capacity{-most - 1}})
    CHECK(on_ranks::code_of([&] { (void)c.plain(form); }) == "E41");
  CHECK(on_ranks::code_of([&] { (void)nn::dropped_rows<E>(routes, 5, -3); }) == "E41");
}
