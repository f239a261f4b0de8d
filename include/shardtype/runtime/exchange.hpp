#pragma once
/// Pending collectives: their memory, and the MPI progress calls for them.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/layout.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::runtime {

class MeshState;

/// A pending collective: its MPI calls, the memory they use, and the completion to run on the
/// received data.
struct Exchange {
  UnderWay calls;
  detail::List<Buffer> kept;  ///< memory that must stay alive: the operand's, and packed data
  Buffer result;              ///< the result's block
  Buffer wire;                ///< receive memory, if it differs from the result's block
  Buffer host;                ///< host memory for receiving, if MPI cannot access the former
  std::int64_t arriving = 0;  ///< number of elements to receive
  /// All ranks wait for it at the same place of the program; sums then have the bits of blocking
  /// ones.
  bool ordered = false;

  // Segments of `wire` that are joined along one dim of the result.
  detail::List<std::int64_t> begins;
  core::Around joined;

  /// The completion to run after the calls; null: none.
  void (*rest)(MeshState&, Exchange&) = nullptr;

  /// Releases all memory, for the next use.
  void clear();
};

class Started;

/// The exchanges of one mesh. Finished exchanges are reused, so that a steady loop allocates
/// nothing.
class Exchanges {
 public:
  /// An exchange to be filled and started.
  inline Started take();
  /// Returns a finished exchange that `take` gave.
  void give_back(Exchange& done);
  /// Whether an exchange is pending.
  bool any() const { return !active_.empty(); }
  /// Lets MPI make progress on all pending exchanges. Long computations call it now and then,
  /// because MPI moves data only inside its calls.
  void poke() {
    for (detail::Owned<Exchange>& e : active_) e->calls.requests.poke();
  }

 private:
  Exchange& next();

  detail::List<detail::Owned<Exchange>> active_, idle_;
};

/// Start guard: an exchange that is being started. Unless a Pending takes it over, because its
/// start fails, it is finished and returned here.
class Started {
 public:
  Started() = default;
  Started(Exchanges& of, Exchange& exchange) : of_(&of), exchange_(&exchange) {}
  Started(Started const&) = delete;
  Started& operator=(Started const&) = delete;
  ~Started();
  /// The exchange; null on ranks outside the mesh.
  Exchange* get() const { return exchange_; }
  Exchange* release() { return std::exchange(exchange_, nullptr); }

 private:
  Exchanges* of_ = nullptr;
  Exchange* exchange_ = nullptr;
};

inline Started Exchanges::take() { return {*this, next()}; }

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/exchange.ipp>
#endif
