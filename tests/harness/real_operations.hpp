// Instructions of random programs (harness/programs.hpp) as calls of the library on real tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/cases.hpp"
#include "harness/host_block.hpp"
#include "harness/programs.hpp"

namespace programs {

using Int = std::int64_t;
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
/// Numbers labels and axes as the programs do.
using Names = core::Scope<Tensor<Int, Dim<I>, Dim<J>, Dim<K>, Reduced<X, Y, Z>>>;
template <int L>
using label = std::tuple_element_t<static_cast<std::size_t>(L), std::tuple<I, J, K>>;
template <int A>
using axis = std::tuple_element_t<static_cast<std::size_t>(A), std::tuple<X, Y, Z>>;
template <Element E>
using element_of = std::tuple_element_t<static_cast<std::size_t>(E), std::tuple<Int, bool, double>>;

/// The type of value `V` of program `P`.
template <class P, int V>
struct SpecOf {
  static constexpr Spec value = P::value.spec(V);
};
template <class P, int V>
using type_of =
    core::tensor_from_spec<Names, SpecOf<P, V>, element_of<P::value.element(V)>, Tensor<Int>>;

/// Labels of intermediate values.
struct Q : Index<"Q"> {};
struct R : Index<"R"> {};

/// The row before each even row, the second row after each odd row.
template <class V, class A>
A perform_halo(A const& a, op::Edge edge) {
  using T = typename A::element;
  constexpr auto d =
      static_cast<std::size_t>(A::spec.find(core::Scope<A>::names.find_label(core::identity<V>)));
  auto const halo = halo_exchange<V>(a, 1, 2, edge);
  A out = detail::uninitialized<A>(a.mesh(), a.extents());
  auto const halo_here = harness::host_block(halo);
  T const* const from = halo_here.data();
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t e = 0; e < A::rank; ++e) {
    if (e < d) outer *= a.ranges()[e].size();
    if (e > d) inner *= a.ranges()[e].size();
  }
  core::Range const mine = a.ranges()[d];
  harness::write_block(out, [&](auto const& to) {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = mine.begin; i < mine.end; ++i)
        for (std::int64_t k = 0; k < inner; ++k) {
          std::int64_t const row = i - mine.begin + 1 + (i % 2 == 0 ? -1 : 2);
          to.data()[(o * mine.size() + i - mine.begin) * inner + k] =
              from[(o * (mine.size() + 3) + row) * inner + k];
        }
  });
  return out;
}

/// Each own row in the place of the second row behind it, in halos that are then added up.
template <class V, class A>
A perform_halo_add(A const& a, op::Edge edge) {
  using T = typename A::element;
  constexpr auto d =
      static_cast<std::size_t>(A::spec.find(core::Scope<A>::names.find_label(core::identity<V>)));
  auto halo = zeros_like(halo_exchange<V>(a, 1, 2, edge));
  auto const here = harness::host_block(a);
  T const* const from = here.data();
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t e = 0; e < A::rank; ++e) {
    if (e < d) outer *= a.ranges()[e].size();
    if (e > d) inner *= a.ranges()[e].size();
  }
  std::int64_t const rows = a.ranges()[d].size();
  harness::write_block(halo, [&](auto const& to) {
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = 0; k < inner; ++k)
          to.data()[(o * (rows + 3) + i + 3) * inner + k] = from[(o * rows + i) * inner + k];
  });
  return halo_add(halo);
}

/// The number of elements that a reduction combines into one.
template <class P, int At>
std::int64_t terms(planning::Sizing const& z) {
  constexpr Instruction in = P::value.code[At];
  std::int64_t n = 1;
  for (int k = 0; k < in.list.size; ++k) n *= z.extents[in.list.at[k]];
  return n;
}

template <class P, int At, class Out, class A, class B, class C>
auto perform_elementwise(A const& a, B const& b, C const& c) {
  constexpr Op op = P::value.code[At].op;
  if constexpr (op == Op::named_add) {
    return map<Out>(functions::Add{}, a, b);
  } else if constexpr (op == Op::named_multiply) {
    return map<Out>(functions::Multiply{}, a, b);
  } else if constexpr (op == Op::named_divide) {
    return map<Out>(functions::Divide{}, 4 * a, b);
  } else {
    static_assert(op == Op::named_choose);
    return map<Out>(functions::Where{}, a, b, c);
  }
}

