#pragma once
/// Gradients of the determinant of one matrix over many ranks, whose columns, or rows, are
/// block-cyclic over one axis.

#include <source_location>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/named.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/run_blocks.hpp>
#include <shardtype/linalg/run_cyclic_inverse.hpp>

namespace shardtype {

namespace op {

/// A number that was made of the factors of a matrix, as one of the matrix, of which nothing is
/// read: operands number, matrix, factors, pivots.
template <class I, class J, linalg::detail::Product what>
struct NumberOfOne {
  using operation = NumberOfOne;
  using from = shardtype::detail::Bare<I, J>;
  static constexpr std::string_view name = "det";
  static constexpr bool recorded = false;
  static constexpr bool has_named_form = false;
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class N, class A, class F, class P>
  static constexpr Code elements() {
    return Code::ok;
  }
  template <class N, class A, class F, class P>
  using element = checking::element_t<N>;
  template <class Out, class N, class A, class F, class P>
  void fill(Out& out, N const& number, A const&, F const&, P const&) const {
    *linalg::detail::written(out) = *execute::data_of(number);
  }
};

}  // namespace op

namespace autodiff {

/// The gradient as that of DetFactored: the transposed inverse, typed as the matrix, from both
/// factors, which are sent to all ranks once more.
template <class I, class J, linalg::detail::Product what>
struct Vjp<op::NumberOfOne<I, J, what>> {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  static constexpr bool first_order = true;
  using Op = op::NumberOfOne<I, J, what>;
  template <class V, class N, class A, class F, class P>
  static constexpr auto save(Op const&, V const& out, N const&, A const&, F const& factors,
                             P const& pivots) {
    return autodiff::keep(factors, pivots, out);
  }
  template <int K, class V, class N, class A, class F, class P, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    static_assert(K == 1, "the factors of lu_factor carry no gradient");
    auto const where = std::source_location::current();
    auto const& factors = autodiff::kept<0>(saved);
    if constexpr (what == linalg::detail::Product::whole) {
      auto const y = api::call(op::CyclicCofactors<I, J>{}, where, factors,
                               autodiff::kept<1>(saved), autodiff::kept<2>(saved));
      return autodiff::in_order((y * ct).tensor(), labels_of_t<tensor_of<A>>{});
    } else {
      auto const y =
          api::call(op::CyclicInverse<I, J, true>{}, where, factors, autodiff::kept<1>(saved));
      auto const scale = linalg::detail::scale_of_inverse<what, checking::element_t<tensor_of<A>>>(
          ct, autodiff::kept<2>(saved));
      return autodiff::in_order((y * scale).tensor(), labels_of_t<tensor_of<A>>{});
    }
  }
};

}  // namespace autodiff

namespace linalg::detail {

/// A number of the factors of one matrix `a`, with the gradient of it if that is sought.
template <class I, class J, Product what, class A, class N, class F>
constexpr auto number_of_one(A const& a, N const& number, F const& lu, checking::CallSite where) {
  constexpr bool constant = what == Product::sign && !of_complex<A>;
  if constexpr (core::is_active<A> && !constant) {
    return shardtype::call(op::NumberOfOne<I, J, what>{}, where, number, a, lu.factors, lu.pivots);
  } else {
    return number;
  }
}

}  // namespace linalg::detail
}  // namespace shardtype
