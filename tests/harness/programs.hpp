// Random programs over Specs that the rules accept: drawn by seed, in the compiler or at run time, and
// run by a small interpreter on simulated ranks, each of which uses only what it holds.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <shardtype/plan/reshard_plan.hpp>
#include <shardtype/rules/along.hpp>
#include <shardtype/rules/elementwise.hpp>
#include <shardtype/rules/indexing.hpp>
#include <shardtype/rules/reduction.hpp>
#include <shardtype/rules/reshard.hpp>
#include <shardtype/rules/shape.hpp>

#include "harness/simulate.hpp"

namespace programs {

using namespace shardtype;
using simulate::Distributed;

inline constexpr int labels = 3;
inline constexpr int axes = 3;
inline constexpr int inputs = 2;
inline constexpr int most_instructions = 6;

enum class Op : std::int8_t {
  negate,
  absolute,
  add,
  subtract,
  multiply,
  largest,
  smallest,
  choose,
  sum,
  max,
  min,
  place,
  named_sum,
  named_max,
  named_place,
  contract,
  named_contract,
  transpose,
  flip,
  shift,
  to_partial,
  reduced,
  reshard,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all,
  roll,
  running_sum,
  running_max,
  from_second,  // slice, then pad: every row but the first, and a zero
  from_second_and_one,
  twice_each,   // repeat, then slice
  from_middle,  // tile, then slice
  halves,       // concat of two slices
  last_of_two,  // stack, slice, squeeze
  renamed,      // relabel twice, expand, squeeze
  reshaped,     // split, merge
  broadcast,
  sorted,
  look_up,   // gather
  add_rows,  // scatter_add
  one_hot,
  take_along,
  named_min,
  named_add,
  named_multiply,
  running_min,
  sum_before,  // an exclusive scan
  count
};

// One operation on values that are there already. `list`: the labels reduced over, of the result, or in
// their new order.
struct Instruction {
  Op op = Op::negate;
  int operand[3] = {0, 0, 0};
  Labels list{};
  int axis = 0;
  int from = 0;
  int to = 0;
  Spec result{};
};

struct Program {
  Spec input[inputs]{};
  Instruction code[most_instructions]{};
  int size = 0;
  bool needs_elements[labels] = {};  // labels over which maxima or places are taken

  constexpr Spec const& spec(int value) const {
    return value < inputs ? input[value] : code[value - inputs].result;
  }
};

class Draw {
 public:
  constexpr explicit Draw(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {
    below(2);
    below(2);
  }
  constexpr int below(int n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 11) % static_cast<std::uint64_t>(n));
  }
  constexpr bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// Some of the labels in any order, axes on any of them, owed, reduced or on none.
constexpr Spec random_spec(Draw& draw, Labels const& of, bool owed) {
  Spec s;
  Labels left = of;
  while (left.size > 0) {
    int const k = draw.below(left.size);
    s.add(left.at[k]);
    left.at[k] = left.at[--left.size];
  }
  int const first = draw.below(axes);
  for (int k = 0; k < axes; ++k) {
    int const x = (first + k) % axes;
    int const where = draw.below(s.rank + 3);
    if (where < s.rank) {
      s.dims[where].axes.push(x);
    } else if (where == s.rank && owed) {
      s.unreduced.insert(x);
    } else if (where == s.rank + 1 && draw.one_in(2)) {
      s.reduced.insert(x);
    }
  }
  if (!s.unreduced.empty()) s.kind = static_cast<ReduceKind>(draw.one_in(2) ? 0 : draw.below(3));
  return s;
}
constexpr Labels some_labels(Draw& draw, Labels const& of) {
  Labels out;
  for (int k = 0; k < of.size; ++k)
    if (!draw.one_in(3)) out.push(of.at[k]);
  return out;
}
constexpr Labels without(Labels const& all, Labels const& those) {
  Labels out;
  for (int k = 0; k < all.size; ++k)
    if (!those.contains(all.at[k])) out.push(all.at[k]);
  return out;
}
// The same with another sharding somewhere, as a second operand should often have it.
constexpr Spec varied(Draw& draw, Spec s) {
  if (draw.one_in(3) && s.rank > 0) s.dims[draw.below(s.rank)].axes = {};
  if (draw.one_in(4)) s.unreduced = {};
  if (draw.one_in(4)) s.reduced = {};
  if (draw.one_in(4) && s.rank > 1) --s.rank;
  if (draw.one_in(3) && s.rank > 1) {
    DimSpec const first = s.dims[0];
    s.dims[0] = s.dims[1];
    s.dims[1] = first;
  }
  return s;
}

constexpr Linearity linearity(Op op) {
  switch (op) {
    case Op::negate:
      return Linearity::linear;
    case Op::add:
    case Op::subtract:
    case Op::named_add:
      return Linearity::additive;
    case Op::multiply:
    case Op::named_multiply:
      return Linearity::scaling;
    case Op::largest:
      return Linearity::maximum;
    case Op::smallest:
      return Linearity::minimum;
    case Op::choose:
      return Linearity::choosing;
    default:
      return Linearity::none;
  }
}
constexpr int operand_count(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::largest:
    case Op::smallest:
    case Op::contract:
    case Op::named_contract:
    case Op::halves:
    case Op::last_of_two:
    case Op::look_up:
    case Op::add_rows:
    case Op::take_along:
    case Op::named_add:
    case Op::named_multiply:
      return 2;
    case Op::choose:
      return 3;
    default:
      return 1;
  }
}
constexpr ReductionKind reduction_kind(Op op) {
  return op == Op::sum || op == Op::named_sum   ? ReductionKind::sum
         : op == Op::max || op == Op::named_max ? ReductionKind::max
         : op == Op::min || op == Op::named_min ? ReductionKind::min
                                                : ReductionKind::whole;
}

