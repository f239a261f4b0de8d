#pragma once
/// Tensors without data. Operations on them only record their plans, so that the plan of a function
/// of tensors is that function evaluated at compile time.

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/operand.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/check/plan_of.hpp>
#include <shardtype/plan/function_plan.hpp>

namespace shardtype::checking {

/// Whether the operations of a function depend on extents that types do not determine, where it
/// reads one: `Try` gives its open plan if they are a number. As loops that are longer, and
/// branches, have other operations, it is seen by trying three. A function that is no constant, or
/// no value of its type, cannot be tried.
template <class Try>
constexpr bool depends_on_extents() {
  if constexpr (requires { typename std::bool_constant<(Try::plan(dynamic), true)>; }) {
    if constexpr (Try::plan(dynamic).reads()) {
      if constexpr (requires { typename std::bool_constant<(Try::plan(1), Try::plan(2), true)>; }) {
        if constexpr (!Try::plan(1).counts_as(Try::plan(2))) return true;
        constexpr std::int64_t large = 1 << 20;
        if constexpr (requires { typename std::bool_constant<(Try::plan(large), true)>; })
          return !Try::plan(1).counts_as(Try::plan(large));
      }
    }
  }
  return false;
}

/// Records nothing: operations give the types of their results alone.
struct TypesOnly {};

/// A tensor or Local of type `A` without data. It has those members of a tensor that its type
/// determines: `extent<I>()` if sizes are known at compile time (else refused, A05), and
/// `tensor()`. Created by `plan(f, type<A>...)`.
///
/// `Notes`: the recorder of the operations. planning::FunctionWriter if the types determine all
/// sizes, else OpenFunctionPlan; TypesOnly if only the types of results are asked for.
template <class A, class Notes>
class Dry : public core::Argument<Dry<A, Notes>> {
 public:
  using type = A;
  using element = element_t<A>;
  static constexpr bool sized = std::is_same_v<Notes, planning::FunctionWriter>;
  static constexpr bool open = std::is_same_v<Notes, planning::OpenFunctionPlan>;
  static constexpr int dims = Scope<A>::readings[0].spec.rank;
  static constexpr std::size_t rank = static_cast<std::size_t>(dims);

  constexpr Dry(Notes& notes, std::int64_t const* extents) : notes_(&notes) {
    for (int d = 0; d < dims; ++d) extents_[static_cast<std::size_t>(d)] = extents[d];
    if constexpr (open)
      for (int d = 0; d < dims; ++d)
        extents_[static_cast<std::size_t>(d)] =
            known(d) == dynamic ? notes.reading.unknown : known(d);
    if constexpr (sized) {
      Extents of_labels;
      for (int d = 0; d < dims; ++d) of_labels.at[spec().dims[d].label] = extents[d];
      value_ = notes.hold(core::largest_elements(spec(), of_labels, Scope<A>::names.sizes()) *
                          static_cast<std::int64_t>(sizeof(element)));
    }
  }
  /// A value in the memory of another.
  template <class B>
  constexpr Dry(Notes& notes, std::int64_t const* extents, Dry<B, Notes> const& holder)
      : notes_(&notes), value_(holder.value()) {
    for (int d = 0; d < dims; ++d) extents_[static_cast<std::size_t>(d)] = extents[d];
    if constexpr (sized) notes.share(value_);
  }
  constexpr Dry(Dry const& other)
      : notes_(other.notes_), extents_(other.extents_), value_(other.value_) {
    if constexpr (sized) notes_->share(value_);
  }
  constexpr Dry& operator=(Dry const& other) {
    if (this == &other) return *this;
    if constexpr (sized) {
      notes_->share(other.value_);
      notes_->release(value_);
    }
    extents_ = other.extents_;
    value_ = other.value_;
    return *this;
  }
  constexpr ~Dry() {
    if constexpr (sized) notes_->release(value_);
  }

