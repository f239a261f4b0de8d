// The rule of cotangents, for all shardings of the operands over two axes (split in both orders of
// a list, block-cyclic, replicated, unreduced, reduced): wherever an operation is legal, its
// transpose is legal by the operation's own rules, and its result becomes the cotangent of the
// operand by casts, slices and zeros around a block; or is refused, X01 only where a sum meets a
// replicated operand, X02 only where blocks do.
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
      finishes(t, back(a, b2), a, what);
      finishes(t, back(b2, a), b2, what);
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
        finishes(t, got, own, what);
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
      finishes(t, rules::spread(rules::cotangent(v.result), rules::cotangent(a)), a,
               [] { return std::string("sum"); });
    }
    CHECK(t.free > 0);
    CHECK(t.sums == 0);
    CHECK(t.blocks == 0);
  }
}

namespace {

namespace drawn = gradient_programs;
using programs::Instruction;

// Calls `judge` with the instructions of a case that differ in what they name. `specs` has all
// shardings of dims with given labels.
template <class Specs, class Judge>
void each_instruction(int number, Specs const& specs, Judge const& judge) {
  programs::WithGradient const& c = drawn::all_cases[number];
  auto const reads = [&](unsigned what) { return (c.reads & what) != 0; };
  Instruction in;
  in.with_gradient = number;
  auto const each_result = [&](std::vector<int> const& of) {
    if (!reads(programs::reads_result)) return judge(in);
    for (Spec const& s : specs(of)) {
      in.result = s;
      judge(in);
    }
  };
  auto const each_list = [&] {
    if (reads(programs::reads_over)) {
      for (std::vector<int> const& kept : {std::vector<int>{}, {i}, {k}}) {
        in.list = programs::without(labels({i, k}), labels(kept));
        each_result(kept);
      }
    } else if (reads(programs::reads_kept)) {
      for (std::vector<int> const& out : {std::vector<int>{i, j}, {i, k}, {i}, {j}, {k, j}, {k}}) {
        in.list = labels(out);
        each_result(out);
      }
    } else if (c.looks_up) {
      for (std::vector<int> const& of : {std::vector<int>{}, {i}, {k}, {j}, {i, k}})
        for (Spec const& s : specs(of))
          if (s.unreduced.empty() && s.reduced.empty() && s.varying.empty()) {
            in.ids = s;
            judge(in);
          }
    } else {
      in.list = labels({k, i});
      each_result({i, k});
    }
  };
  for (in.from = 0; in.from < (reads(programs::reads_from) ? 3 : 1); ++in.from)
    for (in.to = 0; in.to < (reads(programs::reads_to) ? 3 : 1); ++in.to)
      for (in.axis = 0; in.axis < (reads(programs::reads_axis) ? axes : 1); ++in.axis) each_list();
}

// Each pair of operands.
template <class Specs, class Judge>
void each_operands(int number, Specs const& specs, std::vector<std::vector<int>> const& of_b,
                   Judge const& judge) {
  bool const two = drawn::all_cases[number].operands == 2;
  for (Spec const& a : specs({i, k}))
    if (two) {
      for (std::vector<int> const& labels_of_b : of_b)
        for (Spec const& b2 : specs(labels_of_b)) judge(a, b2);
    } else {
      judge(a, a);
    }
}

std::vector<Spec> shardings(std::vector<int> const& of) { return cotangent_proof::all(of); }

std::string said(int number, Spec const& a, Spec const& b, Spec const& result) {
  return "case " + std::to_string(number) + " of " +
         std::string(drawn::all_cases[number].gradients_of[0]) + ", " + text(a) + ", " + text(b) +
         " -> " + text(result);
}

}  // namespace

