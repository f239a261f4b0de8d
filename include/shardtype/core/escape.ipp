#pragma once
/// Definitions of escape.hpp.

#include <shardtype/core/escape.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

SHARDTYPE_INLINE std::string json_number(double x) {
  if (!std::isfinite(x)) return "null";
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", x);
  for (char& c : out)
    if (c == ',') c = '.';
  return out;
}

SHARDTYPE_INLINE std::string printable(std::string_view text) {
  std::string out;
  auto const byte = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[k])) : 0U;
  };
  for (std::size_t k = 0; k < text.size();) {
    unsigned const c = byte(k);
    // bytes of one character of UTF-8; U+0080 to U+009F are control characters, too
    std::size_t size = c < 0xC2 ? 1U : c < 0xE0 ? 2U : c < 0xF0 ? 3U : c < 0xF5 ? 4U : 1U;
    for (std::size_t more = 1; more < size; ++more)
      if ((byte(k + more) & 0xC0U) != 0x80U) size = 1;
    bool const control = c < 0x20 || (size == 1 && c >= 0x7F && c < 0xA0);
    bool const wide_control = c == 0xC2 && size == 2 && byte(k + 1) < 0xA0;
    if (!control && !wide_control) {
      out += text.substr(k, size);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else {
      for (std::size_t m = 0; m < size; ++m) {
        char code[8];
        std::snprintf(code, sizeof code, "\\x%02x", byte(k + m));
        out += code;
      }
    }
    k += size;
  }
  return out;
}

SHARDTYPE_INLINE std::string html_text(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      out += "\xEF\xBF\xBD";
    else
      out += c;
  }
  return out;
}

}  // namespace shardtype::detail
