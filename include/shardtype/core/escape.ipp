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
