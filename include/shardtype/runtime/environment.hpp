#pragma once
/// Start and end of a program: MPI, Kokkos, and handling of uncaught errors.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <unistd.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/instructions.hpp>
#include <shardtype/runtime/machine_file.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/records.hpp>
#include <shardtype/runtime/settings.hpp>
#include <shardtype/runtime/trace.hpp>

namespace shardtype {

namespace detail {

/// Whether MPI says that it reads and writes the memory of CUDA devices. MPICH and Open MPI have a
/// function that says so; of an MPI without it: no.
bool mpi_reads_devices();

/// The least of the sets that the ranks name: processors may differ, and values must not.
/// Collective.
runtime::Instructions common_instructions(MPI_Comm comm, runtime::Instructions mine);

/// Ends the job on all ranks and prints why. If several ranks fail at once, only one prints: the
/// first, or rank 0 if it is among the ranks that share the failure.
[[noreturn]] void abort_job(std::string const& text, FailedOn where = FailedOn::this_rank);

}  // namespace detail

/// Starts MPI and Kokkos and ends them; make one at the top of main.
///
/// An uncaught exception ends the job on all ranks with its text and rank. If an exception is
/// caught outside of the Environment's scope, the other ranks wait: if they do not reach their ends
/// as well, the job ends when this rank's program does. If a rank calls exit, or reaches its end
/// while another rank of its node waits for it in an operation, the job ends (E06). If a rank dies
/// without a message, its host's watcher, a process that sleeps until then, names it (E16). A rank
/// that waits for others yields its core if the node has more ranks than cores, and spins
/// otherwise. SHARDTYPE_MACHINE names a file with the machine's rates (E68: it cannot be read);
/// SHARDTYPE_TRACE names a file to which the steps of every `evaluate` are written (E72: it cannot
/// be written). If MPI or Kokkos are already running, they are left running at the end. Other
/// errors: E05 an unknown value of a SHARDTYPE_ variable (of an unknown variable the first rank
/// warns), E07 an Environment after the end of another, E08 an operation in another thread than
/// that of the Environment, E09 one after the Environment has ended MPI.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  Environment(Environment const&) = delete;
  Environment& operator=(Environment const&) = delete;
  ~Environment();

  /// All ranks of the job.
  MPI_Comm world() const { return MPI_COMM_WORLD; }
  int rank() const { return detail::job_rank(); }
  int size() const { return size_; }

 private:
  /// The file that a variable names on rank 0, broadcast so that all ranks do the same.
  std::string named_file(char const* variable) const;

  int exceptions_ = std::uncaught_exceptions();
  MPI_Win node_ = MPI_WIN_NULL;
  int size_ = 1;
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
};

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/environment.ipp>
#endif
