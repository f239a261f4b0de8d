// Reductions on simulated ranks: each rank reduces its local elements; for a named result the ranks
// then combine their partial results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "harness/ranks.hpp"

namespace programs {

class RankReductions : public Ranks {
 protected:
  using Ranks::Ranks;

  Distributed reduction(Instruction const& in, Distributed const& a) {
    if (is_named_reduction(in.op)) return named_reduction(in, a);
    return finished(in, reduce(in, a, in.result, {}));
  }

 private:
  // The number of elements that are reduced to one.
  std::int64_t terms(Instruction const& in) const {
    std::int64_t n = 1;
    for (int k = 0; k < in.list.size; ++k) n *= z_.extents[in.list.at[k]];
    return n;
  }
  // The term that an element contributes to the reduction.
  std::int64_t load(Instruction const& in, std::int64_t x) const {
    switch (strict(in.op)) {
      case Op::mean:
        return x * terms(in);
      case Op::norm_1:
      case Op::norm_inf:
        return x < 0 ? -x : x;
      case Op::norm:
      case Op::reproducible_norm:
        return x * x;
      case Op::logsumexp:
        return raised(x, in.most);
      default:
        return x;
    }
  }
  static std::int64_t nothing(Op op) {
    using Limits = std::numeric_limits<std::int64_t>;
    return op == Op::max                              ? Limits::min()
           : op == Op::min                            ? Limits::max()
           : op == Op::prod || op == Op::all          ? 1
           : op == Op::place || op == Op::least_place ? -1
                                                      : 0;
  }
  static std::int64_t join(Op op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case Op::max:
      case Op::any:
      case Op::norm_inf:
        return std::max(a, b);
      case Op::min:
      case Op::all:
        return std::min(a, b);
      case Op::prod:
        return a * b;
      default:
        return a + b;
    }
  }
  // Reduces the local elements of each rank and of the ranks of `group`, which exchange theirs.
  Distributed reduce(Instruction const& in, Distributed const& a, Spec const& result,
                     core::AxisList const& group) {
    Op const op = strict(in.op);
    bool const places = op == Op::place || op == Op::least_place;
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
          if (places) {
            bool const better = value && (op == Op::place ? *x > *value : *x < *value);
            if (!value || better || (*x == *value && here < place)) place = here;
            if (!value || better) value = x;
          } else {
            value = value ? join(op, *value, load(in, *x)) : load(in, *x);
          }
        }
      }
      return places ? place : value.value_or(nothing(op));
    });
  }
  // The last step on each rank: means divide by the number of all elements, norms take the root.
  Distributed finished(Instruction const& in, Distributed v) {
    Op const op = strict(in.op);
    for (auto& rank : v.held)
      for (auto& x : rank) {
        if (x && op == Op::mean) *x /= terms(in);
        if (x && takes_root(op)) x = root(*x);
      }
    return v;
  }
  Distributed named_reduction(Instruction const& in, Distributed const& a) {
    Op const op = strict(in.op);
    bool const whole = reduction_kind(op) == rules::ReductionKind::whole;
    rules::Labels const kept = without(rules::labels_of(a.spec), in.list);
    // reductions without an unreduced kind carry their partial results as sums
    Spec met =
        rules::reduction(a.spec, kept, whole ? rules::ReductionKind::sum : reduction_kind(op))
            .result;
    core::AxisList group;
    if (op == Op::prod || op == Op::place || op == Op::least_place) {
      // products and index reductions combine the ranks at once
      met.unreduced = {};
      for (int k = 0; k < in.list.size; ++k)
        group = group.plus(a.spec.dims[a.spec.find(in.list.at[k])].axes);
    }
    return finished(in, communicate(reduce(in, a, met, group), in.result));
  }
};

}  // namespace programs