  /// Global extents, in the order of the dims.
  constexpr std::array<std::int64_t, rank> const& extents() const {
    if constexpr (open && !all_known()) notes_->reading.read = true;
    return extents_;
  }
  /// The same, for operations.
  constexpr std::int64_t const* extents_data() const { return extents_.data(); }
  /// Global extent of `I`. Refused A05 if it is known only at run time.
  template <class I>
  constexpr std::int64_t extent() const {
    constexpr int d = spec().find(Scope<A>::names.find_label(identity<I>));
    if constexpr (d < 0) {
      static_cast<void>(alignof(refused<Code::A03_no_such_index, false, A, I>));
    } else if constexpr (!sized && (is_local<A> || I::extent == dynamic) &&
                         !std::is_same_v<Notes, TypesOnly>) {
      // a requirement, so that the function remains a constant for clang
      static_cast<void>(requires { alignof(refused<Code::A05_run_time_extent, false, A, I>); });
    } else {
      return extents_[static_cast<std::size_t>(d)];
    }
    return 0;
  }
  constexpr Dry tensor() const { return *this; }
  constexpr Notes& notes() const { return *notes_; }
  /// Its number among the values that the notes hold.
  constexpr int value() const { return value_; }

 private:
  static constexpr Spec spec() { return Scope<A>::readings[0].spec; }
  /// The extent of a dim that the type gives, or `dynamic`.
  static constexpr std::int64_t known(int d) {
    return is_local<A> ? dynamic : Scope<A>::names.label_extent[spec().dims[d].label];
  }
  static constexpr bool all_known() {
    for (int d = 0; d < dims; ++d)
      if (known(d) == dynamic) return false;
    return true;
  }

  Notes* notes_;
  std::array<std::int64_t, rank> extents_{};
  int value_ = 0;
};

}  // namespace shardtype::checking

