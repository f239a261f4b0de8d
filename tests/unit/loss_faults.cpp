// What a loss in automatic mode is refused for when its program is known: errors of the call, by
// their codes, which name the cause.
#include <string>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct A1 : Axis<"A1", 2> {};
struct A2 : Axis<"A2", 2> {};
struct A3 : Axis<"A3", 2> {};
struct A4 : Axis<"A4", 2> {};
struct A5 : Axis<"A5", 2> {};
struct A6 : Axis<"A6", 2> {};
struct A7 : Axis<"A7", 2> {};
struct I : Index<"I", 64> {};
struct J : Index<"J", 64> {};
using Rows = Tensor<float, Dim<I, X>, Dim<J>>;

/// The error of planning the loss `f` with its gradient.
template <class... Given, class F>
std::string error_of(F const& f) {
  try {
    dry_run<Given...>(value_and_grad<0>(f)).planned();
  } catch (Error const& e) {
    return e.what();
  }
  return "none";
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an axis that no argument mentions") {
  auto const loss = [](auto const& a) {
    return sum(square(constrain<Dim<I, Y>, Dim<J>>(tanh(a))));
  };
  CHECK(has(error_of<Rows>(loss), "[shardtype M01]"));
  CHECK(error_of<automatic_mode::Axes<X, Y>, Rows>(loss) == "none");
}
TEST_CASE("more axes than a program has") {
  using Four = Tensor<float, Dim<I, A1, A2>, Dim<J, A3, A4>>;
  using Three = Tensor<float, Dim<I, A5, A6>, Dim<J, A7>>;
  using Two = Tensor<float, Dim<I, A1>, Dim<J, A2>>;
  auto const loss = [](auto const& a, auto const& b) { return sum(a * b); };
  CHECK(has(error_of<Four, Three>(loss), "[shardtype T07]"));
  CHECK(error_of<Four, Two>(loss) == "none");
}
TEST_CASE("a block-cyclic tensor that moves") {
  using Cyclically = Tensor<float, Dim<I, Cyclic<X, 4>>, Dim<J>>;
  auto const product = [](auto const& a, auto const& b) { return sum(square(a * 1 + b)); };
  CHECK(has(error_of<Cyclically, Rows>(product), "[shardtype L02]"));
}
TEST_CASE("an unreduced sum that no operation gives, or of another kind") {
  auto const made = [](auto const& a) {
    return sum(square(constrain<Dim<I, X>, Dim<J>, Unreduced<Y>>(tanh(a))));
  };
  CHECK(has(error_of<automatic_mode::Axes<X, Y>, Rows>(made), "[shardtype R02]"));
  auto const kind = [](auto const& a) {
    return sum(square(constrain<Dim<J>, Unreduced<Max, X>>(sum<I>(a))));
  };
  CHECK(has(error_of<Rows>(kind), "[shardtype R04]"));
}
