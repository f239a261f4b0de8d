#pragma once
/// Definitions of two_stages.hpp.

#include <algorithm>
#include <cstring>

#include <shardtype/runtime/two_stages.hpp>
#include <shardtype/runtime/wait.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void Segments::set(List<std::int64_t> const& lengths) {
  begins.clear();
  counts = lengths;
  std::int64_t at = 0;
  for (std::int64_t const n : counts) {
    begins.push_back(at);
    at += n;
  }
}

SHARDTYPE_INLINE void Segments::set(NodePlaces const& places, std::int64_t n) {
  begins.assign(places.node.size(), 0);
  counts.assign(places.node.size(), 0);
  for (int k = 0; k < places.nodes(); ++k)
    for (int j = 0; j < places.ranks(k); ++j) {
      Range const of_node = detail::even_part({0, n}, places.nodes(), k);
      Range const part = detail::even_part(of_node, places.ranks(k), j);
      auto const g = static_cast<std::size_t>(places.member(k, j));
      begins[g] = part.begin;
      counts[g] = part.size();
    }
}

SHARDTYPE_INLINE void TwoStages::set(MPI_Comm comm, int rank, NodePlaces const& places,
                                     NodeWindow* window, WireElement const& element) {
  comm_ = comm;
  rank_ = rank;
  places_ = &places;
  window_ = window;
  element_ = element;
  node_ = places.node_of(rank);
  place_ = places.place_of(rank);
  ranks_ = places.ranks(node_);
  others_.clear();
  for (int step = 1; step < places.nodes(); ++step) {
    int const k = (node_ + step) % places.nodes();
    for (int i = 0; i < places.ranks(k); ++i) others_.push_back(places.member(k, i));
  }
}

SHARDTYPE_INLINE void TwoStages::begin(void const* send, void* out, void* into, void* arrivals,
                                       ReduceKind kind) {
  out_ = out;
  all_ = nullptr;
  kind_ = kind;
  Range const own = segments.of(rank_);
  if (arrivals == nullptr) {
    std::int64_t const n = arriving(*places_, own.size());
    arrivals_.resize(static_cast<std::size_t>(n * element_.width));
    arrivals = arrivals_.data();
  }
  came_ = arrivals;
  for (int const g : others_) {
    Range const r = held(places_->node_of(g), places_->place_of(g), rank_);
    for (std::int64_t k = r.begin; k < r.end; k = piece(r, k).end) {
      Range const p = piece(r, k);
      arriving_.push_back(p);
      receive(arrivals, p.size(), g, received_.push_back(MPI_REQUEST_NULL));
      arrivals = at(arrivals, p.size());
    }
  }
  void* free = nullptr;
  if (into == nullptr) {
    std::int64_t most = 0;
    for (int const g : others_) most += held(node_, place_, g).size();
    sums_.resize(static_cast<std::size_t>(most * element_.width));
    free = sums_.data();
  }
  // those that wait for the link between nodes first
  for (int const g : others_) {
    int const k = places_->node_of(g);
    bool const alike = places_->ranks(k) == ranks_;
    if (alike && places_->place_of(g) != place_) continue;
    Range const r = held(node_, place_, g);
    sum_inside(send, into != nullptr ? at(into, r.begin) : free, k, alike ? -1 : g, g);
    if (into == nullptr) free = at(free, r.size());
  }
  sum_inside(send, out, node_, -1, -1);
}

SHARDTYPE_INLINE void TwoStages::begin_everywhere(void const* send, void* all, void* arrivals,
                                                  std::int64_t n, ReduceKind kind) {
  segments.set(*places_, n);
  begin(send, at(all, segments.of(rank_).begin), all, arrivals, kind);
  all_ = all;
}

SHARDTYPE_INLINE void TwoStages::finish() {
  if (out_ == nullptr && received_.empty() && waiting_.empty() && all_ == nullptr) return;
  void const* came = came_;
  std::int64_t const first = segments.of(rank_).begin;
  for (std::size_t k = 0; k < received_.size(); ++k) {
    runtime::wait_for(received_[k]);
    void* const to = at(out_, arriving_[k].begin - first);
    element_.join(to, came, to, arriving_[k].size(), kind_);
    came = at(came, arriving_[k].size());
  }
  received_.clear();
  arriving_.clear();
  wait_for_all();
  out_ = nullptr;
  if (void* const all = all_; all != nullptr) {
    all_ = nullptr;
    gather(all);
  }
}

