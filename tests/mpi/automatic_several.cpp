// Programs of automatic mode with several results: each is compared with the strict operation on
// replicated tensors.
#include <array>
#include <cstdint>
#include <tuple>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

using Int = std::int64_t;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }
Int g(Int i, Int j) { return (i * 7 + j * 29 + 3) % 11 - 4; }

}  // namespace

TEST_CASE("several results of one program") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}, {0, 4}}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, n, f);
    auto const b = from_function<Int, Dim<I>, Dim<J, Y>>(mesh, n, g);
    auto const whole_a = reshard<Dim<I>, Dim<J>>(a);
    auto const whole_b = reshard<Dim<I>, Dim<J>>(b);
    INFO("extents " << n[0] << " " << n[1]);

    using Rows = Tensor<Int, Dim<I, X, Y>, Dim<J>>;
    using Turned = Tensor<Int, Dim<J>, Dim<I, Y>>;
    using Sums = Tensor<Int, Dim<J, X>>;
    using Mean = Tensor<double>;
    auto const e = share(lazy(a) * 2 + b);
    auto const [rows, turned, sums, mean_of] = evaluate<Outs<Rows, Turned, Sums, Mean>>(
        mesh, std::tuple(e, e - b, sum<I>(e), sum(cast<double>(e))));
    static_assert(std::is_same_v<decltype(rows), Rows const>);
    auto const want = (whole_a * 2 + whole_b).tensor();
    CHECK(to_host(rows) == to_host(want));
    CHECK(to_host(turned) == to_host(transpose<J, I>(whole_a * 2)));
    CHECK(to_host(sums) == to_host(sum<I>(want)));
    CHECK(item(mean_of) == static_cast<double>(item(sum(want))));
  }
}

TEST_CASE("one result, an operand as a result, and no copy of a shared value") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {6, 4}, f);
  using A = Tensor<Int, Dim<I, X>, Dim<J>>;
  auto const [same, twice] = evaluate<Outs<A, A>>(mesh, std::tuple(lazy(a), lazy(a) * 2));
  CHECK(to_host(twice) == to_host((a * 2).tensor()));
  CHECK(to_host(same) == to_host(a));
  auto const [one] = evaluate<Outs<A>>(mesh, std::tuple(lazy(a) * 3), MemoryLimit<1 << 20>{});
  CHECK(to_host(one) == to_host((a * 3).tensor()));
}

TEST_CASE("extents of several results are those of their own dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {6, 4}, f);
  using Part = Tensor<Int, Dim<I>, Dim<J, Y>>;
  auto const [part, whole] =
      evaluate<Outs<Part, Part>>(mesh, std::tuple(slice<J>(lazy(a), 1, 3), lazy(a)));
  CHECK(part.extents() == std::array<Int, 2>{6, 2});
  CHECK(whole.extents() == std::array<Int, 2>{6, 4});
  CHECK(to_host(part) == to_host(slice<J>(reshard<Dim<I>, Dim<J>>(a), 1, 3)));
}

// From types alone: a value that several results read is computed once.
struct P : Axis<"P", 4> {};
struct A8 : Index<"A", 512> {};
struct B8 : Index<"B", 512> {};
struct C8 : Index<"C", 512> {};
using Left = Tensor<float, Dim<A8, P>, Dim<B8>>;
using Right = Tensor<float, Dim<B8, P>, Dim<C8>>;
using Product = Tensor<float, Dim<A8, P>, Dim<C8>>;
constexpr auto once = plan_traced<Left, Right>([](auto a, auto b) {
  auto const c = share(a * b);
  return evaluate<Outs<Product, Product>>(std::tuple(c * 2, c + 1));
});
constexpr auto alone =
    plan_traced<Left, Right>([](auto a, auto b) { return evaluate<Product>(a * b); });
static_assert(once.possible && once.collectives() == alone.collectives());
static_assert(once.flops() == alone.flops());
