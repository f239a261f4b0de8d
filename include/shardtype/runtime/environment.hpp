#pragma once
/// Start and end of a program: MPI, Kokkos, and what happens to an error nobody caught.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <unistd.h>

#include <shardtype/core/error.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/machine_file.hpp>
#include <shardtype/runtime/records.hpp>
#include <shardtype/runtime/trace.hpp>

namespace shardtype {

namespace detail {

/// Whether SHARDTYPE_CHECK holds this word ("agree,values" holds two).
inline bool check_enabled(char const* word) {
  char const* const set = std::getenv("SHARDTYPE_CHECK");
  if (set == nullptr) return false;
  std::string const all = std::string(",") + set + ",";
  return all.find(std::string(",") + word + ",") != std::string::npos;
}

/// Whether SHARDTYPE_CHECK holds "values": operations then look at the values they are given, such as
/// ids outside the table. Set once, by Environment.
inline bool check_values = false;

/// What the ranks of a node share, in memory that needs no MPI call: the others may be stuck in one.
struct Node {
  std::atomic<int> speaks{0};   ///< 1 once a rank tells why the job ends
  std::atomic<int> leaving{0};  ///< ranks at the end of their Environment
  int ranks = 1;
  bool first = true;  ///< whether rank 0 of the job is here
};

/// This node, while an Environment lives.
inline Node* node = nullptr;

/// Makes `node`; null where MPI cannot share memory. Complete on all ranks after the next collective.
inline MPI_Win share_node() {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(here, &rank);
  MPI_Comm_size(here, &ranks);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Aint bytes = rank == 0 ? sizeof(Node) : 0;
  int unit = 1;
  void* memory = nullptr;
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, here, &memory, &window) == MPI_SUCCESS) {
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    if (rank == 0) {
      node = new (memory) Node;
      node->ranks = ranks;
      node->first = job_rank() == 0;
    }
    node = static_cast<Node*>(memory);
  }
  MPI_Comm_free(&here);
  return window;
}

inline void sleep_ms(int n) {
  for (; n > 0; n -= 100) usleep(static_cast<useconds_t>(std::min(n, 100)) * 1000);
}

/// Ends the job on all ranks. mpiexec drops what it has not passed on by then, so it gets time.
[[noreturn]] inline void end_job() {
  std::fflush(stdout);
  std::fflush(stderr);
  sleep_ms(300);
  if (job_rank() >= 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

/// Ends the job on all ranks and says why. Where several ranks fail at once, one of them speaks: the
/// first, or rank 0 if it is among those that share the failure.
[[noreturn]] inline void abort_job(std::string const& text, FailedOn where = FailedOn::this_rank) {
  int const rank = job_rank();
  std::fflush(stdout);
  if (where == FailedOn::every_rank && rank > 0) sleep_ms(500);
  if (node != nullptr) {
    if (node->speaks.exchange(1) != 0)
      sleep_ms(10000);  // until that rank ends this one
    else if (!node->first)
      sleep_ms(1000);  // a rank of the first node may speak
  }
  std::string const who = rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
  std::fputs((who + text + "\n").c_str(), stderr);
  end_job();
}

/// The terminate handler: one message, then the end of every rank. g++ does not unwind to main's
/// locals for an uncaught exception, so nothing else would run.
[[noreturn]] inline void on_terminate() {
  std::string text = "terminated without an exception";
  FailedOn where = FailedOn::this_rank;
  if (std::exception_ptr const current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (Error const& e) {
      text = e.what();
      where = e.where();
    } catch (std::exception const& e) {
      text = e.what();
    } catch (...) {
      text = "an exception of unknown type";
    }
  }
  abort_job(text, where);
}

/// SHARDTYPE_FINALIZE=barrier: whether the job ended with a barrier in place of MPI_Finalize. That hangs
/// in MPICH 4.0 over UCX's tcp where a rank has closed its connections before another (scripts/slow_network).
inline bool leaves_by_barrier() {
  char const* const asked = std::getenv("SHARDTYPE_FINALIZE");
  if (asked == nullptr || std::string_view(asked) != "barrier") return false;
  reduce_number(MPI_COMM_WORLD, 0, MPI_MAX);  // all are here
  return true;
}

/// Whether every rank of this node comes to the end of its Environment within two seconds.
inline bool all_leave() {
  if (node == nullptr) return true;
  for (int k = 0; k < 200 && node->leaving < node->ranks; ++k) sleep_ms(10);
  return node->leaving >= node->ranks;
}

}  // namespace detail

/// Starts MPI and Kokkos and ends them; make one at the top of main.
///
/// An exception that nobody catches ends the job on all ranks with its text and rank. One that is
/// caught outside of the Environment's scope leaves the other ranks waiting: if they do not come to
/// their ends as well, the job ends when this rank's program does. Waiting for other ranks yields the
/// core when more ranks share the node than it has cores, and spins otherwise. The file that
/// SHARDTYPE_MACHINE names tells the machine's rates (E68: it cannot be read); the one that
/// SHARDTYPE_TRACE names gets the steps of every `evaluate` (E72: it cannot be written). If MPI or Kokkos run
/// already, they are left running at the end.
class Environment {
 public:
  Environment(int& argc, char**& argv) {
    int started = 0;
    MPI_Initialized(&started);
    if (started == 0) {
      int level = 0;
      MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
      owns_mpi_ = true;
    }
    if (!Kokkos::is_initialized()) {
      Kokkos::initialize(argc, argv);
      owns_kokkos_ = true;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    node_ = detail::share_node();
    detail::check_values = detail::check_enabled("values");
    if (detail::check_enabled("agree")) MPI_Comm_dup(MPI_COMM_WORLD, &detail::record_comm);
    std::set_terminate(detail::on_terminate);
    detail::look_at_node();
    if (std::string const path = named_file("SHARDTYPE_MACHINE"); !path.empty())
      detail::measured_machine = read_machine(MPI_COMM_WORLD, path);
    if (std::string const path = named_file("SHARDTYPE_TRACE"); !path.empty())
      detail::running_trace = new detail::Trace(path);
  }
  Environment(Environment const&) = delete;
  Environment& operator=(Environment const&) = delete;
  ~Environment() {
    if (detail::node != nullptr) ++detail::node->leaving;
    if (owns_kokkos_) Kokkos::finalize();
    if (std::uncaught_exceptions() > exceptions_ && !detail::all_leave()) {
      std::atexit([] { detail::end_job(); });  // MPI_Finalize would wait for ever
      return;
    }
    if (detail::running_trace != nullptr) {
      detail::running_trace->finish();
      delete std::exchange(detail::running_trace, nullptr);
    }
    detail::node = nullptr;
    if (node_ != MPI_WIN_NULL) MPI_Win_free(&node_);
    if (detail::record_comm != MPI_COMM_NULL) {
      detail::Records::here().finish();
      MPI_Comm_free(&detail::record_comm);
    }
    if (owns_mpi_ && !detail::leaves_by_barrier()) MPI_Finalize();
  }

  /// All ranks of the job.
  MPI_Comm world() const { return MPI_COMM_WORLD; }
  int rank() const { return detail::job_rank(); }
  int size() const {
    int n = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
  }

 private:
  /// The file that a variable names on the first rank, so that all do the same.
  std::string named_file(char const* variable) const {
    char const* const file = rank() == 0 ? std::getenv(variable) : nullptr;
    std::string path = file != nullptr ? file : "";
    detail::share_text(MPI_COMM_WORLD, path, 0);
    return path;
  }

  int exceptions_ = std::uncaught_exceptions();
  MPI_Win node_ = MPI_WIN_NULL;
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
};

}  // namespace shardtype
