#pragma once
/// Collectives under way: what they need until they are done, and who lets MPI work on them.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::runtime {

class MeshState;

/// A collective that was started: its calls of MPI, the memory that they use, and what is left to do with
/// what they bring.
struct Exchange {
  UnderWay calls;
  detail::List<Buffer> kept;  ///< memory that must live on: the operand's, and what was packed
  Buffer result;              ///< the result's block
  Buffer wire;                ///< what comes, where it is not the result's block as it is
  Buffer host;                ///< where MPI puts it, where that cannot reach the former
  std::int64_t arriving = 0;  ///< elements that come

  // Segments of `wire` that lie side by side along one dim of the result, [outer, n, inner].
  detail::List<std::int64_t> begins;
  std::int64_t outer = 1, n = 1, inner = 1;

  /// What is left when the calls are done; null: nothing.
  void (*rest)(MeshState&, Exchange&) = nullptr;

  /// Lets go of all memory, for the next use.
  void clear() {
    while (!kept.empty()) kept.erase(kept.size() - 1);
    result = wire = host = {};
    rest = nullptr;
  }
};

class Started;

/// The exchanges of one mesh. Those that are done serve again, so that a steady loop allocates nothing.
class Exchanges {
 public:
  /// An exchange to be filled and started.
  inline Started take();
  /// One that `take` gave is done.
  void give_back(Exchange& done) {
    done.clear();
    for (std::size_t k = 0; k < active_.size(); ++k) {
      if (&*active_[k] != &done) continue;
      idle_.push_back(std::move(active_[k]));
      active_.erase(k);
      return;
    }
  }
  /// Whether any is under way.
  bool any() const { return !active_.empty(); }
  /// Lets MPI work on all of them; long computations call it now and then, for MPI moves data within its
  /// calls only.
  void poke() {
    for (detail::Owned<Exchange>& e : active_) e->calls.requests.poke();
  }

 private:
  Exchange& next() {
    if (idle_.empty()) idle_.push_back(detail::Owned(new Exchange));
    active_.push_back(std::move(idle_[idle_.size() - 1]));
    idle_.erase(idle_.size() - 1);
    return *active_[active_.size() - 1];
  }

  detail::List<detail::Owned<Exchange>> active_, idle_;
};

/// An exchange that is being started. Unless a Pending takes it over, because what starts it fails, it is
/// finished and given back here.
class Started {
 public:
  Started() = default;
  Started(Exchanges& of, Exchange& exchange) : of_(&of), exchange_(&exchange) {}
  Started(Started const&) = delete;
  Started& operator=(Started const&) = delete;
  ~Started() {
    if (exchange_ == nullptr) return;
    exchange_->calls.requests.finish();
    of_->give_back(*exchange_);
  }
  /// The exchange; null on ranks that take no part.
  Exchange* get() const { return exchange_; }
  Exchange* release() { return std::exchange(exchange_, nullptr); }

 private:
  Exchanges* of_ = nullptr;
  Exchange* exchange_ = nullptr;
};

inline Started Exchanges::take() { return {*this, next()}; }

}  // namespace shardtype::runtime
