// The rule of cotangents, for all shardings of the operands over two axes (split in both orders of a
// list, block-cyclic, replicated, unreduced, reduced): wherever an operation is legal, its transpose is
// legal by the operation's own rules, and its result becomes the cotangent of the operand by casts,
// slices and zeros around a block; or is refused, X01 only where a sum meets a replicated operand, X02
// only where blocks do.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/cotangent_proof.hpp"
#include "harness/draw_gradients.hpp"

using namespace cotangent_proof;
using rules::Operands;

namespace {

Tally product(std::vector<int> const& of_a, std::vector<int> const& of_b,
              std::vector<int> const& of_c) {
  Tally t;
  for (Spec const& a : all(of_a))
    for (Spec const& b2 : all(of_b)) {
      Verdict const v = rules::contraction(a, b2, labels(of_c));
      if (!v) continue;
      ++t.legal;
      auto const what = [&] { return text(a) + " * " + text(b2) + " -> " + text(v.result); };
      auto back = [&](Spec const& own, Spec const& other) {
        return rules::product_cotangent(rules::cotangent(v.result), other, own);
      };
      settles(t, back(a, b2), a, what);
      settles(t, back(b2, a), b2, what);
    }
  return t;
}

// `scales`: a * b; else a + b.
Tally elementwise(std::vector<int> const& of_a, std::vector<int> const& of_b, bool scales) {
  Tally t;
  auto apply = [&](Spec const& a, Spec const& b2) {
    Operands in;
    in.push(a);
    in.push(b2);
    return rules::elementwise(in, scales ? rules::Linearity::scaling : rules::Linearity::additive);
  };
  for (Spec const& a : all(of_a))
    for (Spec const& b2 : all(of_b)) {
      Verdict const v = apply(a, b2);
      if (!v) continue;
      ++t.legal;
      auto const what = [&] { return text(a) + (scales ? " * " : " + ") + text(b2); };
      for (auto const& [own, other] : {std::pair(a, b2), std::pair(b2, a)}) {
        Verdict got = rules::accept(rules::cotangent(v.result));
        if (scales) got = apply(got.result, other);
        REQUIRE(bool(got));
        got = rules::reduction(got.result, rules::labels_of(own), rules::ReductionKind::sum);
        settles(t, got, own, what);
      }
    }
  return t;
}

}  // namespace

TEST_CASE("cotangents swap unreduced and reduced") {
  for (Spec const& s : all({i, k})) {
    Spec const c = rules::cotangent(s);
    CHECK(c.unreduced == s.reduced);
    CHECK(c.reduced == s.unreduced);
    CHECK(rules::cotangent(c) == s);
  }
  Spec s;
  s.unreduced.insert(0);
  s.kind = ReduceKind::max;
  CHECK(!rules::has_cotangent(s));
}

TEST_CASE("products") {
  CHECK(product({i, k}, {k, j}, {i, j}).legal > 178);
  CHECK(product({b, i, k}, {b, k, j}, {b, i, j}).legal > 334);
  CHECK(product({b, i}, {b}, {b, i}).legal > 230);
  CHECK(product({i}, {j}, {i, j}).legal > 0);
  CHECK(product({i, k}, {i, k}, {}).legal > 0);
  Tally const alone = product({i, k}, {k, j}, {j});  // I is summed over alone
  CHECK(alone.legal > 0);
}

TEST_CASE("elementwise functions") {
  for (bool const scales : {false, true}) {
    Tally const same = elementwise({i, k}, {i, k}, scales);
    CHECK(same.legal > 200);
    CHECK(same.free > 0);
    Tally const row = elementwise({i, k}, {k}, scales);
    CHECK(row.legal > 140);
    CHECK(row.sums > 0);
    CHECK(row.blocks > 0);
  }
}

TEST_CASE("sums") {
  for (std::vector<int> const& kept : {std::vector<int>{}, {i}, {k}}) {
    Tally t;
    for (Spec const& a : all({i, k})) {
      Verdict const v = rules::reduction(a, labels(kept), rules::ReductionKind::sum);
      if (!v) continue;
      settles(t, rules::spread(rules::cotangent(v.result), rules::cotangent(a)), a,
              [] { return std::string("sum"); });
    }
    CHECK(t.free > 0);
    CHECK(t.sums == 0);
    CHECK(t.blocks == 0);
  }
}

