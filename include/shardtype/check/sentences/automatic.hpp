#pragma once
/// Refusals of automatic mode.

#include <shardtype/check/refused.hpp>
#include <shardtype/rules/program_limit.hpp>

namespace shardtype::checking {

/// The limit that a program exceeds, in the types of L03.
template <rules::ProgramLimit>
struct Exceeds {};
/// Whether no other limit is known to be exceeded.
template <rules::ProgramLimit limit, class... YourTypes>
inline constexpr bool within = true;
template <rules::ProgramLimit limit, class... YourTypes>
inline constexpr bool within<limit, Exceeds<limit>, YourTypes...> = false;
/// Whether the limit is known.
template <class... YourTypes>
inline constexpr bool names_limit = false;
template <rules::ProgramLimit limit, class... YourTypes>
inline constexpr bool names_limit<Exceeds<limit>, YourTypes...> = true;

template <bool legal, class... YourTypes>
struct refused<Code::L01_not_recorded, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype L01] automatic mode does not record this operation. Evaluate its operand "
      "first and use the tensor: lazy(op(evaluate<Dim<...>...>(mesh, e))).");
};
template <bool legal, class... YourTypes>
struct refused<Code::L02_cyclic, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L02] automatic mode plans blocks only; a value of the expression, or "
                "the result, has a Cyclic dim. Only operations on that layout, such as "
                "lu_factor, read a tensor that has it, or a result of theirs. Reshard it before "
                "or after: one all_to_all.");
};
template <bool legal, class... YourTypes>
struct refused<Code::L03_too_large, legal, YourTypes...> : Poisoned {
  static_assert(
      legal || names_limit<YourTypes...>,
      "[shardtype L03] one expression is too large for the planner. Evaluate a part of it first.");
  static_assert(legal || within<rules::ProgramLimit::values, YourTypes...>,
                "[shardtype L03] one expression has more than 1024 values, the parts of its chains "
                "of products included. Evaluate a part of it first.");
  static_assert(legal || within<rules::ProgramLimit::factors, YourTypes...>,
                "[shardtype L03] one chain of products has more than 14 factors. Evaluate a part "
                "of it first, or share a part: share(a * b) * c.");
  static_assert(legal || within<rules::ProgramLimit::constant, YourTypes...>,
                "[shardtype L03] the values that this expression reads several times have too many "
                "layouts for a plan that is a constant: evaluate finds it at the first call. In a "
                "test, dry_run<A, B>(f).planned() gives it. Evaluate a part first for a constant.");
};
template <bool legal, class... YourTypes>
struct refused<Code::L04_memory_limit, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype L04] no plan of the expression keeps to the memory limit of its policy. "
      "Raise the limit, or name a result that is split further.");
};
template <bool legal, class... YourTypes>
struct refused<Code::L05_not_evaluated, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L05] plan_traced and dry_run plan what evaluate names; this function "
                "returns something else. Return evaluate<Dim<...>...>(e) from it.");
};
template <bool legal, class... YourTypes>
struct refused<Code::L06_not_a_policy, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L06] this is not a policy. A policy is MemoryLimit<bytes>{}, or a "
                "struct of your own with `static constexpr Machine machine` or `static "
                "constexpr std::int64_t memory_limit`; a Machine alone is none.");
};

template <bool legal, class... YourTypes>
struct refused<Code::L07_other_indices, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L07] the result that evaluate names has other indices than the "
                "expression. Name a Dim for each of them, evaluate<Dim<I, X>, Dim<K>>(mesh, e). a "
                "* b sums over nothing where one operand has all indices of the other: sum<J>(a * "
                "b), or einsum<I>(a, b).");
};
template <bool legal, class... YourTypes>
struct refused<Code::L08_no_sharding, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L08] automatic mode does not choose the shardings of shard_map, nor "
                "of operations that communicate by themselves, such as lu_factor and attention "
                "in a ring: each argument has one, and each index of the result is an argument's "
                "or has a static extent. Name it: constrain<Dim<I, X>, Dim<J>>(e), which "
                "reshards where it must.");
};
template <bool legal, class... YourTypes>
struct refused<Code::L09_results_named, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L09] evaluate names other than one result for each expression. Name a "
                "Tensor type for each: evaluate<Outs<A, B>>(mesh, std::tuple(e, f)).");
};
template <bool legal, class... YourTypes>
struct refused<Code::L10_active, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype L10] automatic mode inside of a function whose gradient is wanted: its "
                "results would carry no gradient. Plan both passes together: evaluate(mesh, "
                "value_and_grad<0>(f), a), with f in operations alone; or use strict operations.");
};

}  // namespace shardtype::checking
