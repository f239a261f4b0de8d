// Compares plans that are constants with those that are found at run time.
#pragma once

#include <string>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

namespace same_plans {

using namespace shardtype;

inline void same(ProgramPlan const& a, ProgramPlan const& b) {
  CHECK(a.possible == b.possible);
  CHECK(a.bytes_per_rank() == b.bytes_per_rank());
  CHECK(a.least == b.least);
  CHECK(a.searched == b.searched);
  REQUIRE(a.size == b.size);
  for (int k = 0; k < a.size; ++k) {
    planning::ProgramStep const& x = a.steps[k];
    planning::ProgramStep const& y = b.steps[k];
    INFO("step " << k);
    CHECK(x.kind == y.kind);
    CHECK(x.node == y.node);
    CHECK(x.layout == y.layout);
    CHECK(x.collective == y.collective);
    CHECK(x.inputs == y.inputs);
    for (int m = 0; m < x.inputs; ++m) CHECK(x.input[m] == y.input[m]);
  }
}

// Counts the programs whose plans are constants, and names the others.
class Compare {
 public:
  template <class Grid, class... Given, class F>
  void of(char const* name, F const& f) const {
    INFO(name);
    using Program = typename std::remove_cvref_t<decltype(detail::Symbols<Given...>::call(
        f))>::template planned<Grid>;
    if constexpr (Program::is_static) {
      compare(plan_traced<Grid, Given...>(f));
    } else {
      left_ += std::string(name) + " ";
    }
  }
  int constants() const { return constants_; }
  std::string const& left() const { return left_; }

 private:
  template <class P>
  void compare(automatic_mode::NamedProgramPlan<P> const& plan) const {
    same(plan, planning::plan_program(P::program, P::rates));
    CHECK(plan.gap());
    ++constants_;
  }
  mutable int constants_ = 0;
  mutable std::string left_ = "planned at the first call: ";
};

}  // namespace same_plans