// The rule's answer for an instruction whose operands are `a`, `b`, `c`; its details are drawn.
constexpr Verdict ask(Draw& draw, Instruction& in, Spec const& a, Spec const& b, Spec const& c) {
  Verdict const no = refuse(Code::T09_not_a_tensor);
  Labels const mine = labels_of(a);
  rules::ShapeQuestion q;
  q.operands = &a;
  q.count = 1;
  for (int l = 0; l < labels + 2; ++l) q.extents.at[l] = dynamic;
  for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
  in.axis = draw.below(axes);
  in.from = draw.below(labels);
  in.to = draw.below(labels);
  // an operation along `in.from` on what another gave; `new_label` is in its way, or comes of it
  auto const along = [&](rules::Shape op, Verdict const& before, int new_label = -1) {
    if (!before) return before;
    Spec const x = before.result;
    q.operands = &x;
    q.from = q.to = {};
    q.from.add(in.from);
    if (new_label >= 0) q.to.add(new_label);
    return rules::shape(op, q);
  };
  Verdict const given = accept(a);
  Spec const both[] = {a, b};
  switch (in.op) {
    case Op::negate:
    case Op::absolute:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::largest:
    case Op::smallest:
    case Op::choose: {
      Operands all;
      all.push(a);
      if (operand_count(in.op) > 1) all.push(b);
      if (operand_count(in.op) > 2) {
        Operands condition;
        condition.push(a);
        condition.push({});
        Verdict const v = rules::elementwise(condition, Linearity::none);
        if (!v) return v;
        all.at[0] = v.result;
        all.push(c);
      }
      return rules::elementwise(all, linearity(in.op));
    }
    case Op::sum:
    case Op::max:
    case Op::min:
    case Op::place: {
      Labels const kept = some_labels(draw, mine);
      in.list = without(mine, kept);
      return in.list.size == 0 ? no : rules::reduction(a, kept, reduction_kind(in.op));
    }
    case Op::named_sum:
    case Op::named_max:
    case Op::named_min:
    case Op::named_place: {
      Labels const kept = some_labels(draw, mine);
      in.list = without(mine, kept);
      if (in.list.size == 0) return no;
      return rules::named_reduction(a, random_spec(draw, kept, draw.one_in(3)),
                                    reduction_kind(in.op));
    }
    case Op::contract:
    case Op::named_contract: {
      Labels all = mine;
      for (int d = 0; d < b.rank; ++d)
        if (!all.contains(b.dims[d].label)) all.push(b.dims[d].label);
      in.list = some_labels(draw, all);
      if (in.list.size == 0) return no;
      if (in.op == Op::contract) return rules::contraction(a, b, in.list);
      return rules::named_contraction(a, b, random_spec(draw, in.list, draw.one_in(3)), true);
    }
    case Op::transpose: {
      Spec to;
      int const first = draw.below(a.rank + 1);
      for (int d = 0; d < a.rank; ++d) to.add(a.dims[(first + d) % a.rank].label);
      if (a.rank < 2) return no;
      in.list = labels_of(to);
      return rules::transpose(a, to);
    }
    case Op::flip:
      q.from.add(in.from);
      return rules::shape(rules::Shape::flip, q);
    case Op::shift:
      q.from.add(in.from);
      return rules::shape(rules::Shape::shift, q);
    case Op::to_partial:
      return rules::to_partial(a, in.axis);
    case Op::reduced:
      return rules::reduced(a, in.axis);
    case Op::reshard: {
      Spec wanted = random_spec(draw, mine, draw.one_in(2));
      wanted.kind = a.kind;
      if (draw.one_in(2))
        wanted.unreduced.bits = static_cast<std::uint8_t>(wanted.unreduced.bits & a.unreduced.bits);
      return rules::reshard(a, wanted);
    }
    case Op::all_gather:
      return rules::all_gather(a, in.axis);
    case Op::all_reduce:
      return rules::all_reduce(a, in.axis);
    case Op::reduce_scatter:
      return rules::reduce_scatter(a, in.axis, in.from);
    case Op::all_to_all:
      return in.from == in.to ? no : rules::all_to_all(a, in.axis, in.from, in.to);
    case Op::roll:
      return along(rules::Shape::roll, given);
    case Op::running_sum:
      return along(rules::Shape::scan_sum, given);
    case Op::running_max:
      return along(rules::Shape::scan_max, given);
    case Op::from_second:
      return along(rules::Shape::pad_zero, along(rules::Shape::slice, given));
    case Op::from_second_and_one:
      return along(rules::Shape::pad_value, along(rules::Shape::slice, given));
    case Op::twice_each:
      return along(rules::Shape::slice, along(rules::Shape::repeat, given));
    case Op::from_middle:
      return along(rules::Shape::slice, along(rules::Shape::tile, given));
    case Op::halves:
      if (Verdict const v = along(rules::Shape::slice, given); !v) return v;
      q.operands = both;
      q.count = 2;
      return rules::shape(rules::Shape::concat, q);
    case Op::last_of_two: {
      q.operands = both;
      q.count = 2;
      q.to.add(labels);
      Verdict v = rules::shape(rules::Shape::stack, q);
      q.count = 1;
      in.from = labels;
      v = along(rules::Shape::squeeze, along(rules::Shape::slice, v));
      return v;
    }
    case Op::renamed: {
      Verdict v = along(rules::Shape::relabel, given, labels);
      if (!v) return v;
      Spec const other = v.result;
      q.operands = &other;
      q.from = q.to = {};
      q.from.add(labels);
      q.to.add(in.from);
      v = rules::shape(rules::Shape::relabel, q);
      if (!v) return v;
      Spec const again = v.result;
      q.operands = &again;
      q.from = q.to = {};
      q.to.add(labels + 1);
      v = rules::shape(rules::Shape::expand, q);
      int const label = in.from;
      in.from = labels + 1;
      v = along(rules::Shape::squeeze, v);
      in.from = label;
      return v;
    }
    case Op::reshaped: {
      q.from.add(in.from);
      q.to.add(labels);
      q.to.add(labels + 1);
      Verdict const v = rules::shape(rules::Shape::hand_out, q);
      if (!v) return v;
      Spec const two = v.result;
      q.operands = &two;
      Spec const parts = q.to;
      q.to = q.from;
      q.from = parts;
      return rules::shape(rules::Shape::merge, q);
    }
    case Op::broadcast:
      q.to.add(in.from);
      if (in.to == 0) q.to.dims[0].axes.push(in.axis);
      return rules::shape(rules::Shape::broadcast, q);
    case Op::sorted:
      q.from.add(in.from);
      return rules::sorted(q, false);
    case Op::look_up:
      if (mine.size > 0) in.from = mine.at[draw.below(mine.size)];
      return rules::gather(a, b, in.from, ReduceKind::sum);
    case Op::add_rows:
      return rules::scatter_add(a, b, in.from);
    case Op::one_hot:
      return rules::one_hot(a, in.from);
    case Op::take_along:
      return rules::take_along(a, b, in.from, in.from);
    case Op::named_add:
    case Op::named_multiply: {
      Labels all = mine;
      for (int d = 0; d < b.rank; ++d)
        if (!all.contains(b.dims[d].label)) all.push(b.dims[d].label);
      Operands operands;
      operands.push(a);
      operands.push(b);
      return rules::named_elementwise(operands, random_spec(draw, all, draw.one_in(3)),
                                      linearity(in.op));
    }
    case Op::running_min:
      return along(rules::Shape::scan_min, given);
    case Op::sum_before:
      return along(rules::Shape::scan_sum, given);
    case Op::count:
      break;
  }
  return no;
}

