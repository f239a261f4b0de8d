// Random programs with gradients (draw_gradients.hpp) on real types, tensors and ranks: value and gradients against
// a dense reverse mode.
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
#include "harness/gradient_meaning.hpp"
#include "harness/gradients.hpp"
#include "harness/real_programs.hpp"

namespace gradient_programs {

using programs::axis;
using programs::label;
using programs::Q;
using programs::X;
using programs::Y;
using programs::Z;
using OnMesh = Mesh<X, Y, Z>;

template <class P, int V>
struct ValueSpec {
  static constexpr Spec value = P::value.spec(V);
};
template <class P, int At>
struct IdsSpec {
  static constexpr Spec value = P::value.code[At].ids;
};
template <class P, int V>
using type_of = core::tensor_from_spec<programs::Names, ValueSpec<P, V>, double, Tensor<double>>;
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

/// Instruction `At` on real values. `L...` count its labels.
template <class P, int At, class A, class B, int... L>
auto applied(On const& on, A const& a, B const& b, std::integer_sequence<int, L...>) {
  constexpr Instruction in = P::value.code[At];
  constexpr Op op = in.op;
  using V = label<in.from>;
  using Axis = axis<in.axis>;
  using Out = type_of<P, inputs + At>;
  Int const n = on.n[std::size_t{in.from}];
  if constexpr (op == Op::tanh) {
    return shardtype::tanh(a);
  } else if constexpr (op == Op::sin) {
    return shardtype::sin(a);
  } else if constexpr (op == Op::half) {
    return a * 0.5;
  } else if constexpr (op == Op::negate) {
    return -a;
  } else if constexpr (op == Op::absolute) {
    return abs(a);
  } else if constexpr (op == Op::add) {
    return a + b;
  } else if constexpr (op == Op::subtract) {
    return a - b;
  } else if constexpr (op == Op::multiply) {
    return a * b;
  } else if constexpr (op == Op::quotient) {
    return a / (2 + square(b));
  } else if constexpr (op == Op::larger) {
    return max(a, b);
  } else if constexpr (op == Op::chosen) {
    return where(b > 0, a, op::zero);
  } else if constexpr (op == Op::named_add) {
    return map<Out>(functions::Add{}, a, b);
  } else if constexpr (op == Op::named_multiply) {
    return map<Out>(functions::Multiply{}, a, b);
  } else if constexpr (op == Op::sum) {
    return shardtype::sum<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::mean) {
    return shardtype::mean<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::max) {
    return shardtype::max<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::logsumexp) {
    return shardtype::logsumexp<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::norm) {
    return shardtype::norm<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::norm_1) {
    return shardtype::norm_1<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::variance) {
    return shardtype::var<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::prod) {
    return shardtype::prod<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::softmax) {
    return shardtype::softmax<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::named_sum) {
    return shardtype::sum<Out>(a);
  } else if constexpr (op == Op::named_mean) {
    return shardtype::mean<Out>(a);
  } else if constexpr (op == Op::named_max) {
    return shardtype::max<Out>(a);
  } else if constexpr (op == Op::named_logsumexp) {
    return shardtype::logsumexp<Out>(a);
  } else if constexpr (op == Op::named_norm) {
    return shardtype::norm<Out>(a);
  } else if constexpr (op == Op::named_variance) {
    return shardtype::var<Out>(a);
  } else if constexpr (op == Op::named_prod) {
    return shardtype::prod<Out>(a);
  } else if constexpr (op == Op::contract) {
    return einsum<label<in.list.at[L]>...>(a, b);
  } else if constexpr (op == Op::matrix_product) {
    return matmul(a, b);
  } else if constexpr (op == Op::named_contract) {
    return einsum<Out>(a, b);
  } else if constexpr (op == Op::transpose) {
    return shardtype::transpose<label<in.list.at[L]>...>(a);
  } else if constexpr (op == Op::renamed) {
    return relabel<Q, V>(relabel<V, Q>(a));
  } else if constexpr (op == Op::broadcast) {
    return shardtype::broadcast<V>(a, {n});
  } else if constexpr (op == Op::last_of_two) {
    return at<Q>(stack<Q>(a, b), 1);
  } else if constexpr (op == Op::roll) {
    return shardtype::roll<V>(a, 1);
  } else if constexpr (op == Op::flip) {
    return shardtype::flip<V>(a);
  } else if constexpr (op == Op::window) {
    Int const first = std::min<Int>(1, n);
    return pad<V>(slice<V>(a, first, n), 0, first);
  } else if constexpr (op == Op::dynamic) {
    return pad<V>(dynamic_slice<V>(a, 2 * in.to - 1, half_of(n)), 0, n / 2);
  } else if constexpr (op == Op::replaced) {
    return dynamic_update<V>(a, slice<V>(b, 0, half_of(n)), 2 * in.to - 1);
  } else if constexpr (op == Op::spread) {
    return slice<V>(pad<V>(a, 0, 1, op::Interior{1}), 0, n);
  } else if constexpr (op == Op::repeated) {
    return slice<V>(repeat<V>(a, 2), 0, n);
  } else if constexpr (op == Op::tiled) {
    return slice<V>(tile<V>(a, 2), n / 2, n / 2 + n);
  } else if constexpr (op == Op::halves) {
    return concat<V>(slice<V>(a, n / 2, n), slice<V>(b, 0, n / 2));
  } else if constexpr (op == Op::sorted) {
    return sort<V>(a);
  } else if constexpr (op == Op::shift) {
    return shardtype::shift<V>(a, 1);
  } else if constexpr (op == Op::wrapped) {
    return shardtype::shift<V>(a, -1, op::Edge::wrap);
  } else if constexpr (op == Op::running_sum) {
    return cumsum<V>(a);
  } else if constexpr (op == Op::running_sum_back) {
    return cumsum<V>(a, op::Cumulate::exclusive, op::Direction::reverse);
  } else if constexpr (op == Op::running_product) {
    return cumprod<V>(a);
  } else if constexpr (op == Op::top) {
    return pad<V>(top_k<V>(a, half_of(n)).values, 0, n / 2);
  } else if constexpr (op == Op::triangle) {
    return tril<V, label<in.to>>(a);
  } else if constexpr (op == Op::reshaped) {
    return merge_dims<Q, programs::R, V>(split_dim<V, Q, programs::R>(a, {n, 1}));
  } else if constexpr (is_lookup(op)) {
    using Ids = ids_of<P, At>;
    Ids const ids = from_host<Ids>(on.mesh, extents_of<Ids>(in.ids, on.n), drawn_ids(in, on.n));
    if constexpr (op == Op::look_up) {
      return take<V>(a, ids);
    } else if constexpr (op == Op::add_rows) {
      return scatter_add<label<in.to>>(a, ids, on.n[std::size_t{in.to}]);
    } else if constexpr (op == Op::look_along) {
      return take_along<V>(a, ids);
    } else {
      return scatter_along<V>(a, ids, n);
    }
  } else if constexpr (op == Op::to_partial) {
    return shardtype::to_partial<Axis>(a);
  } else if constexpr (op == Op::reduced) {
    return shardtype::reduced<Axis>(a);
  } else if constexpr (op == Op::used_as) {
    return shardtype::used_as<Reduced<Axis>>(a);
  } else if constexpr (op == Op::reshard) {
    return shardtype::reshard<Out>(a);
  } else if constexpr (op == Op::all_gather) {
    return shardtype::all_gather<Axis>(a);
  } else if constexpr (op == Op::all_reduce) {
    return shardtype::all_reduce<Axis>(a);
  } else if constexpr (op == Op::reduce_scatter) {
    return shardtype::reduce_scatter<Axis, V>(a);
  } else {
    static_assert(op == Op::all_to_all);
    return shardtype::all_to_all<Axis, V, label<in.to>>(a);
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
                                    programs::nth<in.operand[1]>(values...),
                                    std::make_integer_sequence<int, in.list.size>{});
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
  dense::At out{};
  for (int l = 0; l < labels; ++l) {
    Int& n = out[static_cast<std::size_t>(l)];
    n = draw.one_in(9) ? 0 : 1 + draw.below(most_extent);
    if (p.needs_elements[l] && n == 0) n = 1;
  }
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
    if constexpr (sizeof...(K) == 1) {
      compare(std::integral_constant<int, Actives<P>::at(0)>{}, both.grad);
    } else {
      (compare(std::integral_constant<int, Actives<P>::at(K)>{},
               std::get<std::size_t{K}>(both.grad)),
       ...);
    }
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
