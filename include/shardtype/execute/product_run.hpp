#pragma once
/// Runs the plan of a product whose operands and result are moved, and overlaps steps of it.

#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/overlapped.hpp>
#include <shardtype/execute/shared_steps.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::execute {

/// Executes plans of products of blocks of `T` in memory `Space`.
template <class T, class Space>
class ProductRun : Executor<T, Space> {
  using Local = LocalSteps<T, Space>;

 public:
  using Executor<T, Space>::Executor;

  /// The packed result of `plan` for operands `a` and `b`.
  Buffer run(Plan const& plan, Value<T> a, Value<T> b, Overlap how) {
    Local::refuse_repeats(plan);
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
      packed[last] = s.move != Move::slice && s.move != Move::transpose;
    }
    return Local::finished(slots[last], plan.size == 0);
  }

  /// If `plan` gathers its first operand and multiplies it, and these run as one between ranks, or
  /// in memory that they share: true, with the packed result in `out` and the gathered operand in
  /// `whole`. Else false, on all ranks.
  bool run_keeping(Plan const& plan, Value<T> a, Value<T> b, Overlap how, Buffer& out,
                   Buffer& whole) {
    if (how == Overlap::automatic && shared_memory()) how = Overlap::shared;
    if (plan.size != 2 || how == Overlap::none || plan.steps[0].slot != planning::Slot::a)
      return false;
    Value<T> slots[3] = {std::move(a), std::move(b), {}};
    return how == Overlap::shared ? keeps_shared(plan, slots, out, whole)
                                  : keeps_overlapped(plan, slots, how, out, whole);
  }

 private:
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
    return runtime::shared_with_host<Space> && this->blocks_.mesh.window().possible();
  }
  bool overlapped(Step const& s, Step const& next, Value<T> const* slots, Overlap how,
                  Value<T>& out) {
    if constexpr (!kernels::is_blas_type<shardtype::detail::computed_t<T>>) {
      return false;
    } else {
      OverlappedSteps<T, Space> steps(this->blocks_, how);
      if (steps.fits_gather(s, next, slots)) {
        this->agree_on(s);
        out = steps.gather(s, next, slots);
        return true;
      }
      if (!steps.fits_reduce(s, next, slots)) return false;
      this->agree_on(next);
      out = steps.reduce(s, next, slots);
      return true;
    }
  }
  bool keeps_overlapped(Plan const& plan, Value<T> const* slots, Overlap how, Buffer& out,
                        Buffer& whole) {
    if constexpr (!kernels::is_blas_type<shardtype::detail::computed_t<T>>) {
      return false;
    } else {
      OverlappedSteps<T, Space> steps(this->blocks_, how);
      if (!steps.fits_gather(plan.steps[0], plan.steps[1], slots, true)) return false;
      this->agree_on(plan.steps[0]);
      Value<T> kept;
      out = steps.gather(plan.steps[0], plan.steps[1], slots, &kept).keep;
      whole = std::move(kept.keep);
      return true;
    }
  }
  bool keeps_shared(Plan const& plan, Value<T> const* slots, Buffer& out, Buffer& whole) {
    Step const& s = plan.steps[0];
    SharedSteps<T, Space> steps(this->blocks_);
    if (!steps.fits_gather(s, plan.steps[1])) return false;
    this->agree_on(s);
    if (!steps.room_to_gather(s)) return false;
    Value<T> kept = steps.gather_copy(s, slots[0]);
    Value<T> product = Local::product(plan.steps[1], kept, slots[1]);
    out = Local::finished(product, false);
    whole = std::move(kept.keep);
    return true;
  }
  bool shared(Step const& s, Step const& next, Value<T>* slots, Value<T>& out) {
    SharedSteps<T, Space> steps(this->blocks_);
    if (steps.fits_gather(s, next)) {
      this->agree_on(s);
      if (!steps.room_to_gather(s)) return false;
      out = steps.gather(s, slots, [&](Value<T> const& a, Value<T> const& b) {
        return Local::product(next, a, b);
      });
      return true;
    }
    if (!steps.fits_reduce(s, next)) return false;
    this->agree_on(next);
    if (!steps.room_to_reduce(s, next)) return false;
    out = steps.reduce(s, next, slots, [&](Value<T> const& a, Value<T> const& b, T* c) {
      Local::product(s, a, b, c);
    });
    return true;
  }
  /// Runs one step; returns the slot of its result.
  int take(Step const& s, Value<T>* slots) {
    Value<T>& v = slots[static_cast<int>(s.slot)];
    if (s.move != Move::compute) {
      this->one(s, v);
    } else {
      v = Local::product(s, slots[0], slots[1]);
      slots[0] = slots[1] = {};
    }
    return static_cast<int>(s.slot);
  }
};

}  // namespace shardtype::execute
