#pragma once
// The axes and sizes of the programs of plan_models.hpp and plan_blocks.hpp.
#include <shardtype/shardtype.hpp>

namespace plan_models {

using namespace shardtype;

struct X : Axis<"x", 2> {};
struct Y : Axis<"y", 4> {};
using Grid = automatic_mode::Axes<X, Y>;

struct S : Index<"S", 8192> {};
struct D : Index<"D", 2048> {};
struct F : Index<"F", 8192> {};
struct E : Index<"E", 2048> {};
struct V : Index<"V", 32768> {};
struct N : Index<"N", 65536> {};
struct P : Index<"P", 512> {};
struct Q : Index<"Q", 512> {};
struct K : Index<"K", 256> {};

/// Calls `use(NAME, PLAN)` with the plan of `f` of operands `Given`; or `use.of<Grid,
/// Given...>(NAME, f)`, if there is that.
template <class... Given, class Use, class Fn>
void planned(Use const& use, char const* name, Fn const& f) {
  if constexpr (requires { use.template of<Grid, Given...>(name, f); }) {
    use.template of<Grid, Given...>(name, f);
  } else {
    use(name, dry_run<Grid, Given...>(f).planned());
  }
}

struct T : Index<"T", 1024> {};
struct U : Index<"U", 1024> {};
struct G : Index<"G", 4> {};
struct M : Index<"M", 4> {};
struct H : Index<"H", 64> {};
struct Batch : Index<"B", 32> {};

}  // namespace plan_models
