#pragma once
/// Cross entropy of logits and classes by number, as operations.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/ops/indexing.hpp>

namespace shardtype {

namespace rules {

/// The rows of `logits`, without the classes `V`, if those of `targets` are split alike.
constexpr Verdict class_rows(Spec const& logits, Spec const& targets, int v) {
  Spec rows = logits;
  rows.rank = 0;
  for (int d = 0; d < logits.rank; ++d)
    if (logits.dims[d].label != v) rows.add(logits.dims[d].label, logits.dims[d].axes);
  for (int d = 0; d < rows.rank || d < targets.rank; ++d)
    if (d >= rows.rank || d >= targets.rank || !(rows.dims[d] == targets.dims[d]))
      return refuse(Code::D12_dims_differ,
                    d < rows.rank ? rows.dims[d].label : targets.dims[d].label);
  for (int x = 0; x < max_axes; ++x)
    if (logits.unreduced.contains(x) || targets.unreduced.contains(x))
      return refuse(Code::P04_not_linear, -1, -1, x);
  for (int x = 0; x < max_axes; ++x)
    if (targets.reduced.contains(x) && logits.dim_of(x) < 0) rows.reduced.insert(x);
  return accept(rows);
}

}  // namespace rules

namespace nn::kernels {
/// Joins what ranks know about a row (kernels_cross_entropy.hpp).
template <class T>
struct ClassReducer;
}  // namespace nn::kernels

namespace nn {

/// Options of cross_entropy: the target whose row has no loss, and how much of the target
/// distribution is spread evenly over all classes, from 0 to 1 (label smoothing).
struct CrossEntropy {
  std::int64_t ignored = -1;
  double smoothing = 0;
};

/// The numbers of a rank about a row: the largest logit, the sum of exponentials relative to it,
/// the target's logit if the rank holds it, the sum of its logits, and how many it holds.
enum class RowNumber : std::uint8_t { largest, exponentials, picked, logits, classes };
inline constexpr int row_numbers = 5;

/// What ranks join about a row in automatic mode: the largest logit, the sum of exponentials
/// relative to it, and what the loss takes from the logarithm of that sum: the target's logit, or
/// with smoothing its mean with all others.
template <class C>
struct ClassTotal {
  C largest, exponentials, towards;
};
/// The totals, as a reduction.
struct ClassTotals {
  static constexpr rules::ReductionKind kind = rules::ReductionKind::whole;
  template <class T>
  static constexpr std::int64_t total_bytes = 3 * sizeof(shardtype::detail::computed_t<T>);
  template <class T>
  using reducer = kernels::ClassReducer<T>;
};

namespace detail {

struct RankDim : Index<"part"> {};
struct NumberDim : Index<"number", row_numbers> {};

constexpr void check_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    shardtype::checking::ResultExtents::fail("the smoothing of cross_entropy is from 0 to 1",
                                             "E30");
}

/// Requirements on logits and targets.
template <class A, class Ids>
constexpr rules::Code class_operands() {
  using T = checking::element_t<A>;
  if (!shardtype::detail::is_real_floating<T>) return rules::Code::P12_not_floating;
  if (!shardtype::detail::is_id<checking::element_t<Ids>>) return rules::Code::I01_not_integers;
  return shardtype::detail::same_memory<A, Ids> ? rules::Code::ok
                                                : rules::Code::C10_element_types_differ;
}

}  // namespace detail
}  // namespace nn

namespace op {

/// The numbers of ranks about each row of logits, of logits and targets. `Split`: of split classes
/// too.
template <class V, bool Split>
struct CrossEntropyNumbers {
  using operation = CrossEntropyNumbers;
  using from = shardtype::detail::Bare<V>;
  using to = Mentions<Dim<nn::detail::RankDim>, Dim<nn::detail::NumberDim>>;
  static constexpr std::string_view name = "cross_entropy";
  static constexpr bool makes_by_operands = true;
  double smoothing = 0;
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    AxisList const axes = q.a().dims[q.a().find(q.along())].axes;
    if (!Split && axes.size > 0) return rules::refuse(Code::S03_split, q.along(), -1, axes[0]);
    Verdict v = rules::class_rows(q.a(), q.operands[1], q.along());
    if (!v) return v;
    v.result.add(q.to.dims[0].label, axes);
    v.result.add(q.to.dims[1].label);
    return v;
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  template <class A, class Ids>
  using element = shardtype::detail::computed_t<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::check_smoothing(smoothing);
    shardtype::detail::check_shared_extents(c, "targets");
    int const d = c.result.rank - 2;
    c.out[d] = c.sizes.product(c.result.dims[d].axes);
    c.out[d + 1] = nn::row_numbers;
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(4, c.elements(0)), 0, false};
  }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& logits, Ids const& targets) const;
};

