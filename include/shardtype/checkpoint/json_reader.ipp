#pragma once
/// Definitions of json_reader.hpp.

#include <algorithm>
#include <charconv>

#include <shardtype/checkpoint/json_reader.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE std::string JsonReader::text() {
  std::string out;
  next();
  want('"');
  while (good()) {
    std::size_t plain = 0;
    while (plain < rest().size() && rest()[plain] != '"' && rest()[plain] != '\\' &&
           static_cast<unsigned char>(rest()[plain]) >= 0x20)
      ++plain;
    std::string_view const piece = bytes(plain);
    if (!io::is_utf8(piece)) fail("has a text that is no UTF-8 before");
    out += piece;
    if (take('"')) return out;
    if (take('\\'))
      escape(out);
    else
      fail("has an open text");
  }
  return {};
}

SHARDTYPE_INLINE void JsonReader::escape(std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
  std::string_view const letter = bytes(1);
  std::size_t const which = letter.empty() ? letters.npos : letters.find(letter[0]);
  if (which != letters.npos) {
    out += characters[which];
    return;
  }
  if (letter != "u") {
    fail("has an unknown character after a backslash");
    return;
  }
  unsigned c = half();
  if (c >= 0xd800 && c < 0xdc00 && take('\\') && take('u')) {
    unsigned const low = half();
    c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00)) : 0xd800;
  }
  if (c >= 0xd800 && c < 0xe000) {
    fail("has half a character");
    return;
  }
  auto const put = [&](unsigned bits) { out += static_cast<char>(bits); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0U | c >> 6);
  } else if (c < 0x10000) {
    put(0xe0U | c >> 12);
    put(0x80U | (c >> 6 & 0x3fU));
  } else {
    put(0xf0U | c >> 18);
    put(0x80U | (c >> 12 & 0x3fU));
    put(0x80U | (c >> 6 & 0x3fU));
  }
  put(0x80U | (c & 0x3fU));
}

SHARDTYPE_INLINE unsigned JsonReader::half() {
  std::string_view const digits = bytes(4);
  unsigned out = 0;
  auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  if (digits.size() != 4 || read.ec != std::errc() || read.ptr != digits.data() + 4)
    fail("has no four hexadecimal digits after \\u");
  return out;
}

SHARDTYPE_INLINE std::string_view JsonReader::number() {
  next();
  return bytes(std::min(rest().find_first_not_of("+-.0123456789eE"), rest().size()));
}

}  // namespace shardtype::checkpoint::detail
