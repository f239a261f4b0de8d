#pragma once
/// `SHARDTYPE_CHECK=agree`: before every collective the ranks of a mesh compare what they are about
/// to do, so that a rank that skips one is named instead of hanging the job.

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/environment.hpp>

namespace shardtype {

namespace detail {

/// What one rank is about to do.
struct Record {
  std::int64_t mesh = 0;
  std::int64_t step = 0;  ///< of that mesh, from 1
  std::uint64_t hash = 0;
  std::int32_t leaves = 0;  ///< 1: it leaves the mesh and does nothing more there
  char text[164] = {};
};

/// "ranks 0-2, 4"
inline std::string ranks_text(std::vector<int> const& ranks) {
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

/// The records of all meshes of this rank, by rank of the job. They travel apart from the meshes'
/// own communicators: a record may arrive after its mesh is gone, or before it is there.
class Records {
 public:
  static Records& here() {
    static Records all;
    return all;
  }

  void send(Record const& r, std::vector<int> const& ranks) {
    // those that arrived make room
    while (!sent_.empty()) {
      int done = 0;
      MPI_Testall(static_cast<int>(sent_.front().requests.size()), sent_.front().requests.data(),
                  &done, MPI_STATUSES_IGNORE);
      if (done == 0) break;
      sent_.pop_front();
    }
    Sent& s = sent_.emplace_back();
    s.record = r;
    for (int g : ranks) {
      if (g == job_rank()) continue;
      s.requests.emplace_back();
      MPI_Isend(&s.record, sizeof(Record), MPI_BYTE, g, 0, record_comm, &s.requests.back());
    }
  }

  /// Takes in what has arrived.
  void receive() {
    for (;;) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, record_comm, &there, &status);
      if (there == 0) return;
      Record r;
      MPI_Recv(&r, sizeof r, MPI_BYTE, status.MPI_SOURCE, 0, record_comm, MPI_STATUS_IGNORE);
      last_[status.MPI_SOURCE] = r;
      Inbox& box = inboxes_[r.mesh];
      box.waiting[status.MPI_SOURCE].push_back(r);
      box.left += r.leaves;
      forget_if_over(r.mesh);
    }
  }

  /// The record of `rank` for this step, or that it has left; null while there is none.
  Record const* find(std::int64_t mesh, std::int64_t step, int rank) {
    std::deque<Record>& waiting = inboxes_[mesh].waiting[rank];
    while (!waiting.empty() && waiting.front().step < step && waiting.front().leaves == 0)
      waiting.pop_front();
    return waiting.empty() ? nullptr : &waiting.front();
  }
  /// The last that `rank` said, on any mesh.
  Record const* last(int rank) const {
    auto const found = last_.find(rank);
    return found == last_.end() ? nullptr : &found->second;
  }

  /// This rank has left the mesh; records that still come for it are for nobody.
  void close(std::int64_t mesh, int others) {
    inboxes_[mesh].others = others;
    receive();
    forget_if_over(mesh);
  }

 private:
  struct Sent {
    Record record;
    std::vector<MPI_Request> requests;
  };
  struct Inbox {
    std::map<int, std::deque<Record>> waiting;
    int left = 0;
    int others = -1;  ///< how many will leave, once this rank has
  };

  void forget_if_over(std::int64_t mesh) {
    auto const box = inboxes_.find(mesh);
    if (box != inboxes_.end() && box->second.left == box->second.others) inboxes_.erase(box);
  }

  std::deque<Sent> sent_;
  std::map<std::int64_t, Inbox> inboxes_;
  std::map<int, Record> last_;
};

}  // namespace detail

/// The comparison of one mesh's ranks, with a time limit (`SHARDTYPE_AGREE_SECONDS`, 10 by default).
/// Works while an Environment lives.
class Agreement {
 public:
  Agreement() = default;
  Agreement(Agreement const&) = delete;
  Agreement& operator=(Agreement const&) = delete;
  ~Agreement() { leave("leave the mesh by an exception"); }