/// The loss of each row and the logarithm of its sum of exponentials, of the numbers of all ranks
/// and the targets.
struct CrossEntropyJoin {
  using operation = CrossEntropyJoin;
  using from = Mentions<Dim<nn::detail::RankDim>, Dim<nn::detail::NumberDim>>;
  static constexpr std::string_view name = "cross_entropy_join";
  static constexpr bool makes_by_operands = true;
  nn::CrossEntropy options{};
  static constexpr Verdicts<2> rule(rules::Question const& q) {
    Verdict v = rules::unsplit(q, Code::D03_along_split);
    Spec numbers = q.a();
    numbers.rank = static_cast<std::int8_t>(numbers.rank - 1);
    if (v) v = rules::class_rows(numbers, q.operands[1], q.along());
    return {v, v};
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  template <class A, class Ids>
  using element = Elements<element_t<A>, element_t<A>>;
  template <class Out, class A, class Ids>
  void fill(Out& losses, Out& sums, A const& numbers, Ids const& targets) const;
};

/// The losses of rows of which automatic mode may split the classes, of logits and targets.
template <class V>
struct CrossEntropyLosses {
  using operation = CrossEntropyLosses;
  using from = shardtype::detail::Bare<V>;
  static constexpr std::string_view name = "cross_entropy";
  using gradient = checking::PullsBySaved;  ///< in automatic mode, on rows whose classes are whole
  using row_totals = nn::ClassTotals;
  static constexpr bool rereads_rows = true;
  static constexpr int totals_of = 2;
  static constexpr bool makes_by_operands = true;
  nn::CrossEntropy options{};
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    AxisList const axes = q.a().dims[q.a().find(q.along())].axes;
    if (axes.size > 0) return rules::refuse(Code::S03_split, q.along(), -1, axes[0]);
    return rules::class_rows(q.a(), q.operands[1], q.along());
  }
  template <class A, class Ids>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  template <class A, class Ids>
  using element = shardtype::detail::computed_t<element_t<A>>;
  constexpr void extents(ResultExtents const& c) const {
    nn::detail::check_smoothing(options.smoothing);
    shardtype::detail::check_shared_extents(c, "targets");
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(4, c.elements(0)), 0, false};
  }
  template <class Out, class A, class Ids>
  void fill(Out& out, A const& logits, Ids const& targets) const;
  /// The block of totals of a rank's classes, at these places.
  template <class T, class Space, class Places, class A, class Ids>
  auto totals(execute::JoinedRows<T, Space> const& rows, Places const& at, A const& logits,
              Ids const& targets) const;
  template <class T, class Space, class A, class Ids>
  auto joined(execute::JoinedRows<T, Space> const& rows, A const& logits, Ids const& targets) const;
  template <class A, class Ids>
  constexpr auto forward(std::source_location const& where, A const& logits,
                         Ids const& targets) const;
  template <class G>
  constexpr auto pull(G const& g) const;
};

/// The cotangent of the logits, of logits, targets, the logarithms of the sums, and the cotangent
/// of the losses, of which it is linear.
template <class V>
struct CrossEntropyBack {
  using operation = CrossEntropyBack;
  using from = shardtype::detail::Bare<V>;
  static constexpr std::string_view name = "cross_entropy_back";
  nn::CrossEntropy options{};
  static constexpr Verdict rule(rules::Question const& q) {
    if (Verdict v = rules::has_all(q.a(), q.from); !v) return v;
    if (Verdict v = rules::in_blocks(q.a(), q.from); !v) return v;
    Spec ct = q.operands[3];
    AxisSet const pending = ct.unreduced;
    ct.unreduced = {};
    for (int k : {1, 2, 3})
      if (Verdict v = rules::class_rows(q.a(), k == 3 ? ct : q.operands[k], q.along()); !v)
        return v;
    Spec out = q.a();
    for (int x = 0; x < max_axes; ++x) {
      if (!pending.contains(x)) continue;
      if (out.dim_of(x) >= 0) return rules::refuse(Code::P06_unreduced_and_split, -1, -1, x);
      out.unreduced.insert(x);
      out.reduced.erase(x);
    }
    return rules::accept(out);
  }
  template <class A, class Ids, class B, class C>
  static constexpr Code elements() {
    return nn::detail::class_operands<A, Ids>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {mul_sat(3, c.elements(0)), 0, false};
  }
  template <class Out, class A, class Ids, class L, class C>
  void fill(Out& out, A const& logits, Ids const& targets, L const& sums, C const& ct) const;
};

}  // namespace op

}  // namespace shardtype
