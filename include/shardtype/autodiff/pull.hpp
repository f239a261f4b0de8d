#pragma once
/// The cotangents of the operands of one operation, by a call.

#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/record.hpp>

namespace shardtype::autodiff {

/// The number of results of an operation beside the first one, which its gradient reads.
template <class Op>
constexpr int further_results() {
  if constexpr (FirstResultGradient<Op>::exists) {
    return []<auto n>(Verdicts<n>) {
      return static_cast<int>(n) - 1;
    }(decltype(Op::rule(std::declval<rules::Question const&>())){});
  } else {
    return 0;
  }
}

/// A cotangent as a tensor.
template <class G>
constexpr auto cotangent_tensor(G const& g) {
  if constexpr (requires { g.tensor(); }) {
    return std::remove_cvref_t<decltype(g.tensor())>(g.tensor());
  } else {
    return g;
  }
}

template <int K, int... Ks, class Op, class Ct, class V, int... Q, int... R, class All>
constexpr auto pull_of(Op const& op, Ct const& ct, V const& value, std::integer_sequence<int, Q...>,
                       std::integer_sequence<int, R...>, All const& all) {
  using First = FirstResultGradient<Op>;
  using Single = typename First::single;
  constexpr int count = static_cast<int>(sizeof...(Q));
  auto const saved = [&] {
    if constexpr (First::exists) {
      return autodiff::keep(autodiff::kept<Q>(all)..., value, autodiff::kept<count + R>(all)...);
    } else if constexpr (RunsForward<Op,
                                     std::remove_cvref_t<decltype(autodiff::kept<Q>(all))>...>) {
      return Vjp<Op>::forward(op, std::source_location::current(), autodiff::kept<Q>(all)...).saved;
    } else {
      return Vjp<Op>::template save<V, std::remove_cvref_t<decltype(autodiff::kept<Q>(all))>...>(
          op, value, autodiff::kept<Q>(all)...);
    }
  }();
  auto const begin =
      autodiff::prepared<Single, V, std::remove_cvref_t<decltype(autodiff::kept<Q>(all))>...>(
          First::of(op), saved, ct, K == 0 || ((Ks == 0) || ...));
  auto const one = [&]<int J>(std::integral_constant<int, J>) {
    return autodiff::cotangent_tensor(
        Vjp<Single>::template pull<J, V, std::remove_cvref_t<decltype(autodiff::kept<Q>(all))>...>(
            First::of(op), saved, begin));
  };
  if constexpr (sizeof...(Ks) == 0) {
    return one(std::integral_constant<int, K>{});
  } else {
    return std::tuple(one(std::integral_constant<int, K>{}),
                      one(std::integral_constant<int, Ks>{})...);
  }
}

/// The cotangents of the operands number `Ks` of the operation `op`, of that of its result `value`
/// and of the operands: `pull<0>(op::Softmax<J>{}, ct, y, a)`; of several a std::tuple. Behind the
/// operands stand further results of an operation whose gradient reads them. Of operands that the
/// gradient does not read only the types and extents matter. As the backward pass of strict mode,
/// also in what it communicates.
template <int... Ks, class Op, class Ct, class V, class... As>
constexpr auto pull(Op const& op, Ct const& ct, V const& value, As const&... as) {
  constexpr int all = static_cast<int>(sizeof...(As));
  constexpr int count = all - autodiff::further_results<Op>();
  return autodiff::pull_of<Ks...>(op, ct, value, std::make_integer_sequence<int, count>{},
                                  std::make_integer_sequence<int, all - count>{},
                                  autodiff::keep(as...));
}

}  // namespace shardtype::autodiff