// The program of this seed: `length` instructions that the rules accept, each on values that are there.
constexpr Program generate(std::uint64_t seed, int length) {
  Draw draw(seed);
  Program p;
  Labels all;
  for (int l = 0; l < labels; ++l) all.push(l);
  p.input[0] = random_spec(draw, some_labels(draw, all), draw.one_in(2));
  p.input[1] = draw.one_in(3) ? random_spec(draw, some_labels(draw, all), draw.one_in(2))
                              : varied(draw, p.input[0]);
  int degree[inputs + most_instructions] = {};  // of the polynomial, so that values stay small
  for (int k = 0; k < inputs; ++k) degree[k] = 1;
  for (int tries = 0; p.size < length && tries < 60 * length; ++tries) {
    Instruction in;
    in.op = static_cast<Op>(draw.below(static_cast<int>(Op::count)));
    int const values = inputs + p.size;
    // mostly on the newest value
    for (int& v : in.operand) v = draw.one_in(2) ? values - 1 : draw.below(values);
    // ids share no index with their table, which two values seldom do
    for (int again = 0; again < 30 && in.op == Op::look_up; ++again) {
      Labels const ids = labels_of(p.spec(in.operand[1]));
      Spec const& table = p.spec(in.operand[0]);
      if (table.rank > 0 && p.spec(in.operand[1]).unreduced.empty() &&
          without(ids, labels_of(table)).size == ids.size)
        break;
      in.operand[0] = draw.below(values);
      in.operand[1] = draw.below(values);
    }
    bool const product = in.op == Op::multiply || in.op == Op::named_multiply ||
                         in.op == Op::contract || in.op == Op::named_contract;
    int const a = in.operand[0];
    int most = degree[a];
    if (operand_count(in.op) > 1)
      most = product ? most + degree[in.operand[1]] : std::max(most, degree[in.operand[1]]);
    if (operand_count(in.op) > 2) most = std::max(most, degree[in.operand[2]]);
    if (most > 6) continue;
    Verdict const v = ask(draw, in, p.spec(a), p.spec(in.operand[1]), p.spec(in.operand[2]));
    if (!v) continue;
    in.result = v.result;
    if (in.result.unreduced.empty()) in.result.kind = ReduceKind::sum;
    if (in.op == Op::max || in.op == Op::min || in.op == Op::named_max || in.op == Op::named_min ||
        in.op == Op::place || in.op == Op::named_place)
      for (int k = 0; k < in.list.size; ++k) p.needs_elements[in.list.at[k]] = true;
    degree[values] = most;
    p.code[p.size++] = in;
  }
  return p;
}

