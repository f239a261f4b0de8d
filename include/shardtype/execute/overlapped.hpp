#pragma once
/// Overlaps two steps of a plan on a ring: a product and the collective before or after it.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/core/list.hpp>
#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/overlap/policy.hpp>
#include <shardtype/overlap/ring.hpp>
#include <shardtype/plan/contraction_plan.hpp>
#include <shardtype/runtime/machine_file.hpp>

namespace shardtype::execute {

/// Decides from the plan alone whether two steps can run as one, so that all ranks agree.
template <class T, class Space>
class OverlappedSteps {
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;
  using Exec = typename Space::execution_space;
  using Product = kernels::Product<T, Exec>;
  using Block = kernels::Labelled<T>;

 public:
  OverlappedSteps(Blocks<T, Space>& blocks, Overlap how) : blocks_(blocks), how_(how) {}

  /// Whether an all_gather of an operand and the product that uses it can run as one.
  bool fits_gather(Step const& gather, Step const& product, Value<T> const* slots) {
    if (!wanted(gather) || gather.collective != Collective::all_gather ||
        product.action != Action::compute || gather.before.dims[gather.from].axes.cyclic != 0)
      return false;
    bool const first = static_cast<int>(gather.slot) == 0;
    if (!first && static_cast<int>(gather.slot) != 1) return false;
    if (!pays(gather, first ? gather.after : slots[0].spec, first ? slots[1].spec : gather.after))
      return false;
    int const label = gather.before.dims[gather.from].label;
    Block x = cut(typical(gather.before), label);
    x.layout = x.layout.packed();
    int const rows = x.label[0];
    Block const y = cut(cut(typical(slots[first ? 1 : 0].spec), label), rows);
    Block const z = cut(cut(typical(product.after), label), rows);
    return first ? Product::direct(x, y, z) : Product::direct(y, x, z);
  }
  Value<T> gather(Step const& s, Step const& product, Value<T> const* slots) {
    bool const first = static_cast<int>(s.slot) == 0;
    shardtype::detail::List<Range> const& blocks = relative(s.before, s.from, s.axes);
    Block const mine = labelled(slots[first ? 0 : 1]);
    kernels::Layout largest = mine.layout;
    largest.extent[s.from] = blocks.front().size();
    Value<T> out = blocks_.fresh(product.after);
    ring(s, largest)
        .gather(labelled(slots[0]), labelled(slots[1]), first, s.before.dims[s.from].label, blocks,
                labelled(out), blocks_.writable(out.keep));
    return out;
  }

  /// Whether a product and the reduce_scatter or all_reduce of its result can run as one.
  bool fits_reduce(Step const& product, Step const& s, Value<T> const* slots) {
    if (!wanted(s) || product.action != Action::compute || s.before.rank == 0 ||
        s.before.kind != ReduceKind::sum)
      return false;
    if (s.collective != Collective::all_reduce && s.collective != Collective::reduce_scatter)
      return false;
    int const d = s.collective == Collective::all_reduce ? 0 : s.to;
    if (s.after.dims[d].axes.cyclic != 0 || !pays(s, slots[0].spec, slots[1].spec)) return false;
    int const label = s.before.dims[d].label;
    int const rows = s.before.dims[0].label;
    Block z = cut(cut(typical(product.after), label), rows);
    z.layout = z.layout.packed();
    return Product::direct(cut(cut(typical(slots[0].spec), label), rows),
                           cut(cut(typical(slots[1].spec), label), rows), z);
  }
  Value<T> reduce(Step const& product, Step const& s, Value<T> const* slots) {
    Block const a = labelled(slots[0]);
    Block const b = labelled(slots[1]);
    Value<T> out = blocks_.fresh(s.after);
    if (s.collective == Collective::reduce_scatter) {
      shardtype::detail::List<Range> const& blocks = relative(s.after, s.to, s.axes);
      Value<T> const whole = whole_value<T>(product.after, blocks_.sizing, blocks_.axes.coords, {});
      kernels::Layout largest = whole.layout;
      largest.extent[s.to] = blocks.front().size();
      ring(s, largest)
          .scatter(a, b, labelled(whole), s.before.dims[s.to].label, blocks,
                   blocks_.writable(out.keep));
      return out;
    }
    shardtype::detail::List<Range>& blocks = blocks_.mesh.scratch().blocks;
    blocks.clear();
    std::int64_t const p = blocks_.sizing.sizes.product(s.axes);
    for (std::int64_t g = 0; g < p; ++g) blocks.push_back(piece({0, out.layout.extent[0]}, g, p));
    kernels::Layout largest = out.layout;
    largest.extent[0] = blocks.front().size();
    ring(s, largest).reduce(a, b, blocks, labelled(out), blocks_.writable(out.keep));
    return out;
  }

