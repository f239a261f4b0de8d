// einsum of three and four operands, strict and named, against the sum written out: uneven and
// empty sizes; what strict ones send (nothing) by the shim.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <string>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using Int = std::int64_t;

Int at(Int i, Int j, Int seed) { return (i * 5 + j * 3 + i * j + seed) % 7 - 3; }

template <class T, class First, class Second, class M>
auto matrix(M const& mesh, Int rows, Int columns, Int seed) {
  return from_function<T, First, Second>(
      mesh, {rows, columns}, [=](auto i, auto j) { return static_cast<T>(at(i, j, seed)); });
}

// Plans of types: strict ones by pairs, named ones as programs, which multiply what is cheap first.
struct SX : Axis<"SX", 2> {};
struct N9 : Index<"N9", 9> {};
struct N1000 : Index<"N1000", 1000> {};
struct N900 : Index<"N900", 900> {};
struct N1 : Index<"N1", 1> {};
using Tall = Tensor<float, Dim<N1000, SX>, Dim<N9>>;
using Wide = Tensor<float, Dim<N9>, Dim<N900>>;
using Column = Tensor<float, Dim<N900>, Dim<N1>>;
static_assert(plan([](auto a, auto b, auto c) { return einsum<N1000, N1>(a, b, c); }, type<Tall>,
                   type<Wide>, type<Column>)
                  .flops() == 2 * 500 * 9 * 900 + 2 * 500 * 900);
static_assert(plan(op::Einsum<N1000, N1>{}, type<Tall>, type<Wide>, type<Column>).flops() ==
              2 * 500 * 9 * 900 + 2 * 500 * 900);
constexpr auto planned_products =
    plan(op::Einsum<Dim<N1000, SX>, Dim<N1>>{}, type<Tall>, type<Wide>, type<Column>);
static_assert(planned_products.collectives() == 0);
static_assert(planned_products.flops() == 2 * 9 * 900 + 2 * 500 * 9);

TEST_CASE("plans with actual sizes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.size_of<X>();
  auto const a = matrix<float, Dim<I, X>, Dim<J>>(mesh, 40 * px, 9, 1);
  auto const b = matrix<float, Dim<J>, Dim<K>>(mesh, 9, 90, 2);
  auto const c = matrix<float, Dim<K>, Dim<L>>(mesh, 90, 1, 3);
  op::Einsum<I, L> const strict{};
  auto const plan = plan_at(strict, a, b, c);
  CHECK(plan.flops() == 2 * 40 * 9 * 90 + 2 * 40 * 90);
  CHECK(plan.size == 2);
  CHECK(plan.collectives() == 0);
  // the operands, and what the first pair makes, beside what the second does
  CHECK(plan.peak_bytes() >= 4 * (40 * 9 + 9 * 90 + 90 + 40 * 90 + 40));
  std::string const text = explain(strict, a, b, c * 1.0F);
  CHECK(text.find("C[I@X, K] = A[I@X, J] · B[J, K]") == 0);
  CHECK(text.find("C[I@X, L] = A[I@X, K] · B[K, L]") != std::string::npos);
  // as if the types said the sizes
  if (px == 2 && mesh.size_of<Y>() == 1) {
    Mesh<SX> const two(MPI_COMM_WORLD);
    auto const tall = zeros<float, Dim<N1000, SX>, Dim<N9>>(two);
    auto const wide = zeros<float, Dim<N9>, Dim<N900>>(two);
    auto const column = zeros<float, Dim<N900>, Dim<N1>>(two);
    constexpr auto known =
        shardtype::plan(op::Einsum<N1000, N1>{}, type<Tall>, type<Wide>, type<Column>);
    auto const found = plan_at(op::Einsum<N1000, N1>{}, tall, wide, column);
    CHECK(found.flops() == known.flops());
    CHECK(found.size == known.size);
    op::Einsum<Dim<N1000, SX>, Dim<N1>> const to{};
    CHECK(plan_at(to, tall, wide, column).flops() == planned_products.flops());
  }
  // named: cheapest first
  op::Einsum<Dim<I, X>, Dim<L>> const named{};
  CHECK(plan_at(named, a, b, c).collectives() == 0);
  CHECK(plan_at(named, a, b, c).flops() == 2 * 9 * 90 + 2 * 40 * 9);
  CHECK(!explain(named, a, b, c).empty());
  auto const other = matrix<float, Dim<J>, Dim<K>>(mesh, 8, 90, 2);
  CHECK(on_ranks::code_of([&] { static_cast<void>(plan_at(strict, a, other, c)); }) == "E24");
}