// What a rank holds of an input's element: any summand if the tensor is unreduced, equal on ranks that
// hold copies.
inline std::int64_t held(Spec const& s, int which, Coords const& c, Extents const& at) {
  std::uint64_t h = 1469598103934665603U + static_cast<std::uint64_t>(which);
  auto mix = [&](std::int64_t v) { h = (h ^ static_cast<std::uint64_t>(v + 7)) * 1099511628211U; };
  for (int l = 0; l < labels; ++l)
    if (s.find(l) >= 0) mix(l * 100 + at[l]);
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) mix(1000 + 10 * x + c[x]);
  return static_cast<std::int64_t>((h >> 20) % 7) - 3;
}
inline AxisList owed_axes(Spec const& s) {
  AxisList out;
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) out.push(x);
  return out;
}
inline Distributed input(Spec const& s, int which, Sizing const& z) {
  Distributed out{s, {}};
  std::int64_t const n = simulate::volume(s, z.extents);
  for (std::int64_t r = 0; r < simulate::rank_count(z.sizes); ++r) {
    Coords const c = simulate::coords_of(z.sizes, r);
    auto& mine = out.held.emplace_back(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
      Extents const at = simulate::indices(s, z.extents, k);
      if (simulate::holds(s, z, c, at)) mine[static_cast<std::size_t>(k)] = held(s, which, c, at);
    }
  }
  return out;
}
// What it stands for, as held by a single rank.
inline Distributed meant_input(Spec const& s, int which, Sizing const& z) {
  Sizing one = z;
  one.sizes = {};
  Distributed out{s, {{}}};
  AxisList const owed = owed_axes(s);
  for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
    Extents const at = simulate::indices(s, z.extents, k);
    std::int64_t value = 0;
    for (std::int64_t g = 0; g < z.sizes.product(owed); ++g) {
      std::int64_t const part = held(s, which, member(owed, z.sizes, {}, g), at);
      value = g == 0 ? part : simulate::joined(s.kind, value, part);
    }
    out.held[0].push_back(value);
  }
  return out;
}

