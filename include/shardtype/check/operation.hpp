#pragma once
/// Operations as objects, and the resolution of an operation that has its own rule.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/check/call_values.hpp>
#include <shardtype/check/resolve.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/plan/local_plan.hpp>
#include <shardtype/plan/open_count.hpp>
#include <shardtype/rules/question.hpp>

namespace shardtype {

/// An operation is a struct that names itself as `operation`. Its template arguments are the
/// compile-time arguments of a call, its members the run-time arguments. The library's operations
/// are in namespace `op`.
///
///     template <class I>
///     struct Smooth {                          // f32[I, J@X] -> f32[I, J@X]
///       using operation = Smooth;
///       using from = Mentions<Dim<I>>;         // the labels it works on
///       static constexpr std::string_view name = "smooth";
///       double weight = 0.5;
///       static constexpr op::Verdict rule(op::Question const& q) { return rules::flip(q); }
///       ...
///     };
///
/// `rule` returns the result's sharding, or a refusal. Everything else has a default:
/// `to`, the dims it creates (none);
/// `elements<As...>()`, the Code with which it refuses element types (they must all be the same);
/// `element<As...>`, the result's element type (the first operand's);
/// `like<A>`, of one operand, a tensor type that has the result's memory (the operand's);
/// `extents(ResultExtents)`, the result's extents (those of the labels);
/// `work(op::CallSizing)`, flops, and memory besides operands and result (none);
/// `recorded`, whether automatic mode may record it (yes); `keeps_shardings`, whether it
/// communicates by itself, so that automatic mode runs it in the shardings of its operands (no);
/// `sums_parts`, whether blocks of a dim that the result lacks give parts of a pending reduction
/// (no); `variant()` and `of_variant(number)`, run-time arguments that decide about its plan.
/// `kernel(exec, out, in...)` runs it on the local blocks, as Kokkos Views (or see check/call.hpp).
///
/// With several results, of which a call gives a std::tuple, `rule` returns op::Verdicts, `element`
/// is op::Elements; `extents` and `kernel` get as many. A label has one extent in all of them.
template <class Op>
concept MarksOperation = requires { typename Op::operation; };

namespace checking {

/// The extents of the operands of one call, and the output for those of the result. Dims of the
/// result that an operand has too already have their extents.
struct ResultExtents {
  Names const& names;
  ParsedType const* types;  ///< the operands, then the labels it works on, then the dims it creates
  int count;                ///< number of operands
  Spec const& result;
  Sizes sizes;
  std::int64_t const* const* given;  ///< of each operand
  std::int64_t* out;

  constexpr Spec const& operand(int k) const { return types[k].spec; }
  constexpr Spec const& a() const { return types[0].spec; }
  constexpr Spec const& from() const { return types[count].spec; }
  constexpr Spec const& to() const { return types[count + 1].spec; }
  /// Index of the first operand's dim that the operation works along; the result's dim has the same
  /// index.
  constexpr int dim() const { return a().find(from().dims[0].label); }
  constexpr std::int64_t extent() const { return given[0][dim()]; }
  constexpr void set(std::int64_t n) const { out[dim()] = n; }
  /// The name of dim `d` of the first operand.
  std::string name(int d) const { return std::string(names.label_name[a().dims[d].label]); }
  std::string name() const { return name(dim()); }

