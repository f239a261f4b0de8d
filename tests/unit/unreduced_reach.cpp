// The unreduced results and constraints that a program can have: on random programs UnreducedReach
// accepts exactly those for which the planner finds a plan.
#include <cstdint>
#include <vector>

#include <shardtype/plan/program_builder.hpp>
#include <shardtype/plan/program_planner.hpp>
#include <shardtype/plan/unreduced_reach.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using planning::ProgramBuilder;
using planning::ProgramLabels;
using planning::UnreducedSets;

namespace {

class RandomProgram {
 public:
  RandomProgram(Draw& draw, std::vector<Spec> const* specs) : draw_(draw), specs_(specs) {
    builder_.program.axes = 2;
    builder_.program.sizes.at[0] = 2;
    builder_.program.sizes.at[1] = 3;
    for (int l = 0; l < 4; ++l) builder_.label(5 + l);
    int const root = value(1 + draw.below(3));
    ProgramLabels const order = labels_of(root);
    builder_.finish(root, order, spec(order.size));
  }
  RecordedProgram const& program() const { return builder_.program; }

 private:
  ProgramLabels labels_of(int node) const {
    ProgramNode const& n = builder_.program.nodes[node];
    ProgramLabels out;
    for (int d = 0; d < n.rank; ++d) out.push(n.labels[d]);
    return out;
  }
  Spec const& spec(int rank) {
    auto const& some = specs_[rank];
    return some[static_cast<std::size_t>(draw_.below(static_cast<int>(some.size())))];
  }
  int value(int depth) {
    int const made = depth == 0 ? given() : step(depth);
    // mostly values without a constraint, which would reduce them
    if (!draw_.one_in(6)) return made;
    return builder_.constrain(made, spec(builder_.program.nodes[made].rank));
  }
  int given() {
    ProgramLabels labels;
    for (int l = 0; l < 4; ++l)
      if (draw_.one_in(2) && labels.size < 2) labels.push(l);
    return builder_.given(labels, spec(labels.size), 4, 1);
  }
  int step(int depth) {
    int const a = value(depth - 1);
    ProgramLabels const labels = labels_of(a);
    switch (draw_.below(5)) {
      case 0: {  // a product over shared labels, or an elementwise product
        int const both[] = {a, value(depth - 1)};
        ProgramLabels out;
        for (int l = 0; l < 4; ++l) {
          bool const in_a = labels.contains(l);
          bool const in_b = labels_of(both[1]).contains(l);
          if ((in_a != in_b || (in_a && draw_.one_in(3))) && out.size < 2) out.push(l);
        }
        return builder_.product(both, 2, out);
      }
      case 1: {  // a sum of the value with itself or with a function of it
        int const both[] = {a, draw_.one_in(2) ? a : function(a)};
        UnreducedSets one;
        one.add(1);
        UnreducedSets other;
        other.add(2);
        UnreducedSets const each[] = {one, other};
        return builder_.map(both, 2, labels, planning::unreduced_sets(Linearity::additive, each, 2),
                            4, 1);
      }
      case 2: {
        ProgramLabels kept;
        for (int d = 0; d < labels.size; ++d)
          if (draw_.one_in(2)) kept.push(labels.at[d]);
        return builder_.reduction(a, kept,
                                  draw_.one_in(3) ? ReductionKind::max : ReductionKind::sum);
      }
      case 3:
        return builder_.relabel(a, labels);
      default:
        return function(a);
    }
  }
  int function(int a) {
    UnreducedSets one;
    one.add(1);
    Linearity const how = draw_.one_in(2) ? Linearity::linear : Linearity::none;
    return builder_.map(&a, 1, labels_of(a), planning::unreduced_sets(how, &one, 1), 4, 1);
  }

  Draw& draw_;
  std::vector<Spec> const* specs_;
  ProgramBuilder builder_;
};

}  // namespace

TEST_CASE("what is out of reach has no plan, and all else has one") {
  std::vector<Spec> specs[3];
  for (int rank = 0; rank < 3; ++rank) specs[rank] = simulate::all_specs(rank, 2, true);
  Draw draw(11);
  int wrong = 0, in_reach = 0, out_of_reach = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    RecordedProgram const p = RandomProgram(draw, specs).program();
    if (p.overflows()) continue;
    bool const holds = planning::UnreducedReach(p).holds();
    Identity const none[max_axes]{};
    bool const possible =
        planning::plan_program(p, {Machine{}, p.sizes, none, p.axes, -1}).possible;
    wrong += holds != possible ? 1 : 0;
    ++(holds ? in_reach : out_of_reach);
  }
  CHECK(wrong == 0);
  CHECK(in_reach > 500);
  CHECK(out_of_reach > 500);
}
