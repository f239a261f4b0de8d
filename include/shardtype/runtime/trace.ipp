#pragma once
/// Definitions of trace.hpp.

#include <shardtype/runtime/trace.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE Trace::Trace(std::string path) : path_(std::move(path)) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  int const mine = rank_ == 0 ? runtime::cannot_replace(path_) : 0;
  if (auto const failed = detail::reduce_number(MPI_COMM_WORLD, mine, MPI_MAX); failed != 0)
    throw Error("E72",
                "cannot write the trace to " + path_ + ": " +
                    runtime::file_fault_text(static_cast<int>(failed)),
                FailedOn::every_rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  detail::reduce_number(comm_, 0, MPI_MAX);  // waits until all ranks are here
  start_ = MPI_Wtime();
}

SHARDTYPE_INLINE bool Trace::knows(TracedProgram const& like) {
  for (std::size_t k = 0; k < programs_.size(); ++k)
    if (programs_[k]->same(like)) {
      program_ = static_cast<std::int32_t>(k);
      return true;
    }
  return false;
}

SHARDTYPE_INLINE void Trace::done(int step, double begin) {
  if (program_ < 0) return;
  if (events_.size() == most_events) {
    ++left_out_;
    return;
  }
  events_.push_back({program_, step, begin, now() - begin});
}

SHARDTYPE_INLINE void Trace::listen(core::RunningCall const& call, bool begins) {
  if (begins)
    run_time.trace->begin(call);
  else
    run_time.trace->end(call);
}

SHARDTYPE_INLINE void Trace::begin(core::RunningCall const& call) {
  if (!call.of_program()) return;
  if (innermost_ >= 0) {
    // an operation with a gradient records itself, and calls itself
    core::RunningCall::Named const a = events_[static_cast<std::size_t>(innermost_)].call->named();
    core::RunningCall::Named const b = call.named();
    if (a.operation == b.operation && a.where.line() == b.where.line() &&
        a.where.file_name() == b.where.file_name())
      return;
  }
  if (events_.size() == most_events) {
    ++left_out_;
    return;
  }
  events_.push_back({-1, of_call, now(), 0, &call, innermost_});
  innermost_ = static_cast<std::int64_t>(events_.size()) - 1;
}

SHARDTYPE_INLINE void Trace::end(core::RunningCall const& call) {
  if (innermost_ < 0) return;
  Event& e = events_[static_cast<std::size_t>(innermost_)];
  if (e.call != &call) return;
  e.seconds = now() - e.begin;
  innermost_ = e.outer;
  core::RunningCall::Named const named = call.named();
  TracedProgram text;
  text.type = named.operation.data();
  text.file = named.where.file_name();
  text.line = named.where.line();
  text.backward = named.backward;
  std::int32_t const running = program_;
  if (!knows(text)) {
    text.name = named.backward ? "the gradient of " : "";
    text.name.append(named.operation.data(), named.operation.size());
    text.name += core::source_text(named.where);
    describe(std::move(text));
  }
  e.program = program_;
  program_ = running;
}

SHARDTYPE_INLINE void Trace::finish() {
  int ranks = 1;
  MPI_Comm_size(comm_, &ranks);
  std::string text = events();
  if (rank_ != 0) {
    send(text);
  } else {
    runtime::ReplacedFile file;
    int failed = file.create(path_);
    file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + text);
    for (int g = 1; g < ranks; ++g) {
      receive(text, g);
      file.write(",\n" + text);
    }
    file.write("\n]}\n");
    if (failed == 0) failed = file.finish();
    if (failed != 0)
      std::fprintf(stderr, "[shardtype E72] cannot write the trace to %s: %s\n",
                   printable(path_).c_str(), runtime::file_fault_text(failed).c_str());
  }
  MPI_Comm_free(&comm_);
}

SHARDTYPE_INLINE std::string Trace::event(std::string const& name, std::string const& category,
                                          int track, double begin, double seconds,
                                          std::string const& details) const {
  return ",\n{\"ph\": \"X\", \"name\": " + json_text(name) + ", \"cat\": " + json_text(category) +
         ", \"pid\": " + std::to_string(rank_) + ", \"tid\": " + std::to_string(track) +
         ", \"ts\": " + micros(nanoseconds(begin)) +
         ", \"dur\": " + micros(nanoseconds(begin + seconds) - nanoseconds(begin)) +
         ", \"args\": {" + details + "}}";
}

SHARDTYPE_INLINE std::string Trace::seconds() const {
  std::string out = "\"total\": " + json_number(now());
  for (planning::Collective const c : planning::all_collectives)
    if (double const s = runtime::run_time.in_collective[static_cast<std::size_t>(c)]; s > 0)
      out += ", " + json_text(planning::kind_of(c).text) + ": " + json_number(s);
  return out;
}

SHARDTYPE_INLINE std::string Trace::events() const {
  std::string out = meta("process_name", 0, "\"name\": \"rank " + std::to_string(rank_) + "\"") +
                    ",\n" +
                    meta("process_sort_index", 0, "\"sort_index\": " + std::to_string(rank_)) +
                    ",\n" + meta("thread_name", 0, "\"name\": \"measured\"") + ",\n" +
                    meta("thread_name", 1, "\"name\": \"predicted\"") + ",\n" +
                    meta("thread_name", 2, "\"name\": \"calls\"");
  if (left_out_ > 0)
    out += ",\n" + meta("process_labels", 0,
                        "\"labels\": \"" + std::to_string(left_out_) + " events left out\"");
  out += ",\n" + meta("seconds", 0, seconds());
  double predicted_end = 0;
  bool in_run = false;
  for (Event const& e : events_) {
    if (e.program < 0) continue;  // a call that still runs
    TracedProgram const& p = *programs_[static_cast<std::size_t>(e.program)];
    if (e.step == of_call) {
      out += event(p.name, "call", 2, e.begin, e.seconds, {});
      continue;
    }
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

SHARDTYPE_INLINE void Trace::send(std::string& text) {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(&length, 1, MPI_INT64_T, 0, 0, comm_, &request), "MPI_Isend");
  runtime::wait_for(request);
  in_pieces(text, [&](char* data, int n, MPI_Request* r) {
    check_mpi(MPI_Isend(data, n, MPI_CHAR, 0, 0, comm_, r), "MPI_Isend");
  });
}

SHARDTYPE_INLINE void Trace::receive(std::string& text, int from) {
  std::int64_t length = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(&length, 1, MPI_INT64_T, from, 0, comm_, &request), "MPI_Irecv");
  runtime::wait_for(request);
  text.resize(static_cast<std::size_t>(length));
  in_pieces(text, [&](char* data, int n, MPI_Request* r) {
    check_mpi(MPI_Irecv(data, n, MPI_CHAR, from, 0, comm_, r), "MPI_Irecv");
  });
}

}  // namespace shardtype::detail
