#pragma once
/// Definitions of byte_reader.hpp.

#include <algorithm>
#include <limits>

#include <shardtype/io/byte_reader.hpp>

namespace shardtype::io {

SHARDTYPE_INLINE bool is_utf8(std::string_view text, std::size_t* good_bytes) {
  std::size_t at = 0;
  auto const byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  while (at < text.size()) {
    unsigned const first = byte(at), second = byte(at + 1);
    std::size_t const size = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
    bool good = size > 0;
    for (std::size_t k = 1; k < size; ++k) good = good && (byte(at + k) & 0xc0U) == 0x80;
    // too long a form, a half of a pair of UTF-16, or above the last character
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
      good = false;
    if (!good) break;
    at += size;
  }
  if (good_bytes != nullptr) *good_bytes = at;
  return at == text.size();
}

SHARDTYPE_INLINE std::string shortened(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, longest)) + "... (" + std::to_string(text.size()) + " bytes)";
}

SHARDTYPE_INLINE bool ByteReader::fail(std::string_view what) {
  if (good()) problem_ = std::string(what) + " (byte " + std::to_string(place()) + ")";
  return false;
}

SHARDTYPE_INLINE std::string_view ByteReader::bytes(std::uint64_t count) {
  if (good() && count > rest_.size()) fail("ends too early");
  if (!good()) return {};
  std::string_view const out = rest_.substr(0, static_cast<std::size_t>(count));
  rest_.remove_prefix(out.size());
  return out;
}

SHARDTYPE_INLINE std::uint64_t ByteReader::number(int count) {
  std::string_view const text = bytes(static_cast<std::uint64_t>(count));
  std::uint64_t out = 0;
  for (std::size_t k = text.size(); k-- > 0;) out = out << 8 | static_cast<unsigned char>(text[k]);
  return out;
}

SHARDTYPE_INLINE std::int64_t ByteReader::count(int bytes) {
  std::uint64_t const n = number(bytes);
  if (n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(n);
  fail("has a number of more than 63 bits");
  return 0;
}

SHARDTYPE_INLINE void ByteReader::skip_any(std::string_view characters) {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
}

SHARDTYPE_INLINE bool ByteReader::take(char c) {
  if (!good() || rest_.empty() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  return true;
}
SHARDTYPE_INLINE bool ByteReader::take(std::string_view word) {
  if (!good() || !rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}
SHARDTYPE_INLINE bool ByteReader::want(char c) {
  return take(c) || fail(std::string("lacks a '") + c + "'");
}

SHARDTYPE_INLINE std::uint64_t ByteReader::natural(std::string_view what) {
  std::size_t const digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
  std::uint64_t out = 0;
  bool whole = digits == 1 || (digits > 1 && rest_[0] != '0');
  for (std::size_t k = 0; whole && k < digits; ++k) {
    auto const digit = static_cast<std::uint64_t>(rest_[k] - '0');
    whole = out <= (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    out = out * 10 + digit;
  }
  if (!whole) fail(what);
  bytes(digits);
  return good() ? out : 0;
}

SHARDTYPE_INLINE std::int64_t ByteReader::small_natural(std::string_view what) {
  std::uint64_t const n = natural(what);
  if (n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(n);
  fail(what);
  return 0;
}

}  // namespace shardtype::io
