#pragma once
/// `plan(operation, operands...)`: the plan of an operation, before anything runs.

#include <algorithm>
#include <array>
#include <tuple>

#include <shardtype/check/contraction.hpp>
#include <shardtype/check/reshard.hpp>

namespace shardtype {

namespace detail {

/// The sizing that the types of scope `S` determine, for elements of `T`.
template <class S, class T>
constexpr Sizing static_sizing() {
  return {S::names.extents(), S::names.sizes(), static_cast<std::int64_t>(sizeof(T))};
}

/// The argument for axis sizes if the types determine all of them.
inline constexpr std::array<std::int64_t, max_axes> sizes_by_type = [] {
  std::array<std::int64_t, max_axes> sizes{};
  sizes.fill(dynamic);
  return sizes;
}();

/// The extents of an operation's first labels, which has no others.
template <std::size_t n>
  requires(n < max_labels)
constexpr std::array<std::int64_t, max_labels> all_extents(
    std::array<std::int64_t, n> const& first) {
  std::array<std::int64_t, max_labels> all{};
  for (std::size_t l = 0; l < n; ++l) all[l] = first[l];
  return all;
}

/// The sizing with these extents of labels and sizes of axes where the types leave them dynamic.
constexpr Sizing sizing_at(Names const& names, std::size_t element_bytes,
                           std::array<std::int64_t, max_labels> const& extents,
                           std::array<std::int64_t, max_axes> const& sizes) {
  Sizing z{names.extents(), names.sizes(), static_cast<std::int64_t>(element_bytes)};
  for (int l = 0; l < names.labels; ++l)
    if (z.extents[l] == dynamic) z.extents.at[l] = extents[static_cast<std::size_t>(l)];
  for (int x = 0; x < names.axes; ++x)
    if (z.sizes[x] == dynamic) z.sizes.at[x] = sizes[static_cast<std::size_t>(x)];
  return z;
}

/// Nominal values for sizes that are dynamic. Scenario 0 uses medium sizes; the others make one
/// label large or small, or one axis longer.
inline constexpr int scenarios = 1 + 2 * max_dims + 2 * max_axes;

constexpr Sizing scenario(Sizing z, int number) {
  for (int l = 0; l < max_dims; ++l) {
    if (z.extents[l] != dynamic) continue;
    z.extents.at[l] = 1024;
    if (number == 1 + 2 * l) z.extents.at[l] = 65536;
    if (number == 2 + 2 * l) z.extents.at[l] = 16;
  }
  for (int x = 0; x < max_axes; ++x) {
    if (z.sizes[x] != dynamic) continue;
    z.sizes.at[x] = 4;
    if (number == 1 + 2 * max_dims + 2 * x) z.sizes.at[x] = 16;
    if (number == 2 + 2 * max_dims + 2 * x) z.sizes.at[x] = 2;
  }
  return z;
}

/// Whether this scenario differs from scenario 0 for scope `n`.
constexpr bool scenario_applies(Names const& n, int number) {
  if (number == 0) return true;
  if (number <= 2 * max_dims) {
    int const l = (number - 1) / 2;
    return l < n.labels && n.label_extent[l] == dynamic;
  }
  int const x = (number - 1 - 2 * max_dims) / 2;
  return x < n.axes && n.axis_size[x] == dynamic;
}

// Sizings as types, so that each plan is one constant, however often it is requested.
template <class S, class T>
struct StaticSizing {
  static constexpr Sizing value = detail::static_sizing<S, T>();
};
template <class S, class T, int Number>
struct ScenarioSizing {
  static constexpr Sizing value = detail::scenario(detail::static_sizing<S, T>(), Number);
};

/// The result of the first `Round + 1` parts of a long search: one constant for each part, so that
/// no single evaluation comes near a compiler's step limit.
template <class R, class Z, int Round>
struct SearchRound {
  static consteval auto before() {
    if constexpr (Round == 0) {
      return planning::Progress{};
    } else {
      return SearchRound<R, Z, Round - 1>::value;
    }
  }
  static constexpr planning::Progress value = R::progress(Z::value, before());
};
template <class R, class Z, int Round = 0>
consteval Plan plan_by_rounds() {
  if constexpr (SearchRound<R, Z, Round>::value.finished) {
    return R::finish_plan(Z::value, SearchRound<R, Z, Round>::value);
  } else {
    return detail::plan_by_rounds<R, Z, Round + 1>();
  }
}
template <class R, class Z>
consteval Plan plan_in_compiler() {
  if constexpr (requires { R::progress(Z::value, planning::Progress{}); }) {
    return detail::plan_by_rounds<R, Z>();
  } else {
    return R::make_plan(Z::value);
  }
}
/// The plan of the operation that `R` resolved, for the sizing `Z::value`.
template <class R, class Z>
inline constexpr Plan compiled_plan = detail::plan_in_compiler<R, Z>();

/// A sizing as a type; equal sizings are the same type.
template <std::int64_t Bytes, std::int64_t... N>
struct EqualSizing {
  static constexpr Sizing make() {
    std::int64_t const numbers[] = {N...};
    Sizing z;
    for (int l = 0; l < max_dims; ++l) z.extents.at[l] = numbers[l];
    for (int x = 0; x < max_axes; ++x) z.sizes.at[x] = numbers[max_dims + x];
    z.element_bytes = Bytes;
    return z;
  }
  static constexpr Sizing value = make();
};
template <class Z, std::size_t... L, std::size_t... X>
constexpr auto equal_sizing(std::index_sequence<L...>, std::index_sequence<X...>) {
  return Type<
      EqualSizing<Z::value.element_bytes, Z::value.extents.at[L]..., Z::value.sizes.at[X]...>>{};
}

/// The plan of `R`; reshards that differ only in names share it.
template <class R, class Z>
constexpr Plan const& shared_plan() {
  if constexpr (requires { requires R::from_number != 0 && R::to_number != 0; }) {
    using Equal = decltype(detail::equal_sizing<Z>(std::make_index_sequence<max_dims>{},
                                                   std::make_index_sequence<max_axes>{}));
    return compiled_plan<AlikeReshards<R::from_number, R::to_number>, typename Equal::type>;
  } else {
    return compiled_plan<R, Z>;
  }
}

/// The element type by which data that `R` moves are counted: elements of the first operand, unless
/// `R` gives the number of bytes.
template <class R, class First>
constexpr auto moved_element() {
  if constexpr (requires { R::bytes; }) {
    struct Bytes {
      char each[R::bytes];
    };
    return Type<Bytes>{};
  } else if constexpr (requires { typename R::first; }) {
    return Type<element_t<typename R::first>>{};
  } else {
    return Type<element_t<First>>{};
  }
}
template <class R, class First>
using moved_t = typename decltype(detail::moved_element<R, First>())::type;

/// Whether `plan` runs no more collectives of any kind than `bound`.
constexpr bool within(Plan const& plan, Plan const& bound) {
  for (Collective const c : all_collectives)
    if (plan.count(c) > bound.count(c)) return false;
  return true;
}

/// Whether the operation's own rule provides the plan of a call (check/operation.hpp).
template <class R, class Op>
concept SaysItsPlan = requires(Op const& op, Sizes const& z, std::int64_t const* const* given) {
  R::plan_call(op, z, given);
};
/// Such a plan if each label has one extent.
template <class R, class Op>
constexpr Plan plan_by_labels(Op const& op, Extents const& extents, Sizes const& sizes) {
  std::int64_t of[R::operands][max_dims]{};
  std::int64_t const* given[R::operands]{};
  for (int k = 0; k < R::operands; ++k) {
    Spec const& s = R::S::parsed[k].spec;
    for (int d = 0; d < s.rank; ++d) of[k][d] = extents[s.dims[d].label];
    given[k] = of[k];
  }
  return R::plan_call(op, sizes, given);
}

/// See PlanSet. A plain function, so that operations share its code.
constexpr Plan choose_plan(Plan (*make)(Sizing const&, Machine const&), Names const& names,
                           Sizing const& open, Sizing const& z, Machine const& m) {
  Plan const exact = make(z, m);
  if (names.all_static()) return exact;
  Plan best = exact;
  bool found = false;
  for (int k = 0; k < scenarios; ++k) {
    if (!scenario_applies(names, k)) continue;
    Plan other = make(scenario(open, k), m);
    if (within(exact, other)) return exact;
    other.sizing = z;
    other.own = exact.own;  // operands and result have the sizes of this call
    other.own_count = exact.own_count;
    if (!found || other.cost(m) < best.cost(m)) best = other;
    found = true;
  }
  return best;
}

/// Whether the tensors of an operation and its result can have the extents in their types.
constexpr bool counts_elements(Names const& names, ParsedType const* types, int count,
                               Spec const& result) {
  if (countable(names.label_extent, names.labels)) return true;  // all labels together
  Extents const extents = names.extents();
  for (int k = 0; k < count; ++k)
    if (types[k].real && !countable(types[k].spec, extents)) return false;
  return countable(result, extents);
}

}  // namespace detail

namespace checking {

/// The plans that an operation with run-time sizes may take. The set is closed: at run time the
/// exact planner's plan is taken if it needs no more collectives of any kind than some plan in the
/// set, else the cheapest plan of the set. So `count` holds for every size.
template <class R, class T>
struct PlanSet {
 private:
  // not a variable: nvcc needs its type as auto, which clang then considers unknown
  template <int Number>
  static constexpr Plan const& planned() {
    return detail::shared_plan<R, detail::ScenarioSizing<typename R::S, T, Number>>();
  }