SHARDTYPE_INLINE void TwoStages::gather(void* all) {
  for (int const g : others_) {
    Range const r = held(node_, place_, g);
    for (std::int64_t k = r.begin; k < r.end; k = piece(r, k).end) {
      receive(at(all, k), piece(r, k).size(), g, received_.push_back(MPI_REQUEST_NULL));
    }
  }
  for (int const g : others_) {
    Range const r = held(places_->node_of(g), places_->place_of(g), rank_);
    for (std::int64_t k = r.begin; k < r.end; k = piece(r, k).end)
      transmit(at(all, k), piece(r, k).size(), g, waiting_.push_back(MPI_REQUEST_NULL));
  }
  window_ != nullptr ? pass_in_window(all) : pass_by_messages(all);
  received_.clear();
  wait_for_all();
}

SHARDTYPE_INLINE void TwoStages::copy(void const* from, std::int64_t n, void* to) const {
  if (n > 0 && from != to) std::memcpy(to, from, static_cast<std::size_t>(n * element_.width));
}

SHARDTYPE_INLINE Range TwoStages::held(int k, int j, int g) const {
  Range const whole = segments.of(g);
  if (places_->ranks(k) != places_->ranks(places_->node_of(g)))
    return detail::even_part(whole, places_->ranks(k), j);
  return places_->place_of(g) == j ? whole : Range{whole.begin, whole.begin};
}

SHARDTYPE_INLINE Range TwoStages::piece(Range r, std::int64_t from) const {
  std::int64_t const most = std::max<std::int64_t>(
      1, std::min(NodeWindow::area / element_.width, run_time.sending().largest_count));
  return {from, std::min(from + most, r.end)};
}

SHARDTYPE_INLINE void TwoStages::receive(void* to, std::int64_t n, int from, MPI_Request& request) {
  runtime::check_mpi(MPI_Irecv(to, static_cast<int>(n), element_.type, from, 0, comm_, &request),
                     "MPI_Irecv");
}

SHARDTYPE_INLINE void TwoStages::transmit(void const* from, std::int64_t n, int to,
                                          MPI_Request& request) {
  runtime::check_mpi(MPI_Isend(from, static_cast<int>(n), element_.type, to, 0, comm_, &request),
                     "MPI_Isend");
}

SHARDTYPE_INLINE std::int64_t TwoStages::length(int i, std::int64_t from, std::int64_t most) const {
  return std::clamp<std::int64_t>(counts_[static_cast<std::size_t>(i)] - from, 0, most);
}

SHARDTYPE_INLINE void TwoStages::sum_inside(void const* send, void* out, int k, int owner, int to) {
  begins_.clear();
  counts_.clear();
  std::int64_t longest = 0;
  for (int i = 0; i < ranks_; ++i) {
    Range const r = held(node_, i, owner < 0 ? places_->member(k, i) : owner);
    begins_.push_back(r.begin);
    counts_.push_back(r.size());
    longest = std::max(longest, r.size());
  }
  Range const mine{0, counts_[static_cast<std::size_t>(place_)]};
  std::int64_t const most = std::max<std::int64_t>(
      1, std::min(NodeWindow::area / ranks_ / element_.width, run_time.sending().largest_count));
  std::int64_t left = 0;  // elements that are on their way
  for (std::int64_t from = 0; from < longest; from += most) {
    sum_round(send, out, from, most);
    std::int64_t const ready = std::min(from + most, mine.end);
    while (to >= 0 && left < mine.end && piece(mine, left).end <= ready) {
      transmit(at(out, left), piece(mine, left).size(), to, waiting_.push_back(MPI_REQUEST_NULL));
      left = piece(mine, left).end;
    }
  }
}

