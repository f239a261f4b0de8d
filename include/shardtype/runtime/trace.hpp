#pragma once
/// SHARDTYPE_TRACE: a timeline of every rank, in a file for Perfetto or chrome://tracing.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/name.hpp>
#include <shardtype/core/printable.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/plan/collective.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::detail {

/// One step of a program, as its events describe it.
struct TracedStep {
  std::string name;
  std::string category;
  std::string details;  ///< members of a JSON object
  double predicted = 0;
};
/// The program that one `evaluate` of the program text runs on tensors of certain sizes; or a call.
struct TracedProgram {
  Identity type = nullptr;
  char const* file = nullptr;
  std::uint32_t line = 0;
  bool backward = false;
  List<std::int64_t> sizes;
  std::string name;
  std::string details;
  List<TracedStep> steps;

  bool same(TracedProgram const& o) const {
    return type == o.type && file == o.file && line == o.line && backward == o.backward &&
           sizes == o.sizes;
  }
};

/// The steps of programs and the calls of this rank, kept in memory until the end of the job; then
/// the first rank writes those of all ranks into one file. Times start when all ranks have begun
/// the trace.
class Trace {
 public:
  /// Largest number of events that a rank keeps; the file says how many were dropped.
  static constexpr std::size_t most_events = 500'000;

  /// Collective over the job; uses the first rank's path. Error E72: the file cannot be written.
  explicit Trace(std::string path);
  Trace(Trace const&) = delete;
  Trace& operator=(Trace const&) = delete;

  double now() const { return MPI_Wtime() - start_; }

  /// Whether a program like this one was described before; if so, it becomes the running one.
  bool knows(TracedProgram const& like);
  /// Describes a new program, which becomes the running one.
  void describe(TracedProgram program) {
    program_ = static_cast<std::int32_t>(programs_.size());
    programs_.push_back(Owned(new TracedProgram(std::move(program))));
  }
  /// Records the end of a step of the running program, or with -1 of the whole program.
  void done(int step, double begin);

  /// A call of the program begins or ends, strict, manual or `evaluate`; or its cotangent is taken
  /// back. A RunningCall::Listener.
  static void listen(core::RunningCall const& call, bool begins);

  /// Writes the file. Collective over the job. A failure is reported but ends nothing.
  void finish();

 private:
  static constexpr std::int32_t of_call = -2;  ///< the step of a call
  struct Event {
    std::int32_t program = 0;
    std::int32_t step = 0;
    double begin = 0;
    double seconds = 0;
    core::RunningCall const* call = nullptr;
    std::int64_t outer = -1;  ///< of a call that runs: that of the call around it
  };
  static constexpr std::int64_t piece = std::int64_t{1} << 26;

  static std::int64_t nanoseconds(double seconds) {
    return static_cast<std::int64_t>(std::max(seconds, 0.0) * 1e9);
  }
  /// In microseconds, with a decimal point in every locale.
  static std::string micros(std::int64_t ns) {
    return std::to_string(ns / 1000) + "." + std::to_string(1000 + ns % 1000).substr(1);
  }
  std::string event(std::string const& name, std::string const& category, int track, double begin,
                    double seconds, std::string const& details) const;
  std::string meta(std::string const& what, int track, std::string const& value) const {
    return "{\"ph\": \"M\", \"name\": \"" + what + "\", \"pid\": " + std::to_string(rank_) +
           ", \"tid\": " + std::to_string(track) + ", \"args\": {" + value + "}}";
  }
  /// The time of this rank since the begin of the trace, and in the collectives of all calls, as
  /// members of a JSON object.
  std::string seconds() const;
  void begin(core::RunningCall const& call);
  void end(core::RunningCall const& call);
  /// All events of this rank. Predictions have a track of their own: the steps of each run one
  /// after the other, from the begin of the run or from the end of the previous run's steps.
  std::string events() const;

  template <class Move>
  static void in_pieces(std::string& text, Move move) {
    for (std::size_t at = 0; at < text.size(); at += piece) {
      MPI_Request request = MPI_REQUEST_NULL;
      std::size_t const n = std::min<std::size_t>(text.size() - at, piece);
      move(text.data() + at, static_cast<int>(n), &request);
      runtime::wait_for(request);
    }
  }
  void send(std::string& text);
  void receive(std::string& text, int from);

  std::string path_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  double start_ = 0;
  std::int32_t program_ = -1;
  std::int64_t left_out_ = 0;
  List<Owned<TracedProgram>> programs_;
  List<Event> events_;
  std::int64_t innermost_ = -1;  ///< the event of the call that runs
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/trace.ipp>
#endif
