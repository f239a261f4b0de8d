// The rule of cotangents for the registered operations that the random programs do not draw: as in
// cotangent_proofs.cpp, for all shardings over two axes, and for all states of two axes in manual
// mode. Each operation with a gradient is enumerated here or there, or is listed with the reason
// why it is not (tests/structure/registry.cpp).
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/fft/types_four_step_rules.hpp>
#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/cotangent_proof.hpp"
#include "harness/registered_gradients.hpp"

using namespace cotangent_proof;
using core::AxisState;
using rules::FourierKind;
using rules::FourStepOrder;
using rules::Linearity;
using rules::Movement;
using rules::ReductionKind;

namespace {

// A rule of one operand, of dims `from` and `to`.
template <class Rule>
Verdict asked(Rule rule, Spec const& a, std::vector<int> const& from,
              std::vector<int> const& to = {}) {
  rules::Question q;
  q.operands = &a;
  q.count = 1;
  for (int l = 0; l < 4; ++l) q.extents.at[l] = dynamic;
  for (int x = 0; x < axes; ++x) q.sizes.at[x] = dynamic;
  for (int const l : from) q.from.add(l);
  for (int const l : to) q.to.add(l);
  return rule(q);
}
// The next rule, if the one before accepts.
template <class Next>
Verdict then(Verdict const& v, Next next) {
  return v ? next(v.result) : v;
}

// An operation by its rule, and its pull: from the cotangent of the result, the operand and the
// result.
template <class Rule, class Pull>
Tally enumerated(std::string_view object, Rule rule, Pull pull) {
  Tally t;
  for (Spec const& a : all({i, k})) {
    Verdict const v = rule(a);
    if (!v || !rules::has_cotangent(v.result)) continue;
    ++t.legal;
    Verdict const got = pull(rules::cotangent(v.result), a, v.result);
    if (got.code == Code::X03_not_differentiable) {
      ++t.refused;
      continue;
    }
    finishes(t, got, a, [&] { return std::string(object) + " of " + text(a); });
  }
  return t;
}

Verdict conjugate(Spec const& a) {
  rules::Operands one;
  one.push(a);
  return rules::elementwise(one, Linearity::linear);
}
Verdict scaled(Spec const& ct, Spec const& by) {
  return programs::joined(Linearity::scaling, ct, by);
}

// Reductions of `how` over the second dim, whose pull multiplies by what each rank knows.
Tally reduction(std::string_view object, ReductionKind how) {
  Labels const kept = labels({i});
  return enumerated(
      object, [&](Spec const& a) { return rules::reduction(a, kept, how); },
      [](Spec const& ct, Spec const& a, Spec const& out) {
        return programs::reduction_back(ct, a, out);
      });
}

Tally running_extreme(std::string_view object, ReductionKind how) {
  auto const running = [how](rules::Question const& q) { return rules::running(q, how); };
  return enumerated(
      object, [&](Spec const& a) { return asked(running, a, {k}); },
      [](Spec const& ct, Spec const& a, Spec const&) {
        if (a.dims[1].axes.size > 0) return refuse(Code::X03_not_differentiable);
        return rules::accept(ct);  // shared column by column
      });
}

// Maxima or minima by ids that no axis splits: of split ones the result is pending, without a
// gradient. The cotangent of each update's row is multiplied by the update's part of it.
Tally extremes_by_ids(std::string_view object, core::ReduceKind kind) {
  Spec ids;
  ids.add(i);
  return enumerated(
      object, [&](Spec const& a) { return rules::scatter_add(a, ids, j, kind); },
      [&](Spec const& ct, Spec const& a, Spec const&) {
        return then(rules::take(ct, ids, j, core::ReduceKind::sum),
                    [&](Spec const& s) { return scaled(s, a); });
      });
}

Tally transform(std::string_view object, FourierKind kind, FourierKind back,
                std::vector<int> const& over) {
  std::vector<int> over_back = over;
  over_back.back() = j;
  auto const by = [](FourierKind how) {
    return [how](rules::Question const& q) { return rules::fourier(q, how); };
  };
  auto const weighed = [](Spec const& s, int label) { return asked(rules::masked, s, {label}); };
  return enumerated(
      object, [&](Spec const& a) { return asked(by(kind), a, over, {j}); },
      [&](Spec const& ct, Spec const&, Spec const&) {
        auto const transformed = [&](Spec const& s) {
          return asked(by(back), s, over_back, {over.back()});
        };
        if (kind == FourierKind::real_to_complex)
          return then(then(conjugate(ct), [&](Spec const& s) { return weighed(s, j); }),
                      transformed);
        if (kind == FourierKind::complex_to_real)
          return then(then(transformed(ct), conjugate),
                      [&](Spec const& s) { return weighed(s, over.back()); });
        return transformed(ct);
      });
}

// A long transform along the first dim, which the dims `to` replace.
Tally long_transform(std::string_view object, std::vector<int> const& to) {
  auto const by = [](FourStepOrder order) {
    return [order](rules::Question const& q) { return rules::four_step(q, order); };
  };
  bool const two = to.size() == 2;
  return enumerated(
      object,
      [&](Spec const& a) {
        return asked(by(two ? FourStepOrder::transposed_result : FourStepOrder::natural), a, {i},
                     to);
      },
      [&](Spec const& ct, Spec const&, Spec const&) {
        auto const transformed = [&](Spec const& s) {
          return asked(by(two ? FourStepOrder::transposed_operand : FourStepOrder::natural), s, to,
                       {i});
        };
        return then(then(conjugate(ct), transformed), conjugate);
      });
}

// The inverse from the transposed order, of both dims.
Tally long_inverse(std::string_view object) {
  auto const by = [](FourStepOrder order) {
    return [order](rules::Question const& q) { return rules::four_step(q, order); };
  };
  return enumerated(
      object,
      [&](Spec const& a) { return asked(by(FourStepOrder::transposed_operand), a, {i, k}, {j}); },
      [&](Spec const& ct, Spec const& a, Spec const&) {
        Verdict v = then(conjugate(ct), [&](Spec const& s) {
          return asked(by(FourStepOrder::transposed_result), s, {j}, {i, k});
        });
        v = then(v, conjugate);
        return then(v, [&](Spec const& s) { return rules::transpose(s, a); });
      });
}

// A collective or cast of blocks along the first axis, to each state; the second axis has any
// state.
Tally movement(std::string_view object, std::initializer_list<Movement> hows,
               std::initializer_list<AxisState> to) {
  Tally t;
  AxisState const states[] = {AxisState::replicated, AxisState::unreduced, AxisState::reduced,
                              AxisState::varying};
  auto const block = [](AxisState x, AxisState y) {
    Spec s;
    s.add(i);
    s.local = true;
    AxisState const each[] = {x, y};
    for (int axis = 0; axis < axes; ++axis) {
      if (each[axis] == AxisState::unreduced) s.unreduced.insert(axis);
      if (each[axis] == AxisState::reduced) s.reduced.insert(axis);
      if (each[axis] == AxisState::varying) s.varying.insert(axis);
    }
    return s;
  };
  for (Movement const how : hows)
    for (AxisState const x : states)
      for (AxisState const y : states)
        for (AxisState const end : to) {
          Spec const a = block(x, y);
          Verdict const v = rules::move(a, how, 0, end);
          if (!v) continue;
          ++t.legal;
          rules::StateChange const back = rules::transposed({how, x, end});
          Verdict const got = rules::move(rules::cotangent(v.result), back.how, 0, back.to);
          INFO(object << " of " << text(a) << ", cotangent " << text(got.result));
          CHECK(got);
          CHECK(got.result == rules::cotangent(a));
          if (got && got.result == rules::cotangent(a)) ++t.free;
        }
  return t;
}

struct Further {
  std::string_view object;
  Tally tally;
};
std::vector<Further> further() {
  std::vector<Further> out;
  auto const add = [&](std::string_view object, Tally const& t) { out.push_back({object, t}); };
  add("BroadcastFrom", movement("BroadcastFrom", {Movement::broadcast}, {AxisState::varying}));
  add("CumMax", running_extreme("CumMax", ReductionKind::max));
  add("CumMin", running_extreme("CumMin", ReductionKind::min));
  using enum FourierKind;
  add("Fft", transform("Fft", forward, forward, {k}));
  add("Fftn", transform("Fftn", forward, forward, {i, k}));
  add("Ifft", transform("Ifft", inverse, inverse, {k}));
  add("Ifftn", transform("Ifftn", inverse, inverse, {i, k}));
  add("Rfft", transform("Rfft", real_to_complex, complex_to_real, {k}));
  add("Irfft", transform("Irfft", complex_to_real, real_to_complex, {k}));
  add("FftFourStep", long_transform("FftFourStep", {j}));
  add("FftFourStep", long_transform("FftFourStep", {j, b}));
  add("IfftFourStep", long_transform("IfftFourStep", {j}));
  add("IfftFourStep", long_inverse("IfftFourStep"));
  add("LogSoftmax",
      enumerated(
          "LogSoftmax", [](Spec const& a) { return rules::normalization(a, labels({i})); },
          [](Spec const& ct, Spec const&, Spec const& y) {
            Verdict v = rules::reduction(ct, labels({i}), ReductionKind::sum);
            v = then(v, [&](Spec const& total) {
              return scaled(total, programs::joined(Linearity::none, y, Spec{}).result);
            });
            return then(
                v, [&](Spec const& s) { return programs::joined(Linearity::additive, ct, s); });
          }));
  add("Min", reduction("Min", ReductionKind::min));
  add("NormInf", reduction("NormInf", ReductionKind::max_of_sizes));
  add("PadValue", enumerated(
                      "PadValue",
                      [](Spec const& a) {
                        return asked([](rules::Question const& q) { return rules::pad(q, false); },
                                     a, {k}, {j});
                      },
                      [](Spec const& ct, Spec const&, Spec const&) {
                        return asked(rules::resized, ct, {j}, {k});
                      }));
  add("Permute", movement("Permute", {Movement::permute}, {AxisState::varying}));
  add("ReproducibleNorm", reduction("ReproducibleNorm", ReductionKind::whole));
  add("ReproducibleSum",
      enumerated(
          "ReproducibleSum",
          [](Spec const& a) { return rules::reduction(a, labels({i}), ReductionKind::whole); },
          [](Spec const& ct, Spec const& a, Spec const&) {
            return rules::spread(ct, rules::cotangent(a));
          }));
  add("Rotate", movement("Rotate", {Movement::permute}, {AxisState::varying}));
  add("ScatterMax", extremes_by_ids("ScatterMax", core::ReduceKind::max));
  add("ScatterMin", extremes_by_ids("ScatterMin", core::ReduceKind::min));
  add("Shard", movement("Shard", {Movement::shard}, {AxisState::varying}));
  add("StdDev", reduction("StdDev", ReductionKind::whole));
  add("ToUnreduced", movement("ToUnreduced", {Movement::cast}, {AxisState::unreduced}));
  add("ToVarying", movement("ToVarying", {Movement::cast}, {AxisState::varying}));
  return out;
}

}  // namespace

TEST_CASE("the operations that random programs do not draw") {
  for (auto const& [object, t] : further()) {
    CAPTURE(object, t.legal, t.free, t.sums, t.blocks);
    CHECK(t.legal > 0);
    CHECK(t.free > 0);
    // an operand alone never meets another that is split
    CHECK(t.sums == 0);
    CHECK(t.blocks == 0);
  }
}

TEST_CASE("the operations that are said to be enumerated here are") {
  namespace listed = registered_gradients;
  std::vector<std::string_view> here;
  for (auto const& each : further()) {
    CAPTURE(each.object);
    CHECK(listed::is_in(each.object, listed::enumerated_apart));
    here.push_back(each.object);
  }
  for (std::string_view const object : listed::enumerated_apart) {
    CAPTURE(object);
    CHECK(listed::is_in(object, here));
  }
}
