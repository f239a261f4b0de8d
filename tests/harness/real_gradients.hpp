// Random programs with gradients (draw_gradients.hpp) on real types, tensors and ranks: value and
// gradients against a dense reverse mode.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/draw_gradients.hpp"
#include "harness/gradients.hpp"
#include "harness/real_programs.hpp"

namespace gradient_programs {

using dense::Int;
using programs::axis;
using programs::label;
using programs::labels_in;
using programs::X;
using programs::Y;
using programs::Z;
using OnMesh = Mesh<X, Y, Z>;

/// The ids of a lookup, the same in the real program and in the dense one: below the extent of the
/// dim that they name.
inline std::vector<Int> drawn_ids(Instruction const& in, dense::At const& n) {
  Int const below = n[static_cast<std::size_t>(Drawing::looked_up(in))];
  Int total = case_of(in).looks_up ? 1 : 0;
  for (int const l : labels_in(in.ids)) total *= n[static_cast<std::size_t>(l)];
  std::vector<Int> out;
  for (Int k = 0; k < total; ++k) out.push_back(below == 0 ? 0 : (5 * k * k + 3 * k + 1) % below);
  return out;
}

/// The dense program: its loss and its gradients.
struct Meant {
  double loss = 0;
  std::vector<dense::Array> gradient;  // of the inputs
  Meant(Program const& p, dense::At const& n,
        std::array<std::vector<double>, inputs> const& given) {
    dense::Reverse r(n);
    for (int k = 0; k < inputs; ++k) {
      dense::Array a = r.made(labels_in(p.input[k]));
      a.values = given[static_cast<std::size_t>(k)];
      r.input(a);
    }
    int last = 0;
    for (int k = 0; k < p.size; ++k) {
      Instruction const& in = p.code[k];
      last = case_of(in).dense({r, in, in.operand[0], in.operand[1], drawn_ids(in, n)});
    }
    if (p.code[p.size - 1].result.unreduced.empty())
      last =
          r.map(last, [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); });
    for (double const x : r.value(last).values) loss += x;
    gradient = r.gradients(last);
  }
};

template <class P, int At>
struct IdsSpec {
  static constexpr Spec value = P::value.code[At].ids;
};
template <class P, int V>
using type_of =
    core::tensor_from_spec<programs::Names, programs::SpecOf<P, V>, double, Tensor<double>>;
template <class P, int At>
using ids_of = core::tensor_from_spec<programs::Names, IdsSpec<P, At>, Int, Tensor<Int>>;

/// The extents of the dims of these labels.
template <class A>
auto extents_of(Spec const& s, dense::At const& n) {
  std::array<Int, A::rank> out{};
  for (std::size_t d = 0; d < A::rank; ++d) out[d] = n[static_cast<std::size_t>(s.dims[d].label)];
  return out;
}
struct On {
  OnMesh const& mesh;
  dense::At n;
};

/// An instruction of program `P` with its operands, for `perform` of a case.
template <class P, int At, class A, class B>
struct Performed : programs::OnInstruction<P, At> {
  using programs::OnInstruction<P, At>::in;
  using Element = double;
  using Out = type_of<P, inputs + At>;
  static constexpr bool in_two = false;
  A const& a;
  B const& b;
  Int n;          // extent of V
  Int rows_of_w;  // extent of W

  Performed(On const& on, A const& its_a, B const& its_b)
      : a(its_a), b(its_b), n(on.n[std::size_t{in.from}]), rows_of_w(on.n[std::size_t{in.to}]) {}
};
template <class P, int At, class A, class B>
auto applied(On const& on, A const& a, B const& b) {
  constexpr Instruction in = P::value.code[At];
  using Case = case_at<in.with_gradient>;
  if constexpr (case_of(in).looks_up) {
    using Ids = ids_of<P, At>;
    Ids const ids = from_host<Ids>(on.mesh, extents_of<Ids>(in.ids, on.n), drawn_ids(in, on.n));
    return Case::perform(Performed<P, At, A, Ids>(on, a, ids));
  } else {
    return Case::perform(Performed<P, At, A, B>(on, a, b));
  }
}

