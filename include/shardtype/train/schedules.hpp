#pragma once
/// Rates of learning as functions of the step.

#include <cmath>
#include <cstdint>
#include <numbers>

#include <shardtype/train/settings.hpp>

namespace shardtype::train {

/// The rate of each step, from 0 on: a number, or one that rises linearly over the steps of a
/// warm-up to a peak, and then stays, or falls at once or later. Error E85, the same on every rank:
/// a rate or a number of steps that is negative or no number.
class Rate {
 public:
  constexpr Rate(double rate)  // NOLINT(google-explicit-constructor)
      : peak_(detail::not_negative(rate, "the rate")) {}

  double operator()(std::int64_t step) const {
    detail::not_negative(static_cast<double>(step), "the number of a step");
    if (falls_ != Falls::not_at_all && step >= steps_) return last_;
    if (step < warmup_) return peak_ * static_cast<double>(step + 1) / static_cast<double>(warmup_);
    if (falls_ == Falls::not_at_all || step < falls_from_) return peak_;
    double const through =
        static_cast<double>(step - falls_from_) / static_cast<double>(steps_ - falls_from_);
    double const left =
        falls_ == Falls::linearly ? 1 - through : 0.5 * (1 + std::cos(std::numbers::pi * through));
    return last_ + (peak_ - last_) * left;
  }

  /// Constant after a warm-up.
  static constexpr Rate warmed_up(double peak, std::int64_t warmup) {
    return Rate(peak, warmup, 0, peak, Falls::not_at_all);
  }
  /// Falls to `last` at step `steps`, along half a cosine or along a line; the rate of later steps
  /// is `last`. Where the warm-up is as long or longer, it ends there too.
  static constexpr Rate cosine(double peak, std::int64_t warmup, std::int64_t steps,
                               double last = 0) {
    return Rate(peak, warmup, steps, last, Falls::as_cosine);
  }
  static constexpr Rate linear(double peak, std::int64_t warmup, std::int64_t steps,
                               double last = 0) {
    return Rate(peak, warmup, steps, last, Falls::linearly);
  }
  /// Warm-up, stable, decay: the rate stays at the peak, and falls over the `falling` steps before
  /// step `steps` along a line to `last`, or from the end of the warm-up on if that is later.
  /// Source: Hu et al., "MiniCPM", 2024.
  static constexpr Rate stable(double peak, std::int64_t warmup, std::int64_t steps,
                               std::int64_t falling, double last = 0) {
    Rate out(peak, warmup, steps, last, Falls::linearly);
    detail::not_negative(static_cast<double>(falling), "the number of steps in which a rate falls");
    if (steps - falling > warmup) out.falls_from_ = steps - falling;
    return out;
  }

 private:
  enum class Falls : std::uint8_t { not_at_all, linearly, as_cosine };
  constexpr Rate(double peak, std::int64_t warmup, std::int64_t steps, double last, Falls falls)
      : peak_(detail::not_negative(peak, "the rate at its peak")),
        last_(detail::not_negative(last, "the last rate")),
        warmup_(warmup),
        steps_(steps),
        falls_from_(warmup),
        falls_(falls) {
    detail::not_negative(static_cast<double>(warmup), "the number of steps of a warm-up");
    detail::not_negative(static_cast<double>(steps), "the number of steps");
  }

  double peak_;
  double last_ = 0;
  std::int64_t warmup_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t falls_from_ = 0;
  Falls falls_ = Falls::not_at_all;
};

}  // namespace shardtype::train