  [[noreturn]] static void fail(std::string const& text, char const* code = "E41") {
    throw Error(code, text, FailedOn::every_rank);
  }
  /// a + b and a * b; an Error if the result is not a valid extent.
  constexpr std::int64_t sum(std::int64_t x, std::int64_t y) const {
    if (x < 0 || y < 0 || add_sat(x, y) > max_elements)
      fail("index " + name() + " would get extent " + std::to_string(x) + " + " +
           std::to_string(y) + "; extents and amounts are from 0 to 2^58");
    return x + y;
  }
  constexpr std::int64_t product(std::int64_t x, std::int64_t y) const {
    if (x < 0 || y < 0 || mul_sat(x, y) > max_elements)
      fail("index " + name() + " would get extent " + std::to_string(x) + " * " +
           std::to_string(y) + "; extents and amounts are from 0 to 2^58");
    return x * y;
  }
  /// Error E41 if `n` is negative.
  constexpr void check_amount(char const* what, std::int64_t n) const {
    if (n < 0)
      fail("index " + name() + ": " + what + " is " + std::to_string(n) + "; it is not negative");
  }
  /// Copies the extents of operands' dims to the result's dims with the same labels.
  constexpr void carry() const {
    for (int d = 0; d < result.rank; ++d) {
      out[d] = names.label_extent[result.dims[d].label];
      for (int k = count - 1; k >= 0; --k)
        if (int const from = operand(k).find(result.dims[d].label); from >= 0)
          out[d] = given[k][from];
    }
  }
};

}  // namespace checking

using checking::ResultExtents;

namespace op {

// The argument and result types of an operation's members: `rule` (Question -> Verdict), `work`
// (CallSizing -> Work).
using planning::CallSizing;
using planning::Work;
using rules::Question;
using rules::Verdict;
using rules::Verdicts;

/// The element types of several results.
template <class First, class... Ts>
struct Elements {
  using first = First;
};

}  // namespace op

namespace detail {

/// Bare labels as dims that are not split.
template <class... Ls>
using Bare = Mentions<Dim<Ls>...>;

template <class Op>
struct FromOf {
  using type = Mentions<>;
};
template <class Op>
  requires requires { typename Op::from; }
struct FromOf<Op> {
  using type = typename Op::from;
};
template <class Op>
struct ToOf {
  using type = Mentions<>;
};
template <class Op>
  requires requires { typename Op::to; }
struct ToOf<Op> {
  using type = typename Op::to;
};

// Element types of results, by the number of operands: an alias without a pack takes no pack.

/// The element type of an operation's result.
template <class Op, class A, class... Bs>
struct ElementOfResult : ElementOf<A> {};
template <class Op, class A>
  requires requires { typename Op::template element<A>; }
struct ElementOfResult<Op, A> {
  using type = typename Op::template element<A>;
};
template <class Op, class A, class B>
  requires requires { typename Op::template element<A, B>; }
struct ElementOfResult<Op, A, B> {
  using type = typename Op::template element<A, B>;
};
template <class Op, class A, class B, class C>
  requires requires { typename Op::template element<A, B, C>; }
struct ElementOfResult<Op, A, B, C> {
  using type = typename Op::template element<A, B, C>;
};
template <class Op, class A, class B, class C, class D>
  requires requires { typename Op::template element<A, B, C, D>; }
struct ElementOfResult<Op, A, B, C, D> {
  using type = typename Op::template element<A, B, C, D>;
};
/// Of more operands that of the first one decides.
template <class Op, class A, class B, class C, class D, class E, class... Bs>
  requires requires { typename Op::template element<A>; }
struct ElementOfResult<Op, A, B, C, D, E, Bs...> {
  using type = typename Op::template element<A>;
};

/// The element type of the first result.
template <class T>
struct FirstElement {
  using type = T;
};
template <class First, class... Ts>
struct FirstElement<op::Elements<First, Ts...>> {
  using type = First;
};

template <class A, class... Bs>
inline constexpr Code alike_elements =
    (same_element<A, Bs> && ...) ? Code::ok : Code::C10_element_types_differ;
/// All operands in one pack: behind named parameters nvcc does not expand an empty pack into
/// arguments of an `elements` that has no pack, and the operation's own function would count as
/// none.
template <class Op, class... As>
constexpr Code refused_elements() {
  if constexpr (requires { Op::template elements<As...>(); }) {
    return Op::template elements<As...>();
  } else {
    return alike_elements<As...>;
  }
}

/// Calls a rule with the types of a scope; the last two are the labels and dims that the operation
/// mentions.
template <std::size_t Count>
constexpr Verdict ask_rule(Verdict (*rule)(rules::Question const&), Names const& names,
                           ParsedType const* types, Code elements, bool boolean, bool windows) {
  constexpr int count = static_cast<int>(Count);
  if (Verdict v = rules::lawful(names, types, count + 2, windows); !v) return v;
  if (elements != Code::ok) return refuse(elements);
  Spec operands[Count];
  for (int k = 0; k < count; ++k) operands[k] = types[k].spec;
  return rules::in_manual_mode(rule({operands, count, types[Count].spec, types[Count + 1].spec,
                                     names.extents(), names.sizes(), boolean}),
                               types, count);
}

/// The same of a rule with several verdicts.
template <std::size_t Count, std::size_t N>
constexpr rules::Verdicts<N> ask_rule(rules::Verdicts<N> (*rule)(rules::Question const&),
                                      Names const& names, ParsedType const* types, Code elements,
                                      bool boolean) {
  constexpr int count = static_cast<int>(Count);
  rules::Verdicts<N> out{};
  if (Verdict v = rules::lawful(names, types, count + 2); !v) {
    out.at[0] = v;
  } else if (elements != Code::ok) {
    out.at[0] = refuse(elements);
  } else {
    Spec operands[Count];
    for (int k = 0; k < count; ++k) operands[k] = types[k].spec;
    out = rule({operands, count, types[Count].spec, types[Count + 1].spec, names.extents(),
                names.sizes(), boolean});
    for (Verdict& one : out.at) one = rules::in_manual_mode(one, types, count);
    for (std::size_t k = 0; k < N; ++k)
      if (out.at[k] && !core::countable(out.at[k].result, names.extents()))
        out.at[k] = refuse(Code::T10_too_many_elements);
  }
  return out;
}

/// Whether an operation has its own rule.
template <class Op>
concept Ruled = MarksOperation<Op> && requires(rules::Question const& q) { Op::rule(q); };
/// Whether it has several results: as many as its rule gives verdicts, or, without a rule of its
/// own, as its member `results` says.
template <class Op>
concept HasResults =
    MarksOperation<Op> &&
    (requires { Op::results; } || (requires(rules::Question const& q) {
       Op::rule(q);
     } && !std::is_same_v<decltype(Op::rule(std::declval<rules::Question const&>())), Verdict>));
template <class Op>
inline constexpr std::size_t number_of_results =
    std::extent_v<decltype(Op::rule(std::declval<rules::Question const&>()).at)>;
template <class Op>
  requires requires { Op::results; }
inline constexpr std::size_t number_of_results<Op> = Op::results;

/// The rule's verdict for operands `A, Bs...`.
template <class Op, class A, class... Bs>
struct RuleOf {
  using S = Scope<A, Bs..., typename FromOf<Op>::type, typename ToOf<Op>::type>;
  static constexpr int operands = 1 + static_cast<int>(sizeof...(Bs));
  static constexpr Verdict verdict = detail::ask_rule<1 + sizeof...(Bs)>(
      &Op::rule, S::names, S::parsed, detail::refused_elements<Op, A, Bs...>(),
      std::is_same_v<element_t<A>, bool>, requires { requires Op::moves_windows; });
};
/// The verdicts on all results, and the one that decides.
template <HasResults Op, class A, class... Bs>
struct RuleOf<Op, A, Bs...> {
  using S = Scope<A, Bs..., typename FromOf<Op>::type, typename ToOf<Op>::type>;
  static constexpr int operands = 1 + static_cast<int>(sizeof...(Bs));
  static constexpr auto verdicts = detail::ask_rule<1 + sizeof...(Bs)>(
      &Op::rule, S::names, S::parsed, detail::refused_elements<Op, A, Bs...>(),
      std::is_same_v<element_t<A>, bool>);
  static constexpr Verdict verdict = verdicts.one();
};

/// The resolved form of an operation that has its own rule.
template <class Rule, class Op, class A, class... Bs>
struct RuledResult : Rule {
  static constexpr bool communicates = requires { requires Op::communicates; };
  using result =
      accepted_t<Rule, typename FirstElement<typename ElementOfResult<Op, A, Bs...>::type>::type,
                 A>;

