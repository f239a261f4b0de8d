#pragma once
/// Definitions of staged_exchange.hpp.

#include <algorithm>
#include <cstring>

#include <shardtype/runtime/messages.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/staged_exchange.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void StagedExchange::set(MPI_Comm comm, int rank, NodePlaces const& places,
                                          NodeWindow* window, std::int64_t width,
                                          MPI_Datatype type) {
  comm_ = comm;
  places_ = &places;
  window_ = window;
  width_ = width;
  type_ = type;
  node_ = places.node_of(rank);
  place_ = places.place_of(rank);
  ranks_ = places.ranks(node_);
  targets_.clear();
  first_.clear();
  for (int c = 0; c < ranks_; ++c) {
    first_.push_back(static_cast<std::int64_t>(targets_.size()));
    targets_.push_back(places.member(node_, c));
    // each node begins with the one after it, so that they do not all send to the same one
    for (int step = 1; step < places.nodes(); ++step) {
      int const m = (node_ + step) % places.nodes();
      for (int j = c; j < places.ranks(m); j += ranks_) targets_.push_back(places.member(m, j));
    }
  }
  first_.push_back(static_cast<std::int64_t>(targets_.size()));
}

SHARDTYPE_INLINE void StagedExchange::run(PlacedSegments<std::byte const> const& send,
                                          PlacedSegments<std::byte> const& recv, bool even) {
  send_ = send;
  recv_ = recv;
  tell_counts(even);
  receive_from_nodes();
  onward_at_.clear();
  std::int64_t leaving = 0;
  Range const mine = targets(place_);
  for (std::int64_t k = mine.begin; k < mine.end; ++k) {
    onward_at_.push_back(leaving);
    for (int i = 0; i < ranks_ && k > mine.begin; ++i) leaving += count(i, target(k));
  }
  onward_at_.push_back(leaving);
  onward_ = bytes(onward_memory_, leaving * width_);
  keep_own();
  if (ranks_ > 1) window_ != nullptr ? pass_in_window() : pass_by_messages();
  send_to_nodes();
  wait(received_);
  place_arrivals();
  wait(waiting_);
}

SHARDTYPE_INLINE std::byte* StagedExchange::bytes(List<std::byte>& memory, std::int64_t n) {
  memory.resize(static_cast<std::size_t>(n));
  return memory.data();
}

SHARDTYPE_INLINE void StagedExchange::copy(std::byte const* from, std::int64_t n,
                                           std::byte* to) const {
  if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n * width_));
}

SHARDTYPE_INLINE void StagedExchange::receive(std::byte* to, std::int64_t n, int from,
                                              List<MPI_Request>& requests) const {
  detail::for_pieces(n, [&](std::int64_t at, int length) {
    MPI_Request& request = requests.push_back(MPI_REQUEST_NULL);
    runtime::check_mpi(MPI_Irecv(to + at * width_, length, type_, from, 0, comm_, &request),
                       "MPI_Irecv");
  });
}

SHARDTYPE_INLINE void StagedExchange::transmit(std::byte const* from, std::int64_t n, int to) {
  detail::for_pieces(n, [&](std::int64_t at, int length) {
    MPI_Request& request = waiting_.push_back(MPI_REQUEST_NULL);
    runtime::check_mpi(MPI_Isend(from + at * width_, length, type_, to, 0, comm_, &request),
                       "MPI_Isend");
  });
}

SHARDTYPE_INLINE void StagedExchange::wait(List<MPI_Request>& requests) {
  for (MPI_Request& r : requests) runtime::wait_for(r);
  requests.clear();
}

SHARDTYPE_INLINE std::int64_t StagedExchange::length(int i, int c) const {
  std::int64_t sum = 0;
  Range const r = targets(c);
  for (std::int64_t k = r.begin; k < r.end; ++k) sum += count(i, target(k));
  return sum;
}

