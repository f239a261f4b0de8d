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
template <Operation Op, class... As>
constexpr auto call(Op const& op, std::source_location const& where, As const&... as);
/// The plan that `op` runs on these tensors (execute/call.hpp).
template <Operation Op, class A, class... Bs>
auto plan_at(Op const& op, core::Argument<A> const& a, Bs const&... bs);

}  // namespace api

namespace checking {

/// `using runs = ByBlock`: `block(run)` computes the local block of the result, of the first
/// operand's element type; `run` is an execute::LocalRun.
struct ByBlock {};
/// `using runs = SharesMemory`: the local block of the result is that of the operand.
struct SharesMemory {
  static constexpr planning::Work work{0, 0, true};
};
/// `using runs = ByBlockFromStart`: ByBlock; the operand without dims, if there is one, is read
/// first, into the member `start`.
struct ByBlockFromStart {};

/// `using gradient = Pulls`: `pull(g)` is the cotangent of an operand, of an autodiff::Pull `g`. It
/// reads no operand.
struct Pulls {};
/// `using gradient = PullsByExtents`: Pulls; `g.rows<I>()` has the operand's extent along I.
struct PullsByExtents {};
/// `using gradient = PullsByIds`: PullsByExtents; the last operand, if it holds integers, is kept,
/// and passed on by `g.with_ids(op, operands...)`.
struct PullsByIds {};
/// `using gradient = Constant`: the result does not depend on the operands' elements.
struct Constant {};

}  // namespace checking
}  // namespace shardtype