  /// The maximum of `of(plan)` over all sizes.
  template <class Of, int... Number>
  static constexpr int most(Of of, std::integer_sequence<int, Number...>) {
    int n = 0;
    auto look = [&]<int K>() {
      if constexpr (detail::scenario_applies(R::S::names, K)) n = std::max(n, of(planned<K>()));
    };
    (look.template operator()<Number>(), ...);
    return n;
  }

 public:
  /// The largest number of collectives of this kind that the operation may run.
  static constexpr int count(Collective c) {
    return most([c](Plan const& p) { return p.count(c); },
                std::make_integer_sequence<int, detail::scenarios>{});
  }
  /// The largest number of all collectives that the operation may run.
  static constexpr int collectives() {
    return most([](Plan const& p) { return p.collectives(); },
                std::make_integer_sequence<int, detail::scenarios>{});
  }
  /// The plan for these extents of the labels and sizes of the axes, in order of first appearance
  /// in the operation; `dynamic` for sizes that the type determines.
  static constexpr Plan at(
      std::array<std::int64_t, max_labels> const& extents,
      std::array<std::int64_t, max_axes> const& sizes = detail::sizes_by_type) {
    return choose(detail::sizing_at(R::S::names, sizeof(T), extents, sizes));
  }
  template <std::size_t n>
    requires(n < max_labels)
  static constexpr Plan at(
      std::array<std::int64_t, n> const& extents,
      std::array<std::int64_t, max_axes> const& sizes = detail::sizes_by_type) {
    return at(detail::all_extents(extents), sizes);
  }
  /// The plan that the operation runs for this sizing.
  static constexpr Plan choose(Sizing const& z, Machine const& m = {}) {
    return detail::choose_plan(&R::make_plan, R::S::names,
                               detail::static_sizing<typename R::S, T>(), z, m);
  }
};

/// The plans of one call of an operation that has its own rule, for run-time sizes.
template <class R, class Op>
struct CallPlans {
  Op op;

