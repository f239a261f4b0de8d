#pragma once
/// SHARDTYPE_TRACE: a timeline of every rank, in a file for Perfetto or chrome://tracing.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include <mpi.h>

#include <shardtype/core/error.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/name.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::detail {

/// One step of a program, as its events describe it.
struct TracedStep {
  std::string name;
  std::string category;
  std::string details;  ///< members of a JSON object
  double predicted = 0;
};
/// The program that one `evaluate` of the program text runs on tensors of certain sizes.
struct TracedProgram {
  Identity type = nullptr;
  char const* file = nullptr;
  std::uint32_t line = 0;
  List<std::int64_t> sizes;
  std::string name;
  std::string details;
  List<TracedStep> steps;

  bool same(TracedProgram const& o) const {
    return type == o.type && file == o.file && line == o.line && sizes == o.sizes;
  }
};

/// The events of this rank, kept in memory until the end of the job; then the first rank writes
/// those of all ranks into one file. Times start when all ranks have begun the trace.
class Trace {
 public:
  /// Largest number of events that a rank keeps; the file says how many were dropped.
  static constexpr std::size_t most_events = 500'000;

  /// Collective over the job; uses the first rank's path. Error E72: the file cannot be written.
  explicit Trace(std::string path) : path_(std::move(path)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) file_ = std::fopen(path_.c_str(), "w");
    int const mine = rank_ == 0 && file_ == nullptr ? errno : 0;
    if (auto const failed = reduce_number(MPI_COMM_WORLD, mine, MPI_MAX); failed != 0)
      throw Error(
          "E72",
          "cannot write the trace to " + path_ + ": " + std::strerror(static_cast<int>(failed)),
          FailedOn::every_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    reduce_number(comm_, 0, MPI_MAX);  // waits until all ranks are here
    start_ = MPI_Wtime();
  }
  Trace(Trace const&) = delete;
  Trace& operator=(Trace const&) = delete;

  double now() const { return MPI_Wtime() - start_; }

  /// Whether a program like this one was described before; if so, it becomes the running one.
  bool knows(TracedProgram const& like) {
    for (std::size_t k = 0; k < programs_.size(); ++k)
      if (programs_[k]->same(like)) {
        program_ = static_cast<std::int32_t>(k);
        return true;
      }
    return false;
  }
  /// Describes a new program, which becomes the running one.
  void describe(TracedProgram program) {
    program_ = static_cast<std::int32_t>(programs_.size());
    programs_.push_back(Owned(new TracedProgram(std::move(program))));
  }
  /// Records the end of a step of the running program, or with -1 of the whole program.
  void done(int step, double begin) {
    if (program_ < 0) return;
    if (events_.size() == most_events) {
      ++left_out_;
      return;
    }
    events_.push_back({program_, step, begin, now() - begin});
  }

  /// Writes the file. Collective over the job. A failure is reported but ends nothing.
  void finish() {
    int ranks = 1;
    MPI_Comm_size(comm_, &ranks);
    std::string text = events();
    if (rank_ != 0) {
      send(text);
    } else {
      bool good = write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + text);
      for (int g = 1; g < ranks; ++g) {
        receive(text, g);
        good = write(",\n" + text) && good;
      }
      good = write("\n]}\n") && good;
      good = std::fclose(file_) == 0 && good;
      if (!good)
        std::fprintf(stderr, "[shardtype E72] cannot write the trace to %s: %s\n", path_.c_str(),
                     std::strerror(errno));
    }
    MPI_Comm_free(&comm_);
  }

 private:
  struct Event {
    std::int32_t program = 0;
    std::int32_t step = 0;
    double begin = 0;
    double seconds = 0;
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
                    double seconds, std::string const& details) const {
    return ",\n{\"ph\": \"X\", \"name\": " + json_text(name) + ", \"cat\": " + json_text(category) +
           ", \"pid\": " + std::to_string(rank_) + ", \"tid\": " + std::to_string(track) +
           ", \"ts\": " + micros(nanoseconds(begin)) +
           ", \"dur\": " + micros(nanoseconds(begin + seconds) - nanoseconds(begin)) +
           ", \"args\": {" + details + "}}";
  }
  std::string meta(std::string const& what, int track, std::string const& value) const {
    return "{\"ph\": \"M\", \"name\": \"" + what + "\", \"pid\": " + std::to_string(rank_) +
           ", \"tid\": " + std::to_string(track) + ", \"args\": {" + value + "}}";
  }
  /// All events of this rank. Predictions have a track of their own: the steps of each run one
  /// after the other, from the begin of the run or from the end of the previous run's steps.
  std::string events() const {
    std::string out = meta("process_name", 0, "\"name\": \"rank " + std::to_string(rank_) + "\"") +
                      ",\n" +
                      meta("process_sort_index", 0, "\"sort_index\": " + std::to_string(rank_)) +
                      ",\n" + meta("thread_name", 0, "\"name\": \"measured\"") + ",\n" +
                      meta("thread_name", 1, "\"name\": \"predicted\"");
    if (left_out_ > 0)
      out += ",\n" + meta("process_labels", 0,
                          "\"labels\": \"" + std::to_string(left_out_) + " events left out\"");
    double predicted_end = 0;
    bool in_run = false;
    for (Event const& e : events_) {
      TracedProgram const& p = *programs_[static_cast<std::size_t>(e.program)];
      if (e.step < 0) {
        out += event(p.name, "evaluate", 0, e.begin, e.seconds, p.details);
        in_run = false;
        continue;
      }
      TracedStep const& s = p.steps[static_cast<std::size_t>(e.step)];
      if (!in_run) predicted_end = std::max(predicted_end, e.begin);
      in_run = true;
      out += event(s.name, s.category, 0, e.begin, e.seconds, s.details);
      out += event(s.name, "predicted", 1, predicted_end, s.predicted, s.details);
      predicted_end += s.predicted;
    }
    return out;
  }

  bool write(std::string const& text) {
    return std::fwrite(text.data(), 1, text.size(), file_) == text.size();
  }
  template <class Move>
  static void in_pieces(std::string& text, Move move) {
    for (std::size_t at = 0; at < text.size(); at += piece) {
      MPI_Request request = MPI_REQUEST_NULL;
      std::size_t const n = std::min<std::size_t>(text.size() - at, piece);
      move(text.data() + at, static_cast<int>(n), &request);
      wait_for(request);
    }
  }
  void send(std::string& text) {
    auto length = static_cast<std::int64_t>(text.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(&length, 1, MPI_INT64_T, 0, 0, comm_, &request), "MPI_Isend");
    wait_for(request);
    in_pieces(text, [&](char* data, int n, MPI_Request* r) {
      check_mpi(MPI_Isend(data, n, MPI_CHAR, 0, 0, comm_, r), "MPI_Isend");
    });
  }
  void receive(std::string& text, int from) {
    std::int64_t length = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(&length, 1, MPI_INT64_T, from, 0, comm_, &request), "MPI_Irecv");
    wait_for(request);
    text.resize(static_cast<std::size_t>(length));
    in_pieces(text, [&](char* data, int n, MPI_Request* r) {
      check_mpi(MPI_Irecv(data, n, MPI_CHAR, from, 0, comm_, r), "MPI_Irecv");
    });
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  double start_ = 0;
  std::int32_t program_ = -1;
  std::int64_t left_out_ = 0;
  List<Owned<TracedProgram>> programs_;
  List<Event> events_;
};

}  // namespace shardtype::detail