  /// Computes the result's extents from the operands'. Errors: the operation's own errors.
  static constexpr void set_extents(Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    ResultExtents const c{
        Rule::S::names, Rule::S::parsed, Rule::operands, Rule::verdict.result, sizes, given, out};
    c.carry();
    if constexpr (requires { op.extents(c); }) op.extents(c);
  }
  /// The plan of one call of `op` on operands of these extents.
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    set_extents(op, sizes, given, made);
    return plan_made(op, sizes, given, made, 0);
  }
  /// The same, of a result with the extents `made`, with which `beside` bytes of others are made.
  static constexpr Plan plan_made(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given, std::int64_t const* made,
                                  [[maybe_unused]] std::int64_t beside) {
    Values const values(sizes, given, made, element_sizes);
    Plan p = planning::plan_of_call(Op::name, values.call);
    if constexpr (requires { op.steps(p, values.call, along); }) op.steps(p, values.call, along);
    if (!p.computes()) planning::append_compute(p, detail::work_of(op, values.call, along));
    if constexpr (HasResults<Op>) p.workspace = add_sat(p.workspace, beside);
    return p;
  }
  /// The work of a call on operands of these extents, with a result of the extents `made`.
  static constexpr planning::Work work(Op const& op, Sizes const& sizes,
                                       std::int64_t const* const* given, std::int64_t const* made) {
    Values const values(sizes, given, made, element_sizes);
    return detail::work_of(op, values.call, along);
  }
  /// The number of collectives of a kind in every call, for all sizes; of a loop whose length they
  /// determine, `planning::unbounded`.
  static constexpr int open_count([[maybe_unused]] Op const& op, [[maybe_unused]] Collective c) {
    if constexpr (communicates) {
      Plan const p = open_plan(op, dynamic, dynamic);
      if (p.repeat_count == 0) return p.count(c);
      return planning::open_count(p, c, [&](std::int64_t extent, std::int64_t ranks) {
        if constexpr (requires { requires Op::chooses_by_sizes; }) {
          return p;
        } else {
          return open_plan(op, extent, ranks);
        }
      });
    } else {
      return 0;
    }
  }
  /// The steps of a call in which unknown extents and axis sizes are these.
  static constexpr Plan open_plan(Op const& op, std::int64_t extent, std::int64_t ranks) {
    Plan p;
    p.push_operand(Rule::S::parsed[0].spec);
    Sizes sizes = Rule::S::names.sizes();
    for (int x = 0; x < Rule::S::names.axes; ++x)
      if (sizes[x] == dynamic) sizes.at[x] = ranks;
    std::int64_t known[Rule::operands + 1][max_dims]{};
    std::int64_t const* extents[Rule::operands]{};
    std::int64_t ones[Rule::operands + 1]{};
    for (int k = 0; k <= Rule::operands; ++k) {
      Spec const& s = k < Rule::operands ? Rule::S::parsed[k].spec : Rule::verdict.result;
      for (int d = 0; d < s.rank; ++d) {
        std::int64_t const n = Rule::S::names.label_extent[s.dims[d].label];
        known[k][d] = extent == dynamic || n == dynamic ? extent : n;
      }
      if (k < Rule::operands) extents[k] = known[k];
      ones[k] = 1;
    }
    Values const values(sizes, extents, known[Rule::operands], ones);
    op.steps(p, values.call, along);
    return p;
  }
  static constexpr int along =
      Rule::S::parsed[0].spec.find(Rule::S::parsed[Rule::operands].spec.dims[0].label);

