#pragma once
/// A count of the memory that this process holds.

#include <algorithm>
#include <cstdint>

namespace shardtype::runtime {

/// Bytes that this process has requested and not returned: `run_time.memory` from the pools of all
/// meshes, and its share of the shared windows in use. A reused allocation counts with the size
/// requested this time. This is the quantity that `Plan::peak_bytes` predicts. Messages of a
/// device's blocks in the host's memory are in `run_time.staging` (`Plan::staging_bytes`), tables
/// and partial results that kernels of a device need in `run_time.workspace`. Two integers, always
/// counted; like pools, for one thread.
class BytesInUse {
 public:
  std::int64_t now() const { return now_; }
  /// The peak since the last `reset`, including the bytes in use at that time.
  std::int64_t most() const { return most_; }
  void reset() { most_ = now_; }

  void add(std::int64_t n) {
    now_ += n;
    most_ = std::max(most_, now_);
  }
  void subtract(std::int64_t n) { now_ -= n; }

 private:
  std::int64_t now_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace shardtype::runtime
