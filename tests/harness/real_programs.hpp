// Random programs (harness/programs.hpp) drawn in the compiler and run as real ones: real types, real
// tensors, real ranks. Each value is compared with the interpreter's dense one.
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
using Names = Scope<Tensor<Int, Dim<I>, Dim<J>, Dim<K>, Reduced<X, Y, Z>>>;
template <int L>
using label = std::tuple_element_t<static_cast<std::size_t>(L), std::tuple<I, J, K>>;
template <int A>
using axis = std::tuple_element_t<static_cast<std::size_t>(A), std::tuple<X, Y, Z>>;

/// The type of value `V` of program `P`.
template <class P, int V>
struct SpecOf {
  static constexpr Spec value = P::value.spec(V);
};
template <class P, int V>
using type_of = tensor_from_spec<Names, SpecOf<P, V>, Int, Tensor<Int>>;

/// The calling rank's part in one run of a program, as values, so that its code exists once.
class Run {
 public:
  Run(Mesh<X, Y, Z> const& on, Program const& p, std::uint64_t seed)
      : mesh(on), z(draw_sizing(on, p, seed)), single_(one_rank(z)), program_(p) {
    axes_ = map_axes(mesh.state(), Names::names);
    for (int k = 0; k < inputs; ++k) dense_.push_back(meant_input(p.input[k], k, z));
    for (int k = 0; k < p.size; ++k) {
      Instruction const& in = p.code[k];
      auto const of = [&](int which) -> Distributed const& {
        return dense_[static_cast<std::size_t>(in.operand[which])];
      };
      dense_.push_back(single_.run(in, of(0), of(1), of(2)));
    }
  }

  Mesh<X, Y, Z> const& mesh;
  Sizing z;
  int wrong = 0;

  void fill(int which, Int* block) const {
    Spec const& s = program_.input[which];
    for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
      Extents const at = simulate::indices(s, z.extents, k);
      if (simulate::holds(s, z, axes_.coords, at)) *block++ = held(s, which, axes_.coords, at);
    }
  }
  /// Compares a block of value `v` with the dense value; what is owed is reduced first. Collective.
  void compare(int v, std::array<Int, max_dims> const& extent, Int const* block) {
    Spec const& s = program_.spec(v);
    for (int d = 0; d < s.rank; ++d)
      wrong += extent[static_cast<std::size_t>(d)] == z.extents[s.dims[d].label] ? 0 : 1;
    std::int64_t const n = local_elements(s, z.extents, z.sizes, axes_.coords);
    std::vector<Int> mine(block, block + n);
    AxisList const owed = owed_axes(s);
    if (owed.size > 0)
      ops::group_of(mesh.state(), axes_, owed).all_reduce(mine.data(), mine.data(), n, s.kind);
    auto element = mine.begin();
    for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
      if (!simulate::holds(s, z, axes_.coords, simulate::indices(s, z.extents, k))) continue;
      auto const wanted = dense_[static_cast<std::size_t>(v)].held[0][static_cast<std::size_t>(k)];
      wrong += *element++ == wanted ? 0 : 1;
    }
  }

 private:
  static Sizing draw_sizing(Mesh<X, Y, Z> const& on, Program const& p, std::uint64_t seed) {
    Draw draw(seed);
    Sizing out = random_extents(draw, p);
    out.sizes = map_axes(on.state(), Names::names).sizes;
    return out;
  }
  static Sizing one_rank(Sizing of) {
    of.sizes = {};
    return of;
  }

  Interpreter single_;
  Program const& program_;
  AxisMap axes_;
  std::vector<Distributed> dense_;
};

template <class A>
void compare(Run& run, int value, A const& a) {
  std::array<Int, max_dims> extent{};
  for (std::size_t d = 0; d < A::rank; ++d) extent[d] = a.extents()[d];
  run.compare(value, extent, static_cast<Int const*>(a.buffer().data()));
}

template <int N, class First, class... Rest>
auto const& nth(First const& first, Rest const&... rest) {
  if constexpr (N == 0) {
    return first;
  } else {
    return nth<N - 1>(rest...);
  }
}

/// Labels on the way.
struct Q : Index<"Q"> {};
struct R : Index<"R"> {};

