#pragma once
/// Files by their paths: reading one without waiting, and replacing one by a whole new one.

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
}  // namespace file_fault

/// "No such file or directory", "it is a fifo, not a file".
std::string file_fault_text(int fault);

/// Opens a regular file for reading; of anything else it never waits, as one would for the writer of
/// a fifo. Null if it cannot be read; then `fault` says why.
std::FILE* open_to_read(std::string const& path, int& fault);

/// A new file that replaces the one at its path when it is complete; until then its bytes are in a
/// file of a new name in the same folder, which a failure leaves nowhere. A link at the path stays
/// one, and its target is replaced. A device, such as /dev/null, is written itself; a fifo or a
/// socket is refused.
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
