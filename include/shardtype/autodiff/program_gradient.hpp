#pragma once
/// The derivatives of the parts of an expression of automatic mode: what the cotangents of their
/// operands read, and their kernels.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/counted.hpp>
#include <shardtype/autodiff/map_gradient.hpp>
#include <shardtype/autodiff/operation_gradient.hpp>
#include <shardtype/autodiff/reductions.hpp>
#include <shardtype/lazy/operation_properties.hpp>
#include <shardtype/lazy/part_finder.hpp>

namespace shardtype::autodiff {

/// The derivatives of a part `E` of an expression; of an operand, none.
template <class E>
struct PartDerivative {
  static constexpr planning::PartGradient rules{};
  static constexpr void set(execute::BackwardKernels&) {}
};
/// Not recorded: results of operations that have several, operations that communicate by
/// themselves, and shard_map.
template <class Whole>
struct NotRecorded {
  static constexpr planning::PartGradient rules = [] {
    planning::PartGradient out;
    out.refused = shardtype::detail::is_floating<element_t<Whole>>;
    return out;
  }();
  static constexpr void set(execute::BackwardKernels&) {}
};
template <std::size_t K, class Whole, class Node>
struct PartDerivative<automatic_mode::LazyResult<K, Whole, Node>> : NotRecorded<Whole> {};
template <class Op, class Results, class Result, class... As>
struct PartDerivative<automatic_mode::LazyOwnCall<Op, Results, Result, As...>>
    : NotRecorded<Result> {};
template <class F, class Result, class... As>
struct PartDerivative<automatic_mode::LazyShardMap<F, Result, As...>> : NotRecorded<Result> {};

template <class F, class... Args>
struct PartDerivative<automatic_mode::LazyMap<F, Args...>> {
  using M = automatic_mode::LazyMap<F, Args...>;
  using E = typename TreeIn<0, M>::type;
  using Order = std::make_integer_sequence<int, E::inputs>;
  static constexpr planning::PartGradient rules = []<int... K>(std::integer_sequence<int, K...>) {
    planning::PartGradient out;
    auto const one = [&]<int J>(std::integral_constant<int, J>) {
      if constexpr (way_to<J, E> == WayTo::differentiable &&
                    shardtype::detail::is_floating<typename ElementOfInput<J, E>::type>) {
        out.of[J].exists = true;
        out.of[J].passes = Path<J, E>::passes;
        out.of[J].reads = Reads<J, E>::mask;
      } else if (way_to<J, E> == WayTo::unknown) {
        out.refused = true;
      }
    };
    (one(std::integral_constant<int, K>{}), ...);
    return out;
  }(Order{});
  static constexpr void set(execute::BackwardKernels& to) {
    [&]<int... K>(std::integer_sequence<int, K...>) { (set_pull<K>(to), ...); }(Order{});
  }

 private:
  template <int K>
  static constexpr void set_pull(execute::BackwardKernels& to) {
    if constexpr (rules.of[K].exists && !rules.of[K].passes) to.pulls[K] = &pull_map<M, K>;
  }
};
template <class Op, class Whole, class... As>
struct PartDerivative<automatic_mode::LazyOperation<Op, Whole, As...>> {
  using G = OperationGradient<Op, Whole, As...>;
  static constexpr planning::PartGradient rules = G::rules();
  static constexpr void set(execute::BackwardKernels& to) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (set_pull<K>(to), ...);
    }(typename G::Order{});
  }

 private:
  template <int K>
  static constexpr void set_pull(execute::BackwardKernels& to) {
    if constexpr (rules.of[K].exists) to.pulls[K] = &G::template pull<K>;
  }
};

/// Sums and means have kernels; other reductions have their Vjp.
template <class F, class Whole, class A>
struct PartDerivative<automatic_mode::LazyReduction<F, Whole, A>> {
  using T = element_t<typename A::whole>;
  using Space = typename Whole::memory_space;
  using Op = shardtype::detail::reduction_to<F, typename A::whole, Whole>;
  using G = OperationGradient<Op, Whole, A>;
  static constexpr bool sums = std::is_same_v<F, reductions::Sum>;
  static constexpr bool means = std::is_same_v<F, reductions::Mean>;
  static constexpr planning::PartGradient rules = [] {
    planning::PartGradient out;
    if constexpr (sums || means) {
      out.of[0].exists = shardtype::detail::is_floating<T>;
    } else {
      out = G::rules();
      out.of[0].rows = true;
    }
    return out;
  }();
  static constexpr void set(execute::BackwardKernels& to) {
    if constexpr (!rules.of[0].exists) {
      return;
    } else if constexpr (sums) {
      to.pulls[0] = &execute::reorder_block<T, Space>;
    } else if constexpr (means) {
      to.pulls[0] = &pull_mean<T, Space>;
    } else {
      to.pulls[0] = &G::template pull<0>;
    }
  }
};

/// The rules of part `E`, with those of its elements.
template <class E>
constexpr planning::PartGradient part_gradient() {
  planning::PartGradient out = PartDerivative<E>::rules;
  using T = element_t<typename E::whole>;
  if constexpr (shardtype::detail::is_floating<T>)
    out.total_bytes = static_cast<std::int32_t>(reductions::Sum::total_bytes<T>);
  return out;
}
template <class E>
inline constexpr execute::BackwardKernels backward_kernels = [] {
  execute::BackwardKernels out;
  using Whole = typename E::whole;
  if constexpr (shardtype::detail::is_floating<element_t<Whole>>)
    autodiff::set_elements<element_t<Whole>, typename Whole::memory_space>(out);
  PartDerivative<E>::set(out);
  return out;
}();

/// Collects the parts of an expression, with the kernels of their derivatives.
class GradientFinder : public execute::PartFinder {
 public:
  template <class E>
  int visit(E const* e, shardtype::detail::WalkedOperands const& operands) {
    execute::PartFinder::visit(e, operands);
    parts.back().backward = &backward_kernels<E>;
    return 0;
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const*,
            shardtype::detail::WalkedOperands const&) {
    return 0;
  }
  /// An operand without data.
  template <class A>
  void symbol() {
    parts.push_back({});
  }
};

}  // namespace shardtype::autodiff
