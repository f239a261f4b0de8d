#pragma once
/// Runs two steps of a plan as one if ranks share memory: a product reads directly from the memory
/// of other ranks, or writes to memory from which they sum.

#include <cstddef>
#include <cstdint>
#include <exception>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/kernels/sum_parts.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

/// Decides from the plan whether two steps can run as one, and together with all ranks of the mesh
/// whether there is enough memory, so that all ranks agree.
template <class T, class Space>
class SharedSteps {
 public:
  explicit SharedSteps(Blocks<T, Space>& blocks) : blocks_(blocks) {}

  /// Whether an all_gather of an operand and the product that uses it can run as one: the ranks
  /// copy their blocks to one window, from which each multiplies. `multiply(a, b)` runs the
  /// product.
  bool fits_gather(Step const& gather, Step const& product) const {
    return communicates(gather) && gather.move == Move::gather && product.move == Move::compute &&
           static_cast<int>(gather.slot) <= 1;
  }
  bool room_to_gather(Step const& s) { return room(s, largest(s.after)); }
  template <class Multiply>
  Value<T> gather(Step const& s, Value<T>* slots, Multiply multiply) {
    Value<T>& operand = slots[static_cast<int>(s.slot)];
    Visit const visit(*this, s, largest(s.after));
    operand = gathered(visit, s, operand);
    Value<T> out = multiply(slots[0], slots[1]);
    runtime::fence(blocks_.exec);
    return out;
  }
  /// The gathered operand alone, copied out of the window.
  Value<T> gather_copy(Step const& s, Value<T> const& operand) {
    Visit const visit(*this, s, largest(s.after));
    Value<T> const whole = gathered(visit, s, operand);
    Value<T> out = blocks_.fresh(s.after);
    kernels::copy_packed(blocks_.exec, whole.data, whole.layout, blocks_.writable(out.keep));
    runtime::fence(blocks_.exec);
    return out;
  }

  /// Whether a product and the reduce_scatter or all_reduce of its result can run as one: each rank
  /// multiplies into its part of one window, then sums its own elements over all parts, in the
  /// order of ranks. `multiply(a, b, c)` runs the product into `c`.
  bool fits_reduce(Step const& product, Step const& s) const {
    return communicates(s) && product.move == Move::compute && s.before.kind == ReduceKind::sum &&
           (s.move == Move::reduce || s.move == Move::scatter);
  }
  bool room_to_reduce(Step const& product, Step const& s) {
    return room(s, ranks(s) * apart(largest(product.after)));
  }
  template <class Multiply>
  Value<T> reduce(Step const& product, Step const& s, Value<T> const* slots, Multiply multiply) {
    Value<T> out = blocks_.fresh(s.after);
    T* const result = blocks_.writable(out.keep);
    Visit const visit(*this, s, ranks(s) * apart(largest(product.after)));
    Value<T> whole =
        execute::whole_value<T>(product.after, blocks_.sizing, blocks_.axes.coords, {});
    std::int64_t const n = whole.layout.elements();
    T* const parts = visit.data();
    std::int64_t const me = core::rank_in_group(s.axes, blocks_.axes.sizes, blocks_.axes.coords);
    multiply(slots[0], slots[1], parts + me * apart(n));
    runtime::fence(blocks_.exec);
    visit.meet();
    auto const add = [&](std::int64_t begin, std::int64_t rows, std::int64_t run,
                         std::int64_t stride, T* to) {
      kernels::sum_parts(blocks_.exec, parts + begin, apart(n), ranks(s), rows, run, stride, to);
      runtime::fence(blocks_.exec);
    };
    if (s.move == Move::scatter) {
      std::int64_t const inner = kernels::inner_length(whole.layout, s.to);
      std::int64_t const row = whole.layout.extent[s.to] * inner;
      add(own_block(s.after, s.to, s.axes).begin * inner, row == 0 ? 0 : n / row,
          out.layout.extent[s.to] * inner, row, result);
      count(n - out.layout.elements());
    } else {
      Range const mine = core::piece({0, n}, me, ranks(s));
      add(mine.begin, 1, mine.size(), 0, parts + mine.begin);
      visit.meet();
      kernels::copy_packed(blocks_.exec, parts, out.layout, result);
      runtime::fence(blocks_.exec);
      count(2 * (n - mine.size()));
    }
    return out;
  }

