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

/// Calls use(row, own, halo) for this rank's elements of `a`: the row along index V, the place in
/// its block, and of row `to` behind the one before it the place in the block of its halo, of one
/// row before and two behind.
template <class V, class A, class Use>
void each_with_halo(A const& a, Use use) {
  constexpr auto d =
      static_cast<std::size_t>(A::spec.find(core::Scope<A>::names.find_label(core::identity<V>)));
  Int inner = 1;
  for (std::size_t e = d + 1; e < A::rank; ++e) inner *= a.ranges()[e].size();
  core::Range const mine = a.ranges()[d];
  for (Int own = 0; own < a.local_size(); ++own) {
    Int const row = own / inner % mine.size();
    Int const outer = own / inner / mine.size();
    use(mine.begin + row, own,
        [=](Int to) { return (outer * (mine.size() + 3) + row + to) * inner + own % inner; });
  }
}
/// The row before each even row, the second row after each odd row.
template <class V, class A>
A perform_halo(A const& a, op::Edge edge) {
  auto const halo = halo_exchange<V>(a, 1, 2, edge);
  A out = detail::uninitialized<A>(a.mesh(), a.extents());
  auto const from = harness::host_block(halo);
  harness::write_block(out, [&](auto const& to) {
    each_with_halo<V>(a, [&](Int row, Int own, auto const& place) {
      to.data()[own] = from.data()[place(row % 2 == 0 ? 0 : 3)];
    });
  });
  return out;
}
/// Each own row in the place of the second row behind it, in halos that are then added up.
template <class V, class A>
A perform_halo_add(A const& a, op::Edge edge) {
  auto halo = zeros_like(halo_exchange<V>(a, 1, 2, edge));
  auto const from = harness::host_block(a);
  harness::write_block(halo, [&](auto const& to) {
    each_with_halo<V>(
        a, [&](Int, Int own, auto const& place) { to.data()[place(3)] = from.data()[own]; });
  });
  return halo_add(halo);
}

/// What an instruction names, for `perform` of a case, and arguments that cases use, which are
/// templates that are read before the library's functions.
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
  static constexpr auto forward = op::Direction::forward;
  static constexpr auto reverse = op::Direction::reverse;
  static constexpr op::Interior one_between{1};
  static constexpr auto reproducible = shardtype::reproducible;

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
  // some of the collectives in their two parts
  static constexpr bool in_two = (in.axis + in.from) % 3 == 0;

  Mesh<X, Y, Z> const& mesh;
  planning::Sizing const& z;
  A const& a;
  B const& b;
  C const& c;
  Int n = z.extents[in.from];        // extent of V
  Int rows_of_w = z.extents[in.to];  // extent of W

  /// The number of ranks along Axis, and the calling rank's number among them.
  Int ranks() const { return map_axes(mesh.state(), Names::names).sizes[in.axis]; }
  Int place() const { return map_axes(mesh.state(), Names::names).coords[in.axis]; }
};

/// Instruction `At` of program `P`.
template <class P, int At, class A, class B, class C>
auto perform(Mesh<X, Y, Z> const& mesh, planning::Sizing const& z, A const& a, B const& b,
             C const& c) {
  return case_t<P::value.code[At].op>::perform(On<P, At, A, B, C>{{}, mesh, z, a, b, c});
}

}  // namespace programs
