#pragma once
/// Messages between ranks for SHARDTYPE_CHECK=agree (runtime/agreement.hpp).

#include <cstdint>
#include <string>
#include <utility>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype {

namespace detail {

/// Rank in the whole job, or -1 before MPI starts and after it ends.
inline int job_rank() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  int rank = -1;
  if (started != 0 && ended == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// The next step of one rank.
struct Record {
  std::int64_t mesh = 0;
  std::int64_t step = 0;  ///< of that mesh, from 1
  std::uint64_t hash = 0;
  std::int32_t leaves = 0;  ///< 1: the rank leaves the mesh and takes no further steps on it
  char text[164] = {};
};

/// "ranks 0-2, 4"
inline std::string ranks_text(List<int> const& ranks) {
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

/// The records of all meshes of this rank, by rank of the job. They do not use the meshes' own
/// communicators: a record may arrive after its mesh is gone, or before it exists.
class Records {
 public:
  static Records& here() {
    static Records all;
    return all;
  }

  void send(Record const& r, List<int> const& ranks) {
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

  /// Receives the records that have arrived.
  void receive() {
    for (;;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, run_time.record_comm, &there, &status);
      if (there == 0) return;
      Record r;
      MPI_Recv(&r, sizeof r, MPI_BYTE, status.MPI_SOURCE, 0, run_time.record_comm,
               MPI_STATUS_IGNORE);
      keep_last(status.MPI_SOURCE, r);
      Inbox& box = inbox(r.mesh);
      box.waiting.push_back({status.MPI_SOURCE, r});
      box.left += r.leaves;
      forget_if_over(r.mesh);
    }
  }

  /// The record of `rank` for this step, or that it has left; null if there is none yet.
  Record const* find(std::int64_t mesh, std::int64_t step, int rank) {
    List<Arrived>& waiting = inbox(mesh).waiting;
    for (std::size_t k = 0; k < waiting.size();) {
      Record const& r = waiting[k].record;
      if (waiting[k].from != rank) {
        ++k;
      } else if (r.step >= step || r.leaves != 0) {
        return &r;
      } else {
        waiting.erase(k);
      }
    }
    return nullptr;
  }
  /// The last record of `rank`, on any mesh.
  Record const* last(int rank) const {
    for (Arrived const& a : last_)
      if (a.from == rank) return &a.record;
    return nullptr;
  }

  /// This rank has left the mesh; further records for it are discarded.
  void close(std::int64_t mesh, int others) {
    inbox(mesh).others = others;
    receive();
    forget_if_over(mesh);
  }

  /// Receives the remaining records for this rank, because MPI warns of unreceived messages.
  /// Collective over the job. Does not wait long for a missing rank.
  void finish() {
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

 private:
  struct Sent {
    Record record;
    List<MPI_Request> requests;
  };
  struct Arrived {
    int from = 0;
    Record record;
  };
  struct Inbox {
    std::int64_t mesh = 0;
    List<Arrived> waiting;  ///< in the order of each rank
    int left = 0;
    int others = -1;  ///< number of ranks that will still leave, after this rank has left
  };

  Inbox& inbox(std::int64_t mesh) {
    for (Inbox& box : inboxes_)
      if (box.mesh == mesh) return box;
    return inboxes_.push_back({mesh, {}});
  }
  void keep_last(int rank, Record const& r) {
    for (Arrived& a : last_)
      if (a.from == rank) {
        a.record = r;
        return;
      }
    last_.push_back({rank, r});
  }
  void forget_if_over(std::int64_t mesh) {
    for (std::size_t k = 0; k < inboxes_.size(); ++k)
      if (inboxes_[k].mesh == mesh && inboxes_[k].left == inboxes_[k].others) {
        inboxes_.erase(k);
        return;
      }
  }

  List<Owned<Sent>> sent_;
  List<Inbox> inboxes_;
  List<Arrived> last_;
};

}  // namespace detail

}  // namespace shardtype