 private:
  /// Use of this group's area of the mesh's window: from the time when it is free until this rank
  /// has finished reading. After an exception other ranks wait, as for a message that never
  /// arrives.
  class Visit {
   public:
    /// `area`: number of elements of an area.
    Visit(SharedSteps& of, Step const& s, std::int64_t area)
        : window_(of.blocks_.mesh.window()),
          group_(execute::members_of(of.blocks_.mesh, of.blocks_.axes, s.axes,
                                     of.blocks_.mesh.scratch().members)),
          data_(static_cast<T*>(window_.data()) +
                execute::number_of_group(of.blocks_.mesh, of.blocks_.axes, s.axes) * apart(area)) {
      window_.enter();
    }
    Visit(Visit const&) = delete;
    Visit& operator=(Visit const&) = delete;
    ~Visit() {
      if (std::uncaught_exceptions() == exceptions_) window_.leave();
    }
    T* data() const { return data_; }
    void meet() const { window_.meet(group_); }

   private:
    SharedWindow& window_;
    shardtype::detail::List<int> const& group_;
    T* data_;
    int exceptions_ = std::uncaught_exceptions();
  };

  /// The operand in the window, once all ranks have put their blocks there.
  Value<T> gathered(Visit const& visit, Step const& s, Value<T> const& operand) {
    Value<T> whole = execute::whole_value<T>(s.after, blocks_.sizing, blocks_.axes.coords, {});
    std::int64_t const n = operand.layout.elements();
    std::int64_t const inner = kernels::inner_length(whole.layout, s.from);
    std::int64_t const run = operand.layout.extent[s.from] * inner;
    kernels::put_rows(visit.data() + own_block(s.before, s.from, s.axes).begin * inner,
                      bytes(whole.layout.extent[s.from] * inner), operand.data, bytes(run),
                      run == 0 ? 0 : n / run);
    count(whole.layout.elements() - n);
    visit.meet();
    whole.data = visit.data();
    return whole;
  }
  std::int64_t ranks(Step const& s) const { return blocks_.sizing.sizes.product(s.axes); }
  bool communicates(Step const& s) const {
    return runtime::shared_with_host<Space> && s.is_collective() && ranks(s) > 1;
  }
  /// Elements of the largest block.
  std::int64_t largest(Spec const& spec) const {
    return core::largest_elements(spec, blocks_.sizing.extents, blocks_.sizing.sizes);
  }
  /// Distance between parts in elements: whole cache lines.
  static std::int64_t apart(std::int64_t n) { return (n + 63) / 64 * 64; }
  /// Whether the mesh's shared memory has room for areas of `n` elements, one for each group.
  /// Collective over the mesh.
  bool room(Step const& s, std::int64_t n) const {
    std::int64_t const groups = blocks_.mesh.size() / ranks(s);
    return window_fits(groups, n) &&
           blocks_.mesh.window().reserve(static_cast<std::int64_t>(bytes(groups * apart(n))));
  }
  /// Whether the number of bytes can be represented.
  static bool window_fits(std::int64_t groups, std::int64_t n) {
    return static_cast<double>(groups) * static_cast<double>(n) * sizeof(T) < 4e18;
  }
  /// This rank's block along a dim, relative to the group's first block.
  Range own_block(Spec const& spec, int dim, AxisList const& axes) const {
    auto const me = static_cast<std::size_t>(
        core::rank_in_group(axes, blocks_.axes.sizes, blocks_.axes.coords));
    return execute::relative_blocks(spec, dim, blocks_.sizing, blocks_.axes, axes,
                                    blocks_.mesh.scratch().blocks)[me];
  }
  static std::size_t bytes(std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); }
  static void count(std::int64_t n) {
    run_time.exchanged_in_windows += static_cast<std::int64_t>(bytes(n));
  }

  Blocks<T, Space>& blocks_;
};

}  // namespace shardtype::execute
