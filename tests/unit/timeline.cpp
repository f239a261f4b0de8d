// Pictures of plans along their predicted time.
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <shardtype/shardtype.hpp>
#include <shardtype/visualize/timeline.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"x<&>", 4> {};
struct S : Index<"S", 64> {};
struct D : Index<"D", 32> {};
struct F : Index<"F", 48> {};
using In = Tensor<float, Dim<S, X>, Dim<D>>;
using Up = Tensor<float, Dim<D, X>, Dim<F>>;
using Down = Tensor<float, Dim<F, X>, Dim<D>>;

std::size_t count(std::string const& text, std::string const& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
PlannedProgram both_passes() {
  return dry_run<In, Up, Down>(
             value_and_grad<1, 2>([](auto const& x, auto const& up, auto const& down) {
               return mean(matmul(tanh(matmul(x, up)), down));
             }))
      .planned();
}

}  // namespace

TEST_CASE("each step that takes time is in the picture, as what it is") {
  PlannedProgram const p = both_passes();
  std::string const picture = to_svg(p);
  std::size_t sends = 0;
  std::size_t products = 0;
  std::size_t others = 0;
  for (int k = 0; k < p.plan.size; ++k) {
    if (p.plan.steps[k].kind == planning::ProgramStep::Kind::given || p.seconds(k) <= 0) continue;
    if (p.plan.steps[k].collective != Collective::none)
      ++sends;
    else
      ++(p.plan.step_flops(k) > 0 ? products : others);
  }
  CHECK(sends > 0);
  CHECK(count(picture, "class=\"send\"") == sends);
  CHECK(count(picture, "class=\"product\"") == products);
  CHECK(count(picture, "class=\"map\"") == others);
  CHECK(count(picture, "<polygon class=\"held\"") == 1);
  CHECK(picture.find("peak " + detail::bytes_text(p.plan.peak_bytes())) != std::string::npos);
  CHECK(picture.find("x&lt;&amp;&gt;") != std::string::npos);
  CHECK(picture.find("x<&>") == std::string::npos);
}
TEST_CASE("a picture of nothing") {
  struct None : Index<"N", 0> {};
  using Empty = Tensor<float, Dim<None>>;
  std::string const picture =
      to_svg(dry_run<Empty>([](auto a) { return evaluate<Empty>(a * 2.0F); }).planned());
  CHECK(picture.find("nan") == std::string::npos);
  CHECK(picture.find("</svg>") != std::string::npos);
}
TEST_CASE("the file of a picture") {
  std::string const path = "timeline_test.svg";
  write_svg(both_passes(), path);
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  CHECK(text.str() == to_svg(both_passes()));
  std::remove(path.c_str());
  CHECK(on_ranks::code_of([] { write_svg(both_passes(), "nowhere/at/all.svg"); }) == "E72");
}
