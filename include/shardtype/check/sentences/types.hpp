#pragma once
/// Refusals of tensor types.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::T01_axis_twice, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T01] a mesh axis is listed twice in one tensor type. Each axis "
                "may split one dim, or be in Unreduced, or in Reduced. Drop it from all but "
                "one place.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T02_index_twice, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T02] two dims have the same index. Give one of them an index of its "
                "own.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T03_not_canonical, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T03] this tensor type is not in canonical form. Write the dims, then "
                "Unreduced, then Reduced, then Memory, each at most once and none without axes, "
                "their axes sorted by name; tensor_t<...> spells it for you.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T04_unknown_part, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T04] a tensor type has a part that is no Dim and no attribute. Write "
                "Tensor<float, Dim<I, X>, Dim<J>, Unreduced<Y>>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T05_not_an_axis, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T05] a mesh axis stands where an index belongs, or the other way "
                "round. First in a Dim is an index (struct I : Index<\"I\"> {};), all else "
                "are mesh axes (struct X : Axis<\"X\", 2> {};). Collectives of Locals name a "
                "kind if any, then axes, then indices: reduce_scatter<Max, X, I>(a).");
};
template <bool legal, class... YourTypes>
struct refused<Code::T06_same_name, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T06] two different types of one operation have the same name, so "
                "plans and messages could not tell them apart. Rename one, or use one type in "
                "both.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T07_too_many, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T07] one operation has more than 8 indices, 8 operands or 6 mesh axes, or a "
      "program of automatic mode more than 4 axes. Split it into two.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T08_element_type, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T08] a tensor cannot hold this element type. Use float, double, "
      "bfloat16, bool, std::int32_t, std::int64_t or Kokkos::complex of float or double, without "
      "const.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T09_not_a_tensor, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T09] an operand is not a Tensor. Create one first: full, "
                "from_host, from_function, load_npy.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T10_too_many_elements, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T10] by its static extents a tensor here, or a value that an "
                "expression needs, would have more than 2^58 elements, which no tensor has. "
                "Make extents smaller, or reduce before the large value is formed.");
};

template <bool legal, class... YourTypes>
struct refused<Code::T11_not_callable, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T11] the function given here cannot be called with these argument "
                "types (the types above): it has another number of parameters, or other "
                "types. shard_map gives a Local per tensor, map an element of each, loop the "
                "round and the carry, from_function one std::int64_t per dim, grad each argument.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T12_not_created, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T12] no tensor is made of these arguments. Element type and dims are "
                "template arguments; then come the mesh, an extent for each dim, and the rest: "
                "zeros<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}), full<float, Dim<I>>(mesh, {8}, "
                "1.0F), normal<float, Dim<I>>(mesh, {8}, RandomKey{7}).");
};
template <bool legal, class... YourTypes>
struct refused<Code::T13_two_rules, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype T13] two rules of these train::Shardings split the same index. Write "
                "all its mesh axes in one rule, major to minor: train::Split<D, X, Y>.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T14_no_value, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T14] a tensor without a value: it has no mesh. Create it with its value, "
      "auto a = zeros<A>(mesh); of a model, all at once: auto m = "
      "train::initialize<Model<value_t>>(mesh, key, init), or Model<value_t> m{a, b}.");
};
/// What an operation lacks.
struct NoName {};
struct NoRule {};
struct NoWayToRun {};
template <bool legal, class... YourTypes>
struct refused<Code::T18_lacks_a_member, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T18] this operation lacks a public member, which the types above name. "
      "It has static constexpr std::string_view name, static constexpr op::Verdict "
      "rule(op::Question const& q), and a way to run, a template kernel(exec, out, in...) "
      "const with a Kokkos View for each result and operand.");
};
template <bool legal, class... YourTypes>
struct refused<Code::T19_no_memory_space, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype T19] to_memory names something that is no memory space of Kokkos. Write "
      "to_memory<Kokkos::HostSpace>(a), or to_memory<>(a) for the memory of the default "
      "execution space; behind the space, dims and attributes may name the result.");
};

}  // namespace shardtype::checking