SHARDTYPE_INLINE void TwoStages::sum_round(void const* send, void* out, std::int64_t from,
                                           std::int64_t most) {
  std::byte const* const own = at(send, begins_[static_cast<std::size_t>(place_)] + from);
  std::int64_t const n = length(place_, from, most);
  if (ranks_ == 1) return copy(own, n, at(out, from));
  inside_.clear();
  if (window_ != nullptr) {
    window_->enter();
  } else {
    beside_.resize(static_cast<std::size_t>(NodeWindow::area + most * element_.width * ranks_));
    for (int step = 1; step < ranks_ && n > 0; ++step) {
      int const i = (place_ + step) % ranks_;
      receive(at(beside_.data(), most * i), n, places_->member(node_, i),
              inside_.push_back(MPI_REQUEST_NULL));
    }
  }
  for (int step = 1; step < ranks_; ++step) {
    int const i = (place_ + step) % ranks_;
    std::byte const* const theirs = at(send, begins_[static_cast<std::size_t>(i)] + from);
    std::int64_t const count = length(i, from, most);
    if (window_ != nullptr) {
      copy(theirs, count, at(window_->of(place_), most * i));
      run_time.exchanged_in_windows += count * element_.width;
    } else if (count > 0) {
      transmit(theirs, count, places_->member(node_, i), inside_.push_back(MPI_REQUEST_NULL));
    }
  }
  if (window_ != nullptr) window_->meet();
  for (MPI_Request& r : inside_) runtime::wait_for(r);
  for (int step = 1; step < ranks_; ++step) {
    int const i = (place_ + step) % ranks_;
    std::byte const* const part =
        window_ != nullptr ? at(window_->of(i), most * place_) : at(beside_.data(), most * i);
    element_.join(step == 1 ? own : at(out, from), part, at(out, from), n, kind_);
  }
  if (window_ != nullptr) window_->leave();
}

SHARDTYPE_INLINE void TwoStages::list_passed(int i) {
  Range const own = segments.of(places_->member(node_, i));
  for (std::int64_t k = own.begin; k < own.end; k = piece(own, k).end)
    passed_.push_back(piece(own, k));
  for (int const g : others_) {
    Range const r = held(node_, i, g);
    for (std::int64_t k = r.begin; k < r.end; k = piece(r, k).end) passed_.push_back(piece(r, k));
  }
}

SHARDTYPE_INLINE void TwoStages::pass_by_messages(void* all) {
  for (int step = 1; step < ranks_; ++step) {
    int const i = (place_ + step) % ranks_;
    passed_.clear();
    list_passed(i);
    for (Range const r : passed_)
      receive(at(all, r.begin), r.size(), places_->member(node_, i),
              waiting_.push_back(MPI_REQUEST_NULL));
  }
  passed_.clear();
  list_passed(place_);
  std::size_t const own = passed_.size() - received_.size();
  for (std::size_t k = 0; k < passed_.size(); ++k) {
    if (k >= own) runtime::wait_for(received_[k - own]);
    for (int step = 1; step < ranks_; ++step)
      transmit(at(all, passed_[k].begin), passed_[k].size(),
               places_->member(node_, (place_ + step) % ranks_),
               waiting_.push_back(MPI_REQUEST_NULL));
  }
}

SHARDTYPE_INLINE void TwoStages::pass_in_window(void* all) {
  passed_.clear();  // the pieces of each place, one place after the other
  begins_.clear();
  std::int64_t rounds = 0;
  for (int i = 0; i < ranks_; ++i) {
    begins_.push_back(static_cast<std::int64_t>(passed_.size()));
    list_passed(i);
    rounds = std::max(rounds, static_cast<std::int64_t>(passed_.size()) - begins_.back());
  }
  begins_.push_back(static_cast<std::int64_t>(passed_.size()));
  auto const k = static_cast<std::size_t>(place_);
  std::int64_t const own =
      begins_[k + 1] - begins_[k] - static_cast<std::int64_t>(received_.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round >= own && round - own < static_cast<std::int64_t>(received_.size()))
      runtime::wait_for(received_[static_cast<std::size_t>(round - own)]);
    window_->enter();
    for (int step = 0; step < ranks_; ++step) {
      auto const i = static_cast<std::size_t>((place_ + step) % ranks_);
      if (step == 1) window_->meet();
      if (begins_[i] + round >= begins_[i + 1]) continue;
      Range const r = passed_[static_cast<std::size_t>(begins_[i] + round)];
      std::byte* const area = window_->of(static_cast<int>(i));
      if (step > 0) {
        copy(area, r.size(), at(all, r.begin));
        continue;
      }
      copy(at(all, r.begin), r.size(), area);
      run_time.exchanged_in_windows += r.size() * (ranks_ - 1) * element_.width;
    }
    window_->leave();
  }
}

SHARDTYPE_INLINE void TwoStages::wait_for_all() {
  for (MPI_Request& r : waiting_) runtime::wait_for(r);
  waiting_.clear();
}

}  // namespace shardtype::detail
