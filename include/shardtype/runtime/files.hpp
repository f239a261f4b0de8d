#pragma once
/// Files by their paths: reading one without waiting, and replacing one by a whole new one.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include <shardtype/core/compiled.hpp>

namespace shardtype::runtime {

/// Why a path cannot be used: 0 it can, an errno, or one of these. EISDIR: it is a directory.
namespace file_fault {
inline constexpr int fifo = 1 << 16;
inline constexpr int socket = 2 << 16;
inline constexpr int device = 3 << 16;
inline constexpr int cut = 4 << 16;  ///< the file ends before the bytes that are read
}  // namespace file_fault

/// "No such file or directory", "it is a fifo, not a file".
std::string file_fault_text(int fault);

/// Opens a regular file, with open's `flags`; it never waits for anything else, as for the writer
/// of a fifo. Negative if it is none or cannot be opened; then `fault` says why.
int open_regular(std::string const& path, int flags, int& fault);

/// A stream of open_regular(path, O_RDONLY); null if it cannot be read.
std::FILE* open_to_read(std::string const& path, int& fault);

/// A regular file that is open for reading. Never more memory is taken than the file has bytes.
class OpenFile {
 public:
  explicit OpenFile(std::string const& path);
  OpenFile(OpenFile const&) = delete;
  OpenFile& operator=(OpenFile const&) = delete;
  ~OpenFile();

  /// Why it is not open; 0: it is.
  int fault() const { return fault_; }
  int descriptor() const { return descriptor_; }
  /// Its size when it was opened.
  std::int64_t bytes() const { return bytes_; }
  /// Reads `count` bytes from `at` on. 0 or why not: file_fault::cut if it does not have them.
  int read(std::int64_t at, std::int64_t count, char* to) const;
  int read(std::int64_t at, std::int64_t count, std::string& out) const;

 private:
  int fault_ = 0;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

/// A new file that replaces the one at its path when it is complete; until then its bytes are in a
/// file of a new name in the same folder, which a failure leaves nowhere. A link at the path stays
/// one, and its target is replaced. A device, such as /dev/null, is written itself; a fifo or a
/// socket is refused. Who writes holds a lock of the new file. What killed programs left for the
/// same path has none, and is removed by the next who writes there.
class ReplacedFile {
 public:
  ReplacedFile() = default;
  ReplacedFile(ReplacedFile const&) = delete;
  ReplacedFile& operator=(ReplacedFile const&) = delete;
  ~ReplacedFile() { discard(); }

  /// Creates the file of the new name. Returns 0 or why not.
  int create(std::string const& path);
  /// The path of the bytes.
  std::string const& written() const { return written_; }
  /// For writing; null if it cannot be.
  std::FILE* stream();
  void write(std::string_view text);
  /// Puts the file in its place. Returns 0, or why this failed or the first write did.
  int finish();
  /// Removes the file of the new name if it is not in its place.
  void discard();

 private:
  int create_new(std::string const& path);
  bool lock_new() const;
  int open_device(std::string const& path);

  std::string place_, written_;
  mode_t mode_ = 0;
  bool replaces_ = false;  ///< a file that exists; the new one gets its permissions
  int descriptor_ = -1;
  std::FILE* stream_ = nullptr;
  int fault_ = 0;
};

/// Replaces the file at `path` by `text`. Returns 0 or why not.
int replace_file(std::string const& path, std::string_view text);

/// 0 if a file at `path` could be replaced now, or why not.
inline int cannot_replace(std::string const& path) { return ReplacedFile().create(path); }

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/files.ipp>
#endif