 private:
  // with its bound: nvcc's front end takes it for empty otherwise
  static constexpr std::int64_t element_sizes[2 + sizeof...(Bs)] = {
      static_cast<std::int64_t>(sizeof(element_t<A>)),
      static_cast<std::int64_t>(sizeof(element_t<Bs>))...,
      static_cast<std::int64_t>(sizeof(element_t<result>))};
  /// The values of one call.
  struct Values : CallValues<1 + sizeof...(Bs)> {
    constexpr Values(Sizes const& sizes, std::int64_t const* const* extents,
                     std::int64_t const* made, std::int64_t const* element_bytes)
        : CallValues<1 + sizeof...(Bs)>(Rule::S::names, Rule::S::parsed, Rule::verdict.result,
                                        sizes, extents, made, element_bytes) {
      this->call.from = Rule::S::parsed[Rule::operands].spec;
      this->call.to = Rule::S::parsed[Rule::operands + 1].spec;
    }
  };
};

/// Whether the result of `Op` on `A` lies in a memory that the operation names: that of
/// `Op::like<A>`.
template <class Op, class A>
concept NamesMemory = requires { typename Op::template like<A>; };
template <class Rule, class Op, class A>
struct ResultInMemory : RuledResult<Rule, Op, A> {
  using result = accepted_t<Rule, element_t<A>, typename Op::template like<A>>;
};

/// One of several verdicts.
template <class Rule, std::size_t K>
struct VerdictAt {
  using S = typename Rule::S;
  static constexpr auto const& verdict = Rule::verdicts.at[K];
};
/// The Tensor types of several results, with elements `Elements`, as a std::tuple.
template <class Rule, class Like, class Elements, class Numbers>
struct ResultTypes;
template <class Rule, class Like, class... Ts, std::size_t... K>
struct ResultTypes<Rule, Like, op::Elements<Ts...>, std::index_sequence<K...>> {
  static_assert(std::size(Rule::verdicts.at) == sizeof...(Ts),
                "an operation has as many element types as verdicts");
  using type = std::tuple<accepted_t<VerdictAt<Rule, K>, Ts, Like>...>;
  static constexpr std::int64_t bytes[sizeof...(Ts)] = {static_cast<std::int64_t>(sizeof(Ts))...};
};
/// The resolved form of an operation with several results; `result` is the first of them.
template <class Rule, class Op, class A, class... Bs>
struct RuledResults : RuledResult<Rule, Op, A, Bs...> {
  using Base = RuledResult<Rule, Op, A, Bs...>;
  static constexpr std::size_t count = std::size(Rule::verdicts.at);
  using Numbers = std::make_index_sequence<count>;
  using Types = ResultTypes<Rule, A, typename ElementOfResult<Op, A, Bs...>::type, Numbers>;
  using results = typename Types::type;
  /// The extents of all results.
  struct Made {
    std::int64_t at[count][max_dims]{};
  };

