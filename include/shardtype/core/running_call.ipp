#pragma once
/// Definitions of running_call.hpp.

#include <cstring>

#include <shardtype/core/running_call.hpp>

namespace shardtype::core {

/// Whether a place is known and in the program, not in a header of the library, whose path ends in
/// shardtype/FOLDER/NAME.hpp or .ipp.
SHARDTYPE_INLINE bool in_program(std::source_location const& where) {
  char const* const path = where.file_name();
  char const* part[3] = {path, nullptr, nullptr};  // the last three parts of the path, last first
  for (char const* at = path; where.line() != 0 && *at != '\0'; ++at)
    if (*at == '/') {
      part[2] = part[1];
      part[1] = part[0];
      part[0] = at + 1;
    }
  if (where.line() == 0) return false;
  auto const is = [](char const* from, char const* folder) {
    std::size_t const size = std::strlen(folder);
    return from != nullptr && std::strncmp(from, folder, size) == 0 && from[size] == '/';
  };
  if (std::strstr(part[0], ".hpp") == nullptr && std::strstr(part[0], ".ipp") == nullptr)
    return true;
  if (is(part[1], "shardtype")) return std::strcmp(part[0], "from_jax.hpp") != 0;
  if (!is(part[2], "shardtype")) return true;
  static constexpr char const* ours[] = {"core",    "rules",  "plan",     "check",    "runtime",
                                         "kernels", "tensor", "overlap",  "execute",  "ops",
                                         "lazy",    "manual", "autodiff", "nn",       "fft",
                                         "linalg",  "random", "io",       "visualize"};
  for (char const* const folder : ours)
    if (is(part[1], folder)) return false;
  return true;
}

SHARDTYPE_INLINE std::string source_text(std::source_location const& where) {
  std::string out;
  if (where.line() == 0) return out;
  char const* const slash = std::strrchr(where.file_name(), '/');
  out.push_back(' ');
  out.push_back('(');
  out += slash == nullptr ? where.file_name() : slash + 1;
  out.push_back(':');
  out += std::to_string(where.line());
  out.push_back(')');
  return out;
}

SHARDTYPE_INLINE std::source_location RunningCall::place(std::source_location const& where) {
  if (in_program(where)) return where;
  RunningCall const* const call = named();
  return call != nullptr && in_program(call->where_) ? call->where_ : std::source_location{};
}

SHARDTYPE_INLINE RunningCall const* RunningCall::named() {
  RunningCall const* outermost = nullptr;
  for (RunningCall const* c = innermost_; c != nullptr; c = c->outer_) {
    if (in_program(c->where_)) return c;
    if (!c->operation_.empty()) outermost = c;
  }
  return outermost;
}

SHARDTYPE_INLINE std::string RunningCall::text() {
  RunningCall const* const call = named();
  std::string out;
  if (call == nullptr) return out;
  char const* const in = call->backward_ ? "; in the gradient of " : "; in ";
  out += in;
  out.append(call->operation_.data(), call->operation_.size());
  out += source_text(place(call->where_));
  return out;
}

SHARDTYPE_INLINE RunningCall const* RunningCall::making() {
  RunningCall const* outermost = nullptr;
  for (RunningCall const* c = innermost_; c != nullptr; c = c->outer_)
    if (c->spec_ != nullptr) outermost = c;
  return outermost;
}

}  // namespace shardtype::core
