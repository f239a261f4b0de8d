#pragma once
/// A plan: the list of local operations and collectives that an operation runs.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/cost.hpp>

namespace shardtype {

/// Most steps in one plan: resharding two operands and a result over `max_axes` axes.
inline constexpr int max_steps = 24;

/// What an operation will do, decided before anything runs. Labels and axes are numbered as in
/// the operation's Scope.
struct Plan {
  int size = 0;
  Step steps[max_steps]{};
  Sizing sizing{};
  Spec operands[2]{};
  int operand_count = 0;
  Spec result{};
  std::int64_t local_flops = 0;  ///< of the busiest rank

  constexpr Step const* begin() const { return steps; }
  constexpr Step const* end() const { return steps + size; }
  constexpr void push(Step const& s) { steps[size++] = s; }

  /// How many collectives of this kind run.
  constexpr int count(Collective c) const {
    int n = 0;
    for (Step const& s : *this) n += s.collective == c ? 1 : 0;
    return n;
  }
  /// How many collectives run at all.
  constexpr int collectives() const { return communicating(); }

  /// Payload bytes at the rank with these coordinates; conventions at `step_bytes`.
  constexpr std::int64_t bytes(Coords const& at) const {
    std::int64_t sum = 0;
    for (Step const& s : *this)
      if (s.collective != Collective::none) sum += step_bytes(s, sizing, at);
    return sum;
  }
  /// The most bytes that any rank moves.
  constexpr std::int64_t bytes_per_rank() const {
    if (communicating() == 0) return 0;
    AxisList all;
    for (int x = 0; x < max_axes; ++x) all.push(x);
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < sizing.sizes.product(all); ++r)
      most = std::max(most, bytes(member(all, sizing.sizes, {}, r)));
    return most;
  }
  /// Messages each rank sends.
  constexpr std::int64_t messages() const {
    std::int64_t sum = 0;
    for (Step const& s : *this) sum += step_messages(s.collective, sizing.sizes.product(s.axes));
    return sum;
  }
  /// Floating-point operations of the busiest rank.
  constexpr std::int64_t flops() const { return local_flops; }

  /// Most bytes a rank holds at once: the operands, and what each step reads and writes. Packing
  /// buffers count as one more copy of what a collective sends.
  constexpr std::int64_t peak_bytes() const {
    auto held = [&](Spec const& s) {
      return largest_elements(s, sizing.extents, sizing.sizes) * sizing.element_bytes;
    };
    std::int64_t given = 0;
    for (int k = 0; k < operand_count; ++k) given += held(operands[k]);
    std::int64_t most = given;
    std::int64_t live[3] = {0, 0, 0};
    for (Step const& s : *this) {
      std::int64_t const now = live[0] + live[1] + live[2] + held(s.after);
      std::int64_t const packed = s.action == Action::communicate ? held(s.before) : 0;
      most = std::max(most, given + now + packed);
      live[static_cast<int>(s.slot)] = held(s.after);
      if (s.action == Action::contract) live[0] = live[1] = 0;
    }
    return most;
  }
  /// Predicted cost for the busiest rank.
  constexpr Cost cost(Machine const& m = {}) const {
    Cost sum;
    for (Step const& s : *this) {
      if (s.action == Action::contract) {
        sum.flops += local_flops;
        sum.picoseconds += picoseconds(static_cast<double>(local_flops), m.flops_per_second);
      } else {
        sum = sum + step_cost(s, sizing, m);
      }
    }
    sum.peak_bytes = peak_bytes();
    return sum;
  }
  /// Predicted time.
  constexpr double seconds(Machine const& m = {}) const {
    return static_cast<double>(cost(m).picoseconds) * 1e-12;
  }

 private:
  constexpr int communicating() const {
    int n = 0;
    for (Step const& s : *this) n += s.collective != Collective::none ? 1 : 0;
    return n;
  }
};

}  // namespace shardtype
