// Products.
#pragma once

#include <string_view>

#include <shardtype/plan/contraction_plan.hpp>

#include "harness/gradient_case.hpp"

namespace programs::cases {

struct Product : Case {
  static constexpr Taken takes = two(numbers, as_first);
  static constexpr unsigned reads = reads_kept;
  static constexpr Known known(KnownOperands const& of) {
    return {times(times(of.a.most, of.b.most), power(most_extent, labels - of.in.list.size))};
  }
  static constexpr double bound(Instruction const&, double a, double b) {
    return a * b * most_extent * most_extent;
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    return rules::product_cotangent(p.ct, p.other(), p.own());
  }
  // With the verdict of a rule, the labels that are summed over.
  static constexpr rules::Verdict summed(Rules const& r, Instruction& in, rules::Verdict const& v) {
    in.summed = without(together(r.mine, r.b), in.list);
    return v;
  }
  static Int element(Cell const& c) {
    Int sum = 0;
    c.over(c.in.summed, [&](Cell const& term) { sum += term.a() * term.b(); });
    return sum;
  }
  static constexpr Plan plan(Spec const& a, Spec const& b, Spec const& to,
                             planning::Sizing const& z) {
    return planning::strict_contraction_plan(a, b, to, z);
  }
  static int dense(Dense const& d) { return d.r.product(d.a, d.b, d.result()); }
};
struct Contract : Product {
  static constexpr std::string_view gradients_of[] = {"Einsum"};
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return summed(r, in, rules::contraction(r.a, r.b, in.list));
  }
  static auto perform(auto on) {
    return on.listed([&]<class... Ls>() { return einsum<Ls...>(on.a, on.b); });
  }
};
struct MatrixProduct : Product {
  static constexpr std::string_view gradients_of[] = {"Matmul"};
  static constexpr unsigned reads = 0;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    in.list = {};
    if (rules::Verdict const v = rules::matmul_labels(r.a, r.b, in.list); !v) return v;
    return summed(r, in, rules::contraction(r.a, r.b, in.list));
  }
  static auto perform(auto on) { return matmul(on.a, on.b); }
};
struct NamedProduct : Product {
  static constexpr Plan plan(Spec const& a, Spec const& b, Spec const& to,
                             planning::Sizing const& z) {
    return planning::contraction_plan(a, b, to, z);
  }
};
struct NamedContract : NamedProduct {
  static constexpr std::string_view gradients_of[] = {"Einsum"};
  static constexpr unsigned reads = reads_kept | reads_result;
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    return summed(r, in, rules::named_contraction(r.a, r.b, in.result, true));
  }
  static constexpr rules::Verdict pulled(Pull const& p) {
    Spec const& own = p.own();
    rules::Verdict const met = rules::contraction(p.a, p.b, rules::labels_of(p.in.result));
    if (met) return Product::pulled(p.of(met.result));
    rules::Verdict const v = rules::named_product_cotangent(own, p.other(), p.in.result);
    if (!v) return v;
    Spec const to = rules::named_product_to(own, p.ct, p.other());
    rules::Verdict const product = rules::named_contraction(p.ct, p.other(), to, true);
    if (!product || to.rank >= own.rank) return product;
    return rules::spread(rules::in_any(rules::cotangent(own), p.ct, p.other()),
                         rules::cotangent(own));
  }
  static auto perform(auto on) { return einsum<typename decltype(on)::Out>(on.a, on.b); }
};
struct NamedMatrixProduct : NamedProduct {
  static constexpr unsigned reads = reads_result;
  static constexpr rules::Labels of_result(Rules const& r, Instruction const&) {
    rules::Labels out;
    return rules::matmul_labels(r.a, r.b, out) ? out : rules::Labels{};
  }
  static constexpr rules::Verdict rule(Rules& r, Instruction& in) {
    if (rules::Verdict const v = rules::matmul_labels(r.a, r.b, in.list); !v) return v;
    return summed(r, in, rules::named_contraction(r.a, r.b, in.result, false));
  }
  static auto perform(auto on) { return matmul<typename decltype(on)::Out>(on.a, on.b); }
};

using Products = CaseList<Contract, MatrixProduct, NamedContract, NamedMatrixProduct>;

}  // namespace programs::cases
