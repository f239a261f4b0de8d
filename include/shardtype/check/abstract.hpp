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
/// `Recorder`: what records the operations. planning::FunctionWriter if the types determine all
/// sizes, else OpenFunctionPlan; TypesOnly if only the types of results are asked for.
template <class A, class Recorder>
class Abstract : public core::Argument<Abstract<A, Recorder>> {
 public:
  using type = A;
  using element = element_t<A>;
  static constexpr bool sized = std::is_same_v<Recorder, planning::FunctionWriter>;
  static constexpr bool open = std::is_same_v<Recorder, planning::OpenFunctionPlan>;
  static constexpr int dims = Scope<A>::parsed[0].spec.rank;
  static constexpr std::size_t rank = static_cast<std::size_t>(dims);

  constexpr Abstract(Recorder& recorder, std::int64_t const* extents) : recorder_(&recorder) {
    for (int d = 0; d < dims; ++d) extents_[static_cast<std::size_t>(d)] = extents[d];
    if constexpr (open)
      for (int d = 0; d < dims; ++d)
        extents_[static_cast<std::size_t>(d)] =
            known(d) == dynamic ? recorder.reading.unknown : known(d);
    if constexpr (sized) {
      Extents of_labels;
      for (int d = 0; d < dims; ++d) of_labels.at[spec().dims[d].label] = extents[d];
      value_ = recorder.hold(core::largest_elements(spec(), of_labels, Scope<A>::names.sizes()) *
                             static_cast<std::int64_t>(sizeof(element)));
    }
  }
  /// A value in the memory of another.
  template <class B>
  constexpr Abstract(Recorder& recorder, std::int64_t const* extents,
                     Abstract<B, Recorder> const& holder)
      : recorder_(&recorder), value_(holder.value()) {
    for (int d = 0; d < dims; ++d) extents_[static_cast<std::size_t>(d)] = extents[d];
    if constexpr (sized) recorder.share(value_);
  }
  constexpr Abstract(Abstract const& other)
      : recorder_(other.recorder_), extents_(other.extents_), value_(other.value_) {
    if constexpr (sized) recorder_->share(value_);
  }
  constexpr Abstract& operator=(Abstract const& other) {
    if (this == &other) return *this;
    if constexpr (sized) {
      recorder_->share(other.value_);
      recorder_->release(value_);
    }
    extents_ = other.extents_;
    value_ = other.value_;
    return *this;
  }
  constexpr ~Abstract() {
    if constexpr (sized) recorder_->release(value_);
  }

  /// Global extents, in the order of the dims.
  constexpr std::array<std::int64_t, rank> const& extents() const {
    if constexpr (open && !all_known()) recorder_->reading.read = true;
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
                         !std::is_same_v<Recorder, TypesOnly>) {
      // a requirement, so that the function remains a constant for clang
      static_cast<void>(requires { alignof(refused<Code::A05_run_time_extent, false, A, I>); });
    } else {
      return extents_[static_cast<std::size_t>(d)];
    }
    return 0;
  }
  constexpr Abstract tensor() const { return *this; }
  constexpr Recorder& recorder() const { return *recorder_; }
  /// Its number among the values that the recorder holds.
  constexpr int value() const { return value_; }

 private:
  static constexpr Spec spec() { return Scope<A>::parsed[0].spec; }
  /// The extent of a dim that the type gives, or `dynamic`.
  static constexpr std::int64_t known(int d) {
    return is_local<A> ? dynamic : Scope<A>::names.label_extent[spec().dims[d].label];
  }
  static constexpr bool all_known() {
    for (int d = 0; d < dims; ++d)
      if (known(d) == dynamic) return false;
    return true;
  }

  Recorder* recorder_;
  std::array<std::int64_t, rank> extents_{};
  int value_ = 0;
};

}  // namespace shardtype::checking

