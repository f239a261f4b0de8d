#pragma once
/// Panels that ranks send in turn to all others, the next one under way while one is used.

#include <array>
#include <cstddef>
#include <cstdint>

#include <shardtype/runtime/comm.hpp>

namespace shardtype::execute {

/// Two slots in `memory`, each of `room` elements. Panel number `turn` is in slot turn % 2: it may be started when the last but
/// one is no longer used.
template <class T>
class PanelsInTurn {
 public:
  static constexpr std::int64_t slots = 2;

  PanelsInTurn(Comm& comm, T* memory, std::int64_t room)
      : comm_(comm), memory_(memory), room_(room) {}

  /// Begins to send a panel of `elements` elements from rank `owner`, where `make(memory)` writes it.
  template <class Make>
  void start(std::int64_t turn, std::int64_t owner, std::int64_t elements, Make make) {
    T* const to = at(turn);
    sent_[slot(turn)].finish();
    if (owner != comm_.rank()) {
      received_[slot(turn)].template receive<T>(comm_.raw(),
                                                {static_cast<int>(owner), to, elements});
      return;
    }
    make(to);
    for (int g = 0; g < comm_.size(); ++g)
      if (g != comm_.rank()) sent_[slot(turn)].template send<T>(comm_.raw(), {g, to, elements});
  }
  /// The panel, which has been started.
  T* arrive(std::int64_t turn) {
    received_[slot(turn)].finish();
    return at(turn);
  }
  /// Lets MPI make progress.
  void poke() {
    if (comm_.size() == 1) return;
    for (detail::Messages& m : received_) m.poke();
    for (detail::Messages& m : sent_) m.poke();
  }
  /// Waits until all is sent.
  void finish() {
    for (detail::Messages& m : sent_) m.finish();
  }

 private:
  static std::size_t slot(std::int64_t turn) { return static_cast<std::size_t>(turn % slots); }
  T* at(std::int64_t turn) const { return memory_ + turn % slots * room_; }

  Comm& comm_;
  T* memory_;
  std::int64_t room_;
  std::array<detail::Messages, slots> sent_;
  std::array<detail::Messages, slots> received_;
};

}  // namespace shardtype::execute
