#pragma once
/// Definitions of agreement.hpp.

#include <shardtype/runtime/agreement.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void Agreement::start(MPI_Comm comm) {
  // a number unique to this mesh, from its first rank, which counts its meshes
  static std::int64_t count = 0;
  mesh_ = std::int64_t{detail::job_rank()} << 32 | ++count;
  detail::share_number(comm, mesh_);
  steps_.begin(mesh_);
  if (run_time.record_comm != MPI_COMM_NULL) take_ranks(detail::ranks_in_job(comm));
}

SHARDTYPE_INLINE void Agreement::meet_before_mesh(detail::List<int> const& ranks,
                                                  std::string const& step, std::uint64_t hash) {
  if (run_time.record_comm == MPI_COMM_NULL) return;
  Agreement all;
  all.take_ranks(ranks);
  // ranks that have created meshes together count them alike
  static detail::List<detail::List<int>> made;
  for (detail::List<int> const& group : made) all.step_ += group == all.ranks_ ? 1 : 0;
  made.push_back(all.ranks_);
  StepHash id;
  for (int r : all.ranks_) id.mix(static_cast<std::uint64_t>(r));
  all.mesh_ = -2 - static_cast<std::int64_t>(id.value() >> 2);
  all.meet(step, hash);
  all.ranks_.clear();
}

SHARDTYPE_INLINE void Agreement::meet(std::string const& step, std::uint64_t hash) {
  if (hash == 0) return leave("nothing more: it left the mesh");
  if (!on() || run_time.record_comm == MPI_COMM_NULL) return;
  detail::Record const mine = say(step, hash, 0);
  detail::Records& records = detail::Records::here();
  double const start = MPI_Wtime();
  double patience = limit_;
  for (;;) {
    records.receive();
    bool all = true;
    bool same = true;
    for (int g : ranks_) {
      if (g == me_) continue;
      detail::Record const* const r = records.find(mesh_, step_, g);
      all = all && r != nullptr;
      same = same && (r == nullptr || r->hash == hash);
    }
    if (all && same) return;
    double const waited = MPI_Wtime() - start;
    // wait a little for further ranks, to include them in the message
    if (!same && patience == limit_) patience = std::min(limit_, waited + 0.3);
    if (!same && (all || waited > patience)) disagree(mine);
    if (same && waited > limit_) expire(mine);
    sched_yield();
  }
}

SHARDTYPE_INLINE void Agreement::meet(std::string const& step,
                                      std::initializer_list<std::int64_t> numbers) {
  StepHash hash;
  hash.mix(step);
  for (std::int64_t const n : numbers) hash.mix(static_cast<std::uint64_t>(n));
  meet(step, hash.value() | 1U);
}

SHARDTYPE_INLINE void Agreement::take_ranks(detail::List<int> const& ranks) {
  me_ = detail::job_rank();
  ranks_ = ranks;
  limit_ = run_time.settings.agree_seconds;
}

SHARDTYPE_INLINE detail::Record Agreement::say(std::string const& text, std::uint64_t hash,
                                               std::int32_t leaves) {
  detail::Record r;
  r.mesh = mesh_;
  r.step = ++step_;
  r.hash = hash;
  r.leaves = leaves;
  std::strncpy(r.text, text.c_str(), sizeof r.text - 1);
  detail::Records::here().send(r, ranks_);
  return r;
}

SHARDTYPE_INLINE void Agreement::leave(char const* how) {
  if (!on() || run_time.record_comm == MPI_COMM_NULL) return;
  say(how, 0, 1);
  detail::Records::here().close(mesh_, static_cast<int>(ranks_.size()) - 1);
  ranks_.clear();
}

SHARDTYPE_INLINE std::string Agreement::sides(detail::Record const& mine,
                                              detail::List<int>& missing) const {
  detail::List<Side> by_step;
  for (int g : detail::rising(ranks_)) {
    detail::Record const* const r =
        g == me_ ? &mine : detail::Records::here().find(mesh_, step_, g);
    if (r == nullptr) {
      missing.push_back(g);
    } else {
      std::size_t k = 0;
      while (k < by_step.size() && (by_step[k].text != r->text || by_step[k].hash != r->hash)) ++k;
      if (k == by_step.size()) by_step.push_back({r->text, r->hash, {}});
      by_step[k].ranks.push_back(g);
    }
  }
  std::string out;
  for (std::size_t k = 0; k < by_step.size(); ++k) {
    Side const& side = by_step[k];
    out += (out.empty() ? "" : "; ") + detail::ranks_text(side.ranks) +
           (side.ranks.size() == 1 ? " calls " : " call ") + side.text;
    bool again = false;
    for (std::size_t m = 0; m < k; ++m) again = again || by_step[m].text == side.text;
    if (again) out += " with other extents or dims";
  }
  return out;
}

SHARDTYPE_INLINE void Agreement::disagree(detail::Record const& mine) const {
  detail::List<int> missing;
  std::string const text = sides(mine, missing);
  detail::abort_job("[shardtype E03] the ranks disagree at step " + std::to_string(mine.step) +
                        " of their mesh: " + detail::printable(text),
                    FailedOn::every_rank);
}

SHARDTYPE_INLINE void Agreement::expire(detail::Record const& mine) const {
  detail::List<int> missing;
  std::string text = sides(mine, missing);
  for (int g : missing) {
    detail::Record const* const r = detail::Records::here().last(g);
    text += "; rank " + std::to_string(g) + " did not come";
    if (r == nullptr) continue;
    text += r->mesh == mesh_ ? "; its last call was " : "; on another mesh it called ";
    text += r->text;
  }
  std::string seconds = std::to_string(limit_);
  seconds.resize(seconds.find('.') + 2);
  detail::abort_job("[shardtype E04] waited " + seconds + " s (SHARDTYPE_AGREE_SECONDS) at step " +
                        std::to_string(mine.step) + " of a mesh: " + detail::printable(text),
                    FailedOn::every_rank);
}

}  // namespace shardtype::runtime