TEST_CASE("chains of three and four matrices, strict and named") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 5> const& n :
       {std::array<Int, 5>{5, 7, 3, 6, 4}, {1, 9, 2, 1, 3}, {4, 0, 3, 2, 5}, {0, 3, 3, 2, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2] << " " << n[3] << " " << n[4]);
    auto const three = [&](Int i, Int l) {
      Int sum = 0;
      for (Int j = 0; j < n[1]; ++j)
        for (Int k = 0; k < n[2]; ++k) sum += at(i, j, 1) * at(j, k, 2) * at(k, l, 3);
      return sum;
    };
    auto const a = matrix<double, Dim<I, X>, Dim<J>>(mesh, n[0], n[1], 1);
    auto const b = matrix<double, Dim<J>, Dim<K, Y>>(mesh, n[1], n[2], 2);
    auto const c = matrix<double, Dim<K, Y>, Dim<L>>(mesh, n[2], n[3], 3);
    shim::reset();
    auto const strict = einsum<I, L>(a, b, c);
    CHECK(shim::bytes() == 0);
    static_assert(
        std::is_same_v<decltype(strict), Tensor<double, Dim<I, X>, Dim<L>, Unreduced<Y>> const>);
    CHECK(on_ranks::wrong(all_reduce<Y>(strict),
                          [&](Int i, Int l) { return double(three(i, l)); }) == 0);
    auto const turned = einsum<Dim<L, Y>, Dim<I, X>>(a, b, c);
    CHECK(on_ranks::wrong(turned, [&](Int l, Int i) { return double(three(i, l)); }) == 0);
    auto const whole = einsum<Tensor<double, Dim<I>, Dim<L>>>(a, b, c);
    CHECK(on_ranks::wrong(whole, [&](Int i, Int l) { return double(three(i, l)); }) == 0);
    auto const unreduced = einsum<Dim<I>, Dim<L>, Unreduced<X>>(a, b, c);
    CHECK(on_ranks::wrong(all_reduce<X>(unreduced),
                          [&](Int i, Int l) { return double(three(i, l)); }) == 0);
    // operands that no strict product takes
    auto const d = matrix<double, Dim<J, X>, Dim<K>>(mesh, n[1], n[2], 2);
    auto const mixed = einsum<Dim<I, Y>, Dim<L, X>>(a, d, c);
    CHECK(on_ranks::wrong(mixed, [&](Int i, Int l) { return double(three(i, l)); }) == 0);
    // a batch index, an index of one operand alone, one that is summed at the end
    auto const e = matrix<double, Dim<L>, Dim<B, X>>(mesh, n[3], n[4], 4);
    auto const f = matrix<double, Dim<I, X>, Dim<B>>(mesh, n[0], n[4], 5);
    auto const four = [&](Int i) {
      Int sum = 0;
      for (Int l = 0; l < n[3]; ++l)
        for (Int k = 0; k < n[4]; ++k) sum += three(i, l) * at(l, k, 4) * at(i, k, 5);
      return double(sum);
    };
    auto const e_whole = all_gather<X>(e);
    shim::reset();
    auto const diagonal = einsum<I>(a, b, c, reshard<Dim<L>, Dim<B>>(e_whole), f);
    CHECK(shim::bytes() == 0);
    CHECK(on_ranks::wrong(all_reduce<Y>(diagonal), [&](Int i) { return four(i); }) == 0);
    CHECK(on_ranks::wrong(einsum<Dim<I, Y>>(a, b, c, e, f), [&](Int i) { return four(i); }) == 0);
    // recorded, of expressions, of blocks
    auto const recorded = evaluate<Dim<I>, Dim<L, X>>(mesh, einsum<I, L>(lazy(a), b, c * 2));
    CHECK(on_ranks::wrong(recorded, [&](Int i, Int l) { return double(2 * three(i, l)); }) == 0);
    auto const pinned =
        evaluate<Dim<I>, Dim<L, X>>(mesh, einsum<Dim<I, X>, Dim<L>>(a + a, lazy(b), c));
    CHECK(on_ranks::wrong(pinned, [&](Int i, Int l) { return double(2 * three(i, l)); }) == 0);
  }
  auto const rows = matrix<double, Dim<I, X>, Dim<J>>(mesh, 8, 3, 1);
  auto const square = matrix<double, Dim<J>, Dim<K>>(mesh, 3, 3, 2);
  auto const last = matrix<double, Dim<K>, Dim<L>>(mesh, 3, 2, 3);
  auto const blocks = shard_map<Dim<I, X>, Dim<L>>(
      [](auto const& a, auto const& b, auto const& c) { return einsum<I, L>(a, b, c); }, rows,
      square, last);
  CHECK(on_ranks::wrong(blocks - einsum<I, L>(rows, square, last), [](Int, Int) { return 0.0; }) ==
        0);
}

}  // namespace
