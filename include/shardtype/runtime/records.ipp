#pragma once
/// Definitions of records.hpp.

#include <shardtype/runtime/records.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE int job_rank() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started == 0 || ended != 0) return -1;
  // kept, for a second thread may ask too
  static int const mine = [] {
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }();
  return mine;
}

SHARDTYPE_INLINE std::string ranks_text(List<int> const& ranks) {
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    std::size_t last = k;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    out += (k == 0 ? "" : ", ") + std::to_string(ranks[k]);
    if (last > k) out += (last > k + 1 ? "-" : ", ") + std::to_string(ranks[last]);
    k = last;
  }
  return out;
}

SHARDTYPE_INLINE void Records::send(Record const& r, List<int> const& ranks) {
  // release records that have been sent
  while (!sent_.empty()) {
    int done = 0;
    List<MPI_Request>& oldest = sent_.front()->requests;
    MPI_Testall(static_cast<int>(oldest.size()), oldest.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) break;
    sent_.erase(0);
  }
  Sent& s = *sent_.push_back(Owned(new Sent));
  s.record = r;
  int const me = job_rank();
  for (int g : ranks) {
    if (g == me) continue;
    MPI_Request& request = s.requests.push_back(MPI_REQUEST_NULL);
    MPI_Isend(&s.record, sizeof(Record), MPI_BYTE, g, 0, run_time.record_comm, &request);
  }
}

SHARDTYPE_INLINE void Records::receive() {
  for (;;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, run_time.record_comm, &there, &status);
    if (there == 0) return;
    Record r;
    MPI_Recv(&r, sizeof r, MPI_BYTE, status.MPI_SOURCE, 0, run_time.record_comm, MPI_STATUS_IGNORE);
    keep_last(status.MPI_SOURCE, r);
    Inbox& box = inbox(r.mesh);
    box.waiting.push_back({status.MPI_SOURCE, r});
    box.left += r.leaves;
    forget_if_over(r.mesh);
  }
}

SHARDTYPE_INLINE Record const* Records::last(int rank) const {
  for (Arrived const& a : last_)
    if (a.from == rank) return &a.record;
  return nullptr;
}

SHARDTYPE_INLINE void Records::close(std::int64_t mesh, int others) {
  inbox(mesh).others = others;
  receive();
  forget_if_over(mesh);
}

SHARDTYPE_INLINE void Records::finish() {
  int size = 1;
  MPI_Comm_size(run_time.record_comm, &size);
  Record last;
  last.mesh = -1;
  last.leaves = 1;
  List<int> all;
  for (int g = 0; g < size; ++g) all.push_back(g);
  send(last, all);
  double const start = MPI_Wtime();
  while (inbox(-1).left < size - 1 && MPI_Wtime() - start < 10) {
    receive();
    sched_yield();
  }
  inboxes_.clear();
}

SHARDTYPE_INLINE Records::Inbox& Records::inbox(std::int64_t mesh) {
  for (Inbox& box : inboxes_)
    if (box.mesh == mesh) return box;
  return inboxes_.push_back({mesh, {}});
}

SHARDTYPE_INLINE void Records::keep_last(int rank, Record const& r) {
  for (Arrived& a : last_)
    if (a.from == rank) {
      a.record = r;
      return;
    }
  last_.push_back({rank, r});
}

SHARDTYPE_INLINE void Records::forget_if_over(std::int64_t mesh) {
  for (std::size_t k = 0; k < inboxes_.size(); ++k)
    if (inboxes_[k].mesh == mesh && inboxes_[k].left == inboxes_[k].others) {
      inboxes_.erase(k);
      return;
    }
}

}  // namespace shardtype::detail
