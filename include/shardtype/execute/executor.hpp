#pragma once
/// Runs a plan: one switch over its steps. Compile-time and run-time plans use the same code.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/collective_step.hpp>
#include <shardtype/execute/overlapped.hpp>
#include <shardtype/execute/shared_steps.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// Executes plans on blocks of `T` in memory `Space`, on the calling rank of one mesh.
template <class T, class Space>
class Executor {
  using Exec = typename Space::execution_space;
  // no products of bool (C11), nor of the totals of a reduction
  static constexpr bool has_products =
      !std::is_same_v<T, bool> && !shardtype::detail::is_carried<T>;

 public:
  Executor(MeshState& mesh, AxisMap const& axes, Sizing const& sizing,
           std::source_location const& where)
      : blocks_{mesh, axes, sizing}, collectives_(blocks_), where_(where) {}

  /// The packed result of `plan` for operands `a` and, for products, `b`.
  Buffer run(Plan const& plan, Value<T> a, Value<T> b = {}, Overlap how = Overlap::none) {
    refuse_repeats(plan);
    Value<T> slots[3] = {std::move(a), std::move(b), {}};
    if (how == Overlap::automatic && shared_memory()) how = Overlap::shared;
    bool packed[3] = {true, true, true};  // follows from the plan, not from extents
    int last = 0;
    for (int k = 0; k < plan.size; ++k) {
      Step const& s = plan.steps[k];
      if (k + 1 < plan.size && packed[0] && packed[1] &&
          together(s, plan.steps[k + 1], slots, how)) {
        last = static_cast<int>(plan.steps[++k].slot);
        continue;
      }
      last = take(s, slots);
      packed[last] = s.action != Action::slice && s.action != Action::transpose;
    }
    return finished(slots[last], plan.size == 0);
  }
  /// Starts the plan of one operand; on return its last collective is pending.
  void start(Plan const& plan, Value<T> v, Exchange& later) {
    refuse_repeats(plan);
    Value<T> slots[3] = {std::move(v), {}, {}};
    int last = 0;
    for (int k = 0; k < plan.size; ++k) {
      Step const& s = plan.steps[k];
      if (k + 1 == plan.size && s.action == Action::communicate) {
        run(s, std::move(slots[static_cast<int>(s.slot)]), &later);
        return;
      }
      last = take(s, slots);
    }
    later.result = finished(slots[last], plan.size == 0);
  }

  /// The packed result of those steps of `plan` that work on `slot`, applied to `v`.
  Buffer run_slot(Plan const& plan, Slot slot, Value<T> v) {
    refuse_repeats(plan);
    bool moved = false;
    for (Step const& s : plan) {
      if (s.slot != slot || s.action == Action::compute) continue;
      v = step(s, std::move(v));
      moved = true;
    }
    return finished(v, !moved);
  }

  /// Runs one slice or collective on `v`; the result may be a view.
  Value<T> step(Step const& s, Value<T> v) {
    one(s, v);
    return v;
  }
  /// The packed memory of a value that steps made.
  Buffer packed(Value<T>& v) { return finished(v, false); }
  /// The packed result of one collective. With an Exchange `later` it is only started, and the
  /// Exchange gets the result.
  Buffer run(Step const& s, Value<T> v, Exchange* later = nullptr) {
    agree_on(s);
    if (later != nullptr) {
      collectives_.start(s, v, *later);
      if (later->result.data() == nullptr) later->result = finished(v, false);
      return {};
    }
    collectives_.run(s, v);
    return finished(v, false);
  }

  /// SHARDTYPE_CHECK=agree: checks that all ranks of the mesh are about to run the same collective.
  void agree_on(Step const& s) {
    if (communicates(s) && blocks_.mesh.agreement().begin_step()) agree(s);
  }
  /// As above, if the check is on and the step is already counted.
  void agree(Step const& s) {
    StepHash hash;
    std::string text = std::string(name_of(s.collective)) + " over ";
    hash.mix(static_cast<std::uint64_t>(s.collective));
    for (int k = 0; k < s.axes.size; ++k) {
      int const x = blocks_.axes.position[s.axes[k]];
      text += (k == 0 ? "" : ",") + blocks_.mesh.axes()[static_cast<std::size_t>(x)].name;
      hash.mix(static_cast<std::uint64_t>(x) + 1);
    }
    for (int d = 0; d < s.before.rank; ++d)
      hash.mix(static_cast<std::uint64_t>(blocks_.sizing.extents[s.before.dims[d].label]));
    hash.mix(static_cast<std::uint64_t>(s.from + 2));
    hash.mix(static_cast<std::uint64_t>(s.to + 2));
    hash.mix(where_.line());
    blocks_.mesh.agreement().meet(text + source_text(where_), hash.value());
  }

