#pragma once
/// Definitions of weight_map.hpp.

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>

#include <shardtype/checkpoint/header.hpp>
#include <shardtype/checkpoint/json_reader.hpp>
#include <shardtype/checkpoint/weight_map.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

/// The most bytes of an index; that of a model of 10,000 tensors has one million.
inline constexpr std::int64_t longest_index = 100'000'000;

SHARDTYPE_INLINE std::string file_of_model(std::string const& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return path;
  std::string const file = path + (path.ends_with('/') ? "" : "/") + "model.safetensors";
  for (char const* const end : {".index.json", ""})
    if (stat((file + end).c_str(), &found) == 0) return file + end;
  return path;  // what opens it says that it is a folder
}

/// Reads a value that nobody needs. A file's nesting must not cost stack without a bound.
inline void skip_value(JsonReader& in, int depth = 0) {
  constexpr int most_depth = 16;
  char const c = in.next();
  if (depth > most_depth) {
    in.fail("is nested more than 16 deep");
  } else if (c == '{') {
    in.object([&](std::string const&) { detail::skip_value(in, depth + 1); });
  } else if (c == '[') {
    in.array([&] { detail::skip_value(in, depth + 1); });
  } else if (c == '"') {
    in.text();
  } else if (!in.take("true") && !in.take("false") && !in.take("null")) {
    in.number();
  }
}

SHARDTYPE_INLINE WeightMap parse_index(std::string_view text, std::string const& path) {
  WeightMap out;
  int maps = 0;
  JsonReader in(text);
  in.object([&](std::string const& member) {
    if (member != "weight_map") return detail::skip_value(in);
    ++maps;
    in.object([&](std::string const& name) {
      std::string file = in.text();
      if (file.empty() || file.find('/') != file.npos || file.find('\0') != file.npos)
        in.fail("names the file \"" + io::shortened(file) + "\", which is not beside it,");
      if (!out.emplace(name, std::move(file)).second)
        in.fail("has the tensor \"" + io::shortened(name) + "\" twice");
    });
  });
  in.end();
  if (in.good() && maps != 1) in.fail("has not one weight_map");
  if (!in.good())
    throw Error("E94", path + " is no index of safetensors files: it " + in.problem(),
                FailedOn::every_rank);
  return out;
}

SHARDTYPE_INLINE WeightMap read_index(MPI_Comm comm, int rank, std::string const& path) {
  std::string const text = detail::text_from_first(comm, rank, path, [&](auto& outcome) {
    std::string out;
    runtime::OpenFile const in(path);
    int fault = in.fault();
    if (fault == 0 && in.bytes() > longest_index) {
      outcome.note("E94", path + " is no index of safetensors files: it has " +
                              std::to_string(in.bytes()) + " bytes");
      return out;
    }
    if (fault == 0) fault = in.read(0, in.bytes(), out);
    if (fault != 0)
      outcome.note("IO1", "cannot read " + path + ": " +
                              (fault == ENOENT ? "no such file" : runtime::file_fault_text(fault)));
    return out;
  });
  return detail::parse_index(text, path);
}

}  // namespace shardtype::checkpoint::detail
