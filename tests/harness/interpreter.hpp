// Runs instructions on simulated ranks. Each rank uses only its local block and the elements that
// it receives.
#pragma once

#include <cstdint>

#include "harness/cases.hpp"
#include "harness/ranks.hpp"

namespace programs {

class Interpreter : public Ranks {
 public:
  using Ranks::Ranks;

  Distributed run(Instruction const& in, Distributed const& a, Distributed const& b,
                  Distributed const& c) {
    CaseOf const& its = case_of(in.op);
    if (its.plan != nullptr) return product(its.plan(a.spec, b.spec, in.result, z_), in, a, b);
    if (its.meet == nullptr) return finished(its, in, made_by(its, in, in.result, a, b, c));
    planning::LocalPlan const way = its.meet(in, Rules(in.element, a.spec, b.spec, c.spec), z_);
    if (!way.verdict) sound = false;
    Distributed met[] = {a, b, c};
    for (int k = 0; k < way.count; ++k) met[k] = communicate(met[k], way.operands[k]);
    return finished(its, in,
                    communicate(made_by(its, in, way.result, met[0], met[1], met[2]), in.result));
  }

 private:
  // The local elements of the operands on one rank, or those of all ranks along the dims of the
  // instruction, or of all.
  struct Held final : Values {
    Int of(int operand, Extents const& at) const override {
      Distributed const& v = *operands[operand];
      if (its->anywhere) return ranks->from_holder(v, static_cast<Int>(rank), at);
      return its->across ? ranks->from_any(v, me, along[operand], at) : ranks->take(v, rank, at);
    }
    bool has(int operand, Extents const& at) const override {
      return its->anywhere || its->across || ranks->has(*operands[operand], rank, at);
    }
    Interpreter* ranks = nullptr;
    CaseOf const* its = nullptr;
    Distributed const* operands[3] = {};
    core::AxisList along[3]{};
    Coords me{};
    std::size_t rank = 0;
  };
  Distributed made_by(CaseOf const& its, Instruction const& in, Spec const& result,
                      Distributed const& a, Distributed const& b, Distributed const& c) {
    Held values;
    values.ranks = this;
    values.its = &its;
    Distributed const* operands[] = {&a, &b, &c};
    for (int k = 0; k < its.takes.operands; ++k) {
      values.operands[k] = operands[k];
      rules::Labels const over = in.list.size > 0 ? in.list : only(in.from);
      for (int m = 0; its.across && m < over.size; ++m)
        values.along[k] = values.along[k].plus(rules::axes_on(operands[k]->spec, over.at[m]));
    }
    return make(result, [&](Coords const& me, std::size_t r, Extents const& at) {
      values.me = me;
      values.rank = r;
      return its.has_part(in, a.spec, z_, me) ? its.element({in, z_, values, at}) : 0;
    });
  }
  Distributed finished(CaseOf const& its, Instruction const& in, Distributed v) {
    for (auto& rank : v.held)
      for (auto& x : rank)
        if (x) x = its.finished(in, z_, *x);
    return v;
  }
  Distributed product(Plan const& plan, Instruction const& in, Distributed const& a,
                      Distributed const& b) {
    Distributed slot[3] = {a, b, {}};
    for (Distributed& v : slot) v.spec.reduced = {};
    for (planning::Step s : plan) {
      s.before.reduced = {};
      s.after.reduced = {};
      if (s.move == planning::Move::compute) {
        slot[2] = simulate::product(slot[0], slot[1], s.after, z_);
      } else {
        sound = sound && simulate::apply(s, z_, slot[static_cast<int>(s.slot)]);
      }
    }
    return arrived(slot[2], in.result);
  }
};

}  // namespace programs
