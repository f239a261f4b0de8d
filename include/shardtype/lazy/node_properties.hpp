#pragma once
/// Properties of a program's nodes that the types of an expression determine: the dims that an
/// operation cannot have split, the operands that may be unreduced together, the name of a function
/// of blocks.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/check/counted.hpp>
#include <shardtype/lazy/expression.hpp>
#include <shardtype/lazy/located_block.hpp>
#include <shardtype/plan/program_builder.hpp>

namespace shardtype::detail {

/// The sets of operands of a function that may be unreduced over the same axis together; operands
/// are numbered from `slot` on.
template <class A>
struct UnreducedTogether {
  static constexpr planning::UnreducedSets sets(int& slot) {
    planning::UnreducedSets out;
    if constexpr (is_lazy<A>) out.add(1U << slot++);
    if constexpr (std::is_same_v<A, Number<op::Zero>>)
      out.size = 1;  // the empty set: a zero is a summand of any unreduced value
    return out;
  }
};
template <class F, class... Args>
struct UnreducedTogether<LazyMap<F, Args...>> {
  static constexpr planning::UnreducedSets sets(int& slot) {
    using common = typename ElementFor<F, argument_t<Args>...>::type;
    planning::UnreducedSets each[sizeof...(Args)];
    int k = 0;
    ((each[k++] = UnreducedTogether<Args>::sets(slot)), ...);
    return planning::unreduced_sets(linearity_of<F, common>, each, k);
  }
};

/// The name of a function of blocks in a plan.
template <class F>
constexpr char const* block_function_name() {
  if constexpr (requires { F::program_name; }) {
    return F::program_name;
  } else {
    return "shard_map";
  }
}

/// Whether ranks that hold parts of a dim that the result lacks may compute summands of it.
template <class Op>
inline constexpr bool sums_parts = requires { requires Op::sums_parts; };
/// Whether it reads its operands again when the totals are known.
template <class Op>
inline constexpr bool rereads_rows = false;
template <class Op>
  requires requires { Op::rereads_rows; }
inline constexpr bool rereads_rows<Op> = Op::rereads_rows;

/// Whether ranks exchange rows, or totals of rows, where the dim that `Op` works along is split.
template <class Op>
inline constexpr bool exchanges_rows = requires { requires Op::exchanges_rows; };
/// Whether dims of one index have one extent in all operands, though the result's has another.
template <class Op>
inline constexpr bool operands_meet = requires { requires Op::operands_meet; };
/// The number of the operand with a dim of Op::aligned.
template <class Op>
inline constexpr std::size_t aligned_operand = 0;
template <class Op>
  requires requires { Op::aligned_operand; }
inline constexpr std::size_t aligned_operand<Op> = Op::aligned_operand;
/// Whether ranks make only their own parts of dims that `Op` creates.
template <class Op>
inline constexpr bool makes_parts = requires { requires Op::makes_parts; };

/// How many of its operands the totals of rows are made of.
template <class Op>
inline constexpr int totals_of = 1;
template <class Op>
  requires requires { Op::totals_of; }
inline constexpr int totals_of<Op> = Op::totals_of;

/// Whether ranks may share the rows that `Op` works on: they join totals of the reduction
/// `Op::row_totals`.
template <class Op>
inline constexpr bool joins_totals = false;
template <class Op>
  requires requires { typename Op::row_totals; }
inline constexpr bool joins_totals<Op> =
    rereads_rows<Op> || Op::row_totals::kind == ReductionKind::whole;
template <class A, class... As>
struct FirstOperand {
  using type = typename A::whole;
};
/// The run-time arguments of `op` that decide about its plan or its work, as a number; 0: their
/// defaults.
template <class Op>
constexpr std::int32_t variant_of([[maybe_unused]] Op const& op) {
  if constexpr (requires { op.variant(); }) {
    return op.variant();
  } else {
    return 0;
  }
}
/// An operation with such arguments, and else with default ones.
template <class Op>
constexpr Op of_variant([[maybe_unused]] std::int32_t number) {
  if constexpr (requires { Op::of_variant(number); }) {
    return Op::of_variant(number);
  } else {
    return Op{};
  }
}
template <class Op>
inline constexpr bool has_variants = requires(Op const& op) { op.variant(); };
/// Whether a constant has one.
template <class Op>
concept HasVariant = has_variants<Op> || (std::is_default_constructible_v<Op> &&
                                          requires { typename std::bool_constant<(Op{}, true)>; });
/// Whether the extents of the dims that `Op` makes depend on its operands alone.
template <class Op>
inline constexpr bool makes_by_operands = std::is_empty_v<Op>;
template <class Op>
  requires requires { Op::makes_by_operands; }
inline constexpr bool makes_by_operands<Op> = Op::makes_by_operands;
/// The extents of the dims of result `K` of a recorded operation that it makes.
template <class Op, std::size_t K, class... As>
struct OperationExtents {
  static constexpr bool known = false;
};
template <class Op, std::size_t K, class... As>
  requires(Ruled<Op> && makes_by_operands<Op> && std::is_default_constructible_v<Op>)
struct OperationExtents<Op, K, As...> {
  using R = Resolve<Op, typename As::whole...>;
  static constexpr bool known = true;
  static constexpr void set(RecordedProgram& p, int node, int made) {
    ProgramNode const& n = p.nodes.at[made];
    std::int64_t each[sizeof...(As)][max_dims]{};
    std::int64_t const* given[sizeof...(As)]{};
    for (int k = 0; k < n.operands; ++k) {
      ProgramNode const& from = p.nodes.at[p.operand(made, 0, k)];
      for (int d = 0; d < from.rank; ++d) {
        each[k][d] = p.extents.at[from.labels[n.place(k, d)]];
        if (each[k][d] == dynamic) return;
      }
      given[k] = each[k];
    }
    std::int64_t out[max_dims]{};
    if constexpr (HasResults<Op>) {
      auto const all = R::extents(Op{}, p.sizes, given);
      for (int d = 0; d < max_dims; ++d) out[d] = all.at[K][d];
    } else {
      R::set_extents(Op{}, p.sizes, given, out);
    }
    for (int d = 0; d < p.nodes.at[node].rank; ++d) {
      std::int64_t& extent = p.extents.edit(p.nodes.at[node].labels[d]);
      if (extent == dynamic) extent = out[d];
    }
  }
};

/// The work of a recorded operation, as its strict call counts it; of its run-time arguments a plan
/// knows the variant.
template <class Op, class Whole, class... As>
struct OperationWork {};
/// Bytes of the blocks of further results of an operation, whose blocks have these extents.
template <class Op, class Whole, class... As>
constexpr std::int64_t further_bytes(RecordedProgram const& p, ProgramNode const& n,
                                     std::int64_t const* extents) {
  auto const extent_of = [&](Identity id, std::int64_t otherwise) {
    std::int64_t found = otherwise;
    auto const look = [&]<class A>(Type<A>, ProgramNode const& value, int operand) {
      using S = Scope<A>;
      for (int d = 0; d < value.rank; ++d)
        if (S::names.label_id[S::parsed[0].spec.dims[d].label] == id)
          found = extents[value.labels[operand < 0 ? d : n.place(operand, d)]];
    };
    int k = 0;
    ((look(Type<typename As::whole>{}, p.nodes.at[p.uses.at[n.first_use + k]], k), ++k), ...);
    look(Type<Whole>{}, n, -1);
    return found;
  };
  auto const bytes_of = [&]<class Out>(Type<Out>) {
    using S = Scope<Out>;
    auto bytes = static_cast<std::int64_t>(sizeof(element_t<Out>));
    for (int d = 0; d < S::parsed[0].spec.rank; ++d) {
      int const label = S::parsed[0].spec.dims[d].label;
      std::int64_t const known = S::names.label_extent[label];
      bytes = core::mul_sat(bytes, extent_of(S::names.label_id[label], known < 0 ? 0 : known));
    }
    return bytes;
  };
  return [&]<class First, class... Further>(Type<std::tuple<First, Further...>>) {
    std::int64_t sum = 0;
    ((sum = core::add_sat(sum, bytes_of(Type<Further>{}))), ...);
    return sum;
  }(Type<typename Resolve<Op, typename As::whole...>::results>{});
}
template <class Op, class Whole, class... As>
  requires HasVariant<Op> && requires { Resolve<Op, typename As::whole...>::work; }
struct OperationWork<Op, Whole, As...> {
  static constexpr planning::Work of(RecordedProgram const& p, ProgramNode const& n,
                                     std::int64_t const* extents) {
    std::int64_t each[sizeof...(As)][max_dims]{};
    std::int64_t const* given[sizeof...(As)]{};
    for (int k = 0; k < n.operands; ++k) {
      ProgramNode const& from = p.nodes.at[p.uses.at[n.first_use + k]];
      for (int d = 0; d < from.rank; ++d) each[k][d] = extents[from.labels[n.place(k, d)]];
      given[k] = each[k];
    }
    std::int64_t made[max_dims]{};
    for (int d = 0; d < n.rank; ++d) made[d] = extents[n.labels[d]];
    planning::Work work = Resolve<Op, typename As::whole...>::work(
        detail::of_variant<Op>(n.variant), Sizes{}, given, made);
    if constexpr (HasResults<Op>)
      work.workspace =
          core::add_sat(work.workspace, detail::further_bytes<Op, Whole, As...>(p, n, extents));
    return work;
  }
};
/// A reduction reads each element once, and has a total for each result.
template <class Op, class Whole, class A>
  requires requires { typename Op::reduces_by; }
struct OperationWork<Op, Whole, A> {
  static constexpr planning::Work of(RecordedProgram const& p, ProgramNode const& n,
                                     std::int64_t const* extents) {
    std::int64_t read = 1;
    std::int64_t made = Op::reduces_by::template total_bytes<element_t<typename A::whole>>;
    ProgramNode const& from = p.nodes.at[p.uses.at[n.first_use]];
    for (int d = 0; d < from.rank; ++d) read = mul_sat(read, extents[from.labels[d]]);
    for (int d = 0; d < n.rank; ++d) made = mul_sat(made, extents[n.labels[d]]);
    if constexpr (HasResults<Op>)
      made = core::add_sat(made, detail::further_bytes<Op, Whole, A>(p, n, extents));
    return {read, made, false};
  }
};

/// Requirements of an operation on the dims of its operands and its result.
template <class Op, class Whole, class... As>
struct OperationDims;
/// Those of a recorded operation.
template <class Node>
struct DimsOfNode;
template <class Op, class Whole, class... As>
struct DimsOfNode<LazyOperation<Op, Whole, As...>> : OperationDims<Op, Whole, As...> {
  template <std::size_t K>
  using extents = OperationExtents<Op, K, As...>;
};

template <class Op, class Whole, class... As>
struct OperationDims {
  static constexpr int count = static_cast<int>(sizeof...(As));
  /// Labels that it works on, or creates.
  static constexpr LabelSet mentioned = [] {
    LabelSet out = detail::labels_in<typename FromOf<Op>::type>();
    out.add(detail::labels_in<typename ToOf<Op>::type>());
    return out;
  }();
  /// Whether a dim that it works on may change its extent.
  static constexpr bool resizes =
      requires(Op const& op, ResultExtents const& c) { op.extents(c); } || HasResults<Op>;

