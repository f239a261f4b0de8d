// The rule of cotangents, for all shardings of the operands over two axes (split in both orders of a
// list, block-cyclic, replicated, unreduced, reduced): wherever an operation is legal, its transpose is
// legal by the operation's own rules, and its result becomes the cotangent of the operand by casts,
// slices and zeros around a block; or is refused, X01 only where a sum meets a replicated operand, X02
// only where blocks do.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/core/text.hpp>
#include <shardtype/types.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using rules::Code;
using rules::Labels;
using rules::Operands;
using rules::Settling;
using rules::Verdict;

namespace {

constexpr int axes = 2;
enum Label { i, k, j, b };

// All shardings of dims with these labels. Of each axis: on a dim, replicated, unreduced or reduced;
// two axes on one dim in both orders; one axis on a dim also block-cyclically.
std::vector<Spec> all(std::vector<int> const& labels) {
  std::vector<Spec> out;
  int const dims = static_cast<int>(labels.size());
  int const states = dims + 3;
  for (int x = 0; x < states; ++x)
    for (int y = 0; y < states; ++y)
      for (int form = 0; form < 4; ++form) {
        bool const both = x == y && x < dims;
        bool const reversed = form == 1;
        int const cyclic = form == 2 ? x : form == 3 ? y : -1;
        if (reversed && !both) continue;
        if (cyclic >= 0 && (both || cyclic >= dims)) continue;
        if (form >= 2 && cyclic < 0) continue;
        Spec s;
        for (int const l : labels) s.add(l);
        int const state[] = {x, y};
        for (int n = 0; n < axes; ++n) {
          int const axis = reversed ? 1 - n : n;
          int const on = state[axis];
          if (on < dims) s.dims[on].axes.push(axis);
          if (on == dims + 1) s.unreduced.insert(axis);
          if (on == dims + 2) s.reduced.insert(axis);
        }
        if (cyclic >= 0) s.dims[cyclic].axes.cyclic = 2;
        out.push_back(s);
      }
  return out;
}

Labels labels(std::vector<int> const& of) {
  Labels out;
  for (int const l : of) out.push(l);
  return out;
}

std::string text(Spec const& s) {
  core::Names names;
  static char const* const label[] = {"I", "K", "J", "B"};
  static char const id[8]{};
  for (int l = 0; l < 4; ++l) names.add(core::LabelPart{&id[l], label[l]});
  names.add(core::AxisPart{&id[4], "X"});
  names.add(core::AxisPart{&id[5], "Y"});
  return core::spec_text(s, names);
}

// Whether a reshard sends nothing.
bool is_free(Spec const& from, Spec const& to) {
  if (!rules::reshard(from, to)) return false;
  for (int x = 0; x < axes; ++x) {
    bool const unreduced = from.unreduced.contains(x);
    if (unreduced != to.unreduced.contains(x)) return false;
    if (from.dim_of(x) >= 0 && to.dim_of(x) < 0) return false;
  }
  for (int d = 0; d < to.rank; ++d)
    if (!to.dims[d].axes.starts_with(rules::axes_on(from, to.dims[d].label))) return false;
  return true;
}

struct Tally {
  int legal = 0, free = 0, sums = 0, blocks = 0;
};

// `got`, the transposed operation's verdict, against the cotangent of `primal`.
void settles(Tally& t, Verdict const& got, Spec const& primal, std::string const& what) {
  INFO(what << ", cotangent of " << text(primal));
  REQUIRE(bool(got));
  Spec const want = rules::cotangent(primal);
  INFO("comes out as " << text(got.result));
  Settling const how = rules::settle(got.result, want, false);
  if (how.verdict) {
    ++t.free;
    Spec at = got.result;
    if (how.partial.size > 0) {
      CHECK(is_free(at, how.met));
      Verdict const zeros = rules::to_partial(how.met, how.partial);
      REQUIRE(bool(zeros));
      at = zeros.result;
    }
    CHECK(is_free(at, want));
  } else {
    int const x = how.verdict.axis;
    REQUIRE(x >= 0);
    CHECK(primal.state(x) == AxisState::replicated);
    if (how.verdict.code == Code::X01_gradient_unreduced) {
      ++t.sums;
      CHECK(got.result.unreduced.contains(x));
    } else {
      ++t.blocks;
      CHECK(how.verdict.code == Code::X02_gradient_in_blocks);
      CHECK(got.result.dim_of(x) >= 0);
    }
  }
}

Tally product(std::vector<int> const& of_a, std::vector<int> const& of_b,
              std::vector<int> const& of_c) {
  Tally t;
  for (Spec const& a : all(of_a))
    for (Spec const& b2 : all(of_b)) {
      Verdict const v = rules::contraction(a, b2, labels(of_c));
      if (!v) continue;
      ++t.legal;
      std::string const what = text(a) + " * " + text(b2) + " -> " + text(v.result);
      auto back = [&](Spec const& own, Spec const& other) {
        Labels out;
        for (int d = 0; d < own.rank; ++d)
          if (int const l = own.dims[d].label; v.result.find(l) >= 0 || other.find(l) >= 0)
            out.push(l);
        Verdict made = rules::contraction(rules::cotangent(v.result), other, out);
        if (made && out.size < own.rank) made = rules::spread(made.result, rules::cotangent(own));
        return made;
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
      std::string const what = text(a) + (scales ? " * " : " + ") + text(b2);
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
      settles(t, rules::spread(rules::cotangent(v.result), rules::cotangent(a)), a, "sum");
    }
    CHECK(t.free > 0);
    CHECK(t.sums == 0);
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
