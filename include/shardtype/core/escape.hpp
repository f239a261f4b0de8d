#pragma once
/// Texts and numbers in JSON and HTML.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/core/namespaces.hpp>

namespace shardtype::detail {

/// `"text"` for JSON, with special characters escaped.
inline std::string json_text(std::string_view text) {
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
/// A number for JSON; null for infinity and NaN; with a decimal point in every locale.
inline std::string json_number(double x) {
  if (!std::isfinite(x)) return "null";
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", x);
  for (char& c : out)
    if (c == ',') c = '.';
  return out;
}
inline std::string json_number(std::int64_t n) { return std::to_string(n); }

/// Text for HTML and XML, also in attributes. Characters that XML cannot represent become U+FFFD.
inline std::string html_text(std::string_view text) {
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
