#pragma once
/// Panels that ranks give in turn to all others, the next one under way while one is used.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <shardtype/linalg/types_cyclic_plan.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::execute {

/// Sends `n` elements to all other ranks of `comm`.
template <class T>
void send_to_others(detail::Messages& sent, Comm& comm, T const* data, std::int64_t n) {
  for (int g = 0; g < comm.size(); ++g)
    if (g != comm.rank()) sent.template send<T>(comm.raw(), {g, data, n});
}

/// The slots of panels: a rank's own, between which they travel by messages, or, on one node, those
/// of all ranks in the shared window.
template <class T>
struct PanelSlots {
  T* memory = nullptr;
  runtime::SharedWindow* window = nullptr;   ///< null: by messages
  detail::List<int> const* ranks = nullptr;  ///< those of the panels, as ranks of the window
};

/// The panels on their way; number `turn` is in slot turn % slots. By messages, one for each rank,
/// it is received into that slot as soon as the panel before it there has also been sent. In the
/// window its owner writes it where all ranks read it, as soon as all have released the panel that
/// was there. Between `begin` and `end` of all ranks the window has no other use.
template <class T, std::int64_t slots>
class PanelStream {
 public:
  /// `room`: elements of a slot.
  PanelStream(Comm& comm, PanelSlots<T> const& where, std::int64_t room)
      : comm_(comm), where_(where), room_(room) {}

  void begin() {
    if (where_.window != nullptr) where_.window->enter();
  }
  T* at(std::int64_t turn) const { return where_.memory + turn % slots * room_; }
  /// The slot of panel `turn`, as `at`; waits until it is free to be written.
  T* write(std::int64_t turn) {
    if (where_.window == nullptr) {
      sent_[slot(turn)].finish();
    } else if (turn >= slots) {
      for (int g : *where_.ranks) where_.window->wait_for(g, read(turn - slots));
    }
    return at(turn);
  }
  /// Gives a panel, which this rank has written, to all others.
  void send(std::int64_t turn, std::int64_t elements) {
    if (where_.window != nullptr) return where_.window->post(written(turn));
    execute::send_to_others<T>(sent_[slot(turn)], comm_, at(turn), elements);
  }
  /// Posts the receive of another rank's panel.
  void expect(std::int64_t turn, std::int64_t owner, std::int64_t elements) {
    if (where_.window != nullptr) return;
    sent_[slot(turn)].finish();
    received_[slot(turn)].template receive<T>(comm_.raw(),
                                              {static_cast<int>(owner), at(turn), elements});
  }
  /// One of both: `make(memory)` writes a panel of this rank.
  template <class Make>
  void start(std::int64_t turn, std::int64_t owner, std::int64_t elements, Make make) {
    if (owner != comm_.rank()) return expect(turn, owner, elements);
    make(write(turn));
    send(turn, elements);
  }
  /// Waits for a panel, unless it is this rank's.
  T* arrive(std::int64_t turn, std::int64_t owner, std::int64_t elements) {
    if (where_.window == nullptr) {
      received_[slot(turn)].finish();
    } else if (owner != comm_.rank()) {
      where_.window->wait_for((*where_.ranks)[static_cast<std::size_t>(owner)], written(turn));
      // what a message would bring
      runtime::run_time.exchanged_in_windows += elements * std::int64_t{sizeof(T)};
    }
    return at(turn);
  }
  /// This rank reads a panel no more.
  void release(std::int64_t turn) {
    if (where_.window != nullptr) where_.window->post(read(turn));
  }
  /// Lets MPI make progress.
  void poke() {
    if (comm_.size() == 1 || where_.window != nullptr) return;
    for (detail::Messages& m : received_) m.poke();
    for (detail::Messages& m : sent_) m.poke();
  }
  /// Waits until all of `count` panels are sent.
  void end(std::int64_t count) {
    if (where_.window != nullptr) return where_.window->leave(read(count));
    for (detail::Messages& m : sent_) m.finish();
  }

 private:
  static std::size_t slot(std::int64_t turn) { return static_cast<std::size_t>(turn % slots); }
  /// The numbers that a rank posts after it has written panel `turn`, and after it has read it.
  /// It may write the next panel before it has read this one, so read(turn) > written(turn + 1).
  static std::int64_t written(std::int64_t turn) { return 2 * turn + 1; }
  static std::int64_t read(std::int64_t turn) { return 2 * turn + 4; }

  Comm& comm_;
  PanelSlots<T> where_;
  std::int64_t room_;
  std::array<detail::Messages, static_cast<std::size_t>(slots)> sent_;
  std::array<detail::Messages, static_cast<std::size_t>(slots)> received_;
};

/// The data behind a panel's elements: `width` pivots, and the packed failure.
template <class T>
struct PanelTail {
  T* data;
  std::int64_t width;

  /// `pivots`: null if there are none.
  void write(std::int32_t const* pivots, std::int32_t failure) const {
    auto const elements = static_cast<std::size_t>(planning::panel_tail(width, sizeof(T)));
    std::memset(static_cast<void*>(data), 0, elements * sizeof(T));
    if (pivots != nullptr) std::memcpy(static_cast<void*>(data), pivots, bytes());
    std::memcpy(failure_at(), &failure, sizeof failure);
  }
  /// The failure; `pivots`: where they go, or null.
  std::int32_t read(std::int32_t* pivots) const {
    if (pivots != nullptr) std::memcpy(pivots, data, bytes());
    std::int32_t failure = 0;
    std::memcpy(&failure, failure_at(), sizeof failure);
    return failure;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(width) * sizeof(std::int32_t); }
  char* failure_at() const { return reinterpret_cast<char*>(data) + bytes(); }
};

}  // namespace shardtype::execute