  /// Turns the check on for the ranks of `comm`, if the environment asks for it. Collective.
  void start(MPI_Comm comm) {
    if (detail::record_comm == MPI_COMM_NULL) return;
    int size = 0;
    MPI_Comm_size(comm, &size);
    std::vector<int> places(static_cast<std::size_t>(size));
    for (int k = 0; k < size; ++k) places[static_cast<std::size_t>(k)] = k;
    ranks_.resize(places.size());
    MPI_Group members = MPI_GROUP_NULL;
    MPI_Group job = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &members);
    MPI_Comm_group(MPI_COMM_WORLD, &job);
    MPI_Group_translate_ranks(members, size, places.data(), job, ranks_.data());
    MPI_Group_free(&members);
    MPI_Group_free(&job);
    // a number that no other mesh has: the first rank's, who counts its meshes
    static std::int64_t count = 0;
    mesh_ = std::int64_t{ranks_[0]} << 32 | count++;
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &own);
    Comm(own).broadcast(&mesh_, 1, 0);
    if (char const* const set = std::getenv("SHARDTYPE_AGREE_SECONDS"))
      if (double const seconds = std::atof(set); seconds > 0) limit_ = seconds;
  }
  bool on() const { return !ranks_.empty(); }

  /// Returns when every rank is about to do the same `step`; otherwise ends the job and says who is
  /// about to do what (E03), or, when some rank does not come in time, who is missing (E04). The
  /// step "end" of hash 0 is leaving the mesh, which waits for nobody.
  void meet(std::string const& step, std::uint64_t hash) {
    if (hash == 0) return leave("leave the mesh");
    if (!on() || detail::record_comm == MPI_COMM_NULL) return;
    detail::Record const mine = say(step, hash, 0);
    detail::Records& records = detail::Records::here();
    auto const start = std::chrono::steady_clock::now();
    double patience = limit_;
    for (;;) {
      records.receive();
      bool all = true;
      bool same = true;
      for (int g : ranks_) {
        if (g == detail::job_rank()) continue;
        detail::Record const* const r = records.find(mesh_, step_, g);
        all = all && r != nullptr;
        same = same && (r == nullptr || r->hash == hash);
      }
      if (all && same) return;
      std::chrono::duration<double> const waited = std::chrono::steady_clock::now() - start;
      // those that are about to come belong in the message
      if (!same && patience == limit_) patience = std::min(limit_, waited.count() + 0.3);
      if (!same && (all || waited.count() > patience)) disagree(mine);
      if (same && waited.count() > limit_) expire(mine);
      sched_yield();
    }
  }

 private:
  detail::Record say(std::string const& text, std::uint64_t hash, std::int32_t leaves) {
    detail::Record r;
    r.mesh = mesh_;
    r.step = ++step_;
    r.hash = hash;
    r.leaves = leaves;
    std::strncpy(r.text, text.c_str(), sizeof r.text - 1);
    detail::Records::here().send(r, ranks_);
    return r;
  }
  void leave(char const* how) {
    if (!on() || detail::record_comm == MPI_COMM_NULL) return;
    say(how, 0, 1);
    detail::Records::here().close(mesh_, static_cast<int>(ranks_.size()) - 1);
    ranks_.clear();
  }

  /// Who is about to do what, and, if asked for, who has not come: "rank 3 is about to ...".
  std::string sides(detail::Record const& mine, std::vector<int>& missing) const {
    std::map<std::string, std::vector<int>> by_step;
    std::vector<int> all = ranks_;
    std::sort(all.begin(), all.end());
    for (int g : all) {
      detail::Record const* const r = g == detail::job_rank()
                                          ? &mine
                                          : detail::Records::here().find(mesh_, step_, g);
      if (r == nullptr) {
        missing.push_back(g);
      } else {
        by_step[r->text].push_back(g);
      }
    }
    std::string out;
    for (auto const& [text, ranks] : by_step)
      out += (out.empty() ? "" : "; ") + detail::ranks_text(ranks) +
             (ranks.size() == 1 ? " is" : " are") + " about to " + text;
    return out;
  }
  [[noreturn]] void disagree(detail::Record const& mine) const {
    std::vector<int> missing;
    std::string const text = sides(mine, missing);
    detail::abort_job("[shardtype E03] the ranks disagree at step " + std::to_string(mine.step) +
                          " of their mesh: " + text,
                      FailedOn::every_rank);
  }
  [[noreturn]] void expire(detail::Record const& mine) const {
    std::vector<int> missing;
    std::string text = sides(mine, missing);
    for (int g : missing) {
      detail::Record const* const r = detail::Records::here().last(g);
      text += "; rank " + std::to_string(g) + " did not come";
      if (r == nullptr) continue;
      text += r->mesh == mesh_ ? "; its last step was to " : "; on another mesh it went to ";
      text += r->text;
    }
    std::string seconds = std::to_string(limit_);
    seconds.resize(seconds.find('.') + 2);
    detail::abort_job("[shardtype E04] waited " + seconds + " s (SHARDTYPE_AGREE_SECONDS) at step " +
                          std::to_string(mine.step) + " of a mesh: " + text,
                      FailedOn::every_rank);
  }

  std::vector<int> ranks_;  ///< of the job; empty while off
  std::int64_t mesh_ = 0;
  std::int64_t step_ = 0;
  double limit_ = 10;
};

}  // namespace shardtype