SHARDTYPE_INLINE void StagedExchange::tell_counts(bool even) {
  std::size_t const p = places_->node.size();
  auto const ranks = static_cast<std::size_t>(ranks_);
  if (even) return counts_.assign(ranks * p, (*send_.counts)[0]);
  counts_.assign(ranks * p, 0);
  std::int64_t* const own = counts_.data() + static_cast<std::size_t>(place_) * p;
  std::memcpy(own, send_.counts->data(), p * sizeof(std::int64_t));
  if (ranks_ == 1) return;
  if (window_ != nullptr) return tell_counts_in_window();
  auto const n = static_cast<int>(p);
  for (int step = 1; step < ranks_; ++step) {
    int const i = (place_ + step) % ranks_;
    int const g = places_->member(node_, i);
    std::int64_t* const theirs = counts_.data() + static_cast<std::size_t>(i) * p;
    MPI_Request& in = inside_.push_back(MPI_REQUEST_NULL);
    runtime::check_mpi(MPI_Irecv(theirs, n, MPI_INT64_T, g, 0, comm_, &in), "MPI_Irecv");
    MPI_Request& out = inside_.push_back(MPI_REQUEST_NULL);
    runtime::check_mpi(MPI_Isend(own, n, MPI_INT64_T, g, 0, comm_, &out), "MPI_Isend");
  }
  wait(inside_);
}

SHARDTYPE_INLINE void StagedExchange::tell_counts_in_window() {
  std::size_t const p = places_->node.size();
  constexpr std::size_t most = NodeWindow::area / sizeof(std::int64_t);
  for (std::size_t from = 0; from < p; from += most) {
    std::size_t const size = std::min(most, p - from) * sizeof(std::int64_t);
    window_->enter();
    std::memcpy(window_->of(place_), send_.counts->data() + from, size);
    window_->meet();
    for (int i = 0; i < ranks_; ++i)
      std::memcpy(counts_.data() + static_cast<std::size_t>(i) * p + from, window_->of(i), size);
    window_->leave();
  }
}

SHARDTYPE_INLINE std::byte* StagedExchange::destination(int i, std::int64_t k) const {
  std::int64_t const first = targets(place_).begin;
  if (k == first) return recv_.data + recv_.begin(places_->member(node_, i)) * width_;
  std::int64_t at = onward_at_[static_cast<std::size_t>(k - first)];
  for (int before = 0; before < i; ++before) at += count(before, target(k));
  return onward_ + at * width_;
}

SHARDTYPE_INLINE void StagedExchange::load(int c, Range r, std::byte* to) const {
  Range const all = targets(c);
  std::int64_t at = 0;
  for (std::int64_t k = all.begin; k < all.end && at < r.end; ++k) {
    int const g = target(k);
    std::int64_t const n = send_.count(g);
    std::int64_t const from = std::max(at, r.begin);
    copy(send_.data + (send_.begin(g) + from - at) * width_, std::min(at + n, r.end) - from,
         to + (from - r.begin) * width_);
    at += n;
  }
}

SHARDTYPE_INLINE void StagedExchange::store(int i, Range r, std::byte const* from) const {
  Range const all = targets(place_);
  std::int64_t at = 0;
  for (std::int64_t k = all.begin; k < all.end && at < r.end; ++k) {
    std::int64_t const n = count(i, target(k));
    std::int64_t const begin = std::max(at, r.begin);
    copy(from + (begin - r.begin) * width_, std::min(at + n, r.end) - begin,
         destination(i, k) + (begin - at) * width_);
    at += n;
  }
}

SHARDTYPE_INLINE void StagedExchange::keep_own() const {
  Range const mine = targets(place_);
  for (std::int64_t k = mine.begin; k < mine.end; ++k)
    copy(send_.data + send_.begin(target(k)) * width_, send_.count(target(k)),
         destination(place_, k));
}

