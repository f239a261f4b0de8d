#pragma once
/// Overlaps two steps of a plan on a ring: a product and the collective before or after it.

#include <algorithm>
#include <array>
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
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/machine_file.hpp>

namespace shardtype::execute {

/// Decides from the plan alone whether two steps can run as one, so that all ranks agree.
template <class T, class Space>
class OverlappedSteps {
  using Exec = typename Space::execution_space;
  using Product = kernels::Product<T, Exec>;
  using Block = kernels::Labelled<T>;

 public:
  OverlappedSteps(Blocks<T, Space>& blocks, Overlap how) : blocks_(blocks), how_(how) {}

  /// Whether an all_gather of an operand and the product that uses it can run as one; if `keeps`,
  /// with the gathered operand as a second result.
  bool fits_gather(Step const& gather, Step const& product, Value<T> const* slots,
                   bool keeps = false) {
    if (!wanted(gather) || gather.move != Move::gather || product.move != Move::compute)
      return false;
    bool const first = static_cast<int>(gather.slot) == 0;
    if (!first && static_cast<int>(gather.slot) != 1) return false;
    if (!pays(gather, first ? gather.after : slots[0].spec, first ? slots[1].spec : gather.after))
      return false;
    int const label = gather.before.dims[gather.from].label;
    pieces_ = pieces_of(gather.before, label, keeps, [&](Block const& x) {
      int const rows = x.label[0];
      Block const y = cut(cut(typical(slots[first ? 1 : 0].spec), label), rows);
      Block const z = cut(cut(typical(product.after), label), rows);
      return first ? std::array{x, y, z} : std::array{y, x, z};
    });
    return pieces_.possible;
  }
  /// The product; with `whole`, also the gathered operand.
  Value<T> gather(Step const& s, Step const& product, Value<T> const* slots,
                  Value<T>* whole = nullptr) {
    bool const first = static_cast<int>(s.slot) == 0;
    int const label = s.before.dims[s.from].label;
    shardtype::detail::List<Range> const& blocks = relative(s.before, s.from, s.axes);
    Block mine = execute::labelled(slots[first ? 0 : 1]);
    if (pieces_.turned && mine.label[0] != label) mine = turned(mine, label);
    kernels::Layout largest = mine.layout;
    largest.extent[mine.find(label)] = blocks.front().size();
    Value<T> out = blocks_.fresh(product.after);
    Block const other = execute::labelled(slots[first ? 1 : 0]);
    Block together;  // the gathered operand, the dim of the ring first
    if (whole != nullptr) {
      together = execute::labelled(
          execute::whole_value<T>(s.after, blocks_.sizing, blocks_.axes.coords, {}));
      together = in_ring_order(together, label);
      together.keep = blocks_.take(together.layout.elements());
      together.data = blocks_.writable(together.keep);
    }
    ring(s, largest)
        .gather(first ? mine : other, first ? other : mine, first, label, blocks,
                execute::labelled(out), blocks_.writable(out.keep),
                whole == nullptr ? nullptr : blocks_.writable(together.keep));
    if (whole != nullptr) {
      place_own(mine, blocks, s, together);
      *whole = execute::whole_value<T>(s.after, blocks_.sizing, blocks_.axes.coords, together.keep);
      if (s.after.dims[0].label != label) {
        *whole = blocks_.fresh(s.after);
        turn_back(together, *whole);
      }
    }
    return out;
  }

  /// Whether a product and the reduce_scatter or all_reduce of its result can run as one.
  bool fits_reduce(Step const& product, Step const& s, Value<T> const* slots) {
    if (!wanted(s) || product.move != Move::compute || s.before.rank == 0 ||
        s.before.kind != ReduceKind::sum)
      return false;
    if (s.move != Move::reduce && s.move != Move::scatter) return false;
    int const d = s.move == Move::reduce ? 0 : s.to;
    if (s.after.dims[d].axes.cyclic != 0 || !pays(s, slots[0].spec, slots[1].spec)) return false;
    int const label = s.before.dims[d].label;
    auto const parts = [&](Block const& z) {
      int const rows = z.label[0];
      return std::array{cut(cut(typical(slots[0].spec), label), rows),
                        cut(cut(typical(slots[1].spec), label), rows), z};
    };
    pieces_ = pieces_of(product.after, label, false, parts);
    return pieces_.possible && !(pieces_.turned && s.move == Move::reduce);
  }
  Value<T> reduce(Step const& product, Step const& s, Value<T> const* slots) {
    Block const a = execute::labelled(slots[0]);
    Block const b = execute::labelled(slots[1]);
    Value<T> out = blocks_.fresh(s.after);
    if (s.move == Move::scatter) {
      shardtype::detail::List<Range> const& blocks = relative(s.after, s.to, s.axes);
      int const label = s.before.dims[s.to].label;
      Block whole = execute::labelled(
          execute::whole_value<T>(product.after, blocks_.sizing, blocks_.axes.coords, {}));
      Block sums = execute::labelled(out);
      if (pieces_.turned) {
        whole = in_ring_order(whole, label);
        sums = in_ring_order(sums, label);
        sums.keep = blocks_.take(sums.layout.elements());
      }
      kernels::Layout largest = whole.layout;
      largest.extent[whole.find(label)] = blocks.front().size();
      ring(s, largest).scatter(a, b, whole, label, blocks, blocks_.writable(sums.keep));
      if (pieces_.turned) {
        sums.data = blocks_.writable(sums.keep);
        turn_back(sums, out);
      }
      return out;
    }
    shardtype::detail::List<Range>& blocks = blocks_.mesh.scratch().blocks;
    blocks.clear();
    std::int64_t const p = blocks_.sizing.sizes.product(s.axes);
    for (std::int64_t g = 0; g < p; ++g)
      blocks.push_back(core::piece({0, out.layout.extent[0]}, g, p));
    kernels::Layout largest = out.layout;
    largest.extent[0] = blocks.front().size();
    ring(s, largest).reduce(a, b, blocks, execute::labelled(out), blocks_.writable(out.keep));
    return out;
  }