  /// Labels whose dims of the operands and of the result may have different extents.
  static constexpr LabelSet apart() {
    LabelSet out;
    for (int k = 0; resizes && k < mentioned.size; ++k)
      if (!divides(mentioned.at[k])) out.add(mentioned.at[k]);
    return out;
  }
  /// Whether the operation applied to blocks split equally along `id` gives the corresponding block
  /// of the result, by its own rule.
  static constexpr bool divides(Identity id) {
    if (mentioned.contains(id) && !reads_places<Op> && !exchanges_rows<Op>) return false;
    if (!detail::labels_in<Whole>().contains(id)) return false;
    if (!(detail::labels_in<typename As::whole>().contains(id) || ...)) return makes_parts<Op>;
    if constexpr (!Ruled<Op>) {
      return true;
    } else if constexpr (HasResults<Op>) {
      auto const all = split_along(id);
      for (Verdict const& v : all.at)
        if (!splits(v, label_of(id))) return false;
      return true;
    } else {
      return splits(split_along(id), label_of(id));
    }
  }
  /// Whether blocks split along `id`, which the result lacks or has with another extent, give parts
  /// of a pending reduction, by the operation's own rule. Only of operations that say so, because
  /// blocks must do.
  static constexpr bool sums(Identity id) {
    if constexpr (sums_parts<Op>) {
      if (detail::labels_in<Whole>().contains(id) && !apart().contains(id)) return false;
      Verdict const v = parts_along(id);
      return v && v.result.unreduced.contains(0);
    } else {
      return false;
    }
  }
  /// The kind of that reduction; all such labels have one.
  static constexpr ReduceKind kind_of_sums(Identity id) { return parts_along(id).result.kind; }
  /// Whether a result is accepted, with the dim `label` split.
  static constexpr bool splits(Verdict const& v, int label) {
    if (!v || !v.result.unreduced.empty()) return false;
    int const d = v.result.find(label);
    return d >= 0 && v.result.dims[d].axes.size == 1;
  }
  /// A bit for each dim of a value that must not be split. `read`: of an operand.
  static constexpr std::uint8_t whole(Identity const* dims, int rank, bool read) {
    unsigned out = 0;
    for (int d = 0; d < rank; ++d)
      if (!divides(dims[d]) && !(read && sums(dims[d]))) out |= 1U << d;
    return static_cast<std::uint8_t>(out);
  }

