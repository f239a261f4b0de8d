#pragma once
/// Definitions of watcher.hpp.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#ifdef __linux__
#include <csignal>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/watcher.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void tell_watcher(WatchedRank::Phase phase) {
  if (run_time.watched != nullptr) run_time.watched->phase = phase;
}

/// Copies a text, or as much of it as there is room for; the last byte stays 0.
inline void copy_text(char* to, std::size_t size, char const* from, std::size_t length) {
  std::size_t const n = std::min(length, size - 1);
  std::memcpy(to, from, n);
  to[n] = 0;
}

SHARDTYPE_INLINE void publish_call() {
  WatchedRank* const to = run_time.watched;
  if (to == nullptr) return;
  core::RunningCall::Named const now = core::RunningCall::named_now();
  static core::RunningCall::Named last;
  if (now.operation.empty() ||
      (now.operation.data() == last.operation.data() && now.where.line() == last.where.line() &&
       now.where.file_name() == last.where.file_name() && now.backward == last.backward))
    return;
  last = now;
  int const next = to->latest.load(std::memory_order_relaxed) == 0 ? 1 : 0;
  WatchedRank::Call& call = to->calls[next];
  char const* const path = now.where.file_name();
  char const* const slash = std::strrchr(path, '/');
  char const* const file = slash == nullptr ? path : slash + 1;
  detail::copy_text(call.operation, sizeof call.operation, now.operation.data(),
                    now.operation.size());
  detail::copy_text(call.file, sizeof call.file, file, std::strlen(file));
  call.line = now.where.line();
  call.backward = now.backward;
  to->latest.store(next, std::memory_order_release);
}

#if defined(__linux__) && defined(SYS_pidfd_open) && defined(SYS_close_range)

/// The ranks of a host, as its watcher sees them.
struct Watch {
  WatchedRank* ranks = nullptr;
  int count = 0;
  bool one_host = true;  ///< whether all ranks of the job are on this host
  char host[65] = {};
  std::vector<int> pipes;  ///< of each rank, whose other end closes when it dies; -1: none

  bool any_reported() const {
    for (int k = 0; k < count; ++k)
      if (ranks[k].phase == WatchedRank::reported) return true;
    return false;
  }
  /// "all_reduce (train.cpp:88)", the last call of the k-th rank; empty: none yet.
  std::string call(int k) const {
    int const latest = ranks[k].latest;
    if (latest < 0) return {};
    WatchedRank::Call const& of = ranks[k].calls[latest];
    std::string out = of.backward ? "the gradient of " : "";
    out += of.operation;
    if (of.file[0] != 0) out += std::string(" (") + of.file + ":" + std::to_string(of.line) + ")";
    return out;
  }
  /// The line that reports the death of the k-th rank.
  std::string report(int k) const {
    std::string const last = call(k);
    std::string out = "rank " + std::to_string(ranks[k].rank) +
                      ": [shardtype E16] this rank died on host " + host +
                      " without a message, as by kill -9 or for lack of memory";
    out +=
        last.empty() ? ", before its first call over several ranks" : "; its last call was " + last;
    // the others wait for it in the same call, or in another
    for (int m = 0; m < count; ++m) {
      std::string const theirs = m == k ? std::string() : call(m);
      if (theirs.empty() || theirs == last) continue;
      return out + ", that of rank " + std::to_string(ranks[m].rank) + " was " + theirs + "\n";
    }
    return out + "\n";
  }
};

/// Closes the files of this process but for standard ones and `kept`: MPI's connections must end
/// with their ranks.
inline void close_all_but(std::vector<int> const& kept) {
  unsigned from = 3;
  for (;;) {
    unsigned next = ~0U;
    for (int const file : kept)
      if (file >= 0 && static_cast<unsigned>(file) >= from)
        next = std::min(next, static_cast<unsigned>(file));
    if (next > from) ::syscall(SYS_close_range, from, next - 1, 0U);
    if (next == ~0U) return;
    from = next + 1;
  }
}

