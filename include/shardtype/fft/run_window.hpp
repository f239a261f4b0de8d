#pragma once
/// Exchanges of named Fourier transforms within one node: the value lies in a window of memory that
/// the ranks share, in the order of the whole array, and each rank transforms its part where it is.
/// Nothing is packed, and no message is sent.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/fft/types_plan.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::execute {

/// The steps of a plan during which the value is in the window.
struct WindowSteps {
  int first = -1;   ///< the first computation or exchange
  int last = -1;    ///< the last exchange; -1: the window is not used
  AxisList axes{};  ///< of all exchanges, in the order of their first use

  constexpr bool any() const { return last >= 0; }
};

/// Finds them. None if a step gathers, sums or repeats, if a dim is block-cyclic, or if a value
/// that is exchanged is the same on several ranks of a group.
constexpr WindowSteps window_steps(Plan const& plan, Sizing const& z) {
  WindowSteps w;
  for (int k = 0; k < plan.size; ++k) {
    Step const& s = plan.steps[k];
    bool const moves = s.is_collective();
    if (w.first < 0 && (moves || s.move == Move::compute || s.move == Move::finish)) w.first = k;
    if (!moves) continue;
    if (s.move != Move::exchange && s.move != Move::reorder) return {};
    if (z.sizes.product(s.axes) > 1) w.last = k;
    for (int a = 0; a < s.axes.size; ++a)
      if (!w.axes.contains(s.axes[a])) w.axes.push(s.axes[a]);
  }
  for (int k = w.first; k >= 0 && k <= w.last; ++k) {
    Step const& s = plan.steps[k];
    if (s.move == Move::slice) return {};
    for (int a = 0; a < w.axes.size; ++a)
      if (s.before.dim_of(w.axes[a]) < 0 || s.after.dim_of(w.axes[a]) < 0) return {};
  }
  return w.any() && plan.repeat_count == 0 ? w : WindowSteps{};
}

/// The use of a mesh's window by one transform. Collective over the mesh: all ranks decide the
/// same.
class FourierWindow {
 public:
  /// `element_bytes`: of the operand and of the result.
  FourierWindow(MeshState& mesh, AxisMap const& axes, Plan const& plan,
                planning::FourierCall const& call, std::int64_t const (&element_bytes)[2])
      : mesh_(mesh), axes_(axes) {
    Sizing const given = plan.sizing_of(Slot::a);
    Sizing const made = plan.sizing_of(Slot::result);
    if (!run_time.settings.fft.window || !mesh.window().possible()) return;
    steps_ = window_steps(plan, given);
    if (!steps_.any()) return;
    Step const& begin = plan.steps[steps_.first];
    Spec const operand = begin.slot == Slot::result ? call.of_operand(begin.before) : begin.before;
    std::int64_t const needs[2] = {
        mul_sat(place(operand_, operand, given), element_bytes[0]),
        mul_sat(place(result_, call.of_result(operand), made), element_bytes[1])};
    std::int64_t area = 0;
    for (int k = steps_.first; k <= steps_.last; ++k)
      area = std::max(area, needs[plan.steps[k].slot == Slot::result ? 1 : 0]);
    std::int64_t const groups = mesh.size() / given.sizes.product(steps_.axes);
    // ranks of two groups may have the same block, which FFTW computes with other roundings where
    // it is aligned otherwise
    if (groups > 1) area = mul_sat(ceil_div(area, alignment), alignment);
    if (static_cast<double>(groups) * static_cast<double>(area) > 4e18 ||
        !mesh.window().reserve(groups * area)) {
      steps_ = {};
      return;
    }
    area_ = number_of_group(mesh, axes, steps_.axes) * area;
    mesh.window().enter();
  }
  FourierWindow(FourierWindow const&) = delete;
  FourierWindow& operator=(FourierWindow const&) = delete;
  ~FourierWindow() { leave(); }

  bool used() const { return steps_.any(); }
  WindowSteps const& steps() const { return steps_; }

  /// This rank's part, for a value of sharding `s` in this slot.
  template <class T>
  Value<T> part(Slot slot, Spec const& s, Sizing const& z) const {
    Area const& area = slot == Slot::result ? result_ : operand_;
    Value<T> v = execute::whole_value<T>(s, z, axes_.coords, {});
    auto* data = reinterpret_cast<T*>(static_cast<std::byte*>(mesh_.window().data()) + area_);
    for (int d = 0; d < s.rank; ++d) {
      int const label = s.dims[d].label;
      v.layout.stride[d] = area.stride[label];
      std::int64_t const begin = block_of(s, d, z, axes_.coords).begin;
      if (v.layout.extent[d] > 0) data += (begin - area.begin[label]) * area.stride[label];
    }
    v.data = data;
    return v;
  }
  /// Waits for the ranks of a group: what they wrote may be read afterwards.
  void meet(AxisList const& axes) {
    mesh_.window().meet(members_of(mesh_, axes_, axes, mesh_.scratch().members));
  }
  /// Counts what a message would send, from `before` to `after`.
  void count(Step const& s, Sizing const& z, std::int64_t element_bytes) const {
    std::int64_t all = 1;
    std::int64_t kept = 1;
    for (int d = 0; d < s.before.rank; ++d) {
      Rows const mine = rows_of(s.before, d, z, axes_.coords);
      all *= mine.size();
      kept *= common(mine, rows_of(s.after, d, z, axes_.coords));
    }
    run_time.exchanged_in_windows += (all - kept) * element_bytes;
  }
  /// After the last read. An exception leaves the others waiting, as for a message that never
  /// arrives.
  void leave() {
    if (!used() || std::uncaught_exceptions() > exceptions_) return;
    mesh_.window().leave();
    steps_ = {};
  }

 private:
  static constexpr std::int64_t alignment = 16;  ///< FFTW distinguishes no other ones

  /// Where the elements of one slot lie, by label.
  struct Area {
    std::int64_t begin[max_dims]{};
    std::int64_t stride[max_dims]{};
  };

  /// Writes the area of `s` without the axes that are exchanged; returns the elements of the
  /// largest.
  std::int64_t place(Area& area, Spec s, Sizing const& z) const {
    std::int64_t n = 1;
    for (int d = s.rank - 1; d >= 0; --d) {
      for (int a = 0; a < steps_.axes.size; ++a)
        if (AxisList& on = s.dims[d].axes; on.contains(steps_.axes[a]))
          on = on.without(steps_.axes[a]);
      int const label = s.dims[d].label;
      area.begin[label] = block_of(s, d, z, axes_.coords).begin;
      area.stride[label] = n;
      n = mul_sat(n, largest_block(z.extents[label], s.dims[d].axes, z.sizes));
    }
    return n;
  }

  MeshState& mesh_;
  AxisMap const& axes_;
  WindowSteps steps_{};
  Area operand_{}, result_{};
  std::int64_t area_ = 0;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace shardtype::execute
