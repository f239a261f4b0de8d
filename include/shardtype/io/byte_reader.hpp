#pragma once
/// Reads bytes that nobody has checked: headers of files.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/namespaces.hpp>

namespace shardtype::io {

/// Whether a text is UTF-8, and the number of its bytes before the first that are none.
bool is_utf8(std::string_view text, std::size_t* good_bytes = nullptr);

/// A name of a file's in a message: at most 200 bytes of it.
std::string shortened(std::string_view text);

/// Reads bytes of a file one after the other. It never reads behind the end, no number overflows,
/// and after the first mistake, which it keeps with its place in the file, it finds nothing more.
class ByteReader {
 public:
  /// `place`: that of the first byte in the file.
  explicit ByteReader(std::string_view bytes, std::uint64_t place = 0)
      : rest_(bytes), end_(place + bytes.size()) {}

  bool good() const { return problem_.empty(); }
  /// "lacks a ':' (byte 117)".
  std::string const& problem() const { return problem_; }
  std::uint64_t place() const { return end_ - rest_.size(); }
  std::string_view rest() const { return rest_; }

  /// Keeps the first mistake. Returns false.
  bool fail(std::string_view what);
  /// The next bytes; a mistake if there are fewer.
  std::string_view bytes(std::uint64_t count);
  /// A number of `count` bytes, at most 8, the lowest first.
  std::uint64_t number(int count);
  /// A number of `bytes` bytes, as number() reads it; one of more than 63 bits is a mistake.
  std::int64_t count(int bytes);

  void skip_any(std::string_view characters);
  /// Whether this character comes next, which is then read.
  bool take(char c);
  bool take(std::string_view word);
  bool want(char c);
  /// A whole number of at most 64 bits in decimal digits, without a sign and a leading 0; `what`:
  /// the mistake if it is none.
  std::uint64_t natural(std::string_view what = "has no whole number where one is expected");
  /// A whole number, as natural() reads it; one of more than 63 bits is a mistake.
  std::int64_t small_natural(std::string_view what = "has no whole number where one is expected");

 private:
  std::string_view rest_;
  std::uint64_t end_;
  std::string problem_;
};

}  // namespace shardtype::io

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/byte_reader.ipp>
#endif
