#pragma once
/// Saves while the program goes on.

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <utility>

#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/checkpoint/save.hpp>
#include <shardtype/checkpoint/step_write.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::checkpoint {

/// Saves the steps of a run while the program goes on: `save` copies the blocks that this rank
/// writes, and a thread, which calls nothing of MPI, writes the copies. At most one step is under
/// way. `wait` must be called after the last one, else that step is lost and rank 0 says so (E96).
///
///     checkpoint::Saver saver("run", {.keep = 3});
///     for (...) {
///       ...
///       if (step % 100 == 0) saver.save(step, model, state);
///     }
///     saver.wait();
class Saver {
 public:
  explicit Saver(std::string run, Options const& options = {})
      : run_(std::move(run)), options_(options) {}
  Saver(Saver const&) = delete;
  Saver& operator=(Saver const&) = delete;
  ~Saver();

  /// Waits for the step before, and begins to save this one, as checkpoint::save. The tensors may
  /// be changed, and gone, when it returns. Collective, as checkpoint::save; errors too, and those
  /// of the step before.
  template <class Model>
  void save(std::int64_t step, Model const& model, Extra const& extra = {},
            std::source_location const& where = std::source_location::current()) {
    core::RunningCall const running("checkpoint::Saver::save", where);
    begin({where, model}, step, extra, where);
  }
  template <class Model, class State>
    requires train::is_state<State>
  void save(std::int64_t step, Model const& model, State const& state, Extra const& extra = {},
            std::source_location const& where = std::source_location::current()) {
    core::RunningCall const running("checkpoint::Saver::save", where);
    begin({where, model, state}, step, extra, where);
  }

  /// Refused, A18: other arguments.
  template <class... Labels>
  void save(checking::Anything const&, checking::Anything const& = {},
            checking::Anything const& = {}, checking::Anything const& = {}) {
    checking::refused<rules::Code::A18_no_such_call_of_checkpoint, false, Labels...>{};
  }

  /// Waits until the step under way is on the disk and has its name; does nothing if there is none.
  /// Collective. Error IO8, the same on every rank: it could not be written; what was saved before
  /// stays.
  void wait(std::source_location const& where = std::source_location::current());

 private:
  void begin(detail::Contents contents, std::int64_t step, Extra const& extra,
             std::source_location const& where);

  std::string run_;
  Options options_;
  std::int64_t step_ = 0;
  std::optional<runtime::MeshRef> mesh_;
  std::unique_ptr<detail::StepWrite> write_;
  std::thread thread_;
};

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/saver.ipp>
#endif