/// Those along index V, of extent `n`.
template <class P, int At, class A, class B>
auto perform_along(Int n, A const& a, B const& b) {
  constexpr Instruction in = P::value.code[At];
  using V = label<in.from>;
  if constexpr (in.op == Op::flip) {
    return flip<V>(a);
  } else if constexpr (in.op == Op::shift) {
    return shift<V>(a, 1);
  } else if constexpr (in.op == Op::roll) {
    return roll<V>(a, 1);
  } else if constexpr (in.op == Op::running_sum) {
    return scan<V>(a);
  } else if constexpr (in.op == Op::running_max) {
    return scan<V, Max>(a);
  } else if constexpr (in.op == Op::running_min) {
    return scan<V, Min>(a);
  } else if constexpr (in.op == Op::sum_before) {
    return scan<V>(a, Scan::exclusive);
  } else if constexpr (in.op == Op::from_second) {
    return pad<V>(slice<V>(a, std::min<Int>(1, n), n), 0, std::min<Int>(1, n));
  } else if constexpr (in.op == Op::from_second_and_one) {
    return pad<V>(slice<V>(a, std::min<Int>(1, n), n), 0, std::min<Int>(1, n), Int{1});
  } else if constexpr (in.op == Op::twice_each) {
    return slice<V>(repeat<V>(a, 2), 0, n);
  } else if constexpr (in.op == Op::from_middle) {
    return slice<V>(tile<V>(a, 2), n / 2, n / 2 + n);
  } else if constexpr (in.op == Op::halves) {
    return concat<V>(slice<V>(a, n / 2, n), slice<V>(b, 0, n / 2));
  } else if constexpr (in.op == Op::renamed) {
    return squeeze<R>(expand<R>(relabel<Q, V>(relabel<V, Q>(a))));
  } else if constexpr (in.op == Op::reshaped) {
    return merge<Q, R, V>(split<V, Q, R>(a, {n, 1}));
  } else if constexpr (in.op == Op::broadcast) {
    using Dims = std::conditional_t<in.to == 0, Dim<V, axis<in.axis>>, Dim<V>>;
    return broadcast<Dims>(a, {n});
  } else if constexpr (in.op == Op::sorted) {
    return sort<V>(a);
  } else if constexpr (in.op == Op::look_up) {
    return gather<V>(a, b);
  } else if constexpr (in.op == Op::add_rows) {
    return scatter_add<V>(a, b, n);
  } else if constexpr (in.op == Op::one_hot) {
    return one_hot<V, Int>(a, n);
  } else {
    static_assert(in.op == Op::take_along);
    return take_along<V>(a, b);
  }
}