TEST_CASE("every operation of the random programs") {
  namespace all_of = gradient_programs;
  using all_of::Instruction;
  using all_of::Op;
  std::vector<std::vector<int>> const others[] = {{{i, k}, {k}, {i}, {}, {k, j}}, {{}}};
  for (int number = 0; number < all_of::op_count; ++number) {
    auto const op = static_cast<Op>(number);
    Tally t;
    // each result that a form with a name may have, or one that is not read
    auto const wanted = [&](std::vector<int> const& of) {
      return all_of::is_named_reduction(op) || op == Op::named_contract || op == Op::reshard ||
                     op == Op::named_add || op == Op::named_multiply
                 ? all(of)
                 : std::vector<Spec>{Spec{}};
    };
    auto const judge = [&](Instruction in, Spec const& a, Spec const& b) {
      Verdict const v = all_of::rule(in, a, b);
      if (!v) return;
      in.result = v.result;
      if (!rules::has_cotangent(in.result)) return;
      ++t.legal;
      for (int p = 0; p < all_of::operands(op); ++p) {
        if (all_of::is_truth(op, p)) continue;
        all_of::Pulled const back = all_of::pulled(in, p, a, b);
        Spec const& own = p == 0 ? a : b;
        auto const what = [&] {
          return "operation " + std::to_string(number) + ", " + text(a) + ", " + text(b) + " -> " +
                 text(in.result);
        };
        if (back.communicates) {
          INFO(what());
          CHECK(rules::settle(back.got.result, rules::cotangent(own), true).verdict);
        } else if (back.got.code == Code::T09_not_a_tensor) {
          ++t.refused;  // X03: operands that do not fit, of an unreduced result
        } else if (op == Op::look_up && back.got.code == Code::B03_through_cyclic) {
          ++t.refused;  // sums by ids are not of tensors with a block-cyclic dim
        } else {
          settles(t, back.got, own, what);
        }
      }
    };
    auto const ids_of = [&](std::vector<int> const& of) {
      std::vector<Spec> out;
      for (Spec const& s : all(of))
        if (s.unreduced.empty() && s.reduced.empty()) out.push_back(s);
      return out;
    };
    for (Spec const& a : all({i, k}))
      for (std::vector<int> const& of_b : others[all_of::operands(op) == 2 ? 0 : 1])
        for (Spec const& b2 : all_of::operands(op) == 2 ? all(of_b) : std::vector<Spec>{a})
          for (int from = 0; from < 3; ++from)
            for (int to = 0; to < 3; ++to)
              for (int axis = 0; axis < axes; ++axis) {
                Instruction in;
                in.op = op;
                in.from = from;
                in.to = to;
                in.axis = axis;
                bool const reads_to =
                    op == Op::add_rows || op == Op::triangle || op == Op::all_to_all;
                bool const reads_axis = all_of::is_move(op) && op != Op::reshard;
                bool const reads_from =
                    all_of::is_between(op, Op::renamed, Op::reduce_scatter) || op == Op::all_to_all;
                if ((to > 0 && !reads_to) || (axis > 0 && !reads_axis) || (from > 0 && !reads_from))
                  continue;
                if (all_of::is_lookup(op)) {
                  std::vector<std::vector<int>> const ids =
                      op == Op::look_up    ? std::vector<std::vector<int>>{{}, {j}}
                      : op == Op::add_rows ? std::vector<std::vector<int>>{{}, {i}, {k}, {i, k}}
                                           : std::vector<std::vector<int>>{{i, k}};
                  for (auto const& labels_of_ids : ids)
                    for (Spec const& s : ids_of(labels_of_ids)) {
                      in.ids = s;
                      judge(in, a, b2);
                    }
                } else if (all_of::is_reduction(op) || all_of::is_named_reduction(op)) {
                  for (std::vector<int> const& kept : {std::vector<int>{}, {i}, {k}})
                    for (Spec const& w : wanted(kept)) {
                      in.list = programs::without(labels({i, k}), labels(kept));
                      in.result = w;
                      judge(in, a, b2);
                    }
                } else if (op == Op::contract || op == Op::named_contract) {
                  for (std::vector<int> const& out :
                       {std::vector<int>{i, j}, {i, k}, {i}, {j}, {k, j}, {k}})
                    for (Spec const& w : wanted(out)) {
                      in.list = labels(out);
                      in.result = w;
                      judge(in, a, b2);
                    }
                } else {
                  in.list = labels({k, i});
                  for (Spec const& w : wanted({i, k})) {
                    in.result = w;
                    judge(in, a, b2);
                  }
                }
              }
    CAPTURE(number, t.legal, t.free, t.sums, t.blocks);
    CHECK(t.legal > 0);
    CHECK(t.free + (all_of::is_move(op) ? t.legal : 0) > 0);
  }
}

