#pragma once
/// A file of tokens, mapped into memory.

#include <cstddef>
#include <cstdint>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/train/mapped_file.hpp>

namespace shardtype::train {

/// The elements of a file of tokens. Bytes are tokens themselves, of which there are 256.
enum class TokenType : std::uint8_t { bytes, u16, i32, i64 };

/// A file that each rank maps into memory: only the pages that are read come from the disk.
/// Collective over the mesh. A .npy file says what its elements are; of another file, `type` does
/// (little-endian, no header).
///
/// Errors, the same on every rank: IO1 the file is none or cannot be read or mapped, IO3 to IO6 as
/// load_npy, IO6 also a length that is no multiple of the elements'; E22 ranks see files of
/// different lengths.
class TokenFile {
 public:
  TokenFile(runtime::MeshRef const& mesh, std::string path, TokenType type);
  TokenFile(TokenFile const&) = delete;
  TokenFile& operator=(TokenFile const&) = delete;

  std::string const& path() const { return file_.path(); }
  /// Number of tokens.
  std::int64_t size() const { return size_; }
  /// One more than the largest token.
  std::int64_t vocabulary() const { return vocabulary_; }
  std::int64_t operator[](std::int64_t at) const { return value(at); }
  /// Error IO6 if the file has become shorter since it was opened, which would end the program
  /// otherwise.
  void check_length() const { file_.check_length(); }
  /// Lets the system read these tokens ahead.
  void expect(std::int64_t first, std::int64_t count) const;

 private:
  std::int64_t value(std::int64_t at) const;
  /// Each rank looks at a share of the file.
  void find_vocabulary(runtime::MeshState& mesh);
  std::int64_t item() const;

  detail::MappedFile file_;
  TokenType type_;
  std::int64_t offset_ = 0;  ///< bytes before the first token
  std::int64_t size_ = 0;
  std::int64_t vocabulary_ = 256;
};

}  // namespace shardtype::train

#ifndef SHARDTYPE_COMPILED
#include <shardtype/train/token_file.ipp>
#endif