TEST_CASE("every operation of the random programs") {
  for (int number = 0; number < drawn::case_count; ++number) {
    programs::WithGradient const& c = drawn::all_cases[number];
    Tally t;
    each_operands(
        number, shardings, {{i, k}, {k}, {i}, {}, {k, j}}, [&](Spec const& a, Spec const& b2) {
          each_instruction(number, shardings, [&](Instruction in) {
            Verdict const v = drawn::rule(in, a, b2);
            if (!v) return;
            in.result = v.result;
            if (!rules::has_cotangent(in.result)) return;
            ++t.legal;
            for (int p = 0; p < c.operands; ++p) {
              if (p == c.condition) continue;
              Verdict const back = drawn::pulled(in, p, a, b2);
              Spec const& own = p == 0 ? a : b2;
              auto const what = [&] { return said(number, a, b2, in.result); };
              if (c.moves) {
                INFO(what());
                CHECK(rules::finish(back.result, rules::cotangent(own), true).verdict);
              } else if (back.code == Code::T09_not_a_tensor || back.code == c.refused_back) {
                ++t.refused;  // X03: operands that do not fit, of an unreduced result
              } else {
                finishes(t, back, own, what);
              }
            }
          });
        });
    CAPTURE(number, c.gradients_of[0], t.legal, t.free, t.sums, t.blocks);
    CHECK(t.legal > 0);
    CHECK(t.free + (c.moves ? t.legal : 0) > 0);
  }
}

TEST_CASE("every operation of the random programs on blocks, which may vary") {
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
      rules::ParsedType const reading{s};
      v = rules::in_manual_mode(v, &reading, 1);
    }
    return v;
  };
  for (int number = 0; number < drawn::case_count; ++number) {
    programs::WithGradient const& c = drawn::all_cases[number];
    // results with names are of tensors; the moves of blocks have a table (rules/manual.hpp)
    if (c.moves || (c.reads & programs::reads_result) != 0) continue;
    Tally t;
    each_operands(number, blocks, {{i, k}, {k}, {k, j}}, [&](Spec const& a, Spec const& b2) {
      each_instruction(number, blocks, [&](Instruction in) {
        in.ids.local = false;
        std::vector<Spec> read{a};
        if (c.operands == 2) read.push_back(b2);
        Verdict const v = varying_too(drawn::rule(in, a, b2), read);
        if (!v) return;
        in.result = v.result;
        bool sound = rules::has_cotangent(in.result);
        for (int x = 0; x < axes; ++x)  // the rules keep what is unreduced from what varies
          sound = sound && !(in.result.unreduced.contains(x) && in.result.varying.contains(x));
        if (!sound) return;
        ++t.legal;
        for (int p = 0; p < c.operands; ++p) {
          if (p == c.condition) continue;
          read.push_back(rules::cotangent(in.result));
          finishes(t, varying_too(drawn::pulled(in, p, a, b2), read), p == 0 ? a : b2,
                   [&] { return said(number, a, b2, in.result); });
          read.pop_back();
        }
      });
    });
    CAPTURE(number, c.gradients_of[0], t.legal, t.free, t.sums);
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
      Finish const how = rules::finish(rules::cotangent(to), rules::cotangent(a), true);
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
  std::array<int, static_cast<std::size_t>(drawn::case_count)> met{};
  int sampled = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    drawn::Program const p = drawn::generate(seed);
    CHECK(p.size >= 4);
    for (int k = 0; k < p.size; ++k)
      if (met[static_cast<std::size_t>(p.code[k].with_gradient)]++ == 0 && seed <= 30) ++sampled;
  }
  CHECK(sampled >= drawn::case_count - 6);  // of CI
  for (std::size_t number = 0; number < met.size(); ++number) {
    CAPTURE(number, met[number]);
    CHECK(met[number] >= 3);
  }
}

TEST_CASE("the compiler draws the programs with gradients that are drawn when it runs") {
  static constexpr std::array<drawn::Program, 4> in_compiler{
      drawn::generate(1), drawn::generate(2), drawn::generate(3), drawn::generate(4)};
  for (std::uint64_t seed = 1; seed <= in_compiler.size(); ++seed) {
    drawn::Program const& there = in_compiler[seed - 1];
    drawn::Program const here = drawn::generate(seed);
    CAPTURE(seed);
    REQUIRE(there.size == here.size);
    for (int v = 0; v < drawn::inputs + here.size; ++v) CHECK(there.spec(v) == here.spec(v));
    for (int k = 0; k < here.size; ++k)
      CHECK(there.code[k].with_gradient == here.code[k].with_gradient);
  }
}