 private:
  static constexpr int label_of(Identity id) {
    return RuleOf<Op, typename As::whole...>::S::names.find_label(id);
  }
  /// What the rule says where `id` is split over axis 0, of parts that blocks give.
  static constexpr Verdict parts_along(Identity id) {
    return asked_along(id, [](rules::Question const& q) {
      if constexpr (requires { Op::parts(q); }) {
        return Op::parts(q);
      } else {
        return Op::rule(q);
      }
    });
  }
  /// What the rule says where `id` is split over axis 0, and ranks exchange rows.
  static constexpr auto split_along(Identity id) {
    if constexpr (requires(rules::Question const& q) { Op::across(q); }) {
      return asked_along(id, &Op::across);
    } else {
      return asked_along(id, &Op::rule);
    }
  }
  template <class Rule>
  static constexpr auto asked_along(Identity id, Rule rule) {
    using R = RuleOf<Op, typename As::whole...>;
    int const label = label_of(id);
    Spec split[sizeof...(As)];
    for (int k = 0; k < count; ++k) {
      split[k] = R::S::parsed[k].spec;
      if (int const d = split[k].find(label); d >= 0) split[k].dims[d].axes.push(0);
    }
    Sizes sizes{};
    sizes.at[0] = dynamic;
    rules::Question const q{split,
                            count,
                            R::S::parsed[count].spec,
                            R::S::parsed[count + 1].spec,
                            R::S::names.extents(),
                            sizes,
                            std::is_same_v<element_t<typename FirstOperand<As...>::type>, bool>};
    return rule(q);
  }
};

/// The dim of a type with this label, or -1.
template <class A>
constexpr int place_of(Identity id) {
  return Scope<A>::parsed[0].spec.find(Scope<A>::names.find_label(id));
}
/// Notes the dims of an operation and of an operand that are split alike: Op::aligned has the
/// operand's label and the result's. Op::tail: the dim that runs fastest in the longer of them.
template <class Op, class Whole, class... As>
constexpr void note_aligned(ProgramNode& n) {
  constexpr std::size_t operand = aligned_operand<Op>;
  using A = std::tuple_element_t<operand, std::tuple<typename As::whole...>>;
  auto const in_operand = [&](Identity id) {
    int const d = detail::place_of<A>(id);
    return static_cast<std::int8_t>(d < 0 ? -1 : n.place(operand, d));
  };
  auto const in_result = [](Identity id) {
    return static_cast<std::int8_t>(detail::place_of<Whole>(id));
  };
  auto const may_split = [&](int party, int d) {
    n.whole[party] = static_cast<std::uint8_t>(n.whole[party] & ~(1U << d));
  };
  int const party = static_cast<int>(operand) + 1;
  n.aligned_operand = static_cast<std::int8_t>(operand);
  [&]<class From, class To>(Pack<From, To>) {
    n.aligned_with = in_operand(core::identity<From>);
    n.aligned_dim = in_result(core::identity<To>);
  }(typename Op::aligned{});
  may_split(party, n.aligned_with);
  may_split(0, n.aligned_dim);
  if constexpr (requires { typename Op::tail; }) {
    Identity const tail = core::identity<typename Op::tail>;
    bool const of_result = in_result(tail) >= 0;
    n.tail_party = static_cast<std::int8_t>(of_result ? 0 : party);
    n.tail_dim = of_result ? in_result(tail) : in_operand(tail);
    may_split(n.tail_party, n.tail_dim);
  }
}

}  // namespace shardtype::detail
