// Runs instructions on simulated ranks. Each rank uses only its local block and the elements that
// it receives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/plan/contraction_plan.hpp>
#include <shardtype/plan/indexing_plan.hpp>

#include "harness/cases.hpp"
#include "harness/rank_reductions.hpp"

namespace programs {

class Interpreter : public RankReductions {
 public:
  using RankReductions::RankReductions;

  Distributed run(Instruction const& in, Distributed const& a, Distributed const& b,
                  Distributed const& c) {
    if (is_case(in.op)) return run_case(in, a, b, c);
    if (is_named_elementwise(in.op)) return named_elementwise(in, a, b, c);
    if (is_reduction(in.op) || is_named_reduction(in.op)) return reduction(in, a);
    if (is_product(in.op)) return product(in, a, b);
    switch (in.op) {
      case Op::reduced:
      case Op::broadcast:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return take(a, r, at);
        });
      case Op::last_of_two:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return take(b, r, at);
        });
      case Op::look_up:
      case Op::take_along:
        return look_up(in, in.result, a, b);
      case Op::one_hot:
        return one_hot(in, in.result, a);
      case Op::add_rows:
        return add_rows(in, in.result, a, b);
      case Op::named_look_up:
      case Op::named_add_rows:
      case Op::named_one_hot:
        return named_indexing(in, a, b);
      case Op::window:
        return window(in, a, drawn_start(in));
      case Op::window_at:
        return window(in, a, item(b));
      case Op::replaced:
        return replaced(in, a, b, drawn_start(in));
      case Op::replaced_at:
        return replaced(in, a, b, item(c));
      case Op::to_partial:
        return make(in.result, [&](Coords const& me, std::size_t r, Extents const& at) {
          bool const split = a.spec.dim_of(in.axis) >= 0;
          bool const mine = split ? simulate::holds(a.spec, z_, me, at) : me[in.axis] == 0;
          return mine ? take(a, r, at) : 0;
        });
      case Op::moved:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return from_holder(a, static_cast<std::int64_t>(r), at);
        });
      default:
        return communicate(a, in.result);
    }
  }

 private:
  // The local elements of the operands on one rank, or those of all ranks along the dim of the
  // instruction.
  struct Held : Values {
    std::int64_t of(int operand, Extents const& at) const override {
      Distributed const& v = *operands[operand];
      return across ? ranks->from_any(v, me, label, at) : ranks->take(v, rank, at);
    }
    Interpreter* ranks = nullptr;
    Distributed const* operands[3] = {};
    bool across = false;
    int label = 0;
    Coords me{};
    std::size_t rank = 0;
  };
  Distributed run_case(Instruction const& in, Distributed const& a, Distributed const& b,
                       Distributed const& c) {
    CaseOf const& its = case_of(in.op);
    if (its.meet == nullptr) return made_by(its, in, in.result, a, b, c);
    planning::LocalPlan const way = its.meet(in, a.spec, b.spec);
    return communicate(made_by(its, in, way.result, communicate(a, way.operands[0]),
                               its.takes.operands > 1 ? communicate(b, way.operands[1]) : b, c),
                       in.result);
  }
  Distributed made_by(CaseOf const& its, Instruction const& in, Spec const& result,
                      Distributed const& a, Distributed const& b, Distributed const& c) {
    Held values;
    values.ranks = this;
    values.operands[0] = &a;
    values.operands[1] = &b;
    values.operands[2] = &c;
    values.across = its.across;
    values.label = in.from;
    return make(result, [&](Coords const& me, std::size_t r, Extents const& at) {
      values.me = me;
      values.rank = r;
      return its.has_part(in, z_, me) ? its.element({in, z_, values, at}) : 0;
    });
  }
  Distributed elementwise(Instruction const& in, Spec const& result, Distributed const& a,
                          Distributed const& b, Distributed const& c) {
    int const n = taken(in.op).operands;
    return make(result, [&](Coords const&, std::size_t r, Extents const& at) {
      return call_named(in.op, take(a, r, at), take(b, r, at), n > 2 ? take(c, r, at) : 0);
    });
  }
  // Reshards the operands to their common sharding, applies the function, and reshards the result
  // to its name.
  Distributed named_elementwise(Instruction const& in, Distributed const& a, Distributed const& b,
                                Distributed const& c) {
    rules::Linearity const how = linearity(in.op, in.element);
    Distributed operand[] = {a, b, c};
    int const n = taken(in.op).operands;
    rules::Operands given;
    for (int k = 0; k < n; ++k) given.push(operand[k].spec);
    rules::Operands met;
    for (int k = 0; k < n; ++k) {
      met.push(rules::elementwise_operand(given, k, in.result, how));
      operand[k] = communicate(operand[k], met.at[k]);
    }
    rules::Verdict const there = rules::elementwise(met, rules::labels_of(in.result), how);
    if (!there) sound = false;
    return communicate(elementwise(in, there.result, operand[0], operand[1], operand[2]),
                       in.result);
  }

  Distributed look_up(Instruction const& in, Spec const& result, Distributed const& a,
                      Distributed const& b) {
    return make(result, [&](Coords const& me, std::size_t r, Extents at) {
      std::int64_t const id = take(b, r, at);
      if (id < 0 || id >= z_.extents[in.from]) return std::int64_t{0};
      at.at[in.from] = id;
      // other ranks look up their own rows: the result is unreduced
      bool const split = a.spec.dims[a.spec.find(in.from)].axes.size > 0;
      return split && !simulate::holds(a.spec, z_, me, at) ? 0 : take(a, r, at);
    });
  }
  Distributed one_hot(Instruction const& in, Spec const& result, Distributed const& a) {
    return make(result, [&](Coords const&, std::size_t r, Extents const& at) {
      return std::int64_t{take(a, r, at) == at[in.from] ? 1 : 0};
    });
  }
  Distributed add_rows(Instruction const& in, Spec const& result, Distributed const& a,
                       Distributed const& b) {
    return make(result, [&](Coords const& me, std::size_t r, Extents at) {
      std::int64_t const row = at[in.from];
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < simulate::volume(b.spec, z_.extents); ++k) {
        Extents const of_id = simulate::indices(b.spec, z_.extents, k);
        for (int d = 0; d < b.spec.rank; ++d)
          at.at[b.spec.dims[d].label] = of_id[b.spec.dims[d].label];
        // each rank adds the pairs of an id and an update that are both local
        if (simulate::holds(b.spec, z_, me, at) && simulate::holds(a.spec, z_, me, at) &&
            take(b, r, at) == row)
          sum += take(a, r, at);
      }
      return sum;
    });
  }
  // Reshards the operands as the plan says, applies the operation, and reshards the result to its
  // name.
  Distributed named_indexing(Instruction const& in, Distributed const& a, Distributed const& b) {
    using planning::LocalPlan;
    Spec const& to = in.result;
    if (in.op == Op::named_one_hot) {
      LocalPlan const way = planning::one_hot_plan(a.spec, to, in.from);
      return communicate(one_hot(in, way.result, communicate(a, way.operands[0])), to);
    }
    if (in.op == Op::named_look_up) {
      core::ReduceKind const joining =
          in.element == Element::boolean ? core::ReduceKind::max : core::ReduceKind::sum;
      LocalPlan const way = planning::take_plan(a.spec, b.spec, to, in.from, joining);
      return communicate(
          look_up(in, way.result, communicate(a, way.operands[0]), communicate(b, way.operands[1])),
          to);
    }
    LocalPlan way = planning::scatter_plan(a.spec, b.spec, to, in.from, false);
    LocalPlan const gathering = planning::scatter_plan(a.spec, b.spec, to, in.from, true);
    if (gathering.verdict && planning::gathering_is_cheaper(way, gathering, a.spec, b.spec, to, z_,
                                                            sizeof(std::int64_t)))
      way = gathering;
    return communicate(
        add_rows(in, way.result, communicate(a, way.operands[0]), communicate(b, way.operands[1])),
        to);
  }

  std::int64_t moved_inside(std::int64_t start, std::int64_t n) const {
    return std::clamp<std::int64_t>(start, 0, n - half(n));
  }
  Distributed window(Instruction const& in, Distributed const& a, std::int64_t start) {
    std::int64_t const n = z_.extents[in.from];
    return make(in.result, [&](Coords const&, std::size_t r, Extents at) {
      if (at[in.from] >= half(n)) return std::int64_t{0};
      at.at[in.from] += moved_inside(start, n);
      return take(a, r, at);
    });
  }
  Distributed replaced(Instruction const& in, Distributed const& a, Distributed const& b,
                       std::int64_t start) {
    std::int64_t const n = z_.extents[in.from];
    return make(in.result, [&](Coords const&, std::size_t r, Extents at) {
      std::int64_t const i = at[in.from] - moved_inside(start, n);
      if (i < 0 || i >= half(n)) return take(a, r, at);
      at.at[in.from] = i;
      return take(b, r, at);
    });
  }

  Distributed product(Instruction const& in, Distributed const& a, Distributed const& b) {
    bool const named = in.op == Op::named_contract || in.op == Op::named_matrix_product;
    Plan const plan = named ? planning::contraction_plan(a.spec, b.spec, in.result, z_)
                            : planning::strict_contraction_plan(a.spec, b.spec, in.result, z_);
    Distributed slot[3] = {a, b, {}};
    for (Distributed& v : slot) v.spec.reduced = {};
    for (planning::Step s : plan) {
      s.before.reduced = {};
      s.after.reduced = {};
      if (s.action == planning::Action::compute) {
        slot[2] = simulate::product(slot[0], slot[1], s.after, z_);
      } else {
        sound = sound && simulate::apply(s, z_, slot[static_cast<int>(s.slot)]);
      }
    }
    return arrived(slot[2], in.result);
  }
};

}  // namespace programs
