// One model in several shardings, for tests of checkpoints: all element types, extents that do not
// divide, blocks that are empty, and a tensor of more than one chunk of checksums.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/optimizers.hpp>

#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/temp_dir.hpp"

namespace checkpoint_models {

using namespace shardtype;

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I", 13> {};
struct J : Index<"J", 6> {};
struct Few : Index<"Few", 3> {};
struct Wide : Index<"Wide", 11027> {};

// How the dims of the tensors are split.
struct Whole {
  template <class D>
  using First = Dim<D>;
  template <class D>
  using Second = Dim<D>;
  template <class D>
  using Third = Dim<D>;
};
struct Grid {
  template <class D>
  using First = Dim<D, X>;
  template <class D>
  using Second = Dim<D, Y>;
  template <class D>
  using Third = Dim<D, X, Y>;
};
struct Turned {
  template <class D>
  using First = Dim<D>;
  template <class D>
  using Second = Dim<D, Y, X>;
  template <class D>
  using Third = Dim<D, Cyclic<X, 2>>;
};

template <class P, class T>
struct Of {
  template <template <class> class As>
  struct Layer {
    As<Tensor<T, typename P::template First<I>, typename P::template Second<J>>> weights;
    As<Tensor<T, typename P::template Second<Few>>> bias;
  };
  template <template <class> class As>
  struct Model {
    std::array<Layer<As>, 2> layers;
    As<Tensor<T, typename P::template Third<I>, Dim<J>>> rows;
    As<Tensor<double, typename P::template First<I>, typename P::template Second<Wide>>> wide;
    As<Tensor<T>> scale;
    std::tuple<As<Tensor<std::int64_t, typename P::template Second<I>>>,
               As<Tensor<std::int32_t, Dim<J>, typename P::template Third<I>>>,
               As<Tensor<bool, typename P::template First<J>>>>
        others;
    As<Tensor<Kokkos::complex<float>, typename P::template First<J>>> waves;
  };
};
template <class P, class T>
using ModelOf = typename Of<P, T>::template Model<value_t>;

// The element at a place of the array, of a tensor that is named.
template <class T>
T value_at(std::string_view path, std::int64_t salt, std::int64_t place) {
  std::uint64_t bits = static_cast<std::uint64_t>(salt * 1000003 + place);
  for (char const c : path) bits = bits * 31 + static_cast<unsigned char>(c);
  bits = (bits ^ bits >> 29) * 0x9E3779B97F4A7C15U;
  bits ^= bits >> 32;
  auto const number = static_cast<double>(static_cast<std::int64_t>(bits % 20001) - 10000);
  if constexpr (std::is_same_v<T, bool>) {
    return bits % 2 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>) {
    return static_cast<T>(number / 64);
  } else {
    return T(static_cast<float>(number), static_cast<float>(bits % 17));
  }
}

template <class A>
std::int64_t place_of(A const& a, std::array<std::int64_t, A::rank> const& index) {
  std::int64_t out = 0;
  for (std::size_t d = 0; d < A::rank; ++d) out = out * a.extents()[d] + index[d];
  return out;
}

// Calls use(element, value) for this rank's elements of all tensors of a structure, with their
// values by the paths.
template <class M, class Use>
void each_element(M& model, std::int64_t salt, Use use) {
  train::for_each_tensor(
      [&]<class A>(std::string_view path, A& a) {
        if constexpr (is_tensor<std::remove_const_t<A>>) {
          auto const all = [&](auto const& host) {
            detail::for_each_element(a, [&](std::int64_t at, auto const& index) {
              using T = typename A::element;
              use(host.data()[at], value_at<T>(path, salt, place_of(a, index)));
            });
          };
          if constexpr (std::is_const_v<A>) {
            all(harness::host_block(a));
          } else {
            harness::write_block(a, all);
          }
        }
      },
      model);
}
template <class M>
void fill(M& model, std::int64_t salt) {
  each_element(model, salt, [](auto& element, auto const& value) { element = value; });
}
// The number of elements of this rank's blocks that are not as `fill` makes them, bit for bit.
template <class M>
int wrong(M const& model, std::int64_t salt) {
  int bad = 0;
  each_element(model, salt, [&](auto const& element, auto const& value) {
    bad += std::memcmp(&value, &element, sizeof value) == 0 ? 0 : 1;
  });
  return bad;
}

template <class P, class T>
ModelOf<P, T> model_of(Mesh<X, Y> const& mesh, std::int64_t salt) {
  using M = ModelOf<P, T>;
  using Layer = typename Of<P, T>::template Layer<value_t>;
  using Others = decltype(M::others);
  auto const layer = [&] {
    return Layer{zeros<decltype(Layer::weights)>(mesh), zeros<decltype(Layer::bias)>(mesh)};
  };
  M out{{layer(), layer()},
        zeros<decltype(M::rows)>(mesh),
        zeros<decltype(M::wide)>(mesh),
        zeros<decltype(M::scale)>(mesh),
        {zeros<std::tuple_element_t<0, Others>>(mesh), zeros<std::tuple_element_t<1, Others>>(mesh),
         zeros<std::tuple_element_t<2, Others>>(mesh)},
        zeros<decltype(M::waves)>(mesh)};
  fill(out, salt);
  return out;
}
template <class State>
void fill_state(State& state, std::int64_t salt) {
  for (std::size_t k = 0; k < state.moments.size(); ++k)
    fill(state.moments[k], salt + static_cast<std::int64_t>(k) + 1);
  if (state.master) fill(*state.master, salt + 9);
  state.step = salt;
}
template <class State>
int wrong_state(State const& state, std::int64_t salt) {
  int bad = state.step == salt ? 0 : 1;
  for (std::size_t k = 0; k < state.moments.size(); ++k)
    bad += wrong(state.moments[k], salt + static_cast<std::int64_t>(k) + 1);
  if (state.master) bad += wrong(*state.master, salt + 9);
  return bad;
}

// Other grids of all ranks.
inline std::vector<Mesh<X, Y>> meshes() {
  std::vector<Mesh<X, Y>> out;
  int const n = on_ranks::rank_total();
  for (int x = 1; x <= n; ++x)
    if (n % x == 0) out.emplace_back(MPI_COMM_WORLD, std::array<std::int64_t, 2>{x, n / x});
  return out;
}

// The text of the Error that all ranks throw, or "none"; "ranks differ" if they throw another.
template <class Run>
std::string failure_of(Run run) {
  std::string mine = "none";
  try {
    run();
  } catch (Error const& e) {
    mine = e.what();
    if (e.where() != FailedOn::every_rank) mine += " (on one rank)";
  }
  std::string first = mine;
  detail::share_text(MPI_COMM_WORLD, first, 0);
  return detail::reduce_number(MPI_COMM_WORLD, first == mine ? 1 : 0, MPI_MIN) == 1
             ? mine
             : "ranks differ: " + mine;
}
inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != text.npos;
}

}  // namespace checkpoint_models