TEST_CASE("every operation of the random programs on blocks, which may vary") {
  namespace all_of = gradient_programs;
  using all_of::Instruction;
  using all_of::Op;
  auto const blocks = [](std::vector<int> const& of) {
    std::vector<Spec> out;
    for (int x = 0; x < 4; ++x)
      for (int y = 0; y < 4; ++y) {
        Spec s;
        for (int const l : of) s.add(l);
        s.local = true;
        int const state[] = {x, y};
        for (int axis = 0; axis < axes; ++axis) {
          if (state[axis] == 1) s.unreduced.insert(axis);
          if (state[axis] == 2) s.reduced.insert(axis);
          if (state[axis] == 3) s.varying.insert(axis);
        }
        out.push_back(s);
      }
    return out;
  };
  // what varies with an operand
  auto const varying_too = [](Verdict v, std::vector<Spec> const& with) {
    for (Spec const& s : with) {
      rules::Reading const reading{s};
      v = rules::in_manual_mode(v, &reading, 1);
    }
    return v;
  };
  for (int number = 0; number < all_of::op_count; ++number) {
    auto const op = static_cast<Op>(number);
    // results with names are of tensors; the moves of blocks have a table (rules/manual.hpp)
    if (all_of::is_move(op) || all_of::is_named_reduction(op) || op == Op::named_contract ||
        op == Op::named_add || op == Op::named_multiply)
      continue;
    Tally t;
    std::vector<std::vector<int>> const of_b = {{i, k}, {k}, {k, j}};
    for (Spec const& a : blocks({i, k}))
      for (std::vector<int> const& labels_of_b : of_b)
        for (Spec const& b2 : blocks(labels_of_b)) {
          Instruction in;
          in.op = op;
          in.from = op == Op::broadcast ? j : k;
          in.to = op == Op::triangle ? i : j;
          in.list = labels({k});
          if (op == Op::contract) in.list = labels({i, j});
          if (op == Op::transpose) in.list = labels({k, i});
          if (op == Op::look_up) in.ids.add(j);
          if (op == Op::add_rows) in.ids.add(k);
          if (op == Op::look_along || op == Op::added_along) in.ids.add(i), in.ids.add(k);
          std::vector<Spec> read{a};
          if (all_of::operands(op) == 2) read.push_back(b2);
          Verdict const v =
              varying_too(all_of::rule(in, a, all_of::operands(op) == 2 ? b2 : a), read);
          if (!v) continue;
          in.result = v.result;
          bool sound = rules::has_cotangent(in.result);
          for (int x = 0; x < axes; ++x)  // the rules keep what is unreduced from what varies
            sound = sound && !(in.result.unreduced.contains(x) && in.result.varying.contains(x));
          if (!sound) continue;
          ++t.legal;
          for (int p = 0; p < all_of::operands(op); ++p) {
            if (all_of::is_truth(op, p)) continue;
            Spec const& own = p == 0 ? a : b2;
            read.push_back(rules::cotangent(in.result));
            settles(t, varying_too(all_of::pulled(in, p, a, b2).got, read), own, [&] {
              return "operation " + std::to_string(number) + ", " + text(a) + ", " + text(b2) +
                     " -> " + text(in.result);
            });
            read.pop_back();
          }
        }
    CAPTURE(number, t.legal, t.free, t.sums);
    CHECK(t.legal > 0);
    CHECK(t.free > 0);
    CHECK(t.blocks == 0);
  }
}

TEST_CASE("a reshard's transpose, and to_partial where the axes do not nest") {
  for (Spec const& a : all({i, k}))
    for (Spec const& to : all({i, k})) {
      if (!rules::reshard(a, to)) continue;
      INFO(text(a) << " -> " << text(to));
      Settling const how = rules::settle(rules::cotangent(to), rules::cotangent(a), true);
      REQUIRE(bool(how.verdict));
      if (how.partial.size == 0) {
        CHECK(rules::reshard(rules::cotangent(to), rules::cotangent(a)));
      } else {
        CHECK(rules::reshard(rules::cotangent(to), how.met));
        Verdict const zeros = rules::to_partial(how.met, how.partial);
        REQUIRE(bool(zeros));
        CHECK(rules::reshard(zeros.result, rules::cotangent(a)));
      }
    }
}

TEST_CASE("a named product whose strict form is refused") {
  // w[K, J] replicated over X, x[I@X, K@Y]: dw sums over I, which X splits
  Spec x, w, c;
  x.add(i), x.add(k), w.add(k), w.add(j), c.add(i), c.add(j);
  x.dims[0].axes.push(0), x.dims[1].axes.push(1), c.dims[0].axes.push(0);
  CHECK(rules::named_product_cotangent(w, x, c).code == Code::X01_gradient_unreduced);
  CHECK(rules::named_product_cotangent(w, x, c).axis == 0);
  CHECK(bool(rules::named_product_cotangent(x, w, c)));
  w.reduced.insert(0);
  CHECK(bool(rules::named_product_cotangent(w, x, c)));
}

TEST_CASE("random programs with gradients have every operation") {
  namespace all_of = gradient_programs;
  std::array<int, static_cast<std::size_t>(all_of::op_count)> met{};
  int sampled = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    all_of::Program const p = all_of::generate(seed);
    CHECK(p.size >= 4);
    for (int k = 0; k < p.size; ++k)
      if (met[static_cast<std::size_t>(p.code[k].op)]++ == 0 && seed <= 30) ++sampled;
  }
  CHECK(sampled >= all_of::op_count - 6);  // of CI
  for (std::size_t op = 0; op < met.size(); ++op) {
    CAPTURE(op, met[op]);
    CHECK(met[op] >= 3);
  }
}
