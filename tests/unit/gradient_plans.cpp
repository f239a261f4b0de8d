// Plans of gradients as text, and of structs of parameters.
#include <array>
#include <string>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 4> {};
struct Open : Axis<"X"> {};
struct B : Index<"B", 4096> {};
struct D : Index<"D", 512> {};
struct H : Index<"H", 1024> {};
struct J : Index<"J", 256> {};
template <class... Parts>
using F = Tensor<float, Parts...>;

template <template <class> class As>
struct Mlp {
  As<F<Dim<D>, Dim<H>>> first;
  std::array<As<F<Dim<H>, Dim<J>>>, 1> last;
};
template <class A>
struct Loss {
  constexpr auto operator()(auto const& p, auto const& x, auto const& y) const {
    auto const hidden = tanh(matmul(x, used_as<Reduced<A>>(p.first)));
    return all_reduce<A>(sum(square(matmul(hidden, used_as<Reduced<A>>(p.last[0])) - y)));
  }
};
template <class A>
constexpr auto both = plan(value_and_grad<0>(Loss<A>{}), type<Mlp<value_t>>,
                           type<F<Dim<B, A>, Dim<D>>>, type<F<Dim<B, A>, Dim<J>>>);
static_assert(both<X>.forward.count(Collective::all_reduce) == 1);
static_assert(both<X>.backward.count(Collective::all_reduce) == 2 && both<X>.collectives() == 3);
static_assert(both<Open>.backward.count(Collective::all_reduce) == 2);
// tanh's result, which the second product saves as well; the product for the square
static_assert(both<X>.tape_bytes() == 4 * (1024 * 1024 + 1024 * 256));

}  // namespace

TEST_CASE("both passes as text") {
  CHECK("\n" + explain(both<X>) == R"(
forward: 1 collective, 6 B/rank, 1.61 GFLOP/rank
  1  matmul         local            [B@X, H]                                       1.07 GFLOP
  2  map            local            [B@X, H]                                       1.05 MFLOP
  3  matmul         local            [B@X, J]                                       537 MFLOP
  4  map            local            [B@X, J]                                       262 kFLOP
  5  map            local            [B@X, J]                                       262 kFLOP
  6  sum            local            []{U:X}                                        262 kFLOP
  7  all_reduce     AllReduce X      []{U:X} -> []                                  6 B
backward: 2 collectives, 4.72 MB/rank, 2.15 GFLOP/rank
  1  spread         local            [B@X, J]
  2  map            local            [B@X, J]                                       524 kFLOP
  3  einsum         local            [B@X, H]                                       537 MFLOP
  4  einsum         local            [H, J]{U:X}                                    537 MFLOP
  5  map            local            [B@X, H]                                       1.05 MFLOP
  6  reshard        AllReduce X      [H, J]{U:X} -> [H, J]                          1.57 MB
  7  einsum         local            [D, H]{U:X}                                    1.07 GFLOP
  8  reshard        AllReduce X      [D, H]{U:X} -> [D, H]                          3.15 MB
saved for the backward pass: 5.24 MB/rank, peak 19.9 MB
)");
}

TEST_CASE("of sizes at run time: bounds") {
  CHECK(explain(value_and_grad<0>(Loss<Open>{}), type<Mlp<value_t>>, type<F<Dim<B, Open>, Dim<D>>>,
                type<F<Dim<B, Open>, Dim<J>>>) ==
        "forward: at most 1 AllReduce\nbackward: at most 2 AllReduce\n");
}

TEST_CASE("the plan of a function as text") {
  constexpr auto p =
      plan([](auto a, auto b) { return all_gather<X>(matmul(transpose<D, B>(a), b)); },
           type<F<Dim<B>, Dim<D, X>>>, type<F<Dim<B>, Dim<J>>>);
  CHECK("\n" + explain(p) == R"(
1 collective, 393 kB/rank, 268 MFLOP/rank, peak 9.04 MB
  1  transpose      local            [D@X, B]
  2  matmul         local            [D@X, J]                                       268 MFLOP
  3  all_gather     AllGather X      [D@X, J] -> [D, J]                             393 kB
)");
}