/// The watcher. The order of events is that of the deaths, also if it wakes when all are over. A
/// launcher sees a rank's connection close and ends the others, which may be gone before the
/// processor has come to the end of the first: so the pipe that closes first tells who it was.
[[noreturn]] inline void watch_ranks(Watch const& w) {
  ::setsid();
  ::prctl(PR_SET_NAME, "shardtype-watch");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  detail::close_all_but(w.pipes);
  int const events = ::epoll_create1(0);
  int alive = 0;
  int first = -1;
  bool reported = false;
  auto const died = [&](int k) {
    --alive;
    w.ranks[k].process = 0;
    if (w.ranks[k].phase == WatchedRank::ended || reported) return;
    // A rank of another host may have reported, and the launcher ends those of this one at once.
    epoll_event other;
    if (!w.one_host && (alive == 0 || ::epoll_wait(events, &other, 1, 1) != 0)) ::_exit(0);
    if (w.any_reported()) ::_exit(0);
    std::string const line = w.report(first < 0 ? k : first);
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(1);
    reported = true;
  };
  for (int k = 0; k < w.count; ++k) {
    if (w.ranks[k].process == 0) continue;
    ++alive;
    auto const process = static_cast<int>(::syscall(SYS_pidfd_open, w.ranks[k].process.load(), 0));
    epoll_event want{};
    want.events = EPOLLIN | EPOLLONESHOT;
    want.data.fd = k;
    if (process < 0 || ::epoll_ctl(events, EPOLL_CTL_ADD, process, &want) != 0) ::_exit(1);
    int const pipe = w.pipes[static_cast<std::size_t>(k)];
    want.events = EPOLLONESHOT;  // that it is closed is always told
    want.data.fd = w.count + k;
    if (pipe >= 0) ::epoll_ctl(events, EPOLL_CTL_ADD, pipe, &want);
  }
  while (alive > 0) {
    constexpr int patience = 5000;  // ms, for the launcher to end the other ranks
    epoll_event event;
    if (::epoll_wait(events, &event, 1, reported ? patience : -1) != 1) break;
    int const k = event.data.fd % w.count;
    if (event.data.fd == k) {
      died(k);
    } else if (first < 0 && w.ranks[k].phase == WatchedRank::runs) {
      first = k;
    }
  }
  for (int k = 0; k < w.count; ++k)
    if (w.ranks[k].process != 0) ::kill(w.ranks[k].process, SIGKILL);
  ::_exit(0);
}

/// The ranks of this host that see one another's processes under the same numbers.
inline MPI_Comm ranks_of_processes() {
  MPI_Comm const host = detail::ranks_of_host(MPI_COMM_WORLD);
  struct stat space{};
  ::stat("/proc/self/ns/pid", &space);
  MPI_Comm out = MPI_COMM_NULL;
  runtime::check_mpi(MPI_Comm_split(host, static_cast<int>(space.st_ino & 0x7fffffffU), 0, &out),
                     "MPI_Comm_split");
  MPI_Comm free_it = host;
  MPI_Comm_free(&free_it);
  return out;
}

/// Opens what another process of this user has open as `number`.
inline int open_of_process(int process, int number, int how) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, number);
  return ::open(path, how);
}

SHARDTYPE_INLINE void start_watcher() {
  int of_job = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &of_job);
  if (of_job == 1) return;
  MPI_Comm here = detail::ranks_of_processes();
  int me = 0;
  Watch w;
  MPI_Comm_rank(here, &me);
  MPI_Comm_size(here, &w.count);
  w.one_host = w.count == of_job;
  std::size_t const bytes = sizeof(WatchedRank) * static_cast<std::size_t>(w.count);
  int file = -1;
  if (me == 0) {
    file = ::memfd_create("shardtype-watch", MFD_CLOEXEC);
    if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) != 0) file = -1;
  }
  std::int64_t shared = file < 0 ? -1 : std::int64_t{::getpid()} << 32 | file;
  detail::share_number(here, shared);
  if (shared >= 0 && me != 0) {
    file = detail::open_of_process(static_cast<int>(shared >> 32),
                                   static_cast<int>(shared & 0xffffffff), O_RDWR | O_CLOEXEC);
  }
  void* memory = MAP_FAILED;
  if (file >= 0) memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) {
    w.ranks = static_cast<WatchedRank*>(memory);
    run_time.watched = new (w.ranks + me) WatchedRank;
    run_time.watched->rank = detail::job_rank();
    run_time.watched->process = ::getpid();
    // this end is open until the process dies
    if (int ends[2]; ::pipe2(ends, O_CLOEXEC) == 0) run_time.watched->pipe = ends[0];
  }
  detail::meet(here);  // the ranks are there
  w.pipes.assign(static_cast<std::size_t>(w.count), -1);
  for (int k = 0; me == 0 && w.ranks != nullptr && k < w.count; ++k)
    if (w.ranks[k].pipe >= 0)
      w.pipes[static_cast<std::size_t>(k)] =
          detail::open_of_process(w.ranks[k].process, w.ranks[k].pipe, O_RDONLY | O_CLOEXEC);
  detail::meet(here);  // the pipes are open
  if (run_time.watched != nullptr && run_time.watched->pipe >= 0) ::close(run_time.watched->pipe);
  MPI_Comm_free(&here);
  if (file >= 0) ::close(file);
  if (me != 0 || w.ranks == nullptr) return;
  ::gethostname(w.host, sizeof w.host - 1);
  // forked twice, so that the rank has no child that it does not know
  pid_t const between = ::fork();
  if (between == 0) {
    if (::fork() == 0) detail::watch_ranks(w);
    ::_exit(0);
  }
  if (between > 0) ::waitpid(between, nullptr, 0);
  for (int const pipe : w.pipes)
    if (pipe >= 0) ::close(pipe);
}

#else

SHARDTYPE_INLINE void start_watcher() {}

#endif

}  // namespace shardtype::detail