/// The operation itself, in the library's own words. `L...` count the instruction's labels.
template <class P, int At, class A, class B, class C, int... L>
auto perform(Sizing const& z, A const& a, B const& b, C const& c,
             std::integer_sequence<int, L...>) {
  constexpr Instruction in = P::value.code[At];
  using Out = type_of<P, inputs + At>;
  if constexpr (in.op == Op::negate) {
    return (-a).tensor();
  } else if constexpr (in.op == Op::absolute) {
    return abs(a).tensor();
  } else if constexpr (in.op == Op::add) {
    return (a + b).tensor();
  } else if constexpr (in.op == Op::subtract) {
    return (a - b).tensor();
  } else if constexpr (in.op == Op::multiply) {
    return (a * b).tensor();
  } else if constexpr (in.op == Op::largest) {
    return max(a, b).tensor();
  } else if constexpr (in.op == Op::smallest) {
    return min(a, b).tensor();
  } else if constexpr (in.op == Op::choose) {
    return where(a > 0, b, c).tensor();
  } else if constexpr (in.op == Op::sum) {
    return sum<label<in.list.at[L]>...>(a);
  } else if constexpr (in.op == Op::max) {
    return max<label<in.list.at[L]>...>(a);
  } else if constexpr (in.op == Op::min) {
    return min<label<in.list.at[L]>...>(a);
  } else if constexpr (in.op == Op::place) {
    return argmax<label<in.list.at[L]>...>(a);
  } else if constexpr (in.op == Op::named_sum) {
    return sum<Out>(a);
  } else if constexpr (in.op == Op::named_max) {
    return max<Out>(a);
  } else if constexpr (in.op == Op::named_min) {
    return min<Out>(a);
  } else if constexpr (in.op == Op::named_add) {
    return map<Out>(functions::Add{}, a, b);
  } else if constexpr (in.op == Op::named_multiply) {
    return map<Out>(functions::Multiply{}, a, b);
  } else if constexpr (in.op == Op::named_place) {
    return argmax<Out>(a);
  } else if constexpr (in.op == Op::contract) {
    return einsum<label<in.list.at[L]>...>(a, b);
  } else if constexpr (in.op == Op::named_contract) {
    return einsum<Out>(a, b);
  } else if constexpr (in.op == Op::transpose) {
    return transpose<label<in.list.at[L]>...>(a);
  } else if constexpr (in.op == Op::last_of_two) {
    return squeeze<Q>(slice<Q>(stack<Q>(a, b), 1, 2));
  } else if constexpr (in.op == Op::to_partial) {
    return to_partial<axis<in.axis>>(a);
  } else if constexpr (in.op == Op::reduced) {
    return reduced<axis<in.axis>>(a);
  } else if constexpr (in.op == Op::reshard) {
    return reshard<Out>(a);
  } else if constexpr (in.op == Op::all_gather) {
    return all_gather<axis<in.axis>>(a);
  } else if constexpr (in.op == Op::all_reduce) {
    return all_reduce<axis<in.axis>>(a);
  } else if constexpr (in.op == Op::reduce_scatter) {
    return reduce_scatter<axis<in.axis>, label<in.from>>(a);
  } else if constexpr (in.op == Op::all_to_all) {
    return all_to_all<axis<in.axis>, label<in.from>, label<in.to>>(a);
  } else {
    return perform_along<P, At>(z.extents[in.from], a, b);
  }
}

template <class P, int At, class... Values>
void instructions(Run& run, Values const&... values) {
  if constexpr (At < P::value.size) {
    constexpr Instruction in = P::value.code[At];
    auto const out = perform<P, At>(run.z, nth<in.operand[0]>(values...),
                                    nth<in.operand[1]>(values...), nth<in.operand[2]>(values...),
                                    std::make_integer_sequence<int, in.list.size>{});
    // the type says what the rule said of the values
    static_assert(std::is_same_v<std::remove_const_t<decltype(out)>, type_of<P, inputs + At>>);
    compare(run, inputs + At, out);
    instructions<P, At + 1>(run, values..., out);
  }
}

template <class P, int Which>
auto given(Run const& run) {
  using A = type_of<P, Which>;
  detail::extents_of<A> extents{};
  for (std::size_t d = 0; d < A::rank; ++d)
    extents[d] = run.z.extents[P::value.input[Which].dims[d].label];
  A out = detail::uninitialized<A>(run.mesh, extents);
  run.fill(Which, static_cast<Int*>(out.buffer().data()));
  return out;
}

template <std::uint64_t Seed>
struct Drawn {
  static constexpr Program value = generate(Seed, 4);
};

/// Elements that differ, over two draws of extents.
template <std::uint64_t Seed>
int differences(Mesh<X, Y, Z> const& mesh) {
  using P = Drawn<Seed>;
  int wrong = 0;
  for (std::uint64_t draw = 0; draw < 2; ++draw) {
    Run run(mesh, P::value, 2 * Seed + draw);
    instructions<P, 0>(run, given<P, 0>(run), given<P, 1>(run));
    wrong += run.wrong;
  }
  return wrong;
}

inline std::vector<std::array<std::int64_t, 3>> grids(int ranks) {
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

/// Programs First, First + 1, ... on all grids of the ranks there are.
template <std::uint64_t First, std::uint64_t... Seed>
void run_programs(std::integer_sequence<std::uint64_t, Seed...>) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  using Differences = int (*)(Mesh<X, Y, Z> const&);
  static constexpr Differences all[] = {&differences<First + Seed>...};
  for (auto const& grid : grids(ranks)) {
    Mesh<X, Y, Z> const mesh(MPI_COMM_WORLD, grid);
    std::uint64_t seed = First;
    for (Differences const program : all) {
      CAPTURE(seed, grid[0], grid[1], grid[2]);
      CHECK(program(mesh) == 0);
      ++seed;
    }
  }
}

}  // namespace programs
