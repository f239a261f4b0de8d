#pragma once
/// The folders of a run's checkpoints: each step's appears at once and whole, by a rename, after
/// all is on the disk. One rank calls these functions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_transfer.hpp>

namespace shardtype::checkpoint::detail {

using shardtype::detail::NpyOutcome;

inline constexpr char const* manifest_name = "manifest.json";

/// "step_00000100", and back; nothing for other names.
std::string step_name(std::int64_t step);
std::optional<std::int64_t> step_of(std::string_view name);

/// "run/name"; of an empty folder "name".
std::string joined(std::string const& folder, std::string_view name);

/// Puts what the system has written of a folder's list of names, or of a file, on the disk. 0 or an
/// errno.
int sync_path(std::string const& path);

/// Creates a file that does not exist yet, with these first bytes and zeros up to `bytes`. 0 or an
/// errno.
int create_file(std::string const& path, std::string_view start, std::int64_t bytes);

/// Writes all bytes at a place of an open file. 0 or an errno.
int write_at(int descriptor, char const* data, std::size_t bytes, std::int64_t at);

/// The folder of the step that `run` names as its latest, or the last of its complete steps if it
/// names none that is there; the run itself if it is the folder of a step. Empty: there is none,
/// or, with IO1 in `outcome`, `latest` cannot be read.
std::string find_step(std::string const& run, NpyOutcome& outcome);

/// The folder of one step while it is written. Until publish() its name is hidden
/// (".step_00000100.….partial"); what is not published is removed. Folders that killed programs
/// left are removed by the next save, unless another program saves to the same run at that time.
class StepFolder {
 public:
  StepFolder() = default;
  StepFolder(StepFolder const&) = delete;
  StepFolder& operator=(StepFolder const&) = delete;
  ~StepFolder() { discard(); }

  NpyOutcome outcome;

  /// Creates the hidden folder, and that of the run.
  void create(std::string const& run, std::int64_t step);
  /// Where files are written.
  std::string const& written() const { return written_; }
  /// Where they will be.
  std::string const& place() const { return place_; }
  void add_file(std::string const& name, std::string_view start, std::int64_t bytes);
  /// Writes the manifest, gives the folder its name, and then its run's `latest`. A step of the
  /// same number that is there is exchanged in one step.
  void publish(std::string_view manifest);
  /// Removes all but the last `keep` steps up to this one.
  void remove_others(int keep) const;
  /// Removes the hidden folder.
  void discard();

 private:
  void note(std::string const& path, int fault);
  void lock();
  void unlock();
  void write_latest();

  std::string run_, name_, place_, written_;
  int lock_ = -1;
};

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/folder.ipp>
#endif
