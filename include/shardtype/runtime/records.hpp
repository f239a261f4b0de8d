#pragma once
/// Messages between ranks for SHARDTYPE_CHECK=agree (runtime/agreement.hpp).

#include <cstdint>
#include <string>
#include <utility>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype {

namespace detail {

/// Rank in the whole job, or -1 before MPI starts and after it ends.
int job_rank();

/// The next step of one rank.
struct Record {
  std::int64_t mesh = 0;
  std::int64_t step = 0;  ///< of that mesh, from 1
  std::uint64_t hash = 0;
  std::int32_t leaves = 0;  ///< 1: the rank leaves the mesh and takes no further steps on it
  char text[164] = {};
};

/// "ranks 0-2, 4"
std::string ranks_text(List<int> const& ranks);

/// The records of all meshes of this rank, by rank of the job. They do not use the meshes' own
/// communicators: a record may arrive after its mesh is gone, or before it exists.
class Records {
 public:
  static Records& here() {
    static Records all;
    return all;
  }

  void send(Record const& r, List<int> const& ranks);

  /// Receives the records that have arrived.
  void receive();

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
  Record const* last(int rank) const;

  /// This rank has left the mesh; further records for it are discarded.
  void close(std::int64_t mesh, int others);

  /// Receives the remaining records for this rank, because MPI warns of unreceived messages.
  /// Collective over the job. Does not wait long for a missing rank.
  void finish();

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

  Inbox& inbox(std::int64_t mesh);
  void keep_last(int rank, Record const& r);
  void forget_if_over(std::int64_t mesh);

  List<Owned<Sent>> sent_;
  List<Inbox> inboxes_;
  List<Arrived> last_;
};

}  // namespace detail

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/records.ipp>
#endif
