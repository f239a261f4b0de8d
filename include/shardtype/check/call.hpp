#pragma once
/// The entry point of all operations, declared for the functions in ops/, and the members by which
/// an operation says how it runs and what its gradient is. (Reshards and collectives,
/// check/reshard.hpp, run by their plans; their cotangents are moved back, by the transposed
/// collective or cast, which a member `transposed` may name, or by a reshard to the operand's
/// cotangent.)

#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/operation.hpp>

namespace shardtype {

namespace api {

/// Runs the operation `op` on tensors, Locals or expressions of these (execute/call.hpp).
template <MarksOperation Op, class... As>
constexpr auto call(Op const& op, std::source_location const& where, As const&... as);
/// The plan that `op` runs on these tensors (execute/call.hpp).
template <MarksOperation Op, class A, class... Bs>
auto plan_at(Op const& op, core::Argument<A> const& a, Bs const&... bs);

}  // namespace api

// An operation runs by one of these members, which are templates:
//
//     void fill(out, operands...) const;        // writes the blocks of the results, which are
//     first auto block(run) const;                    // gives the result's block, of the first
//     operand's
//                                               // element type; `run` is an execute::LocalRun
//     auto run<R>(where, operands...) const;    // does what `steps` plans; `R` is its Resolve
//
// A header with types alone declares it, and the header that runs the operation defines it. In
// place of one a constant may say that there is nothing to compute (`shares_memory`), or that the
// plan is all there is (`runs_plan`); a user's operation has `kernel` (check/operation.hpp).

namespace detail {

template <class Op>
concept NamesItself = requires { std::string_view(Op::name); };
/// Whether the library knows from its kind what an operation gives: those that consist of a plan,
/// and named results.
template <class Op>
concept KnownByKind = requires { requires Op::runs_plan; } ||
                      requires { typename Op::destination; } || requires { Op::blocks::how; } ||
                      requires { &Op::moved; } || requires(Op const& op) { op.strict(); };

/// Whether the local block of the result is that of the operand.
template <class Op>
inline constexpr bool shares_memory = requires { requires Op::shares_memory; };
/// The members by which an operation runs.
struct WaysToRun {
  void fill();
  void block();
  void run();
  void kernel();
  void steps();
};
/// Has a member of one of their names twice where `Op` has it, which is then not found; so are
/// templates, whose arguments need not be known.
template <class Op>
struct BesideWays : Op, WaysToRun {};
template <class Op>
inline constexpr bool has_way_to_run =
    !requires { &BesideWays<Op>::fill; } || !requires { &BesideWays<Op>::block; } ||
    !requires { &BesideWays<Op>::run; } || !requires { &BesideWays<Op>::kernel; } ||
    !requires { &BesideWays<Op>::steps; } || shares_memory<Op>;
template <class Op>
  requires std::is_final_v<Op>
inline constexpr bool has_way_to_run<Op> = true;

}  // namespace detail

/// A struct that has all that an operation has to have.
template <class Op>
concept Operation = MarksOperation<Op> && detail::NamesItself<Op> &&
                    (detail::KnownByKind<Op> || ((detail::Ruled<Op> || requires {
                                                   requires Op::resolved_by_library;
                                                 }) && detail::has_way_to_run<Op>));

namespace checking {

/// `using gradient = Pulls`: `pull(g)` is the cotangent of an operand, of an autodiff::Pull `g`. It
/// reads no operand.
struct Pulls {};
/// `using gradient = PullsByExtents`: Pulls; `g.rows<I>()` has the operand's extent along I.
struct PullsByExtents {};
/// `using gradient = PullsByIds`: PullsByExtents; the last operand, if it holds integers, is kept,
/// and passed on by `g.with_ids(op, operands...)`.
struct PullsByIds {};
/// `using gradient = PullsBySaved`: Pulls; `save(out, operands...)` gives what is kept,
/// autodiff::keep(...), and `g.kept<N>()` has it. Of several results, `save<result>(all,
/// operands...)` and `g.result`. Other members are optional: `prepare(g)`, once for all operands,
/// gives what `pull` then has as cotangent; `forward(where, operands...)` runs in place of the
/// operation and `save`, and gives an autodiff::Forward; `judge<K, V, As...>()` is the Verdict on
/// the types of an operand's cotangent. Constants: `first_order` (`first_order_results`),
/// gradients of gradients are refused; `pull_communicates`.
struct PullsBySaved {};
/// `using gradient = ByOthers`: the gradient is that of `instead(where, operands...)`, which calls
/// other operations.
struct ByOthers {};
/// `using gradient = Constant`: the result does not depend on the operands' elements.
struct Constant {};

}  // namespace checking
}  // namespace shardtype
