#pragma once
/// The steps of plans that send nothing: slices, transposes and products of local blocks.

#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/collective_step.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// Steps on blocks of `T` in memory `Space`, on the calling rank of one mesh. A unit compiles only
/// the members that it uses.
template <class T, class Space>
class LocalSteps {
  using Exec = typename Space::execution_space;

 public:
  LocalSteps(MeshState& mesh, AxisMap const& axes, Sizing const& sizing)
      : blocks_{mesh, axes, sizing} {}

  /// The packed result of a plan of slices, transposes and one product.
  Buffer run_product(Plan const& plan, Value<T> a, Value<T> b) {
    refuse_repeats(plan);
    Value<T> slots[3] = {std::move(a), std::move(b), {}};
    int last = 0;
    for (int k = 0; k < plan.size; ++k) {
      Step const& s = plan.steps[k];
      last = static_cast<int>(s.slot);
      if (s.move == Move::compute) {
        slots[last] = product(s, slots[0], slots[1]);
        slots[0] = slots[1] = {};
      } else {
        rearrange(s, slots[last]);
      }
    }
    return finished(slots[last], plan.size == 0);
  }

 protected:
  /// Operations that have loops run them themselves.
  static void refuse_repeats(Plan const& plan) {
    if (plan.repeat_count > 0) throw_not_run("a repeat");
  }
  /// Runs one slice or transpose.
  void rearrange(Step const& s, Value<T>& v) {
    if (s.move == Move::slice) return slice(s, v);
    if (s.move == Move::transpose) return transpose(s, v);
    throw_not_run("a step that is not local");
  }
  Buffer finished(Value<T>& result, bool is_operand) {
    bool const whole = result.layout.contiguous() && result.data == result.keep.data();
    if (!whole || (!is_operand && result.keep.holders() > 1)) return blocks_.copy(result).keep;
    runtime::fence(blocks_.exec);
    return result.keep;
  }

  void slice(Step const& s, Value<T>& v) {
    Rows const old_rows = planning::rows_of(s.before, s.to, blocks_.sizing, blocks_.axes.coords);
    Rows const new_rows = planning::rows_of(s.after, s.to, blocks_.sizing, blocks_.axes.coords);
    if (new_rows.contiguous()) {
      v.data += (new_rows.begin - old_rows.begin) * v.layout.stride[s.to];
      v.layout.extent[s.to] = new_rows.size();
    } else {
      v.keep =
          execute::take_rows<T, Space>(blocks_.mesh, v.data, v.layout, s.to, old_rows, new_rows);
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
    kernels::Product<T, Exec>(blocks_.exec, blocks_.mesh.pool(), poke)(
        execute::labelled(a), execute::labelled(b), out, c);
  }

  Blocks<T, Space> blocks_;
};

}  // namespace shardtype::execute