 private:
  bool wanted(Step const& s) const {
    Sizing const& z = blocks_.sizing;
    // a block's count must fit an int
    std::int64_t const most = std::max(largest_elements(s.before, z.extents, z.sizes),
                                       largest_elements(s.after, z.extents, z.sizes));
    return most <= run_time.sending().largest_count && on_host && how_ != Overlap::none &&
           s.action == Action::communicate && blocks_.sizing.sizes.product(s.axes) > 1;
  }
  /// The algorithm for collective `s` with the product of `a` and `b`, chosen by sizes that all
  /// ranks know.
  Overlap way(Step const& s, Spec const& a, Spec const& b) const {
    if (how_ != Overlap::automatic) return how_;
    Machine const& m = machine_here();
    Sizing const& z = blocks_.sizing;
    // a complex product is four real ones
    double const flop_time = static_cast<double>(sizeof(shardtype::detail::computed_t<T>)) /
                             sizeof(float) * (shardtype::detail::is_complex<T> ? 2 : 1) /
                             m.flops_per_second;
    overlap::Workload work;
    work.product = static_cast<double>(planning::product_flops(a, b, z)) * flop_time;
    work.communication = static_cast<double>(step_cost(s, z, m).picoseconds) * 1e-12;
    work.ranks = z.sizes.product(s.axes);
    work.sums = s.collective != Collective::all_gather;
    std::int64_t const block = s.collective == Collective::reduce_scatter
                                   ? largest_elements(s.after, z.extents, z.sizes)
                               : s.collective == Collective::all_gather
                                   ? largest_elements(s.before, z.extents, z.sizes)
                                   : largest_elements(s.before, z.extents, z.sizes) / work.ranks;
    work.chunks =
        overlap::route(Overlap::ring, block, static_cast<std::int64_t>(sizeof(T)), m).chunks;
    return overlap::fastest(work, m);
  }
  bool pays(Step const& s, Spec const& a, Spec const& b) {
    return (chosen_ = way(s, a, b)) != Overlap::none;
  }
  /// A block with the labels of `s` and arbitrary extents.
  static Block typical(Spec const& s) {
    Block x;
    x.layout.rank = s.rank;
    for (int d = 0; d < s.rank; ++d) {
      x.layout.extent[d] = 4;
      x.label[d] = s.dims[d].label;
    }
    x.layout = x.layout.packed();
    return x;
  }
  static Block cut(Block x, int label) {
    if (int const d = x.find(label); d >= 0) x.layout.extent[d] = 2;
    return x;
  }
  shardtype::detail::List<Range> const& relative(Spec const& spec, int dim,
                                                 AxisList const& axes) const {
    return relative_blocks(spec, dim, blocks_.sizing, blocks_.axes, axes,
                           blocks_.mesh.scratch().blocks);
  }
  /// A ring for blocks with the layout `largest`.
  overlap::RingProduct<T, Exec> ring(Step const& s, kernels::Layout const& largest) {
    blocks_.exec.fence();
    return {blocks_.exec, blocks_.mesh.pool(), group_of(blocks_.mesh, blocks_.axes, s.axes),
            overlap::route(chosen_, largest.extent[0],
                           kernels::inner_length(largest, 0) * static_cast<std::int64_t>(sizeof(T)),
                           machine_here())};
  }

  Blocks<T, Space>& blocks_;
  Overlap how_;
  Overlap chosen_ = Overlap::none;
};

}  // namespace shardtype::execute