namespace shardtype {

namespace detail {

template <class A, class Recorder>
inline constexpr bool is_abstract<Abstract<A, Recorder>> = true;

/// The first operand without data.
template <class A, class... Rest>
constexpr auto const& first_abstract(A const& a, Rest const&... rest) {
  if constexpr (is_abstract<A>) {
    return a;
  } else {
    return detail::first_abstract(rest...);
  }
}

/// The extents of an operand, which may be a number or a real tensor.
template <class A>
constexpr std::int64_t const* extents_or_none(A const& a) {
  if constexpr (is_abstract<A>) {
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
    for (int d = 0; extents[k] != nullptr && d < S::parsed[k].spec.rank; ++d)
      z.extents.at[S::parsed[k].spec.dims[d].label] = extents[k][d];
  return z;
}

/// Adds the collectives of `op`, of sizes that are given at run time.
template <class R, class First, class Op, class Recorder>
constexpr void record_counts(Recorder& recorder, [[maybe_unused]] Op const& op) {
  for (int c = 1; c < collective_rows; ++c) {
    auto const kind = static_cast<Collective>(c);
    if constexpr (requires { R::open_count(op, kind); }) {
      recorder.counts[c] = planning::add_counts(recorder.counts[c], R::open_count(op, kind));
    } else if constexpr (R::communicates) {
      if constexpr (R::S::names.all_static()) {
        recorder.counts[c] = planning::add_counts(
            recorder.counts[c],
            detail::shared_plan<R, StaticSizing<typename R::S, moved_t<R, First>>>().count(kind));
      } else {
        recorder.counts[c] =
            planning::add_counts(recorder.counts[c], PlanSet<R, moved_t<R, First>>::count(kind));
      }
    }
  }
}
/// Records the plan of `op`, which `R` resolved; returns its result, of type `Out`.
template <class R, class Op, class... As>
constexpr auto note([[maybe_unused]] Op const& op, As const&... as) {
  auto const& operand = detail::first_abstract(as...);
  auto& recorder = operand.recorder();
  using Recorder = std::remove_reference_t<decltype(recorder)>;
  using Out = typename R::result;
  using First = typename std::remove_cvref_t<decltype(operand)>::type;
  std::int64_t const* const given[] = {detail::extents_or_none(as)...};
  Sizes const sizes = R::S::names.sizes();
  std::int64_t made[max_dims];
  for (std::int64_t& n : made) n = dynamic;
  if constexpr (std::is_same_v<Recorder, planning::FunctionWriter>) {
    bool shares = false;
    if constexpr (requires { R::plan_call(op, sizes, given); }) {
      R::set_extents(op, sizes, given, made);
      Plan const plan = R::plan_call(op, sizes, given);
      shares = plan.shares;
      recorder.note(Op::name, plan, R::S::names);
    } else if constexpr (R::S::names.all_static()) {
      // a constant, which the layers of a model share
      Plan const& plan = detail::shared_plan<R, StaticSizing<typename R::S, moved_t<R, First>>>();
      for (int d = 0; d < plan.result.rank; ++d)
        made[d] = R::S::names.extents()[plan.result.dims[d].label];
      shares = plan.size == 0;
      recorder.note_constant(Op::name, plan, R::S::names);
    } else {
      Sizing const z = detail::sizing_from<typename R::S>(
          given, static_cast<std::int64_t>(sizeof(moved_t<R, First>)));
      Plan const plan = R::make_plan(z, {});
      for (int d = 0; d < plan.result.rank; ++d) made[d] = z.extents[plan.result.dims[d].label];
      shares = plan.size == 0;
      recorder.note(Op::name, plan, R::S::names);
    }
    if (shares) return Abstract<Out, Recorder>(recorder, made, operand);
  } else if constexpr (!std::is_same_v<Recorder, TypesOnly>) {
    detail::record_counts<R, First>(recorder, op);
  }
  return Abstract<Out, Recorder>(recorder, made);
}

template <class R, class Recorder, std::size_t... K>
constexpr auto abstract_results(Recorder& recorder, typename R::Made const& made,
                                std::index_sequence<K...>) {
  return std::tuple<Abstract<std::tuple_element_t<K, typename R::results>, Recorder>...>{
      Abstract<std::tuple_element_t<K, typename R::results>, Recorder>(recorder, made.at[K])...};
}
/// The same of an operation with several results, which it returns as a std::tuple.
template <class R, class Op, class... As>
constexpr auto note_results([[maybe_unused]] Op const& op, As const&... as) {
  auto const& operand = detail::first_abstract(as...);
  auto& recorder = operand.recorder();
  using Recorder = std::remove_reference_t<decltype(recorder)>;
  typename R::Made made;
  for (auto& each : made.at)
    for (std::int64_t& n : each) n = dynamic;
  if constexpr (std::is_same_v<Recorder, planning::FunctionWriter>) {
    std::int64_t const* const given[] = {detail::extents_or_none(as)...};
    Sizes const sizes = R::S::names.sizes();
    made = R::extents(op, sizes, given);
    recorder.note(Op::name, R::plan_call(op, sizes, given), R::S::names);
  } else if constexpr (!std::is_same_v<Recorder, TypesOnly>) {
    detail::record_counts<R, typename std::remove_cvref_t<decltype(operand)>::type>(recorder, op);
  }
  return detail::abstract_results<R>(recorder, made, typename R::Numbers{});
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
template <class A, class Recorder>
constexpr Abstract<A, Recorder> abstract_argument(Recorder& recorder) {
  std::int64_t extents[max_dims]{};
  using S = Scope<A>;
  for (int d = 0; d < S::parsed[0].spec.rank; ++d)
    extents[d] = S::names.label_extent[S::parsed[0].spec.dims[d].label];
  Abstract<A, Recorder> const out(recorder, extents);
  if constexpr (Abstract<A, Recorder>::sized) recorder.keep(out.value());
  return out;
}

/// The plan of a function some of whose sizes are given at run time.
template <class F, class... As>
constexpr planning::OpenFunctionPlan open_plan(F const& f, std::int64_t unknown) {
  planning::OpenFunctionPlan recorder;
  recorder.reading.unknown = unknown;
  static_cast<void>(f(detail::abstract_argument<As>(recorder)...));
  return recorder;
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
    using Recorder = planning::FunctionWriter;
    Recorder recorder({});
    if constexpr (!checking::any_poisoned<decltype(f(
                      std::declval<detail::Abstract<As, Recorder>>()...))>)
      static_cast<void>(f(detail::abstract_argument<As>(recorder)...));
    return recorder.plan();
  } else {
    using Recorder = planning::OpenFunctionPlan;
    if constexpr (checking::any_poisoned<decltype(f(
                      std::declval<detail::Abstract<As, Recorder>>()...))>) {
      return Recorder{};
    } else {
      Recorder recorder;
      static_cast<void>(f(detail::abstract_argument<As>(recorder)...));
      detail::check_extents<F, As...>();  // after it, so that what it refuses is said first
      return recorder;
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
    planning::FunctionWriter recorder({});
    static_cast<void>(detail::note_pairs<R>(
        op, detail::abstract_argument<A>(recorder), detail::abstract_argument<B>(recorder),
        detail::abstract_argument<C>(recorder), detail::abstract_argument<More>(recorder)...));
    return recorder.plan();
  } else {
    return planning::OpenFunctionPlan{};  // nothing is sent
  }
}

}  // namespace api

}  // namespace shardtype
