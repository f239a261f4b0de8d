#pragma once
/// Definitions of saver.hpp.

#include <cstdio>

#include <shardtype/checkpoint/saver.hpp>
#include <shardtype/core/printable.hpp>

namespace shardtype::checkpoint {

#ifdef SHARDTYPE_HAVE_JSON

SHARDTYPE_INLINE Saver::~Saver() {
  if (thread_.joinable()) thread_.join();
  if (write_ != nullptr && write_->first_rank())
    std::fprintf(stderr, "[shardtype E96] step %lld of %s is not saved: nobody called wait()\n",
                 static_cast<long long>(step_), shardtype::detail::printable(run_).c_str());
}

SHARDTYPE_INLINE void Saver::begin(detail::Contents contents, std::int64_t step, Extra const& extra,
                                   std::source_location const& where) {
  detail::check_step(step);
  wait(where);
  runtime::MeshState* const mesh = contents.tensors.here();
  if (mesh == nullptr) return;
  if (mesh->agreement().begin_step())
    mesh->agreement().meet("checkpoint::Saver::save" +
                           detail::text_of_step(step, contents.counts, extra) +
                           core::source_text(core::RunningCall::place(where)));
  mesh_ = contents.tensors.mesh;
  step_ = step;
  auto write = std::make_unique<detail::StepWrite>(mesh->whole(), run_, step,
                                                   std::move(contents.tensors.list), extra,
                                                   std::move(contents.counts), options_);
  write->copy_blocks();
  write_ = std::move(write);
  thread_ = std::thread([w = write_.get()] { w->write_alone(); });
}

SHARDTYPE_INLINE void Saver::wait(std::source_location const& where) {
  core::RunningCall const running("checkpoint::Saver::wait", where);
  if (write_ == nullptr) return;
  mesh_->state().agreement().agree("checkpoint::Saver::wait", where);
  thread_.join();
  auto const write = std::move(write_);  // gone after a failure too
  write->finish();
}

#endif

}  // namespace shardtype::checkpoint
