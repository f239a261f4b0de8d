#pragma once
/// Writes one step of a run: its folder, its files, its manifest.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/header.hpp>
#include <shardtype/checkpoint/manifest.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::checkpoint {

/// The options with which a run is saved.
struct Options {
  int keep = 0;  ///< number of steps that are kept, this one and those before it; 0: all
};

namespace detail {

/// Writes this rank's blocks, those of the tensors of which it is the first holder, into a file
/// that is open on the ranks of `comm`, and adds their sums. Collective.
void write_tensor(shardtype::detail::NpyTransfer& out, io::NpyAccess const& access,
                  SavedTensor const& tensor, std::int64_t at, std::uint64_t* sums);

/// A step that is written. The functions are collective over the mesh but for write_alone(), and
/// throw on all ranks or on none; a step that is not finished leaves nothing.
class StepWrite {
 public:
  /// Creates the folder and the files, with their headers.
  StepWrite(runtime::Comm& comm, std::string const& run, std::int64_t step,
            std::vector<SavedTensor> tensors, Extra extra, Extra counts, Options options);

  /// Writes the blocks through MPI-IO, and waits until they are on the disk.
  void write_together();

  /// Copies this rank's blocks, for write_alone().
  void copy_blocks();
  /// Writes the copies, and waits until they are on the disk. Calls nothing of MPI, so that a
  /// thread can do it; a failure is told by finish().
  void write_alone() noexcept;

  bool first_rank() const { return comm_.rank() == 0; }
  /// Adds up the checksums, and gives the step its name.
  void finish();

 private:
  struct Part {
    std::string name;
    FileHeader header;
    std::uint64_t header_hash = 0;
    std::vector<std::size_t> tensors;
  };
  std::int64_t place_in(Part const& part, SavedTensor const& tensor) const {
    return part.header.data_offset + part.header.find(tensor.name)->begin;
  }
  void group_tensors();
  void write_copies(Part const& part);
  Manifest manifest() const;

  runtime::Comm& comm_;
  std::int64_t step_;
  std::vector<SavedTensor> tensors_;
  std::vector<std::vector<std::uint64_t>> sums_;
  std::vector<std::vector<std::byte>> copies_;
  std::vector<Part> parts_;
  Extra extra_, counts_;
  Options options_;
  StepFolder folder_;  ///< of rank 0
  std::string written_, place_;
  NpyOutcome alone_;
};

}  // namespace detail

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/step_write.ipp>
#endif
