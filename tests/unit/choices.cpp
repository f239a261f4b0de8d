// What the best other shardings of the values of a plan would cost.
#include <algorithm>
#include <cmath>
#include <string>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/choices.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 4> {};
struct S : Index<"S", 128> {};
struct D : Index<"D", 512> {};
struct F : Index<"F", 2048> {};
using Samples = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F>>;
using Down = Tensor<float, Dim<F, X>, Dim<D>>;

template <class... Hidden>
PlannedProgram layers() {
  return dry_run<Samples, Up, Down>([](auto x, auto up, auto down) {
           auto const hidden = max(x * up, 0.0F);
           if constexpr (sizeof...(Hidden) > 0) {
             return evaluate<Samples>(constrain<Hidden...>(hidden) * down);
           } else {
             return evaluate<Samples>(hidden * down);
           }
         })
      .planned();
}
template <class Given>
double seconds_of_given() {
  return dry_run<Given, Up, Down>(
             [](auto x, auto up, auto down) { return evaluate<Samples>(max(x * up, 0.0F) * down); })
      .planned()
      .seconds();
}
LayoutChoice const& choice(detail::List<LayoutChoice> const& all, std::string const& value) {
  for (LayoutChoice const& c : all)
    if (c.value == value) return c;
  FAIL("no value " + value);
  return all[0];
}

}  // namespace

TEST_CASE("the price of the second best is that of a constraint") {
  PlannedProgram const p = layers();
  detail::List<LayoutChoice> const all = layout_choices(p);
  REQUIRE(all.size() == 6);  // three operands, two products, one map
  LayoutChoice const& hidden = choice(all, "T2");
  CHECK(hidden.made_by == "map");
  CHECK(hidden.chosen == "[S, F@X]");
  double const split = layers<Dim<S, X>, Dim<F>>().seconds() - p.seconds();
  double const whole = layers<Dim<S>, Dim<F>>().seconds() - p.seconds();
  CHECK(hidden.otherwise == (split <= whole ? "[S@X, F]" : "[S, F]"));
  CHECK(std::abs(hidden.seconds - std::min(split, whole)) < 1e-12);
  for (LayoutChoice const& c : all)
    if (c.made_by != "given") CHECK(c.seconds >= 0);
}
TEST_CASE("of an operand it is that of another type") {
  LayoutChoice const x = choice(layout_choices(layers()), "A");
  CHECK(x.made_by == "given");
  CHECK(x.chosen == "[S@X, D]");
  double const turned = seconds_of_given<Tensor<float, Dim<S>, Dim<D, X>>>();
  double const whole = seconds_of_given<Tensor<float, Dim<S>, Dim<D>>>();
  CHECK(std::abs(x.seconds - (std::min(turned, whole) - layers().seconds())) < 1e-12);
}
TEST_CASE("as a table") {
  std::string const text = explain_choices(layers());
  CHECK(text.find("A   given    [S@X, D]") != std::string::npos);
  CHECK(text.find("else ") != std::string::npos);
  // one rank has nothing to choose
  struct None : Index<"N", 8> {};
  using One = Tensor<float, Dim<None>>;
  CHECK(explain_choices(dry_run<One>([](auto a) { return evaluate<One>(a * 2.0F); }).planned()) ==
        "A   given  [N]  no other\nT1  map    [N]  no other\n");
}