// Whether `v` stands for the values of `dense` (one rank): every rank's part, joined over what is owed.
inline bool stands_for(Distributed const& v, Distributed const& dense, Sizing const& z) {
  AxisList const owed = owed_axes(v.spec);
  std::int64_t const n = simulate::volume(v.spec, z.extents);
  if (static_cast<std::int64_t>(dense.held[0].size()) != n) return false;
  for (std::int64_t r = 0; r < simulate::rank_count(z.sizes); ++r) {
    Coords const c = simulate::coords_of(z.sizes, r);
    for (std::int64_t k = 0; k < n; ++k) {
      if (!simulate::holds(v.spec, z, c, simulate::indices(v.spec, z.extents, k))) continue;
      std::optional<std::int64_t> value;
      for (std::int64_t g = 0; g < z.sizes.product(owed); ++g) {
        auto const other =
            static_cast<std::size_t>(simulate::rank_of(z.sizes, member(owed, z.sizes, c, g)));
        auto const theirs = v.held[other][static_cast<std::size_t>(k)];
        if (!theirs) return false;
        value = value ? simulate::joined(v.spec.kind, *value, *theirs) : *theirs;
      }
      if (value != dense.held[0][static_cast<std::size_t>(k)]) return false;
    }
  }
  return true;
}

// Runs instructions; `sound` turns false where a rank lacks what it needs.
class Interpreter {
 public:
  explicit Interpreter(Sizing const& z) : z_(z), ranks_(simulate::rank_count(z.sizes)) {}
  bool sound = true;

