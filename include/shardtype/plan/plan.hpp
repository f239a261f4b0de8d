#pragma once
/// A plan: the list of local operations and collectives that an operation runs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <shardtype/plan/cost.hpp>
#include <shardtype/plan/local_memory.hpp>

namespace shardtype {

/// Most steps in one plan: resharding two operands and a result over `max_axes` axes.
inline constexpr int max_steps = 24;

/// At most `Most` values. Those that are not there have no content: a compiler would write, check and copy
/// each number of each of them.
template <class T, std::size_t Most>
class Rooms {
  union Room {
    char empty;
    T value;
    // with a member initializer instead, nvcc takes every plan for one that is no constant
    constexpr Room() : empty(0) {}
  };

 public:
  /// Runs over them in order.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    constexpr T const& operator*() const { return at_->value; }
    constexpr T const* operator->() const { return &at_->value; }
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
    friend Rooms;
    constexpr explicit Iterator(Room const* at) : at_(at) {}
    Room const* at_ = nullptr;
  };

  constexpr T const& operator[](int k) const { return rooms_[k].value; }
  constexpr T& operator[](int k) { return rooms_[k].value; }
  /// Puts a value at `k`, where there was none.
  constexpr void put(int k, T const& value) { std::construct_at(&rooms_[k].value, value); }
  constexpr Iterator iterator(int k) const { return Iterator(rooms_ + k); }

 private:
  Room rooms_[Most];
};

/// Extents and element size of one value of a plan, where they are not those of the operation's labels.
struct OwnSizing {
  Slot slot{};
  Extents extents{};
  std::int64_t element_bytes = 1;
};

/// What an operation will do, decided before anything runs. Labels and axes are numbered as in
/// the operation's Scope.
struct Plan {
  int size = 0;
  Rooms<Step, max_steps> steps{};
  Sizing sizing{};
  Rooms<Spec, max_plan_operands> operands{};
  int operand_count = 0;
  Spec result{};
  std::string_view name{};  ///< of the operation; none: a product of two operands, a reshard of one
  std::int64_t local_flops = 0;  ///< of the busiest rank
  std::int64_t workspace =
      0;  ///< bytes that the local computation needs beside operands and result
  std::int64_t more_bytes = 0;           ///< of operands beyond `max_plan_operands`
  bool shares = false;                   ///< the result lies in the memory of the first operand
  planning::ProductElements elements{};  ///< of a product
  Rooms<OwnSizing, max_plan_operands + 1> own{};
  int own_count = 0;

  constexpr auto begin() const { return steps.iterator(0); }
  constexpr auto end() const { return steps.iterator(size); }
  constexpr void push(Step const& s) { steps.put(size++, s); }
  constexpr void push_operand(Spec const& s) { operands.put(operand_count++, s); }
  /// Says that a value has extents or elements of its own.
  constexpr void push_own(OwnSizing const& s) { own.put(own_count++, s); }
  /// The sizing of a value.
  constexpr Sizing sizing_of(Slot slot) const {
    Sizing z = sizing;
    for (int k = 0; k < own_count; ++k)
      if (own[k].slot == slot) z.extents = own[k].extents, z.element_bytes = own[k].element_bytes;
    return z;
  }

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
      if (s.collective != Collective::none)
        sum = add_sat(sum, step_bytes(s, sizing_of(s.slot), at));
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

  /// Bytes of the largest block of a value with this sharding.
  constexpr std::int64_t block_bytes(Spec const& s, Slot slot) const {
    Sizing const z = sizing_of(slot);
    return mul_sat(largest_elements(s, z.extents, z.sizes), z.element_bytes);
  }
  /// Bytes of the operands.
  constexpr std::int64_t given_bytes() const {
    std::int64_t given = more_bytes;
    for (int k = 0; k < operand_count; ++k)
      given = add_sat(given, block_bytes(operands[k], operand_slot(k)));
    return given;
  }
  /// Most bytes that a rank asks for and holds at once, in blocks and in what moves them: the operands, results,
  /// messages, and copies of blocks that must lie without gaps. Where MPI cannot reach the memory of the blocks, the
  /// host holds messages beside that.
  constexpr std::int64_t peak_bytes() const { return add_sat(given_bytes(), memory().most()); }
  /// What the steps take beside the operands.
  constexpr planning::LocalMemory memory() const {
    planning::LocalMemory m;
    for (int k = 0; k < operand_count; ++k)
      m.hold(operand_slot(k), operands[k], sizing_of(operand_slot(k)));
    for (Step const& s : *this) {
      Sizing const z = sizing_of(s.slot);
      if (s.action != Action::compute) {
        m.move(s, z);
      } else if (name.empty()) {
        m.multiply(labels(0), labels(1), s.after, z, elements, workspace);
      } else {
        m.compute(s.after, z, workspace, shares);
      }
    }
    if (size > 0) m.finish(steps[size - 1].slot);
    return m;
  }
  /// Predicted cost for the busiest rank.
  constexpr Cost cost(Machine const& m = {}) const {
    Cost sum = work(m);
    sum.peak_bytes = peak_bytes();
    return sum;
  }
  /// The same without the memory.
  constexpr Cost work(Machine const& m = {}) const {
    Cost sum;
    for (Step const& s : *this) {
      if (s.action == Action::compute) {
        sum = sum + Cost{compute_time(s, m), 0, local_flops, 0, 0};
      } else {
        sum = sum + step_cost(s, sizing_of(s.slot), m);
      }
    }
    return sum;
  }
  /// Predicted time.
  constexpr double seconds(Machine const& m = {}) const {
    return static_cast<double>(work(m).picoseconds) * 1e-12;
  }

 private:
  /// A product takes the time of its flops, everything else that of the bytes it reads and writes.
  constexpr std::int64_t compute_time(Step const& s, Machine const& m) const {
    if (name.empty()) return picoseconds(static_cast<double>(local_flops), m.flops_per_second);
    if (shares) return 0;
    return picoseconds(static_cast<double>(given_bytes() + block_bytes(s.after, s.slot)),
                       m.memory_bytes_per_second);
  }
  constexpr planning::LabelledLayout labels(int k) const {
    planning::LabelledLayout x;
    Spec s = operands[k];
    for (Step const& step : *this)
      if (step.slot == operand_slot(k)) s = step.after;
    for (int d = 0; d < s.rank; ++d) x.label[d] = s.dims[d].label;
    return x;
  }
  constexpr int communicating() const {
    int n = 0;
    for (Step const& s : *this) n += s.collective != Collective::none ? 1 : 0;
    return n;
  }
};

}  // namespace shardtype
