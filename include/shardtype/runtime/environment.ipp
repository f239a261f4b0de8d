#pragma once
/// Definitions of environment.hpp.

#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/shared_window.hpp>
#include <shardtype/runtime/watcher.hpp>

// An MPI that has no such function leaves it null; some declare it, too.
// NOLINTNEXTLINE(readability-redundant-declaration)
extern "C" __attribute__((weak)) int MPIX_Query_cuda_support(void);

namespace shardtype::detail {

SHARDTYPE_INLINE bool mpi_reads_devices() {
  return MPIX_Query_cuda_support != nullptr && MPIX_Query_cuda_support() != 0;
}

SHARDTYPE_INLINE runtime::Instructions common_instructions(MPI_Comm comm,
                                                           runtime::Instructions mine) {
  return static_cast<runtime::Instructions>(
      detail::reduce_number(comm, static_cast<std::int64_t>(mine), MPI_MIN));
}

/// Keeps ways of exchanging, of which all ranks must take the same one, only where every rank's
/// settings have them.
inline void agree_on(MPI_Comm comm, runtime::Settings& s) {
  List<bool*> alike;
  runtime::each_group(s, [&](auto& settings, auto const& variables) {
    for (auto const& v : variables)
      if (v.alike != nullptr) alike.push_back(&(settings.*v.alike));
  });
  std::int64_t bits = 0;
  for (int k = 0; bool const* b : alike) bits |= static_cast<std::int64_t>(*b) << k++;
  bits = detail::reduce_number(comm, bits, MPI_BAND);
  for (int k = 0; bool* b : alike) *b = (bits >> k++ & 1) != 0;
}

/// Ends the job on all ranks. mpiexec drops output that it has not forwarded by then, so it gets
/// time.
[[noreturn]] inline void end_job() {
  detail::tell_watcher(WatchedRank::reported);
  std::fflush(stdout);
  std::fflush(stderr);
  sleep_ms(300);
  run_time.in_environment = false;  // MPI_Abort calls exit
  if (job_rank() >= 0) MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

SHARDTYPE_INLINE void abort_job(std::string const& text, FailedOn where) {
  int const rank = job_rank();
  detail::tell_watcher(WatchedRank::reported);
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
  detail::meet(MPI_COMM_WORLD);
  return true;
}

/// At the end of a rank's Environment: returns when the other ranks of its node have reached
/// theirs. Error E06, which ends the job, if one of them waits for this rank in a step that this
/// rank will never take.
inline void await_others() {
  if (run_time.node == nullptr || run_time.settings.check_agree)
    return;  // then error E03 reports more
  for (int waited = 0;; ++waited) {
    // the last look is at what all ranks have done: some operations wait for nobody
    bool const all_here = run_time.node->leaving >= run_time.node->ranks;
    Ahead const ahead = rank_ahead();
    if (ahead.who >= 0 && ahead.step == 0)
      abort_job("[shardtype E06] this rank came to the end of its Environment, and rank " +
                std::to_string(ahead.who) +
                " waits for it where a mesh is made, or where an operation is the first of its "
                "kind over some "
                "axes or between two meshes: all ranks of a mesh run the same operations; "
                "SHARDTYPE_CHECK=agree names the two that differ");
    if (ahead.who >= 0)
      abort_job(
          "[shardtype E06] this rank came to the end of its Environment after step " +
          std::to_string(ahead.own) + " of a mesh, and rank " + std::to_string(ahead.who) +
          " waits for it in step " + std::to_string(ahead.step) +
          ": all ranks of a mesh run the same operations; SHARDTYPE_CHECK=agree names the two "
          "that differ");
    if (all_here) return;
    usleep(waited < 100 ? 100 : 1000);
  }
}

/// Kokkos reads its options, and takes them from argv. `--help` is the program's: Kokkos would
/// print its own help on every rank (`--kokkos-help`), and with some versions end there.
inline void initialize_kokkos(int& argc, char** argv) {
  auto const own = [](char const* word) { return std::string_view(word) == "--help"; };
  int const given = argc;
  std::vector<char*> help;
  std::copy_if(argv, argv + argc, std::back_inserter(help), own);
  argc = static_cast<int>(std::remove_if(argv, argv + argc, own) - argv);
  Kokkos::initialize(argc, argv);
  std::copy(help.begin(), help.end(), argv + argc);
  argc += static_cast<int>(help.size());
  if (argc < given) argv[argc] = nullptr;
}

/// At exit. Error E06, which ends the job, if this rank exits without ending its Environment while
/// other ranks of its node are still running.
inline void on_exit() {
  if (!run_time.in_environment) return;
  ++run_time.node->leaving;
  if (all_leave()) {
    detail::tell_watcher(WatchedRank::ended);
    MPI_Finalize();
    return;
  }
  abort_job(
      "[shardtype E06] the program called exit on this rank while its Environment lived, and the "
      "other "
      "ranks go on: throw an exception, which ends the job with its text, or let every rank exit");
}

}  // namespace shardtype::detail

namespace shardtype {

SHARDTYPE_INLINE Environment::Environment(int& argc, char**& argv) {
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
    detail::initialize_kokkos(argc, argv);
    owns_kokkos_ = true;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  node_ = detail::share_node();
  std::set_terminate(detail::on_terminate);
  runtime::run_time.settings = runtime::read_settings();
  detail::agree_on(MPI_COMM_WORLD, runtime::run_time.settings);
  bool const direct = runtime::run_time.settings.device_messages && detail::mpi_reads_devices();
  runtime::run_time.device_messages =
      detail::reduce_number(MPI_COMM_WORLD, direct ? 1 : 0, MPI_MIN) != 0;
  runtime::run_time.settings.node_size = static_cast<int>(
      detail::reduce_number(MPI_COMM_WORLD, runtime::run_time.settings.node_size, MPI_MIN));
  if (runtime::run_time.settings.node_size >
      0) {  // what was shared until here reports bad settings
    runtime::run_time.progress = nullptr;
    runtime::run_time.node = nullptr;
    if (node_ != MPI_WIN_NULL) MPI_Win_free(&node_);
    node_ = detail::share_node();
  }
  runtime::run_time.instructions = detail::common_instructions(
      MPI_COMM_WORLD, runtime::run_time.settings.bfloat16_pairs
                          ? runtime::best_instructions()
                          : std::min(runtime::best_instructions(), runtime::Instructions::avx512));
  if (rank() == 0) runtime::warn_of_unknown_variables();
  if (runtime::run_time.settings.check_agree)
    MPI_Comm_dup(MPI_COMM_WORLD, &runtime::run_time.record_comm);
  detail::look_at_node();
  if (runtime::run_time.settings.watch) detail::start_watcher();
  runtime::run_time.in_environment = owns_mpi_ && runtime::run_time.node != nullptr;
  if (runtime::run_time.in_environment) {
    std::atexit(detail::on_exit);
#ifdef __GLIBC__
    std::at_quick_exit(detail::on_exit);
#endif
  }
  core::RunningCall::keep_to_this_thread();
  if (std::string const path = named_file("SHARDTYPE_MACHINE"); !path.empty())
    runtime::run_time.machine = api::read_machine(MPI_COMM_WORLD, path);
  if (std::string const path = named_file("SHARDTYPE_TRACE"); !path.empty()) {
    runtime::run_time.trace = new detail::Trace(path);
    core::RunningCall::listen(detail::Trace::listen);
  }
}

SHARDTYPE_INLINE Environment::~Environment() {
  if (runtime::run_time.delete_let_go != nullptr) runtime::run_time.delete_let_go();
  core::RunningCall::leave_thread(owns_mpi_);
  runtime::run_time.in_environment = false;
  if (runtime::run_time.node != nullptr) ++runtime::run_time.node->leaving;
  if (owns_kokkos_) Kokkos::finalize();
  if (std::uncaught_exceptions() > exceptions_ && !detail::all_leave()) {
    detail::tell_watcher(detail::WatchedRank::reported);
    std::atexit([] { detail::end_job(); });  // MPI_Finalize would wait for ever
    return;
  }
  detail::await_others();
  detail::tell_watcher(detail::WatchedRank::ended);
  runtime::run_time.watched = nullptr;
  if (runtime::run_time.trace != nullptr) {
    core::RunningCall::listen(nullptr);
    runtime::run_time.trace->finish();
    delete std::exchange(runtime::run_time.trace, nullptr);
  }
  runtime::run_time.progress = nullptr;
  runtime::run_time.node = nullptr;
  if (node_ != MPI_WIN_NULL) MPI_Win_free(&node_);
  runtime::SharedWindow::free_left();  // all ranks of the node are here
  if (runtime::run_time.record_comm != MPI_COMM_NULL) {
    detail::Records::here().finish();
    MPI_Comm_free(&runtime::run_time.record_comm);
  }
  if (owns_mpi_ && !detail::leaves_by_barrier()) MPI_Finalize();
}

SHARDTYPE_INLINE std::string Environment::named_file(char const* variable) const {
  char const* const file = rank() == 0 ? std::getenv(variable) : nullptr;
  std::string path = file != nullptr ? file : "";
  detail::share_text(MPI_COMM_WORLD, path, 0);
  return path;
}

}  // namespace shardtype
