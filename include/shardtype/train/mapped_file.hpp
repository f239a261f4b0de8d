#pragma once
/// A file that each rank maps into memory: only the pages that are read come from the disk.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::train::detail {

/// The whole file, while it is open.
class MappedFile {
 public:
  explicit MappedFile(std::string path) : path_(std::move(path)) {}
  MappedFile(MappedFile const&) = delete;
  MappedFile& operator=(MappedFile const&) = delete;
  ~MappedFile();

  /// Collective over the mesh. Errors, the same on every rank: IO1 the file is none or cannot be
  /// read or mapped; E22 ranks see files of different lengths.
  void map(runtime::MeshState& mesh);

  std::string const& path() const { return path_; }
  std::byte const* bytes() const { return bytes_; }
  std::int64_t length() const { return length_; }

  /// Error IO6 if the file has become shorter since it was opened, which would end the program
  /// otherwise.
  void check_length() const;
  /// Error IO6, on every rank: the file ends before byte `end`. Collective.
  void require(runtime::MeshState& mesh, std::int64_t end) const;
  /// Lets the system read these bytes ahead.
  void expect(std::int64_t first, std::int64_t count) const;

 private:
  std::string path_;
  int file_ = -1;
  std::byte const* bytes_ = nullptr;
  std::int64_t length_ = 0;
};

}  // namespace shardtype::train::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/train/mapped_file.ipp>
#endif