/// Instructions `At` and later; the loss.
template <class P, int At, class... Values>
auto instructions(On const& on, Values const&... values) {
  if constexpr (At == P::value.size) {
    auto const& last = programs::nth<sizeof...(Values) - 1>(values...);
    if constexpr (P::value.spec(inputs + At - 1).unreduced.empty()) {
      return shardtype::sum(shardtype::sin(last));
    } else {
      return shardtype::sum(last);
    }
  } else {
    constexpr Instruction in = P::value.code[At];
    auto const out = applied<P, At>(on, programs::nth<in.operand[0]>(values...),
                                    programs::nth<in.operand[1]>(values...));
    static_assert(std::is_same_v<autodiff::tensor_of<std::remove_cvref_t<decltype(out.tensor())>>,
                                 type_of<P, inputs + At>>);
    if constexpr (in.fused) {
      return instructions<P, At + 1>(on, values..., out);
    } else {
      auto const whole = out.tensor();
      return instructions<P, At + 1>(on, values..., whole);
    }
  }
}
template <class P>
struct Function {
  On on;
  template <class... As>
  auto operator()(As const&... as) const {
    return instructions<P, 0>(on, as...);
  }
};

/// Whether two numbers are equal up to rounding of numbers of size `size`.
inline bool near(double a, double b, double size) { return std::abs(a - b) <= 1e-10 * (1 + size); }

inline dense::At drawn_extents(Program const& p, std::uint64_t seed) {
  Draw draw(seed);
  Extents const drawn = programs::drawn_extents(draw, p.needs_elements);
  dense::At out{};
  for (int l = 0; l < labels; ++l) out[static_cast<std::size_t>(l)] = drawn[l];
  return out;
}

template <class P>
struct Actives {
  static constexpr int count =
      (P::value.active[0] ? 1 : 0) + (P::value.active[1] ? 1 : 0) + (P::value.active[2] ? 1 : 0);
  // the K-th argument that is differentiated
  static constexpr int at(int k) {
    for (int v = 0; v < inputs; ++v)
      if (P::value.active[v] && k-- == 0) return v;
    return 0;
  }
};

inline int differing(std::vector<double> const& got, std::vector<double> const& expected) {
  if (got.size() != expected.size()) return 1;
  double size = 0;
  for (double const x : expected) size = std::max(size, std::abs(x));
  int wrong = 0;
  for (std::size_t k = 0; k < got.size(); ++k) wrong += near(got[k], expected[k], size) ? 0 : 1;
  return wrong;
}

/// The number of elements of gradients that differ from the dense ones, over draws of extents.
template <class P, int... K>
int differences_of(OnMesh const& mesh, std::uint64_t seed, std::integer_sequence<int, K...>) {
  int wrong = 0;
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    dense::At const n = drawn_extents(P::value, 3 * seed + draw);
    std::array<std::vector<double>, inputs> given;
    for (int k = 0; k < inputs; ++k) {
      Int total = 1;
      for (int const l : labels_in(P::value.input[k])) total *= n[static_cast<std::size_t>(l)];
      for (Int e = 0; e < total; ++e)
        given[static_cast<std::size_t>(k)].push_back(
            gradients::drawn(e, k + 10 * static_cast<int>(draw)));
    }
    Meant const meant(P::value, n, given);
    auto const input = [&]<int V>(std::integral_constant<int, V>) {
      using A = type_of<P, V>;
      return from_host<A>(mesh, extents_of<A>(P::value.input[V], n), given[std::size_t{V}]);
    };
    auto const both = value_and_grad<Actives<P>::at(K)...>(Function<P>{{mesh, n}})(
        input(std::integral_constant<int, 0>{}), input(std::integral_constant<int, 1>{}),
        input(std::integral_constant<int, 2>{}));
    wrong += near(gradients::total(both.value), meant.loss, std::abs(meant.loss)) ? 0 : 1;
    auto const compare = [&]<int V>(std::integral_constant<int, V>, auto const& gradient) {
      static_assert(
          std::is_same_v<std::remove_cvref_t<decltype(gradient)>, cotangent_t<type_of<P, V>>>);
      wrong += differing(gradients::whole(gradient), meant.gradient[std::size_t{V}].values);
    };
    (compare(std::integral_constant<int, Actives<P>::at(K)>{},
             gradients::gradient<std::size_t{K}>(both.grad)),
     ...);
  }
  return wrong;
}

template <std::uint64_t Seed>
struct Drawn {
  static constexpr Program value = generate(Seed);
};
template <std::uint64_t Seed>
int differences(OnMesh const& mesh) {
  using P = Drawn<Seed>;
  return differences_of<P>(mesh, Seed, std::make_integer_sequence<int, Actives<P>::count>{});
}
template <std::uint64_t First, std::uint64_t... Seed>
void run_programs(std::integer_sequence<std::uint64_t, Seed...>) {
  static constexpr int (*all[])(OnMesh const&) = {&differences<First + Seed>...};
  programs::run_all(First, all);
}

}  // namespace gradient_programs
