#pragma once
/// Definitions of printable.hpp.

#include <shardtype/core/printable.hpp>

namespace shardtype::detail {

/// The bytes of the character of UTF-8 that begins at `at`; 1 of what is none.
SHARDTYPE_INLINE int character_bytes(unsigned char const* at) {
  int const bytes = *at < 0xC2 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : *at < 0xF5 ? 4 : 1;
  for (int k = 1; k < bytes; ++k)  // a text ends with 0
    if (at[k] < 0x80 || at[k] > 0xBF) return 1;
  return bytes;
}

SHARDTYPE_INLINE std::string printable(std::string const& text) {
  std::string out;
  auto const* const begin = reinterpret_cast<unsigned char const*>(text.c_str());
  auto const* const end = begin + text.size();
  for (auto const* at = begin; at != end;) {
    unsigned char const c = *at;
    int const bytes = character_bytes(at);
    // U+0080 to U+009F are control characters, too
    bool const control = c < 0x20 || (bytes == 1 && c >= 0x7F && c < 0xA0) ||
                         (bytes == 2 && c == 0xC2 && at[1] < 0xA0);
    for (int k = 0; k < bytes; ++k, ++at) {
      if (!control) {
        out.push_back(static_cast<char>(*at));
      } else if (c == '\n' || c == '\t' || c == '\r') {
        out.push_back('\\');
        out.push_back(c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
      } else {
        out.push_back('\\');
        out.push_back('x');
        out.push_back("0123456789abcdef"[*at >> 4U]);
        out.push_back("0123456789abcdef"[*at & 15U]);
      }
    }
  }
  return out;
}

}  // namespace shardtype::detail
