#pragma once
/// The blocks that move between the stages of a pipeline.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/pipeline/types_schedule.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/pending.hpp>

namespace shardtype::pipeline::detail {

/// Where the block goes that a pass makes: the rank, and the chunk that reads it there.
struct Destination {
  int rank = -1;  ///< -1: no stage reads it
  int chunk = 0;
};
constexpr Destination destination(Schedule const& s, Slot const& slot, int rank) {
  if (slot.pass == Pass::idle) return {};
  int const next = slot.chunk * s.ranks + rank + (slot.pass == Pass::forward ? 1 : -1);
  if (next < 0 || next >= s.ranks * s.chunks) return {};
  return {next % s.ranks, next / s.ranks};
}

/// Sends the blocks that the passes `pass` make to the stages that read them. A move is started
/// where its slot ends, by all ranks in the order of the slots, and waited for where the block is
/// read: a rank waits for the passes that it depends on alone.
template <class Axis, class Block>
class Neighbors {
 public:
  /// At most `most_leaving` blocks are sent at one time: an evaluation has no backward passes,
  /// which keep a rank from running ahead.
  Neighbors(Table const& table, Pass pass, int rank, std::source_location const& where,
            std::size_t most_leaving)
      : table_(table),
        pass_(pass),
        rank_(rank),
        where_(where),
        most_leaving_(most_leaving),
        arriving_(static_cast<std::size_t>(table.schedule().chunks) *
                  static_cast<std::size_t>(table.schedule().microbatches)) {}

  /// Starts the moves of slot `t`. `block` is what this rank made, or any block of its extents.
  void start(int t, Block const& block) {
    Schedule const& s = table_.schedule();
    pairs_.clear();
    std::size_t at = arriving_.size();
    bool leaves = false;
    for (int r = 0; r < s.ranks; ++r) {
      Slot const& slot = table_.at(r, t);
      Destination const to = slot.pass == pass_ ? detail::destination(s, slot, r) : Destination{};
      if (to.rank < 0) continue;
      pairs_.push_back({r, to.rank});
      if (to.rank == rank_) at = number(to.chunk, slot.microbatch);
      if (r == rank_) leaves = true;
    }
    if (pairs_.empty()) return;
    auto move = api::start(op::Permute<Axis>{pairs_}, block, where_);
    if (leaves && table_.schedule().ranks > 1) ++sent_;
    if (at < arriving_.size()) {
      arriving_[at].emplace(std::move(move));
    } else if (leaves) {
      leaving_.push_back(std::move(move));
    } else {
      static_cast<void>(std::move(move).wait());
    }
    let_go(most_leaving_);
  }
  /// The block that stage `chunk` of this rank reads of a microbatch.
  Block take(int chunk, int microbatch) {
    std::optional<Pending<Block>>& from = arriving_[number(chunk, microbatch)];
    Block out = std::move(*from).wait();
    from.reset();
    return out;
  }
  /// Waits for what this rank has sent.
  void finish() { let_go(0); }
  /// The number of blocks that this rank has sent.
  std::int64_t sent() const { return sent_; }

 private:
  std::size_t number(int chunk, int microbatch) const {
    auto const microbatches = static_cast<std::size_t>(table_.schedule().microbatches);
    return static_cast<std::size_t>(chunk) * microbatches + static_cast<std::size_t>(microbatch);
  }
  /// Frees the blocks that have left; waits for the first ones where more than `most` have not.
  void let_go(std::size_t most) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < leaving_.size(); ++k) {
      if (leaving_.size() - k + kept > most || leaving_[k].test()) {
        static_cast<void>(std::move(leaving_[k]).wait());
      } else if (kept++ != k) {
        leaving_[kept - 1] = std::move(leaving_[k]);
      }
    }
    while (leaving_.size() > kept) leaving_.pop_back();
  }

  Table const& table_;
  Pass pass_;
  int rank_;
  std::source_location where_;  ///< of the call that runs the pipeline
  std::size_t most_leaving_;
  std::int64_t sent_ = 0;
  std::vector<std::optional<Pending<Block>>> arriving_;
  std::vector<Pending<Block>> leaving_;
  std::vector<SourceDestination> pairs_;
};

/// While it exists, ranks of the mesh run other passes than each other.
class Apart {
 public:
  explicit Apart(runtime::MeshState& mesh)
      : agreement_(mesh.agreement()), before_(agreement_.apart(true)) {}
  Apart(Apart const&) = delete;
  Apart& operator=(Apart const&) = delete;
  ~Apart() { agreement_.apart(before_); }

 private:
  runtime::Agreement& agreement_;
  bool before_;
};

/// Creates the communicators of all groups of axes of the mesh but `axis`, in any order of the
/// axes. That takes all ranks of the mesh, and a stage that calls a collective runs on some.
inline void make_groups(runtime::MeshState& mesh, int axis, int* chosen, int n) {
  if (n > 0) static_cast<void>(mesh.group(chosen, n));
  auto const all = static_cast<int>(mesh.axes().size());
  for (int k = 0; k < all; ++k) {
    bool used = k == axis;
    for (int c = 0; c < n; ++c) used = used || chosen[c] == k;
    if (used) continue;
    chosen[n] = k;
    detail::make_groups(mesh, axis, chosen, n + 1);
  }
}

}  // namespace shardtype::pipeline::detail