SHARDTYPE_INLINE void StagedExchange::pass_in_window() {
  std::int64_t longest = 0;
  for (int i = 0; i < ranks_; ++i)
    for (int c = 0; c < ranks_; ++c)
      if (i != c) longest = std::max(longest, length(i, c));
  std::int64_t const most = std::max<std::int64_t>(
      1, std::min(NodeWindow::area / ranks_ / width_, run_time.sending().largest_count));
  for (std::int64_t from = 0; from < longest; from += most) {
    auto const round = [&](int i, int c) {
      return Range{from, std::clamp(length(i, c), from, from + most)};
    };
    window_->enter();
    for (int step = 1; step < ranks_; ++step) {
      int const c = (place_ + step) % ranks_;
      Range const r = round(place_, c);
      load(c, r, window_->of(place_) + most * c * width_);
      run_time.exchanged_in_windows += r.size() * width_;
    }
    window_->meet();
    for (int step = 1; step < ranks_; ++step) {
      int const i = (place_ + step) % ranks_;
      store(i, round(i, place_), window_->of(i) + most * place_ * width_);
    }
    window_->leave();
  }
}

SHARDTYPE_INLINE void StagedExchange::pass_by_messages() {
  std::int64_t coming = 0;
  std::int64_t leaving = 0;
  for (int i = 0; i < ranks_; ++i) {
    if (i == place_) continue;
    coming += length(i, place_);
    leaving += length(place_, i);
  }
  std::byte* const into = bytes(coming_memory_, coming * width_);
  std::byte* from = bytes(leaving_memory_, leaving * width_);
  std::byte* to = into;
  for (int i = 0; i < ranks_; ++i) {
    if (i == place_) continue;
    receive(to, length(i, place_), places_->member(node_, i), inside_);
    to += length(i, place_) * width_;
  }
  for (int c = 0; c < ranks_; ++c) {
    if (c == place_) continue;
    std::int64_t const n = length(place_, c);
    load(c, {0, n}, from);
    transmit(from, n, places_->member(node_, c));
    from += n * width_;
  }
  wait(inside_);
  to = into;
  for (int i = 0; i < ranks_; ++i) {
    if (i == place_) continue;
    store(i, {0, length(i, place_)}, to);
    to += length(i, place_) * width_;
  }
}

SHARDTYPE_INLINE std::int64_t StagedExchange::arriving(int m) const {
  std::int64_t sum = 0;
  for (int j = 0; j < places_->ranks(m); ++j) sum += recv_.count(places_->member(m, j));
  return sum;
}

SHARDTYPE_INLINE bool StagedExchange::consecutive(int m) const {
  std::int64_t at = recv_.begin(places_->member(m, 0));
  for (int j = 0; j < places_->ranks(m); ++j) {
    int const g = places_->member(m, j);
    if (recv_.begin(g) != at) return false;
    at += recv_.count(g);
  }
  return true;
}

SHARDTYPE_INLINE void StagedExchange::receive_from_nodes() {
  std::int64_t apart = 0;
  for (int m = 0; m < places_->nodes(); ++m)
    if (m != node_ && !consecutive(m)) apart += arriving(m);
  arrivals_ = bytes(arrivals_memory_, apart * width_);
  std::byte* to = arrivals_;
  for (int m = 0; m < places_->nodes(); ++m) {
    if (m == node_) continue;
    int const from = places_->member(m, place_ % places_->ranks(m));
    std::int64_t const n = arriving(m);
    bool const direct = consecutive(m);
    receive(direct ? recv_.data + recv_.begin(places_->member(m, 0)) * width_ : to, n, from,
            received_);
    if (!direct) to += n * width_;
  }
}

SHARDTYPE_INLINE void StagedExchange::send_to_nodes() {
  Range const mine = targets(place_);
  for (std::int64_t k = mine.begin + 1; k < mine.end; ++k) {
    auto const q = static_cast<std::size_t>(k - mine.begin);
    transmit(onward_ + onward_at_[q] * width_, onward_at_[q + 1] - onward_at_[q], target(k));
  }
}

SHARDTYPE_INLINE void StagedExchange::place_arrivals() const {
  std::byte const* from = arrivals_;
  for (int m = 0; m < places_->nodes(); ++m) {
    if (m == node_ || consecutive(m)) continue;
    for (int j = 0; j < places_->ranks(m); ++j) {
      int const g = places_->member(m, j);
      copy(from, recv_.count(g), recv_.data + recv_.begin(g) * width_);
      from += recv_.count(g) * width_;
    }
  }
}

}  // namespace shardtype::detail
