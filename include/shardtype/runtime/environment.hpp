#pragma once
/// Start and end of a program: MPI, Kokkos, and handling of uncaught errors.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <unistd.h>

#include <shardtype/core/error.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/machine_file.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/records.hpp>
#include <shardtype/runtime/settings.hpp>
#include <shardtype/runtime/trace.hpp>

namespace shardtype {

namespace detail {

/// Ends the job on all ranks. mpiexec drops output that it has not forwarded by then, so it gets
/// time.
[[noreturn]] inline void end_job() {
  std::fflush(stdout);
  std::fflush(stderr);
  sleep_ms(300);
  run_time.in_environment = false;  // MPI_Abort calls exit
  if (job_rank() >= 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

/// Ends the job on all ranks and prints why. If several ranks fail at once, only one prints: the
/// first, or rank 0 if it is among the ranks that share the failure.
[[noreturn]] inline void abort_job(std::string const& text, FailedOn where = FailedOn::this_rank) {
  int const rank = job_rank();
  std::fflush(stdout);
  if (where == FailedOn::every_rank && rank > 0) sleep_ms(500);
  if (run_time.node != nullptr) {
    if (run_time.node->speaks.exchange(1) != 0)
      sleep_ms(10000);  // until the rank that prints ends this one
    else if (!run_time.node->first)
      sleep_ms(1000);  // a rank of the first node may print first
  }
  std::string const who = rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
  std::fputs((who + text + "\n").c_str(), stderr);
  end_job();
}

/// The terminate handler: one message, then the end of every rank. For an uncaught exception g++
/// does not unwind main's locals, so nothing else would run.
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

/// SHARDTYPE_FINALIZE=barrier: whether the job ended with a barrier instead of MPI_Finalize.
/// MPI_Finalize hangs in MPICH 4.0 over UCX's tcp if a rank has closed its connections before
/// another (scripts/slow_network).
inline bool leaves_by_barrier() {
  if (!run_time.settings.ends_with_barrier) return false;
  reduce_number(MPI_COMM_WORLD, 0, MPI_MAX);  // waits until all ranks are here
  return true;
}

/// At the end of a rank's Environment: returns when the other ranks of its node have reached
/// theirs. Error E06, which ends the job, if one of them waits for this rank in a step that this
/// rank will never take.
inline void await_others() {
  if (run_time.node == nullptr || run_time.settings.check_agree)
    return;  // then error E03 reports more
  for (int waited = 0; run_time.node->leaving < run_time.node->ranks; ++waited) {
    Ahead const ahead = rank_ahead();
    if (ahead.who >= 0)
      abort_job(
          "[shardtype E06] this rank came to the end of its Environment after step " +
          std::to_string(ahead.own) + " of a mesh, and rank " + std::to_string(ahead.who) +
          " waits for it in step " + std::to_string(ahead.step) +
          ": all ranks of a mesh run the same operations; SHARDTYPE_CHECK=agree names the two "
          "that differ");
    usleep(waited < 100 ? 100 : 1000);
  }
}

/// At exit. Error E06, which ends the job, if this rank exits without ending its Environment while
/// other ranks of its node are still running.
inline void on_exit() {
  if (!run_time.in_environment) return;
  ++run_time.node->leaving;
  if (all_leave()) {
    MPI_Finalize();
    return;
  }
  abort_job(
      "[shardtype E06] the program called exit on this rank while its Environment lived, and the "
      "other "
      "ranks go on: throw an exception, which ends the job with its text, or let every rank exit");
}

}  // namespace detail

/// Starts MPI and Kokkos and ends them; make one at the top of main.
///
/// An uncaught exception ends the job on all ranks with its text and rank. If an exception is
/// caught outside of the Environment's scope, the other ranks wait: if they do not reach their ends
/// as well, the job ends when this rank's program does. If a rank calls exit, or reaches its end
/// while another rank of its node waits for it in an operation, the job ends (E06). A rank that
/// waits for others yields its core if the node has more ranks than cores, and spins otherwise.
/// SHARDTYPE_MACHINE names a file with the machine's rates (E68: it cannot be read);
/// SHARDTYPE_TRACE names a file to which the steps of every `evaluate` are written (E72: it cannot
/// be written). If MPI or Kokkos are already running, they are left running at the end. Other
/// errors: E05 an unknown value of a SHARDTYPE_ variable, E07 an Environment after the end of
/// another.
class Environment {
 public:
  Environment(int& argc, char**& argv) {
    int started = 0;
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0)
      throw Error("E07",
                  "an Environment was made after the end of another, which ended MPI; MPI does not "
                  "start twice: keep one Environment, at the top of main",
                  FailedOn::every_rank);
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
    std::set_terminate(detail::on_terminate);
    runtime::run_time.settings = runtime::read_settings();
    if (runtime::run_time.settings.check_agree)
      MPI_Comm_dup(MPI_COMM_WORLD, &runtime::run_time.record_comm);
    detail::look_at_node();
    runtime::run_time.in_environment = owns_mpi_ && runtime::run_time.node != nullptr;
    if (runtime::run_time.in_environment) std::atexit(detail::on_exit);
    if (std::string const path = named_file("SHARDTYPE_MACHINE"); !path.empty())
      runtime::run_time.machine = read_machine(MPI_COMM_WORLD, path);
    if (std::string const path = named_file("SHARDTYPE_TRACE"); !path.empty())
      runtime::run_time.trace = new detail::Trace(path);
  }
  Environment(Environment const&) = delete;
  Environment& operator=(Environment const&) = delete;
  ~Environment() {
    runtime::run_time.in_environment = false;
    if (runtime::run_time.node != nullptr) ++runtime::run_time.node->leaving;
    if (owns_kokkos_) Kokkos::finalize();
    if (std::uncaught_exceptions() > exceptions_ && !detail::all_leave()) {
      std::atexit([] { detail::end_job(); });  // MPI_Finalize would wait for ever
      return;
    }
    detail::await_others();
    if (runtime::run_time.trace != nullptr) {
      runtime::run_time.trace->finish();
      delete std::exchange(runtime::run_time.trace, nullptr);
    }
    runtime::run_time.progress = nullptr;
    runtime::run_time.node = nullptr;
    if (node_ != MPI_WIN_NULL) MPI_Win_free(&node_);
    if (runtime::run_time.record_comm != MPI_COMM_NULL) {
      detail::Records::here().finish();
      MPI_Comm_free(&runtime::run_time.record_comm);
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
  /// The file that a variable names on rank 0, broadcast so that all ranks do the same.
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
