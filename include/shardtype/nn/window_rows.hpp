#pragma once
/// The rows of windows along a split dim, from the ranks that hold them.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/plan/window_plan.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// The exchange of a plan's window step, whose windows are those of blocks of a result: each rank
/// gets the rows of the dim that it needs and that exist, in one message from each rank that has
/// some. Collective over the mesh.
template <class T, class Space>
class WindowRows {
  using Exec = typename Space::execution_space;

 public:
  WindowRows(MeshState& mesh, AxisMap const& map, Sizing const& sizing, Step const& step,
             Caller const& caller)
      : mesh_(mesh), map_(map), step_(step) {
    std::int64_t const ranks = map.sizes.product(step.axes);
    me_ = core::rank_in_group(step.axes, map.sizes, map.coords);
    for (std::int64_t g = 0; g < ranks; ++g) {
      Coords const there = core::member(step.axes, map.sizes, map.coords, g);
      held_.push_back(planning::block_of(step.before, step.from, sizing, there));
      needed_.push_back(planning::window_rows(step.before, step.from, sizing, there, step.window));
    }
    if (ranks > 1 && mesh.agreement().begin_step())
      execute::agree_on_collective(mesh, map, sizing, step, caller);
  }
  /// The rows that this rank has afterwards.
  Range rows() const { return at(needed_, me_); }
  /// These rows of the block `in`, packed.
  Buffer run(T const* in, kernels::Layout const& layout) {
    Around const around(layout, step_.from);
    Exec const& exec = runtime::instance<Exec>();
    Range const mine = at(held_, me_), all = rows();
    Buffer const out = take(all.size() * around.row());
    move(exec, in, mine, static_cast<T*>(out.data()), all, intersect(mine, all), around);
    if (ranks() > 1) exchange(exec, in, static_cast<T*>(out.data()), around);
    runtime::fence(exec);
    return out;
  }

 private:
  static Range at(detail::List<Range> const& list, std::int64_t g) {
    return list[static_cast<std::size_t>(g)];
  }
  std::int64_t ranks() const { return static_cast<std::int64_t>(held_.size()); }
  Buffer take(std::int64_t n) const {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(T));
  }
  /// Rows `which` of a block of rows `from` to one of rows `to`.
  static void move(Exec const& exec, T const* in, Range from, T* out, Range to, Range which,
                   Around const& around) {
    std::int64_t const inner = around.inner;
    if (which.size() <= 0) return;
    kernels::copy_pitched(exec, in + (which.begin - from.begin) * inner, from.size() * inner,
                          out + (which.begin - to.begin) * inner, to.size() * inner, around.outer,
                          which.size() * inner);
  }
  void exchange(Exec const& exec, T const* in, T* out, Around const& around) {
    StepScratch& s = mesh_.scratch();
    auto const p = static_cast<std::size_t>(ranks());
    for (detail::List<std::int64_t>* list :
         {&s.counts, &s.offsets, &s.recv_counts, &s.recv_offsets})
      list->assign(p, 0);
    Range const mine = at(held_, me_), all = rows();
    std::int64_t sent = 0, received = 0;
    for (std::int64_t g = 0; g < ranks(); ++g) {
      auto const k = static_cast<std::size_t>(g);
      s.offsets[k] = sent;
      s.recv_offsets[k] = received;
      if (g == me_) continue;
      s.counts[k] = intersect(at(needed_, g), mine).size() * around.row();
      s.recv_counts[k] = intersect(all, at(held_, g)).size() * around.row();
      sent += s.counts[k];
      received += s.recv_counts[k];
    }
    Buffer const outgoing = take(sent), incoming = take(received);
    auto* const wire = static_cast<T*>(outgoing.data());
    auto* const came = static_cast<T*>(incoming.data());
    for (std::int64_t g = 0; g < ranks(); ++g) {
      Range const which = intersect(at(needed_, g), mine);
      if (g != me_)
        move(exec, in, mine, wire + s.offsets[static_cast<std::size_t>(g)], which, which, around);
    }
    runtime::fence(exec);
    Staged<T, Space> staged(mesh_);
    T* const into = staged.incoming(came, received);
    execute::group_of(mesh_, map_, step_.axes)
        .all_to_all(staged.outgoing(wire, sent), s.counts, s.offsets, into, s.recv_counts,
                    s.recv_offsets, Segments::sparse);
    staged.arrived(came, received);
    for (std::int64_t g = 0; g < ranks(); ++g) {
      Range const which = intersect(all, at(held_, g));
      if (g != me_)
        move(exec, came + s.recv_offsets[static_cast<std::size_t>(g)], which, out, all, which,
             around);
    }
    runtime::fence(exec);  // before the messages are given back
  }

  MeshState& mesh_;
  AxisMap const& map_;
  Step step_;
  std::int64_t me_ = 0;
  detail::List<Range> held_, needed_;
};

/// A block that gets the rows that windows along its dims need, one dim after the other.
template <class T, class Space>
struct WidenedBlock {
  T const* data = nullptr;
  kernels::Layout layout{};
  planning::WidenedDims wide{};
  Buffer fetched{};

  /// The exchange for windows `w` along dim `d` of a tensor of sharding `s`, in `slot`; returns the
  /// rows of the dim that the block has afterwards. Collective over the mesh.
  Range fetch(MeshState& mesh, AxisMap const& map, Sizing const& z, Spec const& s, Slot slot, int d,
              Window const& w, Caller const& caller) {
    Step step = planning::neighbor_step(s, d, w);
    step.slot = slot;
    step.wide = wide;
    WindowRows<T, Space> rows(mesh, map, z, step, caller);
    fetched = rows.run(data, layout);
    data = static_cast<T const*>(fetched.data());
    layout.extent[d] = rows.rows().size();
    layout = layout.packed();
    if (wide.size < planning::WidenedDims::most) wide.push(d, w);
    return rows.rows();
  }
};

}  // namespace shardtype::execute

namespace shardtype::nn::detail {

/// The rows of a dim that a rank holds, by the type that says which dims are split.
template <class A>
core::Range rows_at(A const& a, Spec const& s, int d) {
  core::Rows const rows = a.rows()[static_cast<std::size_t>(d)];
  return s.dims[d].axes.size > 0 ? rows.range() : core::Range{0, rows.size()};
}

}  // namespace shardtype::nn::detail
