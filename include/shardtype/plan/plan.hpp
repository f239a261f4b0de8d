#pragma once
/// A plan: the list of local operations and collectives that an operation runs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <shardtype/plan/cost.hpp>

namespace shardtype {

/// Most steps in one plan: resharding two operands and a result over `max_axes` axes.
inline constexpr int max_steps = 24;

/// The steps of a plan. Those that are not there have no values: a compiler would write, check and copy
/// each number of each of them.
class PlanSteps {
  union Room {
    char empty = 0;
    Step step;
  };

 public:
  /// Runs over them in order.
  class Iterator {
   public:
    using value_type = Step;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    constexpr Step const& operator*() const { return at_->step; }
    constexpr Step const* operator->() const { return &at_->step; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr Iterator operator++(int) {
      Iterator const before = *this;
      ++at_;
      return before;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    friend PlanSteps;
    constexpr explicit Iterator(Room const* at) : at_(at) {}
    Room const* at_ = nullptr;
  };

  constexpr Step const& operator[](int k) const { return rooms_[k].step; }
  constexpr Step& operator[](int k) { return rooms_[k].step; }
  /// Puts a step at `k`, where there was none.
  constexpr void put(int k, Step const& s) { std::construct_at(&rooms_[k].step, s); }
  constexpr Iterator iterator(int k) const { return Iterator(rooms_ + k); }

 private:
  Room rooms_[max_steps]{};
};

/// What an operation will do, decided before anything runs. Labels and axes are numbered as in
/// the operation's Scope.
struct Plan {
  int size = 0;
  PlanSteps steps{};
  Sizing sizing{};
  Spec operands[2]{};
  int operand_count = 0;
  Spec result{};
  std::int64_t local_flops = 0;  ///< of the busiest rank

  constexpr PlanSteps::Iterator begin() const { return steps.iterator(0); }
  constexpr PlanSteps::Iterator end() const { return steps.iterator(size); }
  constexpr void push(Step const& s) { steps.put(size++, s); }

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
      if (s.collective != Collective::none) sum = add_sat(sum, step_bytes(s, sizing, at));
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
      return mul_sat(largest_elements(s, sizing.extents, sizing.sizes), sizing.element_bytes);
    };
    std::int64_t given = 0;
    for (int k = 0; k < operand_count; ++k) given = add_sat(given, held(operands[k]));
    std::int64_t most = given;
    std::int64_t live[3] = {0, 0, 0};
    for (Step const& s : *this) {
      std::int64_t now = add_sat(given, held(s.after));
      for (std::int64_t const value : live) now = add_sat(now, value);
      std::int64_t const packed = s.action == Action::communicate ? held(s.before) : 0;
      most = std::max(most, add_sat(now, packed));
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
        std::int64_t const time = picoseconds(static_cast<double>(local_flops), m.flops_per_second);
        sum = sum + Cost{time, 0, local_flops, 0, 0};
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
