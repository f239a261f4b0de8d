// The end of an Error's text: the operation that ran, and the program's line.
#pragma once

#include <string>

namespace harness {

/// `text` without its end, "; in matmul (sizes.cpp:12)"; "no call of matmul: ..." if it ends
/// otherwise.
inline std::string before_call(std::string const& text, std::string const& operation,
                               std::string const& file) {
  std::string const call = "; in " + operation + " (" + file + ":";
  std::size_t const at = text.rfind(call);
  if (at == text.npos) return "no call of " + operation + ": " + text;
  std::size_t end = at + call.size();
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  bool const line = end > at + call.size() && text.substr(end) == ")";
  return line ? text.substr(0, at) : "no line of " + operation + ": " + text;
}

}  // namespace harness