  static constexpr void set_extents(Op const&, Sizes const&, std::int64_t const* const*,
                                    std::int64_t*) = delete;
  static constexpr Made extents(Op const& op, Sizes const& sizes,
                                std::int64_t const* const* given) {
    Made made;
    set_each(op, sizes, given, made, Numbers{});
    return made;
  }
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    Made const made = extents(op, sizes, given);
    std::int64_t beside = 0;
    for (std::size_t k = 1; k < count; ++k) {
      Spec const& s = Rule::verdicts.at[k].result;
      Extents known = Rule::S::names.extents();
      for (int d = 0; d < s.rank; ++d) known.at[s.dims[d].label] = made.at[k][d];
      beside = core::add_sat(
          beside, core::mul_sat(core::largest_elements(s, known, sizes), Types::bytes[k]));
    }
    return Base::plan_made(op, sizes, given, made.at[0], beside);
  }

 private:
  template <std::size_t... K>
  static constexpr void set_each(Op const& op, Sizes const& sizes, std::int64_t const* const* given,
                                 Made& made, std::index_sequence<K...>) {
    ResultExtents const each[] = {{Rule::S::names, Rule::S::parsed, Rule::operands,
                                   Rule::verdicts.at[K].result, sizes, given, made.at[K]}...};
    for (ResultExtents const& c : each) c.carry();
    if constexpr (requires { op.extents(each[K]...); }) op.extents(each[K]...);
  }
};

}  // namespace detail

namespace checking {

template <class Op, class A, class... Bs>
  requires(detail::HasResults<Op> && is_tensor<A> && (is_tensor<Bs> && ...))
struct Resolve<Op, A, Bs...>
    : detail::resolved_t<detail::RuledResults, detail::RuleOf<Op, A, Bs...>, Op, A, Bs...> {};
template <class Op, class A, class... Bs>
  requires(detail::Ruled<Op> && !detail::HasResults<Op> && !detail::NamesMemory<Op, A> &&
           is_tensor<A> && (is_tensor<Bs> && ...))
struct Resolve<Op, A, Bs...>
    : detail::resolved_t<detail::RuledResult, detail::RuleOf<Op, A, Bs...>, Op, A, Bs...> {};
template <class Op, class A>
  requires(detail::Ruled<Op> && detail::NamesMemory<Op, A> && is_tensor<A>)
struct Resolve<Op, A> : detail::resolved_t<detail::ResultInMemory, detail::RuleOf<Op, A>, Op, A> {};

}  // namespace checking

}  // namespace shardtype
