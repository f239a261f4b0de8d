#pragma once
/// Small gradients of one differentiation whose reductions are one collective.

namespace shardtype::autodiff {

enum class BucketAct : signed char { begin, complete, drop };

/// Gradients that are reduced together. A function pointer in place of virtual functions, as for
/// Entry.
struct Bucket {
  Bucket* before = nullptr;
  void (*act)(Bucket* self, BucketAct what) = nullptr;
  bool open = true;  ///< takes more gradients
};

/// All buckets of one differentiation, the last one first.
class Buckets {
 public:
  constexpr Buckets() = default;
  Buckets(Buckets const&) = delete;
  Buckets& operator=(Buckets const&) = delete;
  constexpr ~Buckets() {
    while (last_ != nullptr) {
      Bucket* const b = last_;
      last_ = b->before;
      b->act(b, BucketAct::drop);
    }
  }

  constexpr Bucket* last() const { return last_; }
  /// Adds a bucket; owns it.
  constexpr void push(Bucket* b) {
    b->before = last_;
    last_ = b;
  }
  /// Begins the reductions of all buckets that take more.
  constexpr void begin() {
    for (Bucket* b = last_; b != nullptr; b = b->before)
      if (b->open) b->act(b, BucketAct::begin);
  }

 private:
  Bucket* last_ = nullptr;
};

}  // namespace shardtype::autodiff
