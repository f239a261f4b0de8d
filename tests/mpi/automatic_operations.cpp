// Operations on blocks in automatic mode: each against the strict operation on whole tensors, planned from and to
// all shardings of two axes, for sizes that divide and that do not.
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <string>
#include <vector>

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
struct L : Index<"L"> {};
struct V : Index<"V"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }
Int g(Int i, Int j) { return (i * 7 + j * 29 + 3) % 11 - 4; }

// Whether `a` holds what `whole` holds, which has the same labels in the same order and no dim split.
template <class A, class Whole>
bool same(A const& a, Whole const& whole) {
  if (a.extents() != whole.extents()) return false;
  auto const have = to_host(a);
  auto const want = to_host(whole);
  return have == want;
}

// `body(a, b)` on expressions of tensors that are split in several ways, to several results, against the same on
// whole tensors.
template <class... Outs, class Body>
void check(Grid const& mesh, std::array<Int, 2> n, Body body) {
  auto const whole_a = from_function<Int, Dim<I>, Dim<J>>(mesh, n, f);
  auto const whole_b = from_function<Int, Dim<I>, Dim<J>>(mesh, n, g);
  auto const want = reshard<>(body(whole_a, whole_b));
  INFO("extents " << n[0] << " " << n[1]);
  auto const from = [&](auto const& a, auto const& b) {
    (..., [&] {
      auto const got = evaluate<Outs>(mesh, body(lazy(a), lazy(b)));
      CHECK(same(got, want));
    }());
  };
  from(reshard<Dim<I, X>, Dim<J>>(whole_a), reshard<Dim<I, X>, Dim<J, Y>>(whole_b));
  from(reshard<Dim<I>, Dim<J, Y, X>>(whole_a), reshard<Dim<I>, Dim<J>>(whole_b));
}

}  // namespace