namespace shardtype {

namespace detail {

template <class A, class Notes>
inline constexpr bool is_dry<Dry<A, Notes>> = true;

/// The first operand without data.
template <class A, class... Rest>
constexpr auto const& first_dry(A const& a, Rest const&... rest) {
  if constexpr (is_dry<A>) {
    return a;
  } else {
    return detail::first_dry(rest...);
  }
}

/// The extents of an operand, which may be a number or a real tensor.
template <class A>
constexpr std::int64_t const* extents_or_none(A const& a) {
  if constexpr (is_dry<A>) {
    return a.extents_data();
  } else if constexpr (requires { a.extents().data(); }) {
    return a.extents().data();
  } else {
    return nullptr;
  }
}

/// The sizing of a scope, with the labels' extents as far as operands determine them.
template <class S, std::size_t Count>
constexpr Sizing sizing_from(std::int64_t const* const (&extents)[Count], std::int64_t bytes) {
  Sizing z{S::names.extents(), S::names.sizes(), bytes};
  for (std::size_t k = 0; k < Count; ++k)
    for (int d = 0; extents[k] != nullptr && d < S::readings[k].spec.rank; ++d)
      z.extents.at[S::readings[k].spec.dims[d].label] = extents[k][d];
  return z;
}

/// Adds the collectives of `op`, of sizes that are given at run time.
template <class R, class First, class Op, class Notes>
constexpr void note_counts(Notes& notes, [[maybe_unused]] Op const& op) {
  for (int c = 1; c < collective_rows; ++c) {
    auto const kind = static_cast<Collective>(c);
    if constexpr (requires { R::open_count(op, kind); }) {
      notes.counts[c] = planning::add_counts(notes.counts[c], R::open_count(op, kind));
    } else if constexpr (R::communicates) {
      if constexpr (R::S::names.all_static()) {
        notes.counts[c] = planning::add_counts(
            notes.counts[c],
            detail::shared_plan<R, StaticSizing<typename R::S, moved_t<R, First>>>().count(kind));
      } else {
        notes.counts[c] =
            planning::add_counts(notes.counts[c], PlanSet<R, moved_t<R, First>>::count(kind));
      }
    }
  }
}
/// Records the plan of `op`, which `R` resolved; returns its result, of type `Out`.
template <class R, class Op, class... As>
constexpr auto note([[maybe_unused]] Op const& op, As const&... as) {
  auto const& dry = detail::first_dry(as...);
  auto& notes = dry.notes();
  using Notes = std::remove_reference_t<decltype(notes)>;
  using Out = typename R::result;
  using First = typename std::remove_cvref_t<decltype(dry)>::type;
  std::int64_t const* const given[] = {detail::extents_or_none(as)...};
  Sizes const sizes = R::S::names.sizes();
  std::int64_t made[max_dims];
  for (std::int64_t& n : made) n = dynamic;
  if constexpr (std::is_same_v<Notes, planning::FunctionWriter>) {
    bool shares = false;
    if constexpr (requires { R::plan_call(op, sizes, given); }) {
      R::set_extents(op, sizes, given, made);
      Plan const plan = R::plan_call(op, sizes, given);
      shares = plan.shares;
      notes.note(Op::name, plan, R::S::names);
    } else if constexpr (R::S::names.all_static()) {
      // a constant, which the layers of a model share
      Plan const& plan = detail::shared_plan<R, StaticSizing<typename R::S, moved_t<R, First>>>();
      for (int d = 0; d < plan.result.rank; ++d)
        made[d] = R::S::names.extents()[plan.result.dims[d].label];
      shares = plan.size == 0;
      notes.note_constant(Op::name, plan, R::S::names);
    } else {
      Sizing const z = detail::sizing_from<typename R::S>(
          given, static_cast<std::int64_t>(sizeof(moved_t<R, First>)));
      Plan const plan = R::make_plan(z, {});
      for (int d = 0; d < plan.result.rank; ++d) made[d] = z.extents[plan.result.dims[d].label];
      shares = plan.size == 0;
      notes.note(Op::name, plan, R::S::names);
    }
    if (shares) return Dry<Out, Notes>(notes, made, dry);
  } else if constexpr (!std::is_same_v<Notes, TypesOnly>) {
    detail::note_counts<R, First>(notes, op);
  }
  return Dry<Out, Notes>(notes, made);
}

template <class R, class Notes, std::size_t... K>
constexpr auto dry_results(Notes& notes, typename R::Made const& made, std::index_sequence<K...>) {
  return std::tuple<Dry<std::tuple_element_t<K, typename R::results>, Notes>...>{
      Dry<std::tuple_element_t<K, typename R::results>, Notes>(notes, made.at[K])...};
}
/// The same of an operation with several results, which it returns as a std::tuple.
template <class R, class Op, class... As>
constexpr auto note_results([[maybe_unused]] Op const& op, As const&... as) {
  auto const& dry = detail::first_dry(as...);
  auto& notes = dry.notes();
  using Notes = std::remove_reference_t<decltype(notes)>;
  typename R::Made made;
  for (auto& each : made.at)
    for (std::int64_t& n : each) n = dynamic;
  if constexpr (std::is_same_v<Notes, planning::FunctionWriter>) {
    std::int64_t const* const given[] = {detail::extents_or_none(as)...};
    Sizes const sizes = R::S::names.sizes();
    made = R::extents(op, sizes, given);
    notes.note(Op::name, R::plan_call(op, sizes, given), R::S::names);
  } else if constexpr (!std::is_same_v<Notes, TypesOnly>) {
    detail::note_counts<R, typename std::remove_cvref_t<decltype(dry)>::type>(notes, op);
  }
  return detail::dry_results<R>(notes, made, typename R::Numbers{});
}

/// The same of a product of several operands, pair by pair.
template <class R, class Op, class A, class B, class... Rest>
constexpr auto note_pairs(Op const& op, A const& a, B const& b, Rest const&... rest) {
  if constexpr (requires { typename R::pair; }) {
    auto const product = detail::note<typename R::pair>(typename R::pair_operation{}, a, b);
    return detail::note_pairs<typename R::next>(op, product, rest...);
  } else {
    return detail::note<R>(op, a, b);
  }
}

/// An argument of a function that is being planned.
template <class A, class Notes>
constexpr Dry<A, Notes> dry_argument(Notes& notes) {
  std::int64_t extents[max_dims]{};
  using S = Scope<A>;
  for (int d = 0; d < S::readings[0].spec.rank; ++d)
    extents[d] = S::names.label_extent[S::readings[0].spec.dims[d].label];
  Dry<A, Notes> const out(notes, extents);
  if constexpr (Dry<A, Notes>::sized) notes.keep(out.value());
  return out;
}

/// The plan of a function some of whose sizes are given at run time.
template <class F, class... As>
constexpr planning::OpenFunctionPlan open_plan(F const& f, std::int64_t unknown) {
  planning::OpenFunctionPlan notes;
  notes.reading.unknown = unknown;
  static_cast<void>(f(detail::dry_argument<As>(notes)...));
  return notes;
}
template <class F, class... As>
struct TryOpenPlan {
  static constexpr planning::OpenFunctionPlan plan(std::int64_t unknown)
    requires(std::is_empty_v<F> && std::is_default_constructible_v<F>)
  {
    return detail::open_plan<F, As...>(F{}, unknown);
  }
};
/// Refuses a function whose operations depend on extents that types do not determine.
template <class F, class... As>
constexpr void check_extents() {
  if constexpr (checking::depends_on_extents<TryOpenPlan<F, As...>>())
    static_cast<void>(
        requires { alignof(checking::refused<rules::Code::A05_run_time_extent, false, As...>); });
}

}  // namespace detail

namespace api {

/// The plan of a function of tensors, from their types: `plan([](auto a, auto b) { ... }, type<A>,
/// type<B>)` evaluates the function at compile time on tensors without data, loops included. A
/// FunctionPlan if the types determine all sizes, else an OpenFunctionPlan, whose `count` is a
/// bound for all sizes. The function may call strict and named operations. Refused: as these, and
/// A05 code that depends on a run-time extent.
template <class F, class... As>
  requires(!MarksOperation<F> && (is_tensor<As> && ...) && sizeof...(As) > 0)
constexpr auto plan(F const& f, Type<As>...) {
  // the result's type comes first, because clang reports a second error if a refused plan must be a
  // constant; no name for it, which compilers would print
  if constexpr ((core::Scope<As>::names.all_static() && ...)) {
    using Notes = planning::FunctionWriter;
    Notes notes({});
    if constexpr (!checking::any_poisoned<decltype(f(std::declval<detail::Dry<As, Notes>>()...))>)
      static_cast<void>(f(detail::dry_argument<As>(notes)...));
    return notes.plan();
  } else {
    using Notes = planning::OpenFunctionPlan;
    if constexpr (checking::any_poisoned<decltype(f(std::declval<detail::Dry<As, Notes>>()...))>) {
      return Notes{};
    } else {
      Notes notes;
      static_cast<void>(f(detail::dry_argument<As>(notes)...));
      detail::check_extents<F, As...>();  // after it, so that what it refuses is said first
      return notes;
    }
  }
}

/// The plan of a strict einsum of three and more operands: that of its pairs, one after the other.
template <class... Out, class A, class B, class C, class... More>
  requires(detail::all_labels_named<Out...>)
constexpr auto plan(op::Einsum<Out...> const& op, Type<A>, Type<B>, Type<C>, Type<More>...) {
  using R = checking::Resolve<op::Einsum<Out...>, A, B, C, More...>;
  constexpr bool sized = core::Scope<A>::names.all_static() && core::Scope<B>::names.all_static() &&
                         core::Scope<C>::names.all_static() &&
                         (core::Scope<More>::names.all_static() && ...);
  if constexpr (requires { typename R::sentence; }) {
    static_cast<void>(typename R::sentence{});
    return planning::FunctionPlan{};
  } else if constexpr (!R::verdict) {
    static_cast<void>(checking::refusal<R, A, B, C, More...>{});
    return planning::FunctionPlan{};
  } else if constexpr (sized) {
    planning::FunctionWriter notes({});
    static_cast<void>(detail::note_pairs<R>(
        op, detail::dry_argument<A>(notes), detail::dry_argument<B>(notes),
        detail::dry_argument<C>(notes), detail::dry_argument<More>(notes)...));
    return notes.plan();
  } else {
    return planning::OpenFunctionPlan{};  // nothing is sent
  }
}

}  // namespace api

}  // namespace shardtype
