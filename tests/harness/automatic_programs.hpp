// Random programs of automatic mode: drawn in the compiler, recorded as one expression of tensors
// in drawn shardings, and evaluated to a drawn sharding. The result is compared with what the
// program means.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/real_programs.hpp"

namespace programs {

template <std::uint64_t Seed>
struct DrawnAutomatic {
  static constexpr Program value = generate(Seed, automatic_length, DrawnFor::automatic);
  static_assert(value.size > 0);
  static constexpr int last = inputs + value.size - 1;
  struct Wanted {
    static constexpr Spec value = DrawnAutomatic::value.wanted;
  };
  using result =
      core::tensor_from_spec<Names, Wanted, element_of<value.element(last)>, Tensor<Int>>;
};

/// The tag of a value that is computed once.
template <class P, int At>
struct Once {};

/// An input as an expression, or what stands for it if nothing reads it.
template <class A>
auto input_expression(A const& a) {
  if constexpr (is_tensor<A>) {
    return lazy(a);
  } else {
    return a;
  }
}

/// The expression of the last value; `values` are those before instruction `At`.
template <class P, int At, class... Values>
auto expression(Run const& run, Values const&... values) {
  if constexpr (At == P::value.size) {
    return nth<inputs + At - 1>(values...);
  } else {
    constexpr Instruction in = P::value.code[At];
    auto const out = perform<P, At>(run.mesh, run.z, nth<in.operand[0]>(values...),
                                    nth<in.operand[1]>(values...), nth<in.operand[2]>(values...));
    if constexpr (P::value.shared[At]) {
      return expression<P, At + 1>(run, values..., share<Once<P, At>>(out));
    } else {
      return expression<P, At + 1>(run, values..., out);
    }
  }
}

/// Elements that differ, over four draws of extents.
template <std::uint64_t Seed>
int automatic_differences(Mesh<X, Y, Z> const& mesh) {
  using P = DrawnAutomatic<Seed>;
  int wrong = 0;
  for (std::uint64_t draw = 0; draw < 4; ++draw) {
    Run run(mesh, P::value, 4 * Seed + draw);
    auto const e = expression<P, 0>(run, input_expression(input_tensor<P, 0>(run)),
                                    input_expression(input_tensor<P, 1>(run)));
    compare(run, P::last, P::value.wanted, evaluate<typename P::result>(mesh, e));
    wrong += run.wrong;
  }
  return wrong;
}

template <std::uint64_t First, std::uint64_t... Seed>
void run_automatic_programs(std::integer_sequence<std::uint64_t, Seed...>) {
  static_assert(First + sizeof...(Seed) - 1 <= automatic_programs);
  static constexpr int (*all[])(Mesh<X, Y, Z> const&) = {&automatic_differences<First + Seed>...};
  run_all(First, all);
}

}  // namespace programs
