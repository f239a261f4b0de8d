// Gradients of the local operations on blocks of manual mode against central differences in double:
// elementwise functions, products, reductions, shapes, lookups and windows of blocks that are
// varying, invariant and reduced; empty blocks and extent 1.
// RANKS: 1 2 4
#include <array>
#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct M : Index<"M"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using A = T<Dim<I, X>, Dim<J>>;
using W = T<Dim<I>, Dim<J>>;
using V = T<Dim<I>, Dim<J>, Reduced<X>>;

// An invariant number of all elements of a varying block.
template <class B>
auto number_of(B const& a) {
  return all_reduce<X>(sum(sin(a)));
}

// Checks `body` on a varying, an invariant and a Reduced block of [n, m].
template <class Body>
void check_body(char const* name, Body const& body, Int n, Int m) {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  check<0, 1, 2>(
      name, mesh, [&](auto const&... tensors) { return shard_map<>(body, tensors...); },
      make<A>(mesh, {p * n, m}, 1), make<W>(mesh, {n, m}, 2), make<V>(mesh, {n, m}, 3));
}

}  // namespace

TEST_CASE("elementwise functions and products") {
  auto const body = [](auto a, auto w, auto v) {
    auto const wv = varying<X>(w);
    auto const mixed = where(a > 0.1, exp(a) * wv, a / (v * v + 2.0));
    auto const rows = max(a, v) + logaddexp(a, wv) - relu(a * v);
    auto const square_of = einsum<I, K>(a, relabel<I, K>(v));
    auto const dot = einsum<>(a, wv);
    auto const outer = einsum<I, K>(sum<J>(a), relabel<I, K>(sum<J>(wv)));
    return number_of(mixed) + number_of(rows) + number_of(square_of) + number_of(outer) +
           all_reduce<X>(sin(dot)) + sum(sin(w * w)) +
           sum(sin(matmul(w, relabel<I, K>(transpose<J, I>(w))))) +
           sum(all_reduce<X>(unreduced<X>(a * 0.5) - unreduced<X>(wv)));
  };
  for (Int const m : {3, 1, 0}) check_body("elementwise, products", body, 2, m);
}

TEST_CASE("reductions") {
  auto const body = [](auto a, auto w, auto v) {
    auto const b = a + varying<X>(w) * v;
    return number_of(mean<J>(b)) + number_of(logsumexp<J>(b)) + number_of(max<J>(b)) +
           number_of(min<I>(b)) + number_of(norm<J>(b)) + number_of(var<J>(b)) +
           number_of(prod<J>(b)) + number_of(softmax<J>(b)) + number_of(log_softmax<I>(b)) +
           number_of(norm_1<I>(b)) + sum(sin(mean<I>(w)));
  };
  for (Int const n : {2, 1}) check_body("reductions", body, n, 3);
}

TEST_CASE("shapes") {
  auto const body = [](auto a, auto w, auto v) {
    auto const b = a * varying<X>(w);
    auto const moved = roll<I>(flip<J>(b), 1) * v;
    auto const joined = concat<I>(b, a);
    auto const longer = pad<J, K>(b, 1, 2);
    return number_of(moved) + number_of(joined) + number_of(longer) +
           number_of(slice<I, K>(joined, 1, 3)) + number_of(transpose<J, I>(b)) +
           number_of(broadcast<Dim<K>>(b, {2})) + number_of(merge_dims<I, J, K>(b)) +
           number_of(squeeze<K>(expand<K>(b))) + number_of(repeat<I>(b, 2)) +
           number_of(tile<J>(b, 2)) + number_of(cumsum<I>(b)) + number_of(shift<I>(b, 1)) +
           sum(sin(flip<I>(w)));
  };
  for (Int const m : {3, 0}) check_body("shapes", body, 2, m);
}

TEST_CASE("lookups, windows and sorts") {
  auto const body = [](auto a, auto w, auto v) {
    auto const b = (a + varying<X>(w) * v).tensor();
    auto const place = axis_index<X>();  // the window is moved to where it fits
    auto const order = argsort<I>(stop_gradient(b));
    auto const ids = full_local<std::int64_t, Dim<K>>({3}, 1);
    return number_of(take<I>(b, ids)) + number_of(take_along<I>(b, order)) + number_of(sort<J>(b)) +
           number_of(dynamic_slice<I, L>(b, place, 1)) +
           number_of(dynamic_update<I, L>(b, slice<I, L>(a, 0, 2), place)) +
           number_of(scatter_add<M>(b, argsort<I>(sum<J>(stop_gradient(b))), 4));
  };
  check_body("lookups, windows, sorts", body, 3, 2);
}