 private:
  bool wanted(Step const& s) const {
    Sizing const& z = blocks_.sizing;
    // a block's count must fit an int
    std::int64_t const most = std::max(largest_elements(s.before, z.extents, z.sizes),
                                       largest_elements(s.after, z.extents, z.sizes));
    return most <= run_time.sending().largest_count && runtime::host_reads<Space> &&
           how_ != Overlap::none && s.is_collective() && blocks_.sizing.sizes.product(s.axes) > 1;
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
    work.sums = s.move != Move::gather;
    std::int64_t const block =
        s.move == Move::scatter  ? largest_elements(s.after, z.extents, z.sizes)
        : s.move == Move::gather ? largest_elements(s.before, z.extents, z.sizes)
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
  /// Decides how pieces of a block of `s` along `label` are multiplied. `parts` gives the operands
  /// and the result of one product from such a piece, whose dims may be in either order; if
  /// `first`, only with `label` first.
  template <class Parts>
  static overlap::Pieces pieces_of(Spec const& s, int label, bool first, Parts parts) {
    overlap::Pieces out;
    Block const natural = cut(typical(s), label);
    for (bool const turned : {false, true}) {
      if (!turned && first && natural.label[0] != label) continue;
      Block x = turned ? in_ring_order(natural, label) : natural;
      x.layout = x.layout.packed();
      std::array<Block, 3> const p = parts(x);
      out.turned = turned;
      out.possible = Product::direct(p[0], p[1], p[2]);
      if (out.possible) return out;
      if (!turned) continue;
      for (int d = 1; d < x.layout.rank; ++d) {
        int const loop = x.label[d];
        // what is looped over is in the result, or summed over together with the ring's dim
        if (p[2].find(loop) < 0 && p[2].find(label) >= 0) continue;
        out.loop = loop;
        out.possible = Product::direct(overlap::without(p[0], loop), overlap::without(p[1], loop),
                                       overlap::without(p[2], loop));
        if (out.possible) return out;
      }
    }
    return {};
  }
  /// A packed layout of `x` with the dim `label` first.
  static Block in_ring_order(Block const& x, int label) {
    Block out;
    auto const add = [&](int d) {
      out.label[out.layout.rank] = x.label[d];
      out.layout.extent[out.layout.rank++] = x.layout.extent[d];
    };
    add(x.find(label));
    for (int d = 0; d < x.layout.rank; ++d)
      if (x.label[d] != label) add(d);
    out.layout = out.layout.packed();
    return out;
  }
  /// A copy of `x` with the dim `label` first.
  Block turned(Block const& x, int label) {
    Block out = in_ring_order(x, label);
    out.keep = blocks_.take(out.layout.elements());
    copy_in_order(x, out, blocks_.writable(out.keep));
    out.data = blocks_.writable(out.keep);
    return out;
  }
  void turn_back(Block const& x, Value<T>& to) {
    copy_in_order(x, execute::labelled(to), blocks_.writable(to.keep));
  }
  /// Copies `x` to `data`, with the dims in the order of `to`.
  void copy_in_order(Block const& x, Block const& to, T* data) {
    Labels order;
    for (int d = 0; d < to.layout.rank; ++d) order.push(to.label[d]);
    kernels::copy_packed(blocks_.exec, x.data, planning::view_in_order(x, order).layout, data);
    runtime::fence(blocks_.exec);
  }
  /// Copies the own block to its place in the gathered operand.
  void place_own(Block const& mine, shardtype::detail::List<Range> const& blocks, Step const& s,
                 Block const& whole) {
    auto const me = static_cast<std::size_t>(
        core::rank_in_group(s.axes, blocks_.axes.sizes, blocks_.axes.coords));
    T* const to =
        blocks_.writable(whole.keep) + blocks[me].begin * kernels::inner_length(whole.layout, 0);
    kernels::copy_packed(blocks_.exec, mine.data, mine.layout, to);
  }
  shardtype::detail::List<Range> const& relative(Spec const& spec, int dim,
                                                 AxisList const& axes) const {
    return execute::relative_blocks(spec, dim, blocks_.sizing, blocks_.axes, axes,
                                    blocks_.mesh.scratch().blocks);
  }
  /// A ring for blocks with the layout `largest`.
  overlap::RingProduct<T, Exec> ring(Step const& s, kernels::Layout const& largest) {
    runtime::fence(blocks_.exec);
    return {blocks_.exec, blocks_.mesh.pool(),
            execute::group_of(blocks_.mesh, blocks_.axes, s.axes),
            overlap::route(chosen_, largest.extent[0],
                           kernels::inner_length(largest, 0) * static_cast<std::int64_t>(sizeof(T)),
                           machine_here()),
            pieces_.loop};
  }

  Blocks<T, Space>& blocks_;
  Overlap how_;
  Overlap chosen_ = Overlap::none;
  overlap::Pieces pieces_{};
};

}  // namespace shardtype::execute
