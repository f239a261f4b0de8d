#pragma once
/// Long discrete Fourier transforms along a split dim, as objects.

#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/fft/types_four_step_plan.hpp>
#include <shardtype/fft/types_operations.hpp>

namespace shardtype {

namespace op {

/// Which lengths a long transform takes: any, or only those with factors for all ranks, which need
/// two exchanges.
enum class FftLength : std::int8_t { any, composite };

}  // namespace op

namespace detail {

/// The dims of the matrix of a transform whose operand and result are in the natural order.
struct FourStepRow : Index<"row"> {};
struct FourStepColumn : Index<"column"> {};

/// The labels that a long transform works on, and those of its result.
template <bool Forward, class... Ls>
struct FourStepLabels {
  static constexpr auto order = rules::FourStepOrder::unknown;
  using from = Bare<Ls...>;
  using to = Bare<>;
};
template <bool Forward, class I, class K>
struct FourStepLabels<Forward, I, K> {
  static constexpr auto order = rules::FourStepOrder::natural;
  using from = Bare<I, FourStepRow, FourStepColumn>;
  using to = Bare<K>;
};
template <class I, class K1, class K2>
struct FourStepLabels<true, I, K1, K2> {
  static constexpr auto order = rules::FourStepOrder::transposed_result;
  using from = Bare<I>;
  using to = Bare<K1, K2>;
};
template <class K1, class K2, class I>
struct FourStepLabels<false, K1, K2, I> {
  static constexpr auto order = rules::FourStepOrder::transposed_operand;
  using from = Bare<K1, K2>;
  using to = Bare<I>;
};

}  // namespace detail

namespace op {

/// The discrete Fourier transform along one dim, split or not, or its inverse. Labels: the dim, and
/// the one or two of the frequencies, which come first if it is inverse.
template <bool Forward, class... Ls>
struct FourStep {
  using operation = FourStep;
  using gradient = PullsByExtents;
  using labels = detail::FourStepLabels<Forward, Ls...>;
  using from = typename labels::from;
  using to = typename labels::to;
  static constexpr rules::FourStepOrder order = labels::order;
  static constexpr std::string_view name = Forward ? "fft_four_step" : "ifft_four_step";
  static constexpr bool forward = Forward;
  static constexpr bool communicates = true;
  static constexpr bool recorded = false;  ///< with its dim whole it would be fft
  static constexpr bool has_named_form = false;
  FftNorm norm = FftNorm::backward;
  FftLength length = FftLength::any;
  /// n1 of a result in the transposed order, of which n is a multiple; 0: the best, or the extent
  /// of its label.
  std::int64_t rows = 0;

  static constexpr Verdict rule(rules::Question const& q) { return rules::four_step(q, order); }
  template <class A>
  static constexpr Code elements() {
    return detail::is_complex<element_t<A>> ? Code::ok : Code::F01_element_type;
  }

  constexpr void extents(ResultExtents const& c) const {
    int const d = c.dim();
    std::int64_t const p = c.sizes.product(c.a().dims[d].axes);
    std::int64_t n = c.given[0][d];
    planning::FourStepLengths lengths;
    if constexpr (order == rules::FourStepOrder::transposed_operand) {
      std::int64_t const columns = c.given[0][c.a().find(c.from().dims[1].label)];
      lengths = {n, columns};
      n = c.product(n, columns);
    } else if constexpr (order == rules::FourStepOrder::transposed_result) {
      lengths = wanted_lengths(c, n, p);
      c.out[c.result.find(c.to().dims[0].label)] = lengths.rows;
      c.out[c.result.find(c.to().dims[1].label)] = lengths.columns;
    } else {
      lengths = planning::four_step_lengths(n, p);
    }
    if (length == FftLength::composite && planning::is_convolution(lengths, p))
      fail_composite(c, n, p);
    if constexpr (order != rules::FourStepOrder::transposed_result) {
      std::int64_t const own = c.names.label_extent[c.to().dims[0].label];
      if (own != dynamic && own != n)
        fail(c, "its transform has " + std::to_string(n) + " rows, and the index of the result " +
                    std::to_string(own));
      c.out[c.result.find(c.to().dims[0].label)] = n;
    }
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    // the operation's labels are numbered in its Scope; the result has the new ones in order
    planning::Sizing z = c.common;
    for (int d = 0; d < c.operands[0].rank; ++d)
      z.extents.at[c.operands[0].dims[d].label] = c.given[0].extents[c.operands[0].dims[d].label];
    for (int d = 0; d < c.result.rank; ++d)
      z.extents.at[c.result.dims[d].label] = c.made.extents[c.result.dims[d].label];
    append_long_transform(p, {order, c.operands[0], c.from, c.result, z}, length == FftLength::any);
  }
  /// The factor of this transform of `rows` rows.
  constexpr bool divides_by_rows() const {
    return norm == (Forward ? FftNorm::forward : FftNorm::backward);
  }

  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;

  template <class G>
  constexpr auto pull(G const& g) const;

 private:
  /// The lengths in the types of the frequencies' labels, or the best ones.
  constexpr planning::FourStepLengths wanted_lengths(ResultExtents const& c, std::int64_t n,
                                                     std::int64_t p) const {
    planning::FourStepLengths own{c.names.label_extent[c.to().dims[0].label],
                                  c.names.label_extent[c.to().dims[1].label]};
    if (own.rows == dynamic && rows > 0) own.rows = rows;
    if (own.rows == dynamic && own.columns == dynamic) return planning::four_step_lengths(n, p);
    if (own.rows == dynamic) own.rows = own.columns == 0 ? 0 : n / own.columns;
    if (own.columns == dynamic) own.columns = own.rows == 0 ? 0 : n / own.rows;
    if (mul_sat(own.rows, own.columns) != n)
      fail(c, "it has " + std::to_string(n) + " rows, and the indices of the frequencies give " +
                  std::to_string(own.rows) + " * " + std::to_string(own.columns));
    return own;
  }
  [[noreturn]] static void fail(ResultExtents const& c, std::string const& why) {
    ResultExtents::fail("index " + c.name() + ": " + why);
  }
  /// Error E41 with the nearest lengths that have factors for all ranks.
  [[noreturn]] static void fail_composite(ResultExtents const& c, std::int64_t n, std::int64_t p) {
    auto const text = [&](std::int64_t m) {
      planning::FourStepLengths const l = planning::four_step_lengths(m, p);
      return std::to_string(m) + " = " + std::to_string(l.rows) + " * " + std::to_string(l.columns);
    };
    auto const divides = [&](std::int64_t m) {
      return m > 1 && !planning::is_convolution(planning::four_step_lengths(m, p), p);
    };
    std::int64_t less = n - 1;
    while (less > 1 && !divides(less)) --less;
    std::int64_t more = n + 1;
    while (!divides(more)) ++more;
    planning::FourStepLengths const m = planning::convolution_lengths(n, p);
    fail(c, "its extent " + std::to_string(n) + " has no two factors with which " +
                std::to_string(p) + " ranks have work. The nearest extents that have: " +
                (less > 1 ? text(less) + ", " : std::string()) + text(more) +
                ". Or op::FftLength::any: Bluestein's algorithm, five exchanges instead of two or "
                "three, and transforms of " +
                std::to_string(m.rows) + " * " + std::to_string(m.columns) + " rows");
  }
};

template <class I, class... Ks>
using FftFourStep = FourStep<true, I, Ks...>;
template <class... Ls>
using IfftFourStep = FourStep<false, Ls...>;

}  // namespace op

}  // namespace shardtype