/// `Over...`: the labels reduced over, or the named result.
template <class P, int At, class... Over, class A>
auto perform_reduction(planning::Sizing const& z, A const& a) {
  constexpr Instruction in = P::value.code[At];
  constexpr Op op = strict(in.op);
  if constexpr (op == Op::sum) {
    return sum<Over...>(a);
  } else if constexpr (op == Op::max) {
    return max<Over...>(a);
  } else if constexpr (op == Op::min) {
    return min<Over...>(a);
  } else if constexpr (op == Op::any) {
    return any<Over...>(a);
  } else if constexpr (op == Op::all) {
    return all<Over...>(a);
  } else if constexpr (op == Op::mean) {
    return mean<Over...>(a * static_cast<double>(terms<P, At>(z)));
  } else if constexpr (op == Op::norm_1) {
    return norm_1<Over...>(a);
  } else if constexpr (op == Op::norm_inf) {
    return norm_inf<Over...>(a);
  } else if constexpr (op == Op::prod) {
    return prod<Over...>(a);
  } else if constexpr (op == Op::place) {
    return argmax<Over...>(a);
  } else if constexpr (op == Op::least_place) {
    return argmin<Over...>(a);
  } else if constexpr (op == Op::norm) {
    return made(floor(norm<Over...>(a)));
  } else if constexpr (op == Op::logsumexp) {
    double const moved = std::exp2(static_cast<double>(in.most));
    return made(floor(sqrt(round(exp(logsumexp<Over...>(a * std::log(2.0))) * moved))));
  } else if constexpr (op == Op::reproducible_sum) {
    return sum<Over...>(a, reproducible);
  } else {
    static_assert(op == Op::reproducible_norm);
    return made(floor(norm<Over...>(a, reproducible)));
  }
}

/// The elements along index V, of extent `n`.
template <class P, int At, class Out, class A, class B, class C>
auto perform_along(Int n, A const& a, B const& b, C const& c) {
  constexpr Instruction in = P::value.code[At];
  constexpr Op op = in.op;
  using V = label<in.from>;
  if constexpr (op == Op::broadcast) {
    using Dims = std::conditional_t<in.to == 0, Dim<V, axis<in.axis>>, Dim<V>>;
    return broadcast<Dims>(a, {n});
  } else if constexpr (op == Op::look_up) {
    return take<V>(a, b);
  } else if constexpr (op == Op::named_look_up) {
    return take<V, Out>(a, b);
  } else if constexpr (op == Op::add_rows) {
    return scatter_add<V>(a, b, n);
  } else if constexpr (op == Op::named_add_rows) {
    return scatter_add<V, Out>(a, b, n);
  } else if constexpr (op == Op::one_hot) {
    return one_hot<V, Int>(a, n);
  } else if constexpr (op == Op::named_one_hot) {
    return one_hot<V, Out>(a, n);
  } else if constexpr (op == Op::take_along) {
    return take_along<V>(a, b);
  } else if constexpr (op == Op::window) {
    return pad<V>(dynamic_slice<V>(a, drawn_start(in), half(n)), 0, n / 2);
  } else if constexpr (op == Op::window_at) {
    return pad<V>(dynamic_slice<V>(a, b, half(n)), 0, n / 2);
  } else if constexpr (op == Op::replaced) {
    return dynamic_update<V>(a, slice<V>(b, 0, half(n)), drawn_start(in));
  } else {
    static_assert(op == Op::replaced_at);
    return dynamic_update<V>(a, slice<V>(b, 0, half(n)), c);
  }
}

