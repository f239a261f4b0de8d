// Named Fourier transforms by their public functions, with their gradients, for drawn sizes, norms
// and ways of exchange.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/fourier_cases.hpp"

namespace fourier_cases {

// Dim `d` with so many rows: those beyond are left out, or zeros.
inline Dense with_rows(Dense const& a, std::size_t d, Int rows) {
  Dense out;
  out.n = a.n;
  out.n[d] = rows;
  std::vector<Int> index(out.n.size(), 0);
  for (Int k = 0; k < out.volume(); ++k, next(index, out.n)) {
    Int place = 0;
    for (std::size_t e = 0; e < a.n.size(); ++e) place = place * a.n[e] + index[e];
    out.at.push_back(index[d] < a.n[d] ? a.at[static_cast<std::size_t>(place)] : 0);
  }
  return out;
}

// The cotangent of the operand from a drawn one of the result: the transposed sums, as df/dx - i
// df/dy.
inline Dense expected_gradient(Case const& c, Sizes const& sizes) {
  Spec const& s = c.call.given;
  bool const real = c.call.kind == FourierKind::real_to_complex;
  bool const back = c.call.kind == FourierKind::complex_to_real;
  int const sign = is_forward(c.call.kind) ? -1 : 1;
  auto const halved = static_cast<std::size_t>(s.find(c.call.last()));
  std::vector<Int> n = extents_of(s, c);
  n[halved] = extent(c, made_label(c));
  Dense a = drawn(n, back, summands(c.wanted.reduced, sizes));
  if (real) a = with_rows(a, halved, extent(c, c.call.last()));
  for (int k = c.call.over.size - 1; k >= 0; --k) {
    auto const d = static_cast<std::size_t>(s.find(c.call.over.at[k]));
    a = along(a, d, sign, a.n[d], false);
  }
  if (back) {
    a = with_rows(a, halved, extent(c, c.call.last()));
    std::vector<Int> index(a.n.size(), 0);
    for (Sum& x : a.at) {
      bool const alone = index[halved] == 0 || 2 * index[halved] == extent(c, made_label(c));
      if (!alone) x *= 2;
      next(index, a.n);
    }
  }
  for (Sum& x : a.at) x = factor_of(c) * (real ? Sum(x.real()) : x);
  return a;
}

template <class A>
inline constexpr Spec spec_of =
    core::Scope<Tensor<float, Dim<I>, Dim<J>, Dim<K>, Dim<L>, Reduced<X, Y, Z>>,
                Tensor<float, Dim<F>>, A>::template spec<2>;

// A tensor of drawn elements, whose dims stand for those of `order`.
template <class A>
A make(Mesh<X, Y, Z> const& mesh, Spec const& order, Case const& c, AxisMap const& map) {
  using T = typename A::element;
  Spec const& s = spec_of<A>;
  planning::Sizing const z = sizing_of(c, map, sizeof(T));
  std::array<Int, static_cast<std::size_t>(A::rank)> n{};
  for (int d = 0; d < s.rank; ++d) n[static_cast<std::size_t>(d)] = extent(c, s.dims[d].label);
  Int const size = local_elements(s, z.extents, z.sizes, map.coords);
  Buffer b = mesh.state().pool().template take<Kokkos::HostSpace>(static_cast<std::size_t>(size) *
                                                                  sizeof(T));
  fill(static_cast<T*>(b.data()), s, order, z, map);
  return A(mesh, n, std::move(b));
}

// The number of forms that this program has checked.
inline int forms_checked = 0;

// One public function between two types, with its gradient: its kind, the labels of the transformed
// dims, and the one that the last of them gets, or -1. `run(a, norm, rows)` calls it, for so many
// real rows.
template <class A, class R, class Run>
void check_form(std::vector<Mesh<X, Y, Z>> const& meshes, char const* name, FourierKind kind,
                std::initializer_list<int> over, int to, int draws, Run run) {
  using Real = shardtype::detail::real_of<typename A::element>;
  int const ranks = on_ranks::rank_total();
  ++forms_checked;  // each form draws other sizes
  std::vector<Found> found;
  std::vector<std::string> texts;
  std::string wrong;
  for (int k = 0; k < draws; ++k) {
    Draw draw(static_cast<unsigned>((forms_checked * 1000 + k) * 8 + ranks));
    Case c;
    c.call = {kind, spec_of<A>, {}, to, {}};
    for (int const l : over) c.call.over.push(l);
    c.wanted = spec_of<R>;
    c.call.wanted = c.call.of_operand(c.wanted);
    draw_way(draw, c);
    c.single = sizeof(Real) == sizeof(float);
    std::array<Int, labels + 1> n;
    for (Int& e : n)
      e = draw.one_in(4) ? ranks + draw.below(3) : 1 + draw.below(A::rank > 2 ? 6 : 10);
    set_extents(c, n);
    Mesh<X, Y, Z> const& mesh = meshes[static_cast<std::size_t>(k) % meshes.size()];
    AxisMap const map = map_axes(mesh.state(), names);
    Spec const& given = c.call.given;
    Spec const made = c.call.of_result(given);
    auto const note = [&]<class B>(B const& b, Spec const& order, Dense const& dense,
                                   char const* of) {
      using T = typename B::element;
      found.push_back(look_at(static_cast<T const*>(b.buffer().data()), spec_of<B>, order,
                              sizing_of(c, map, sizeof(T)), mesh.state(), map, dense));
      texts.push_back(of + std::string(name) + ", " + text(c));
      if (!found.back().wrong.empty()) wrong += texts.back() + ": " + found.back().wrong + "\n";
    };
    Sent const sent(c.way);
    Int const rows = extent(c, kind == FourierKind::complex_to_real ? to : c.call.last());
    auto const both =
        vjp([&](auto const& v) { return run(v, c.norm, rows); }, make<A>(mesh, given, c, map));
    static_assert(std::is_same_v<decltype(both.value), R>);
    note(both.value, made, expected(c, map.sizes), "");
    auto const gradient = both.pullback(make<cotangent_t<R>>(mesh, made, c, map));
    static_assert(std::is_same_v<decltype(gradient), cotangent_t<A> const>);
    note(gradient, given, expected_gradient(c, map.sizes), "gradient of ");
  }
  wrong += differing(found, [&](std::size_t k) { return texts[k]; });
  INFO(wrong);
  CHECK(wrong.empty());
}

}  // namespace fourier_cases

#ifndef FOURIER_DRAWS  // `scripts/test --all` draws more
#define FOURIER_DRAWS 12
#endif

// What the files that list forms name.
namespace fourier_cases::listed {

using Norm = op::FftNorm;
template <class... Parts>
using C = Tensor<Kokkos::complex<double>, Parts...>;
template <class... Parts>
using S = Tensor<Kokkos::complex<float>, Parts...>;
template <class... Parts>
using R = Tensor<double, Parts...>;
template <class... Parts>
using Q = Tensor<float, Parts...>;

inline constexpr int draws = FOURIER_DRAWS;
inline constexpr auto forward = FourierKind::forward;
inline constexpr auto inverse = FourierKind::inverse;
inline constexpr auto to_complex = FourierKind::real_to_complex;
inline constexpr auto to_real = FourierKind::complex_to_real;
// labels
inline constexpr int i = 0;
inline constexpr int j = 1;
inline constexpr int k = 2;
inline constexpr int f = new_label;

}  // namespace fourier_cases::listed
