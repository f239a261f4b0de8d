#pragma once
/// Rates of learning as functions of the step.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace shardtype::train {

/// The rate of each step, from 0 on: a number, or one that rises linearly over the steps of a warm-up to a peak, and
/// then stays or falls.
class Rate {
 public:
  constexpr Rate(double rate) : peak_(rate) {}  // NOLINT(google-explicit-constructor)

  double operator()(std::int64_t step) const {
    if (step < warmup_) return peak_ * static_cast<double>(step + 1) / static_cast<double>(warmup_);
    if (falls_ == Falls::not_at_all || steps_ <= warmup_) return peak_;
    double const through =
        static_cast<double>(step - warmup_) / static_cast<double>(steps_ - warmup_);
    double const at = through < 1 ? through : 1;
    double const left =
        falls_ == Falls::linearly ? 1 - at : 0.5 * (1 + std::cos(std::numbers::pi * at));
    return last_ + (peak_ - last_) * left;
  }

  /// Constant after a warm-up.
  static constexpr Rate warmed_up(double peak, std::int64_t warmup) {
    return Rate(peak, warmup, 0, peak, Falls::not_at_all);
  }
  /// Falls to `last` at step `steps`, along half a cosine or along a line; the rate of later steps is `last`.
  static constexpr Rate cosine(double peak, std::int64_t warmup, std::int64_t steps,
                               double last = 0) {
    return Rate(peak, warmup, steps, last, Falls::as_cosine);
  }
  static constexpr Rate linear(double peak, std::int64_t warmup, std::int64_t steps,
                               double last = 0) {
    return Rate(peak, warmup, steps, last, Falls::linearly);
  }

 private:
  enum class Falls : std::uint8_t { not_at_all, linearly, as_cosine };
  constexpr Rate(double peak, std::int64_t warmup, std::int64_t steps, double last, Falls falls)
      : peak_(peak), last_(last), warmup_(warmup), steps_(steps), falls_(falls) {}

  double peak_;
  double last_ = 0;
  std::int64_t warmup_ = 0;
  std::int64_t steps_ = 0;
  Falls falls_ = Falls::not_at_all;
};

}  // namespace shardtype::train