 private:
  /// Operations that have loops run them themselves.
  static void refuse_repeats(Plan const& plan) {
    if (plan.repeat_count > 0) throw_not_run("a repeat");
  }
  /// Runs two steps as one, if that is requested and possible.
  bool together(Step const& s, Step const& next, Value<T>* slots, Overlap how) {
    if (how == Overlap::none) return false;
    Value<T> out;
    if (!(how == Overlap::shared ? shared(s, next, slots, out)
                                 : overlapped(s, next, slots, how, out)))
      return false;
    slots[0] = slots[1] = {};
    slots[static_cast<int>(next.slot)] = std::move(out);
    return true;
  }
  /// Whether all ranks of the mesh are on one node, and kernels can access its memory.
  bool shared_memory() {
    if constexpr (SharedSteps<T, Space>::on_host)
      return blocks_.mesh.window().possible();
    else
      return false;
  }
  bool overlapped(Step const& s, Step const& next, Value<T> const* slots, Overlap how,
                  Value<T>& out) {
    if constexpr (!kernels::is_blas_type<shardtype::detail::computed_t<T>>) {
      return false;
    } else {
      OverlappedSteps<T, Space> steps(blocks_, how);
      if (steps.fits_gather(s, next, slots)) {
        agree_on(s);
        out = steps.gather(s, next, slots);
        return true;
      }
      if (!steps.fits_reduce(s, next, slots)) return false;
      agree_on(next);
      out = steps.reduce(s, next, slots);
      return true;
    }
  }
  bool shared(Step const& s, Step const& next, Value<T>* slots, Value<T>& out) {
    if constexpr (!has_products) {
      return false;
    } else {
      SharedSteps<T, Space> steps(blocks_);
      if (steps.fits_gather(s, next)) {
        agree_on(s);
        if (!steps.room_to_gather(s)) return false;
        out = steps.gather(
            s, slots, [&](Value<T> const& a, Value<T> const& b) { return product(next, a, b); });
        return true;
      }
      if (!steps.fits_reduce(s, next)) return false;
      agree_on(next);
      if (!steps.room_to_reduce(s, next)) return false;
      out = steps.reduce(s, next, slots,
                         [&](Value<T> const& a, Value<T> const& b, T* c) { product(s, a, b, c); });
      return true;
    }
  }
  /// Runs one slice, transpose or collective.
  void one(Step const& s, Value<T>& v) {
    switch (s.action) {
      case Action::slice:
        return slice(s, v);
      case Action::transpose:
        return transpose(s, v);
      case Action::communicate:
        agree_on(s);
        return collectives_.run(s, v);
      case Action::compute:
      case Action::finish:
        throw Error("E68", "a plan computes where a value is only to be moved",
                    FailedOn::every_rank);
    }
  }
  /// Runs one step; returns the slot of its result.
  int take(Step const& s, Value<T>* slots) {
    Value<T>& v = slots[static_cast<int>(s.slot)];
    if (s.action != Action::compute) {
      one(s, v);
    } else {
      if constexpr (has_products)
        v = product(s, slots[0], slots[1]);
      else
        throw_not_run("a product of elements that are not multiplied");
      slots[0] = slots[1] = {};
    }
    return static_cast<int>(s.slot);
  }
  Buffer finished(Value<T>& result, bool is_operand) {
    bool const whole = result.layout.contiguous() && result.data == result.keep.data();
    if (!whole || (!is_operand && result.keep.holders() > 1)) return blocks_.copy(result).keep;
    blocks_.exec.fence();
    return result.keep;
  }

  void slice(Step const& s, Value<T>& v) {
    Rows const old_rows = rows_of(s.before, s.to, blocks_.sizing, blocks_.axes.coords);
    Rows const new_rows = rows_of(s.after, s.to, blocks_.sizing, blocks_.axes.coords);
    if (new_rows.contiguous()) {
      v.data += (new_rows.begin - old_rows.begin) * v.layout.stride[s.to];
      v.layout.extent[s.to] = new_rows.size();
    } else {
      v.keep = take_rows<T, Space>(blocks_.mesh, v.data, v.layout, s.to, old_rows, new_rows);
      v.data = static_cast<T const*>(v.keep.data());
    }
    v.spec = s.after;
  }

  void transpose(Step const& s, Value<T>& v) {
    kernels::Layout const old = v.layout;
    for (int d = 0; d < s.after.rank; ++d) {
      int const from = s.before.find(s.after.dims[d].label);
      v.layout.extent[d] = old.extent[from];
      v.layout.stride[d] = old.stride[from];
    }
    v.spec = s.after;
  }

  Value<T> product(Step const& s, Value<T> const& a, Value<T> const& b) {
    Value<T> c = blocks_.fresh(s.after);
    product(s, a, b, blocks_.writable(c.keep));
    return c;
  }
  void product(Step const& s, Value<T> const& a, Value<T> const& b, T* c) {
    Labels out;
    for (int d = 0; d < s.after.rank; ++d) out.push(s.after.dims[d].label);
    Exchanges& under_way = blocks_.mesh.exchanges();
    kernels::Between poke;
    if (under_way.any())
      poke = {[](void* all) { static_cast<Exchanges*>(all)->poke(); }, &under_way};
    kernels::Product<T, Exec>(blocks_.exec, blocks_.mesh.pool(), poke)(labelled(a), labelled(b),
                                                                       out, c);
  }

  /// Whether a step's group has more than one rank; otherwise it sends nothing.
  bool communicates(Step const& s) const { return blocks_.sizing.sizes.product(s.axes) > 1; }

  Blocks<T, Space> blocks_;
  CollectiveStep<T, Space> collectives_;
  std::source_location where_;
};

}  // namespace shardtype::execute
