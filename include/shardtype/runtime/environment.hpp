#pragma once
/// Start and end of a program: MPI, Kokkos, and what happens to an error nobody caught.

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <shardtype/runtime/error.hpp>

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

/// Prints the text and ends the job on all ranks.
[[noreturn]] inline void abort_job(std::string const& text) {
  int const rank = job_rank();
  std::fflush(stdout);
  std::fprintf(stderr, "rank %d: %s\n", rank, text.c_str());
  std::fflush(stderr);
  if (rank >= 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

/// The terminate handler: one message, then the end of every rank. g++ does not unwind to main's
/// locals for an uncaught exception, so nothing else would run.
[[noreturn]] inline void on_terminate() {
  std::string text = "terminated without an exception";
  bool shared = false;
  if (std::exception_ptr const current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (Error const& e) {
      text = e.what();
      shared = e.where() == FailedOn::every_rank;
    } catch (std::exception const& e) {
      text = e.what();
    } catch (...) {
      text = "an exception of unknown type";
    }
  }
  // every rank has this message: rank 0 says it and ends the others; they wait for that
  if (shared && job_rank() > 0) ::sleep(5);
  abort_job(text);
}

/// Whether more ranks share this node than cores they may run on. MPI then must not spin.
inline bool cores_are_shared() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  cpu_set_t mine;
  cpu_set_t all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::memcpy(&all, &mine, sizeof all);
  MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, node);
  MPI_Comm_free(&node);
  return ranks > CPU_COUNT(&all);
}

/// Set once by Environment.
inline bool yield_while_waiting = false;

}  // namespace detail

/// Starts MPI and Kokkos and ends them; make one at the top of main.
///
/// An exception that nobody catches ends the job on all ranks with its text and rank. Waiting for
/// other ranks yields the core when more ranks share the node than it has cores, and spins
/// otherwise. If MPI or Kokkos run already, they are left running at the end.
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
    std::set_terminate(detail::on_terminate);
    detail::yield_while_waiting = detail::cores_are_shared();
  }
  Environment(Environment const&) = delete;
  Environment& operator=(Environment const&) = delete;
  ~Environment() {
    if (owns_kokkos_) Kokkos::finalize();
    if (owns_mpi_) MPI_Finalize();
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
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
};

}  // namespace shardtype