template <class P, int At, class Out, class A>
auto perform_change(Mesh<X, Y, Z> const& mesh, A const& a) {
  constexpr Instruction in = P::value.code[At];
  using On = axis<in.axis>;
  using From = label<in.from>;
  // some of the collectives in their two parts
  constexpr bool in_two = (in.axis + in.from) % 3 == 0;
  if constexpr (in.op == Op::to_partial) {
    return to_partial<On>(a);
  } else if constexpr (in.op == Op::reduced) {
    return reduced<On>(a);
  } else if constexpr (in.op == Op::reshard) {
    return reshard<Out>(a);
  } else if constexpr (in.op == Op::all_gather) {
    if constexpr (in_two)
      return start(op::AllGather<On>{}, a).wait();
    else
      return all_gather<On>(a);
  } else if constexpr (in.op == Op::all_reduce) {
    if constexpr (in_two)
      return start(op::AllReduce<On>{}, a).wait();
    else
      return all_reduce<On>(a);
  } else if constexpr (in.op == Op::reduce_scatter) {
    if constexpr (in_two)
      return start(op::ReduceScatter<On, From>{}, a).wait();
    else
      return reduce_scatter<On, From>(a);
  } else if constexpr (in.op == Op::all_to_all) {
    if constexpr (in_two)
      return start(op::AllToAll<On, From, label<in.to>>{}, a).wait();
    else
      return all_to_all<On, From, label<in.to>>(a);
  } else {
    static_assert(in.op == Op::moved);
    return transfer<Out>(a, mesh);
  }
}

/// What an instruction names, for `perform` of a case, and arguments that cases use, which are templates that are read
/// before the library's functions.
template <class P, int At>
struct OnInstruction {
  static constexpr Instruction in = P::value.code[At];
  using V = label<in.from>;
  using W = label<in.to>;
  using Q = programs::Q;
  using R = programs::R;
  using Axis = axis<in.axis>;
  static constexpr auto exclusive = op::Cumulate::exclusive;
  static constexpr auto inclusive = op::Cumulate::inclusive;
  static constexpr auto reverse = op::Direction::reverse;
  static constexpr op::Interior one_between{1};

  /// f with the listed labels as template arguments.
  template <class F>
  static auto listed(F const& f) {
    return [&]<int... L>(std::integer_sequence<int, L...>) {
      return f.template operator()<label<in.list.at[L]>...>();
    }(std::make_integer_sequence<int, in.list.size>{});
  }
};
/// A case's instruction with its operands: the indices and the axis that it names, and the type of
/// the result.
template <class P, int At, class A, class B, class C>
struct On : OnInstruction<P, At> {
  using OnInstruction<P, At>::in;
  using Element = element_of<P::value.element(in.operand[0])>;
  using Out = type_of<P, inputs + At>;

  Mesh<X, Y, Z> const& mesh;
  A const& a;
  B const& b;
  C const& c;
  Int n;  // extent of V

  /// The number of ranks along Axis, and the calling rank's number among them.
  Int ranks() const { return map_axes(mesh.state(), Names::names).sizes[in.axis]; }
  Int place() const { return map_axes(mesh.state(), Names::names).coords[in.axis]; }
};

/// Instruction `At` of program `P`. `L...` count its labels.
template <class P, int At, class A, class B, class C, int... L>
auto perform(Mesh<X, Y, Z> const& mesh, planning::Sizing const& z, A const& a, B const& b,
             C const& c, std::integer_sequence<int, L...>) {
  constexpr Instruction in = P::value.code[At];
  using Out = type_of<P, inputs + At>;
  if constexpr (is_case(in.op)) {
    return case_t<in.op>::perform(On<P, At, A, B, C>{{}, mesh, a, b, c, z.extents[in.from]});
  } else if constexpr (is_named_elementwise(in.op)) {
    return perform_elementwise<P, At, Out>(a, b, c);
  } else if constexpr (is_reduction(in.op)) {
    return perform_reduction<P, At, label<in.list.at[L]>...>(z, a);
  } else if constexpr (is_named_reduction(in.op)) {
    return perform_reduction<P, At, Out>(z, a);
  } else if constexpr (in.op == Op::contract) {
    return einsum<label<in.list.at[L]>...>(a, b);
  } else if constexpr (in.op == Op::matrix_product) {
    return matmul(a, b);
  } else if constexpr (in.op == Op::named_contract) {
    return einsum<Out>(a, b);
  } else if constexpr (in.op == Op::named_matrix_product) {
    return matmul<Out>(a, b);
  } else if constexpr (in.op == Op::last_of_two) {
    return squeeze<Q>(slice<Q>(stack<Q>(a, b), 1, 2));
  } else if constexpr (in.op >= Op::to_partial) {
    return perform_change<P, At, Out>(mesh, a);
  } else {
    return perform_along<P, At, Out>(z.extents[in.from], a, b, c);
  }
}

}  // namespace programs
