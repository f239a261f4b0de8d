#pragma once
/// How a rank computes cotangents of automatic mode: those of kernels of elementwise functions, of
/// means, and sums of cotangents.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/pullback.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::autodiff {

/// The tree of an argument of a kernel, whose first operand has the number `First`.
template <int First, class A>
struct TreeIn {
  using type = Input<First, element_t<typename A::whole>>;
  static type make(A const&) { return {}; }
};
template <int First, class N>
struct TreeIn<First, Number<N>> : TreeOf<First, Number<N>> {};
template <class F, class... Args>
inline constexpr int operands_in<automatic_mode::LazyMap<F, Args...>> =
    (operands_in<Args> + ... + 0);
template <int First, class F, class... Args>
struct TreeIn<First, automatic_mode::LazyMap<F, Args...>> {
  using E = automatic_mode::LazyMap<F, Args...>;
  template <int K>
  using Argument = TreeIn<First + autodiff::operands_before<Args...>(K), nth_t<K, Args...>>;
  template <int... K>
  static auto applied(std::integer_sequence<int, K...>)
      -> Applied<F, element_t<typename E::whole>, typename Argument<K>::type...>;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>;
  using type = decltype(applied(Order{}));

  static type make(E const& e) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return type{e.function(), {{Argument<K>::make(e.template argument<K>())}...}};
    }(Order{});
  }
};

/// Whether the way from an expression to its operand `K` has a derivative.
enum class WayTo : std::int8_t {
  differentiable,
  flat,    ///< a function on it is constant around each point, or has no real values
  unknown  ///< a function on it has no Derivative
};
template <int K, class E>
struct WayOf {
  static constexpr WayTo value = WayTo::differentiable;
};
template <int K, class F, class T, class... Args>
struct WayOf<K, Applied<F, T, Args...>> {
  static constexpr WayTo decide() {
    if constexpr (std::is_base_of_v<Flat, Derivative<F>> || !shardtype::detail::is_floating<T>) {
      return WayTo::flat;
    } else if constexpr (!Derivative<F>::exists) {
      return WayTo::unknown;
    } else {
      return WayOf<K, typename Path<K, Applied<F, T, Args...>>::Next>::value;
    }
  }
  static constexpr WayTo value = decide();
};
template <int K, class E>
inline constexpr WayTo way_to = WayOf<K, E>::value;

/// Elements of type `T` in a memory space.
template <class T, class Space>
struct ElementsIn {
  using element = T;
  using memory_space = Space;
};

/// A sum of cotangents, in the order in which the backward pass finds them.
template <class T, class Space>
execute::AnyBlock add_blocks(execute::ProgramRun& run, int step, void const*) {
  using Types = kernels::Elements<T, T>;
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  auto const plus =
      autodiff::on(functions::Add{}, Part(kernels::Leaf<T, 0>{}), Part(kernels::Leaf<T, 1>{}))
          .expression;
  auto* const to = static_cast<T*>(out.keep.data());
  kernels::Sources<2> in;
  for (int k = 0; k < run.plan().steps[step].inputs; ++k) {
    int const slot = k == 0 ? 0 : 1;
    execute::AnyBlock const& b = run.input(step, k);
    ProgramNode const& operand = run.node(run.plan().steps[step].input[k]);
    ProgramNode const& n = run.node(step);
    in.data[slot] = b.data;
    for (int d = 0; d < n.rank; ++d)
      for (int e = 0; e < operand.rank; ++e)
        if (operand.labels[e] == n.labels[d]) in.stride[slot][d] = b.layout.stride[e];
    if (k == 0) continue;
    kernels::evaluate<Types>(exec, plus, to, out.layout, in);
    in.data[0] = to;
    for (int d = 0; d < n.rank; ++d) in.stride[0][d] = out.layout.stride[d];
  }
  runtime::fence(exec);
  return execute::any_block(std::move(out));
}
/// The same number everywhere.
template <class T, class Space, int number>
execute::AnyBlock filled_block(execute::ProgramRun& run, int step, void const*) {
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::fill(exec, static_cast<T*>(out.keep.data()), out.layout.elements(),
                static_cast<T>(number));
  runtime::fence(exec);
  return execute::any_block(std::move(out));
}
template <class T, class Space>
constexpr void set_elements(execute::BackwardKernels& to) {
  using planning::Backward;
  auto const set = [&](Backward how, execute::MakeBlock make) {
    to.of_elements[static_cast<int>(how)] = make;
  };
  set(Backward::add, &add_blocks<T, Space>);
  set(Backward::sum, &execute::reduction_block<reductions::Sum, ElementsIn<T, Space>, T>);
  set(Backward::spread, &execute::reorder_block<T, Space>);
  set(Backward::one, &filled_block<T, Space, 1>);
  set(Backward::zero, &filled_block<T, Space, 0>);
}

/// The element type of the value of number `N` that a derivative reads: an operand, or the result.
template <int N, class E>
struct ReadElement {
  static constexpr auto find() {
    if constexpr (N == E::inputs) {
      return Type<typename E::element>{};
    } else {
      return Type<typename ElementOfInput<N, E>::type>{};
    }
  }
  using type = typename decltype(find())::type;
};
/// The cotangent of operand `K` of the elementwise expression `M`.
template <class M, int K>
execute::AnyBlock pull_map(execute::ProgramRun& run, int step, void const* part) {
  using Tree = TreeIn<0, M>;
  using E = typename Tree::type;
  using Space = typename M::whole::memory_space;
  using Numbers = typename Reads<K, E>::Numbers;
  using T = typename ElementOfInput<K, E>::type;
  using Ct = element_t<typename M::whole>;
  return
      [&]<int... I, int... N>(std::integer_sequence<int, I...>, std::integer_sequence<int, N...>) {
        using Types = kernels::Elements<Ct, typename ReadElement<N, E>::type...>;
        auto const expression =
            autodiff::pulled<K>(Tree::make(*static_cast<M const*>(part)), Numbers{},
                                Part(kernels::Leaf<Ct, 0>{}),
                                Part(kernels::Leaf<typename ReadElement<N, E>::type, 1 + I>{})...)
                .expression;
        execute::Value<T> out = run.template fresh<T, Space>(step);
        typename Space::execution_space const& exec =
            runtime::instance<typename Space::execution_space>();
        kernels::evaluate<Types>(exec, expression, static_cast<T*>(out.keep.data()), out.layout,
                                 execute::sources(run, step, Types{}));
        runtime::fence(exec);
        return execute::any_block(std::move(out));
      }(std::make_integer_sequence<int, static_cast<int>(Numbers::size())>{}, Numbers{});
}

/// The cotangent of a mean, at each element.
template <class T, class Space>
execute::AnyBlock pull_mean(execute::ProgramRun& run, int step, void const*) {
  using Types = kernels::Elements<T>;
  ProgramNode const& n = run.node(step);
  int const ct = run.plan().steps[step].input[0];
  double terms = 1;
  Extents const extents = run.extents(step);
  for (int d = 0; d < n.rank; ++d)
    if (run.plan().program.find(run.plan().steps[ct].node, n.labels[d]) < 0)
      terms *= static_cast<double>(extents[d]);
  execute::Value<T> out = run.template fresh<T, Space>(step);
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  auto const expression =
      autodiff::on(functions::Multiply{}, Part(kernels::Leaf<T, 0>{}), 1 / terms).expression;
  kernels::evaluate<Types>(exec, expression, static_cast<T*>(out.keep.data()), out.layout,
                           execute::sources(run, step, Types{}));
  runtime::fence(exec);
  return execute::any_block(std::move(out));
}

}  // namespace shardtype::autodiff
