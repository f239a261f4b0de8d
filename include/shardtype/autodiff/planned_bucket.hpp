#pragma once
/// A bucket of gradients without data: records its collective and what it holds.

#include <cstdint>
#include <type_traits>

#include <shardtype/autodiff/tape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/plan/bucket.hpp>
#include <shardtype/plan/function_plan.hpp>

namespace shardtype::autodiff {

/// What tells apart gradients of other elements or in another memory.
template <class T, class Memory>
inline constexpr char elements_key{};

/// The bucket of gradients in the plan of a function.
template <class Recorder>
class PlannedBucket : public Bucket {
  static constexpr bool sized = std::is_same_v<Recorder, planning::FunctionWriter>;

 public:
  constexpr PlannedBucket(Recorder& to, core::Names const& names, planning::BucketMove const& move,
                          std::int64_t width, char const* key)
      : Bucket{nullptr, &act_on},
        recorder_(&to),
        names_(&names),
        move_(move),
        width_(width),
        key_(key) {}
  PlannedBucket(PlannedBucket const&) = delete;
  PlannedBucket& operator=(PlannedBucket const&) = delete;
  constexpr ~PlannedBucket() {
    release(flat_);
    release(arrivals_);
    release(sums_);
    release_operands();
  }

  /// The bucket for gradients that move so; a new one if none takes them.
  static constexpr PlannedBucket& among(Buckets& all, Recorder& to, core::Names const& names,
                                        planning::BucketMove const& move, std::int64_t width,
                                        char const* key) {
    for (Bucket* b = all.last(); b != nullptr; b = b->before) {
      auto* const one = static_cast<PlannedBucket*>(b);
      if (one->open && one->key_ == key &&
          planning::same_groups(one->move_, *one->names_, move, names))
        return *one;
    }
    auto* const made = autodiff::make_small<PlannedBucket>(to, names, move, width, key);
    all.push(made);
    return *made;
  }
  constexpr void add(int value, std::int64_t room) {
    if constexpr (sized) {
      recorder_->share(value);
      operands_.push_back(value);
    }
    room_ += room;
    ++untaken_;
    std::int64_t const parts = sized ? move_.parts(names_->sizes()) : 1;
    if (planning::bucket_is_full(room_ * parts * width_)) begin();
  }
  constexpr void taken() {
    if (--untaken_ == 0) release(sums_);
  }
  constexpr void complete() {
    if (open) begin();
    release(flat_);
    release(arrivals_);
  }

 private:
  static constexpr void act_on(Bucket* self, BucketAct what) {
    auto* const b = static_cast<PlannedBucket*>(self);
    if (what == BucketAct::begin) {
      b->begin();
    } else if (what == BucketAct::complete) {
      b->complete();
    } else {
      autodiff::drop_small(b);
    }
  }
  constexpr void begin() {
    open = false;
    Step const s = planning::bucket_step(move_);
    if constexpr (sized) {
      core::Names of_bucket = *names_;
      of_bucket.labels = 1;
      of_bucket.label_name[0] = "gradients";
      planning::Sizing const z = planning::bucket_sizing(move_, room_, width_, names_->sizes());
      flat_ = recorder_->hold(z.extents[0] * width_);
      release_operands();
      recorder_->note("joined gradients", planning::bucket_plan(move_, z), of_bucket);
      sums_ = recorder_->hold(room_ * width_);
      arrivals_ = recorder_->hold(planning::arriving_elements(s, z) * width_);
    } else {
      int& count = recorder_->counts[static_cast<int>(s.collective())];
      count = planning::add_counts(count, 1);
    }
  }
  constexpr void release_operands() {
    if constexpr (sized) {
      for (int const value : operands_) recorder_->release(value);
      operands_.clear();
    }
  }
  constexpr void release(int& value) {
    if constexpr (sized)
      if (value >= 0) recorder_->release(value);
    value = -1;
  }

  Recorder* recorder_;
  core::Names const* names_;
  planning::BucketMove move_;
  std::int64_t width_;
  char const* key_;
  std::int64_t room_ = 0;
  int untaken_ = 0;
  int flat_ = -1, arrivals_ = -1, sums_ = -1;
  shardtype::detail::List<int> operands_;
};

}  // namespace shardtype::autodiff
