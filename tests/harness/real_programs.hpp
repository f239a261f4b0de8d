// Random programs (harness/programs.hpp) drawn at compile time and run with real types, tensors and
// ranks. Each value is compared with its dense meaning.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/draw_programs.hpp"
#include "harness/host_block.hpp"
#include "harness/meaning.hpp"
#include "harness/real_operations.hpp"

namespace programs {

/// The calling rank's part in one run of a program, as values, so that its code is compiled once.
class Run {
 public:
  Run(Mesh<X, Y, Z> const& on, Program const& p, std::uint64_t seed)
      : mesh(on), z(draw_sizing(on, p, seed)), program_(p) {
    axes_ = map_axes(mesh.state(), Names::names);
    for (int k = 0; k < inputs; ++k) dense_.push_back(meant_input(p, k, z));
    for (int k = 0; k < p.size; ++k) {
      Instruction const& in = p.code[k];
      auto const of = [&](int which) -> Distributed const& {
        return dense_[static_cast<std::size_t>(in.operand[which])];
      };
      dense_.push_back(meaning(in, of(0), of(1), of(2), z));
    }
  }

  Mesh<X, Y, Z> const& mesh;
  planning::Sizing z;
  int wrong = 0;

  template <class T>
  void fill(int which, T* block) const {
    Spec const& s = program_.input[which];
    simulate::for_held(s, z, axes_.coords, [&](std::size_t, Extents const& at) {
      *block++ = static_cast<T>(held(program_, which, z.sizes, axes_.coords, at));
    });
  }
  /// Compares a block of value `v`, in sharding `s`, with the dense value; an unreduced value is
  /// reduced first. Collective.
  template <class T>
  void compare(int v, Spec const& s, std::array<Int, core::max_dims> const& extent,
               T const* block) {
    using Wire = std::conditional_t<std::is_same_v<T, bool>, Int, T>;
    for (int d = 0; d < s.rank; ++d)
      wrong += extent[static_cast<std::size_t>(d)] == z.extents[s.dims[d].label] ? 0 : 1;
    Int const n = local_elements(s, z.extents, z.sizes, axes_.coords);
    std::vector<Wire> mine(block, block + n);
    core::AxisList const unreduced = unreduced_axes(s);
    if (unreduced.size > 0)
      execute::group_of(mesh.state(), axes_, unreduced)
          .all_reduce(mine.data(), mine.data(), n, s.kind);
    Distributed const& dense = dense_[static_cast<std::size_t>(v)];
    auto element = mine.begin();
    simulate::for_held(s, z, axes_.coords, [&](std::size_t, Extents const& at) {
      auto const place = static_cast<std::size_t>(simulate::place(dense.spec, z.extents, at));
      wrong += *element++ == static_cast<Wire>(*dense.held[0][place]) ? 0 : 1;
    });
  }

 private:
  static planning::Sizing draw_sizing(Mesh<X, Y, Z> const& on, Program const& p,
                                      std::uint64_t seed) {
    Draw draw(seed);
    planning::Sizing out = random_extents(draw, p);
    out.sizes = map_axes(on.state(), Names::names).sizes;
    return out;
  }

  Program const& program_;
  runtime::AxisMap axes_;
  std::vector<Distributed> dense_;
};

template <class A>
void compare(Run& run, int value, Spec const& s, A const& a) {
  std::array<Int, core::max_dims> extent{};
  for (std::size_t d = 0; d < A::rank; ++d) extent[d] = a.extents()[d];
  run.compare(value, s, extent, harness::host_block(a).data());
}

template <int N, class First, class... Rest>
auto const& nth(First const& first, Rest const&... rest) {
  if constexpr (N == 0) {
    return first;
  } else {
    return nth<N - 1>(rest...);
  }
}

template <class P, int At, class... Values>
void instructions(Run& run, Values const&... values) {
  if constexpr (At < P::value.size) {
    constexpr Instruction in = P::value.code[At];
    auto const out = perform<P, At>(run.mesh, run.z, nth<in.operand[0]>(values...),
                                    nth<in.operand[1]>(values...), nth<in.operand[2]>(values...));
    // the type has the sharding that the rule inferred
    static_assert(std::is_same_v<std::remove_const_t<decltype(out)>, type_of<P, inputs + At>>);
    compare(run, inputs + At, P::value.spec(inputs + At), out);
    instructions<P, At + 1>(run, values..., out);
  }
}

/// An input, or nothing if no instruction reads it.
template <class P, int Which>
auto input_tensor(Run const& run) {
  if constexpr (P::value.uses(Which)) {
    using A = type_of<P, Which>;
    detail::extents_of<A> extents{};
    for (std::size_t d = 0; d < A::rank; ++d)
      extents[d] = run.z.extents[P::value.input[Which].dims[d].label];
    A out = detail::uninitialized<A>(run.mesh, extents);
    harness::write_block(out, [&](auto const& to) { run.fill(Which, to.data()); });
    return out;
  } else {
    return 0;
  }
}

template <std::uint64_t Seed>
struct Drawn {
  static constexpr Program value = generate(Seed, 4);
};

/// The number of elements that differ, over four draws of extents.
template <std::uint64_t Seed>
int differences(Mesh<X, Y, Z> const& mesh) {
  using P = Drawn<Seed>;
  int wrong = 0;
  for (std::uint64_t draw = 0; draw < 4; ++draw) {
    Run run(mesh, P::value, 4 * Seed + draw);
    instructions<P, 0>(run, input_tensor<P, 0>(run), input_tensor<P, 1>(run));
    wrong += run.wrong;
  }
  return wrong;
}

inline std::vector<std::array<Int, 3>> grids(int ranks) {
  switch (ranks) {
    case 4:
      return {{2, 1, 2}, {1, 4, 1}};
    case 6:
      return {{3, 2, 1}, {1, 2, 3}};
    case 8:
      return {{2, 2, 2}, {1, 2, 4}};
    default:
      return {{1, ranks, 1}, {ranks, 1, 1}};
  }
}

/// Runs the programs number First, First + 1, ... on all grids of the available ranks.
template <std::size_t Count>
void run_all(std::uint64_t first, int (*const (&all)[Count])(Mesh<X, Y, Z> const&)) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (auto const& grid : grids(ranks)) {
    Mesh<X, Y, Z> const mesh(MPI_COMM_WORLD, grid);
    std::uint64_t seed = first;
    for (auto const program : all) {
      CAPTURE(seed, grid[0], grid[1], grid[2]);
      CHECK(program(mesh) == 0);
      ++seed;
    }
  }
}
template <std::uint64_t First, std::uint64_t... Seed>
void run_programs(std::integer_sequence<std::uint64_t, Seed...>) {
  static constexpr int (*all[])(Mesh<X, Y, Z> const&) = {&differences<First + Seed>...};
  run_all(First, all);
}

}  // namespace programs