  Distributed run(Instruction const& in, Distributed const& a, Distributed const& b,
                  Distributed const& c) {
    switch (in.op) {
      case Op::negate:
      case Op::absolute:
      case Op::add:
      case Op::subtract:
      case Op::multiply:
      case Op::largest:
      case Op::smallest:
      case Op::choose:
        return make(in.result, [&](Coords const& at_rank, std::size_t r, Extents const& at) {
          static_cast<void>(at_rank);
          std::int64_t const x = take(a, r, at);
          std::int64_t const y = operand_count(in.op) > 1 ? take(b, r, at) : 0;
          return call(in.op, x, y, operand_count(in.op) > 2 ? take(c, r, at) : 0);
        });
      case Op::sum:
      case Op::max:
      case Op::min:
      case Op::place:
        return reduce(in, a, in.result, false);
      case Op::named_sum:
      case Op::named_max:
      case Op::named_min:
      case Op::named_place: {
        bool const whole = in.op == Op::named_place;
        Labels const kept = without(labels_of(a.spec), in.list);
        Spec met =
            rules::reduction(a.spec, kept, whole ? ReductionKind::sum : reduction_kind(in.op))
                .result;
        if (whole) met.unreduced = {};  // places come together at once, see reduce
        return communicate(reduce(in, a, met, whole), in.result);
      }
      case Op::contract:
      case Op::named_contract:
        return product(in, a, b);
      case Op::named_add:
      case Op::named_multiply:
        return named_elementwise(in, a, b);
      case Op::transpose:
      case Op::reduced:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return take(a, r, at);
        });
      case Op::flip:
        return make(in.result, [&](Coords const&, std::size_t r, Extents at) {
          at.at[in.from] = z_.extents[in.from] - 1 - at[in.from];
          return take(a, r, at);
        });
      case Op::shift:
        return make(in.result, [&](Coords const& me, std::size_t, Extents at) {
          return --at.at[in.from] < 0 ? std::int64_t{0} : from_any(a, me, in.from, at);
        });
      case Op::renamed:
      case Op::reshaped:
      case Op::broadcast:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return take(a, r, at);
        });
      case Op::last_of_two:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return take(b, r, at);
        });
      case Op::roll:
      case Op::from_second:
      case Op::from_second_and_one:
      case Op::twice_each:
      case Op::from_middle:
      case Op::halves:
        return make(in.result, [&](Coords const&, std::size_t r, Extents at) {
          std::int64_t const n = z_.extents[in.from];
          std::int64_t& i = at.at[in.from];
          std::int64_t const half = n - n / 2;
          switch (in.op) {
            case Op::roll:
              i = (i + n - 1) % n;
              break;
            case Op::twice_each:
              i = i / 2;
              break;
            case Op::from_middle:
              i = (i + n / 2) % n;
              break;
            case Op::halves:
              if (i >= half) {
                i -= half;
                return take(b, r, at);
              }
              i += n / 2;
              break;
            default:
              if (++i == n) return std::int64_t{in.op == Op::from_second ? 0 : 1};
          }
          return take(a, r, at);
        });
      case Op::running_sum:
      case Op::running_max:
      case Op::running_min:
      case Op::sum_before:
        return make(in.result, [&](Coords const& me, std::size_t, Extents at) {
          std::int64_t const end = at[in.from] + (in.op == Op::sum_before ? 0 : 1);
          std::int64_t value = 0;
          for (std::int64_t i = 0; i < end; ++i) {
            at.at[in.from] = i;
            std::int64_t const x = from_any(a, me, in.from, at);
            value = i == 0                     ? x
                    : in.op == Op::running_max ? std::max(value, x)
                    : in.op == Op::running_min ? std::min(value, x)
                                               : value + x;
          }
          return value;
        });
      case Op::sorted:
        return make(in.result, [&](Coords const&, std::size_t r, Extents at) {
          std::vector<std::int64_t> row;
          auto const place = static_cast<std::size_t>(at[in.from]);
          for (std::int64_t i = 0; i < z_.extents[in.from]; ++i) {
            at.at[in.from] = i;
            row.push_back(take(a, r, at));
          }
          std::sort(row.begin(), row.end());
          return row[place];
        });
      case Op::look_up:
      case Op::take_along:
        return make(in.result, [&](Coords const& me, std::size_t r, Extents at) {
          std::int64_t const id = take(b, r, at);
          if (id < 0 || id >= z_.extents[in.from]) return std::int64_t{0};
          at.at[in.from] = id;
          // rows of other ranks are theirs to look up, and owed
          bool const split = a.spec.dims[a.spec.find(in.from)].axes.size > 0;
          return split && !simulate::holds(a.spec, z_, me, at) ? 0 : take(a, r, at);
        });
      case Op::one_hot:
        return make(in.result, [&](Coords const&, std::size_t r, Extents const& at) {
          return std::int64_t{take(a, r, at) == at[in.from] ? 1 : 0};
        });
      case Op::add_rows:
        return make(in.result, [&](Coords const& me, std::size_t r, Extents at) {
          std::int64_t const row = at[in.from];
          std::int64_t sum = 0;
          for (std::int64_t k = 0; k < simulate::volume(b.spec, z_.extents); ++k) {
            Extents const of_id = simulate::indices(b.spec, z_.extents, k);
            for (int d = 0; d < b.spec.rank; ++d)
              at.at[b.spec.dims[d].label] = of_id[b.spec.dims[d].label];
            // each rank adds what it holds of both
            if (simulate::holds(b.spec, z_, me, at) && simulate::holds(a.spec, z_, me, at) &&
                take(b, r, at) == row)
              sum += take(a, r, at);
          }
          return sum;
        });
      case Op::to_partial:
        return make(in.result, [&](Coords const& me, std::size_t r, Extents const& at) {
          bool const split = a.spec.dim_of(in.axis) >= 0;
          bool const mine = split ? simulate::holds(a.spec, z_, me, at) : me[in.axis] == 0;
          return mine ? take(a, r, at) : 0;
        });
      default:
        return communicate(a, in.result);
    }
  }

 private:
  template <class F>
  Distributed make(Spec const& s, F value) {
    Distributed out{s, {}};
    std::int64_t const n = simulate::volume(s, z_.extents);
    for (std::int64_t r = 0; r < ranks_; ++r) {
      Coords const c = simulate::coords_of(z_.sizes, r);
      auto& mine = out.held.emplace_back(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n; ++k) {
        Extents const at = simulate::indices(s, z_.extents, k);
        if (simulate::holds(s, z_, c, at))
          mine[static_cast<std::size_t>(k)] = value(c, static_cast<std::size_t>(r), at);
      }
    }
    return out;
  }

  // What is held there by whichever rank along the dim of `label` has it.
  std::int64_t from_any(Distributed const& v, Coords const& me, int label, Extents const& at) {
    AxisList const along = v.spec.dims[v.spec.find(label)].axes;
    for (std::int64_t g = 0; g < z_.sizes.product(along); ++g) {
      Coords const other = member(along, z_.sizes, me, g);
      if (simulate::holds(v.spec, z_, other, at))
        return take(v, static_cast<std::size_t>(simulate::rank_of(z_.sizes, other)), at);
    }
    sound = false;
    return 0;
  }

  // What rank `r` holds there.
  std::int64_t take(Distributed const& v, std::size_t r, Extents const& at) {
    auto const got = v.held[r][static_cast<std::size_t>(simulate::place(v.spec, z_.extents, at))];
    if (!got) sound = false;
    return got.value_or(0);
  }

  static std::int64_t call(Op op, std::int64_t a, std::int64_t b, std::int64_t c) {
    switch (op) {
      case Op::negate:
        return -a;
      case Op::absolute:
        return a < 0 ? -a : a;
      case Op::add:
      case Op::named_add:
        return a + b;
      case Op::subtract:
        return a - b;
      case Op::multiply:
      case Op::named_multiply:
        return a * b;
      case Op::largest:
        return std::max(a, b);
      case Op::smallest:
        return std::min(a, b);
      default:
        return a > 0 ? b : c;
    }
  }

  // Over what each rank holds; `together`: over what all ranks hold that differ along reduced dims.
  Distributed reduce(Instruction const& in, Distributed const& a, Spec const& result,
                     bool together) {
    AxisList group;
    for (int k = 0; together && k < in.list.size; ++k)
      group = group.plus(a.spec.dims[a.spec.find(in.list.at[k])].axes);
    ReductionKind const how = reduction_kind(in.op);
    return make(result, [&](Coords const& me, std::size_t, Extents const& at) {
      std::optional<std::int64_t> value;
      std::int64_t place = -1;
      for (std::int64_t g = 0; g < z_.sizes.product(group); ++g) {
        auto const& theirs = a.held[static_cast<std::size_t>(
            simulate::rank_of(z_.sizes, member(group, z_.sizes, me, g)))];
        for (std::int64_t k = 0; k < simulate::volume(a.spec, z_.extents); ++k) {
          auto const x = theirs[static_cast<std::size_t>(k)];
          if (!x) continue;
          Extents const from = simulate::indices(a.spec, z_.extents, k);
          bool mine = true;
          std::int64_t here = 0;
          for (int d = 0; d < a.spec.rank; ++d) {
            int const l = a.spec.dims[d].label;
            if (in.list.contains(l)) {
              here = here * z_.extents[l] + from[l];
            } else {
              mine = mine && from[l] == at[l];
            }
          }
          if (!mine) continue;
          if (how == ReductionKind::whole) {
            if (!value || *x > *value || (*x == *value && here < place)) place = here;
            value = value ? std::max(*value, *x) : *x;
          } else {
            value = !value                      ? *x
                    : how == ReductionKind::sum ? *value + *x
                    : how == ReductionKind::max ? std::max(*value, *x)
                                                : std::min(*value, *x);
          }
        }
      }
      if (how == ReductionKind::whole) return place;
      return value.value_or(how == ReductionKind::sum   ? 0
                            : how == ReductionKind::max ? std::numeric_limits<std::int64_t>::min()
                                                        : std::numeric_limits<std::int64_t>::max());
    });
  }

  // Plans call reduced axes replicated.
  static Spec without_reduced(Spec s) {
    s.reduced = {};
    return s;
  }
  Distributed arrived(Distributed v, Spec const& at) {
    if (!(without_reduced(v.spec) == without_reduced(at))) sound = false;
    v.spec = at;
    return v;
  }

  Distributed communicate(Distributed v, Spec const& to) {
    Plan const plan = planning::reshard_plan(v.spec, to, z_);
    v.spec.reduced = {};
    for (Step const& s : plan) sound = sound && simulate::apply(s, z_, v);
    return arrived(v, to);
  }

  // The operands brought to where they meet, the function there, and its result where it is named.
  Distributed named_elementwise(Instruction const& in, Distributed const& a, Distributed const& b) {
    Linearity const how = linearity(in.op);
    Operands given;
    given.push(a.spec);
    given.push(b.spec);
    Operands met;
    for (int k = 0; k < 2; ++k) met.push(rules::elementwise_operand(given, k, in.result, how));
    Distributed const x = communicate(a, met.at[0]);
    Distributed const y = communicate(b, met.at[1]);
    Verdict const there = rules::elementwise(met, labels_of(in.result), how);
    if (!there) sound = false;
    return communicate(make(there.result,
                            [&](Coords const&, std::size_t r, Extents const& at) {
                              return call(in.op, take(x, r, at), take(y, r, at), 0);
                            }),
                       in.result);
  }

  Distributed product(Instruction const& in, Distributed const& a, Distributed const& b) {
    Plan const plan = in.op == Op::contract
                          ? planning::strict_contraction_plan(a.spec, b.spec, in.result, z_)
                          : planning::contraction_plan(a.spec, b.spec, in.result, z_);
    Distributed slot[3] = {a, b, {}};
    for (Distributed& v : slot) v.spec.reduced = {};
    for (Step s : plan) {
      s.before.reduced = {};
      s.after.reduced = {};
      if (s.action == Action::contract) {
        slot[2] = simulate::product(slot[0], slot[1], s.after, z_);
      } else {
        sound = sound && simulate::apply(s, z_, slot[static_cast<int>(s.slot)]);
      }
    }
    return arrived(slot[2], in.result);
  }

  Sizing z_;
  std::int64_t ranks_;
};

// Sizes for a program: empty and single ones too, but none empty over which maxima are taken.
inline Sizing random_extents(Draw& draw, Program const& p) {
  Sizing z;
  z.element_bytes = sizeof(std::int64_t);
  for (int l = 0; l < labels; ++l) {
    z.extents.at[l] = draw.one_in(9) ? 0 : 1 + draw.below(5);
    if (p.needs_elements[l] && z.extents[l] == 0) z.extents.at[l] = 1;
  }
  return z;
}

}  // namespace programs
