#pragma once
/// Definitions of running_call.hpp.

#include <cstdint>
#include <cstring>

#include <shardtype/core/running_call.hpp>

namespace shardtype::core {

/// Whether `file` lies in the folder of the headers of which one is `own`, FOLDER/core/NAME. One
/// unit may name it relative to its own folder, and another absolutely: then the last two names of
/// the folder tell.
SHARDTYPE_INLINE bool lies_beside(std::string_view file, std::string_view own) {
  std::string_view const folder = own.substr(0, own.rfind("core/running_call"));
  if (file.starts_with(folder)) return true;
  if (file.starts_with('/') && folder.starts_with('/')) return false;
  std::size_t const last = folder.rfind('/', folder.size() - 2);
  std::size_t const first = last == std::string_view::npos ? last : folder.rfind('/', last - 1);
  return first != std::string_view::npos && file.find(folder.substr(first)) != file.npos;
}

/// The library's folder, as this file was compiled and as the program includes it: that of a
/// compiled part may be another.
SHARDTYPE_INLINE bool RunningCall::in_program(std::source_location const& where) {
  if (where.line() == 0) return false;
  // asked before each collective step: the answers for some files are kept
  struct Known {
    char const* file = nullptr;
    bool answer = false;
  };
  static thread_local Known known[16];
  char const* const file = where.file_name();
  auto const bits = reinterpret_cast<std::uintptr_t>(file);
  Known& k = known[(bits ^ bits >> 6) % 16];
  if (k.file != file) k = {file, !lies_beside(file, __FILE__) && !lies_beside(file, header_)};
  return k.answer;
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
  RunningCall const* const call = innermost_named();
  return call != nullptr && in_program(call->where_) ? call->where_ : std::source_location{};
}

SHARDTYPE_INLINE RunningCall const* RunningCall::innermost_named() {
  RunningCall const* outermost = nullptr;
  for (RunningCall const* c = innermost_; c != nullptr; c = c->outer_) {
    if (in_program(c->where_)) return c;
    if (!c->operation_.empty()) outermost = c;
  }
  return outermost;
}

SHARDTYPE_INLINE std::string RunningCall::text() {
  RunningCall const* const call = innermost_named();
  std::string out;
  if (call == nullptr) return out;
  char const* const in = call->backward_ ? "; in the gradient of " : "; in ";
  out += in;
  out.append(call->operation_.data(), call->operation_.size());
  out += source_text(place(call->where_));
  return out;
}

SHARDTYPE_INLINE RunningCall::Named RunningCall::named_now() {
  RunningCall const* const call = innermost_named();
  if (call == nullptr) return {};
  return {{call->operation_, place(call->where_)}, call->backward_};
}

SHARDTYPE_INLINE RunningCall const* RunningCall::making() {
  RunningCall const* outermost = nullptr;
  for (RunningCall const* c = innermost_; c != nullptr; c = c->outer_)
    if (c->spec_ != nullptr) outermost = c;
  return outermost;
}

}  // namespace shardtype::core