  /// The number of collectives of this kind that the operation runs, for all sizes:
  /// planning::unbounded if a loop runs them whose length the sizes determine.
  constexpr int count(Collective c) const { return R::open_count(op, c); }
  /// Number of all collectives.
  constexpr int collectives() const {
    if constexpr (requires { R::open_collectives(op); }) {
      return R::open_collectives(op);
    } else {
      int n = 0;
      for (int c = 1; c < collective_rows; ++c)
        n = planning::add_counts(n, count(static_cast<Collective>(c)));
      return n;
    }
  }
  /// The plan for these extents of the labels and sizes of the axes, in order of first appearance
  /// in the operation; `dynamic` for sizes that the type determines.
  constexpr Plan at(std::array<std::int64_t, max_labels> const& extents,
                    std::array<std::int64_t, max_axes> const& sizes = detail::sizes_by_type) const {
    Sizing const z = detail::sizing_at(R::S::names, 1, extents, sizes);
    return detail::plan_by_labels<R>(op, z.extents, z.sizes);
  }
  template <std::size_t n>
    requires(n < max_labels)
  constexpr Plan at(std::array<std::int64_t, n> const& extents,
                    std::array<std::int64_t, max_axes> const& sizes = detail::sizes_by_type) const {
    return at(detail::all_extents(extents), sizes);
  }
};

}  // namespace checking

namespace api {

/// `plan(op::Matmul<Out>{}, type<A>, type<B>)`: a Plan if the types determine all sizes, else a
/// PlanSet. Communicates nothing. Refused: as the operation, with the same sentence, and T10 of its
/// types.
template <class Op, class... Operands>
  requires requires { typename Op::operation; }
constexpr decltype(auto) plan([[maybe_unused]] Op const& op, Type<Operands>...) {
  using R = checking::Resolve<Op, Operands...>;
  if constexpr (!R::verdict) {
    static_cast<void>(checking::refusal<R, Operands...>{});
    return Plan{};
  } else if constexpr (!detail::counts_elements(R::S::names, R::S::parsed, R::S::types,
                                                R::verdict.result)) {
    static_cast<void>(checking::refused<rules::Code::T10_too_many_elements, false, Operands...>{});
    return Plan{};
  } else if constexpr (detail::SaysItsPlan<R, Op>) {
    if constexpr ((core::Scope<Operands>::names.all_static() && ...)) {
      return detail::plan_by_labels<R>(op, R::S::names.extents(), R::S::names.sizes());
    } else {
      return checking::CallPlans<R, Op>{op};
    }
  } else if constexpr (R::S::names.all_static()) {
    using First = std::tuple_element_t<0, std::tuple<Operands...>>;
    // by reference: compilers copy a plan member by member
    using Z = detail::StaticSizing<typename R::S, detail::moved_t<R, First>>;
    return detail::shared_plan<R, Z>();
  } else {
    using First = std::tuple_element_t<0, std::tuple<Operands...>>;
    return checking::PlanSet<R, detail::moved_t<R, First>>{};
  }
}

/// The same plan from the tensors themselves, whose values are not used. Local variables may be
/// passed even if they are not constants; for reference parameters use the form with `type<A>`.
template <class Op, class... Operands>
  requires(sizeof...(Operands) > 0 && (is_tensor<Operands> && ...))
constexpr decltype(auto) plan(Op const& op, Operands const&...) {
  return api::plan(op, type<Operands>...);
}

}  // namespace api

/// The type of `op(operands...)`.
template <class Op, class... Operands>
using result_t = typename checking::Resolve<Op, Operands...>::result;

}  // namespace shardtype
