#pragma once
/// Definitions of header.hpp.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/stat.h>

#ifdef SHARDTYPE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

#include <shardtype/checkpoint/header.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

/// As the package of Python: no header is larger.
inline constexpr std::int64_t longest_header = 100'000'000;

SHARDTYPE_INLINE std::int64_t FileHeader::file_bytes() const {
  std::int64_t last = 0;
  for (InFile const& t : tensors) last = std::max(last, t.end);
  return data_offset + last;
}

SHARDTYPE_INLINE std::string shape_text(io::NpyInts const& shape) {
  std::string out = "[";
  for (std::size_t d = 0; d < shape.size(); ++d)
    out += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  return out + "]";
}

SHARDTYPE_INLINE FileHeader arrange(std::vector<Entry const*> const& tensors, Metadata metadata) {
  FileHeader out;
  out.metadata = std::move(metadata);
  std::int64_t at = 0;
  for (std::int64_t const width : {8, 4, 2, 1})
    for (Entry const* e : tensors) {
      if (e->block.element_bytes / (e->pair ? 2 : 1) != width) continue;
      std::int64_t const end = at + e->block.array_bytes();
      out.tensors.push_back({e->name, e->dtype, e->file_shape(), at, end});
      at = end;
    }
  return out;
}

/// As types of tensors are printed, in small letters.
inline std::string type_text(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

SHARDTYPE_INLINE void compare(Entry const& wanted, InFile const& found, std::string const& path) {
  std::string const tensor = tensor_of_file(found.name, path);
  io::NpyInts const shape = wanted.file_shape();
  if (found.dtype != wanted.dtype)
    throw Error("E93",
                tensor + " has elements of type " + type_text(found.dtype) +
                    ", the program's have type " + type_text(wanted.dtype) +
                    "; elements are never converted",
                FailedOn::every_rank);
  if (!(found.shape == shape))
    throw Error("E92",
                tensor + " has shape " + shape_text(found.shape) + ", the program's has " +
                    shape_text(shape) + (wanted.transposed ? " in the file's order" : ""),
                FailedOn::every_rank);
}

SHARDTYPE_INLINE std::string header_text(std::string const& path, std::int64_t& file_bytes,
                                         shardtype::detail::NpyOutcome& outcome) {
  int fault = 0;
  std::FILE* const in = runtime::open_to_read(path, fault);
  struct stat status = {};
  if (in == nullptr || fstat(fileno(in), &status) != 0) {
    if (in != nullptr) fault = errno;
    outcome.note("IO1", "cannot open " + path + ": " +
                            (fault == ENOENT ? "no such file" : runtime::file_fault_text(fault)));
    if (in != nullptr) std::fclose(in);
    return {};
  }
  file_bytes = static_cast<std::int64_t>(status.st_size);
  std::string text(8, '\0');
  std::uint64_t length = 0;
  bool const begun = std::fread(text.data(), 1, 8, in) == 8;
  if (begun) std::memcpy(&length, text.data(), 8);
  if (!begun || length > static_cast<std::uint64_t>(std::min(longest_header, file_bytes - 8))) {
    outcome.note("E94", path + " is no safetensors file, or is cut off: it has " +
                            std::to_string(file_bytes) + " bytes" +
                            (begun ? ", its header would have " + std::to_string(length) : ""));
  } else {
    text.resize(8 + static_cast<std::size_t>(length));
    if (std::fread(text.data() + 8, 1, text.size() - 8, in) != text.size() - 8)
      outcome.note("IO1", "cannot read " + path);
  }
  std::fclose(in);
  return text;
}

#ifdef SHARDTYPE_HAVE_JSON

/// Bits of an element of a type that files may have; 0: it is unknown.
inline std::int64_t bits_of(std::string_view dtype) {
  if (dtype == "BOOL") return 8;
  std::size_t const first = dtype.find_first_of("0123456789");
  if (first == dtype.npos || first == 0 || dtype.find_first_not_of("BFIUC_EMN", 0) < first)
    return 0;
  std::int64_t bits = 0;
  for (std::size_t k = first; k < dtype.size() && dtype[k] >= '0' && dtype[k] <= '9'; ++k)
    bits = bits * 10 + (dtype[k] - '0');
  return bits <= 128 ? bits : 0;
}

SHARDTYPE_INLINE std::string format(FileHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  for (InFile const& t : header.tensors) {
    nlohmann::ordered_json shape = nlohmann::ordered_json::array();
    for (std::int64_t const n : t.shape) shape.push_back(n);
    json[t.name] = {{"dtype", t.dtype}, {"shape", shape}, {"data_offsets", {t.begin, t.end}}};
  }
  std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  while (text.size() % 8 != 0) text += ' ';
  std::uint64_t const length = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  header.data_offset = static_cast<std::int64_t>(8 + length);
  return out + text;
}

SHARDTYPE_INLINE FileHeader parse(std::string_view text, std::string const& path,
                                  std::int64_t file_bytes) {
  auto const damaged = [&](std::string const& what) {
    return Error("E94", path + ": " + what, FailedOn::every_rank);
  };
  FileHeader out;
  out.data_offset = static_cast<std::int64_t>(text.size());
  nlohmann::json const json = nlohmann::json::parse(text.substr(8), nullptr, false);
  if (!json.is_object()) throw damaged("its header is no JSON object");
  std::int64_t const data_bytes = file_bytes - out.data_offset;
  for (auto const& [name, value] : json.items()) {
    try {
      if (name == "__metadata__") {
        out.metadata = value.get<Metadata>();
        continue;
      }
      InFile t;
      t.name = name;
      t.dtype = value.at("dtype").get<std::string>();
      std::int64_t const bits = bits_of(t.dtype);
      auto const& offsets = value.at("data_offsets");
      t.begin = offsets.at(0).get<std::int64_t>();
      t.end = offsets.at(1).get<std::int64_t>();
      std::int64_t elements = 1;
      bool whole = bits > 0 && t.begin >= 0 && t.end >= t.begin;
      for (auto const& n : value.at("shape")) {
        t.shape.push_back(n.get<std::int64_t>());
        whole = whole && t.shape.back() >= 0;
        elements = core::mul_sat(elements, t.shape.back());
      }
      if (!whole || core::mul_sat(elements, bits) != core::mul_sat(t.end - t.begin, 8))
        throw damaged("tensor \"" + name + "\": its bytes are not those of its shape and type");
      if (t.end > data_bytes)
        throw damaged("the file is cut off: it has " + std::to_string(file_bytes) +
                      " bytes, tensor \"" + name + "\" ends at byte " +
                      std::to_string(out.data_offset + t.end));
      out.tensors.push_back(std::move(t));
    } catch (nlohmann::json::exception const& failure) {
      throw damaged("the header's entry \"" + name + "\" is invalid: " + failure.what());
    }
  }
  return out;
}

SHARDTYPE_INLINE FileHeader read_header(MPI_Comm comm, int rank, std::string const& path) {
  std::int64_t file_bytes = 0;
  std::string const text = detail::text_from_first(comm, rank, path, [&](auto& outcome) {
    return detail::header_text(path, file_bytes, outcome);
  });
  shardtype::detail::share_number(comm, file_bytes);
  return parse(text, path, file_bytes);
}

#endif

}  // namespace shardtype::checkpoint::detail
