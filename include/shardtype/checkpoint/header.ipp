#pragma once
/// Definitions of header.hpp.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#ifdef SHARDTYPE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

#include <shardtype/checkpoint/header.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

/// The most bytes that a header may have, as in Python's package safetensors.
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

/// An element type in small letters, as types of tensors are printed.
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
  runtime::OpenFile const in(path);
  if (int const fault = in.fault(); fault != 0) {
    outcome.note("IO1", "cannot open " + path + ": " +
                            (fault == ENOENT ? "no such file" : runtime::file_fault_text(fault)));
    return {};
  }
  file_bytes = in.bytes();
  std::string text;
  int fault = in.read(0, std::min<std::int64_t>(8, file_bytes), text);
  std::uint64_t const length = text.size() == 8 ? io::ByteReader(text).number(8) : 0;
  if (fault == 0 && (text.size() < 8 || length > static_cast<std::uint64_t>(
                                                     std::min(longest_header, file_bytes - 8)))) {
    outcome.note("E94",
                 path + " is no safetensors file, or is cut off: it has " +
                     std::to_string(file_bytes) + " bytes" +
                     (text.size() == 8 ? ", its header would have " + std::to_string(length) : ""));
    return text;
  }
  if (fault == 0) fault = in.read(0, 8 + static_cast<std::int64_t>(length), text);
  if (fault != 0)
    outcome.note("IO1", "cannot read " + path + ": " + runtime::file_fault_text(fault));
  return text;
}

SHARDTYPE_INLINE void check_names(std::vector<std::string_view> names, std::string const& path,
                                  std::string_view reserved) {
  auto const refuse = [&](std::string const& what) {
    throw Error("E91", what + " in " + path, FailedOn::every_rank);
  };
  std::sort(names.begin(), names.end());
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::string const name = "\"" + io::shortened(names[k]) + "\"";
    if (k > 0 && names[k] == names[k - 1]) refuse("two tensors would have the name " + name);
    if (!io::is_utf8(names[k]))
      refuse("a tensor would have the name " + name + ", which is no UTF-8,");
    if (!reserved.empty() && names[k] == reserved)
      refuse("a tensor would have the name " + name + ", which such files need for themselves,");
  }
}

#ifdef SHARDTYPE_HAVE_JSON

/// Bits of an element of a type that files may have; 0: it is unknown.
inline std::int64_t bits_of(std::string_view dtype) {
  struct Type {
    std::string_view name;
    std::int64_t bits;
  };
  constexpr Type types[] = {{"F32", 32},    {"BF16", 16},   {"F16", 16},    {"F64", 64},
                            {"I64", 64},    {"I32", 32},    {"I16", 16},    {"I8", 8},
                            {"U8", 8},      {"BOOL", 8},    {"U16", 16},    {"U32", 32},
                            {"U64", 64},    {"C64", 64},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
                            {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
  for (Type const& t : types)
    if (t.name == dtype) return t.bits;
  return 0;
}

/// The number of times that `word` is in `text`; a header has "dtype" no fewer times than tensors.
inline std::size_t occurrences(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size()))
    ++n;
  return n;
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
  if (static_cast<std::int64_t>(length) > longest_header)
    throw Error("E91",
                "the names and shapes of " + std::to_string(header.tensors.size()) +
                    " tensors need a header of " + std::to_string(length) +
                    " bytes; a safetensors file may have " + std::to_string(longest_header),
                FailedOn::every_rank);
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  header.data_offset = static_cast<std::int64_t>(8 + length);
  return out + text;
}

SHARDTYPE_INLINE InFile read_in_file(JsonReader& in, std::string const& name,
                                     std::function<void(std::string const&)> const& other) {
  constexpr std::size_t most_dims = 64;
  InFile out;
  out.name = name;
  io::NpyInts shape;
  int dtypes = 0, shapes = 0, offsets = 0;
  in.object([&](std::string const& member) {
    if (member == "dtype") {
      out.dtype = in.text();
      ++dtypes;
    } else if (member == "shape") {
      in.array([&] {
        shape.push_back(in.count());
        if (shape.size() > most_dims) in.fail("has a shape of more than 64 numbers");
      });
      ++shapes;
    } else if (member == "data_offsets") {
      int n = 0;
      in.array([&] {
        (n == 0 ? out.begin : out.end) = in.count();
        if (++n > 2) in.fail("has more than two data_offsets");
      });
      if (n != 2) in.fail("has no two data_offsets");
      ++offsets;
    } else {
      other(member);
    }
  });
  out.shape = shape;  // a copy has no room for more numbers, of which a header may have many
  if (dtypes != 1 || shapes != 1 || offsets != 1)
    in.fail("has not one dtype, one shape and one data_offsets");
  return out;
}

SHARDTYPE_INLINE std::string wrong_layout(std::vector<InFile const*> tensors,
                                          std::int64_t data_bytes) {
  auto const named = [](InFile const& t) { return "tensor \"" + io::shortened(t.name) + "\""; };
  std::sort(tensors.begin(), tensors.end(),
            [](InFile const* a, InFile const* b) { return a->name < b->name; });
  for (std::size_t k = 1; k < tensors.size(); ++k)
    if (tensors[k]->name == tensors[k - 1]->name) return named(*tensors[k]) + " is there twice";
  for (InFile const* t : tensors) {
    std::int64_t const bits = bits_of(t->dtype);
    if (bits == 0) return named(*t) + " has the unknown type " + io::shortened(t->dtype);
    // an extent 0 does not excuse the others, from which strides are computed
    std::int64_t elements = 1, all = bits;
    for (std::int64_t const n : t->shape) {
      elements = core::mul_sat(elements, n);
      all = core::mul_sat(all, std::max<std::int64_t>(n, 1));
    }
    std::int64_t const size = core::mul_sat(elements, bits);
    if (all >= core::saturated || size % 8 != 0 || t->begin < 0 || t->end < t->begin ||
        t->end - t->begin != size / 8)
      return named(*t) + ": its bytes are not those of its shape and type";
    if (t->end > data_bytes)
      return "the file is cut off: it has " + std::to_string(data_bytes) +
             " bytes behind its header, " + named(*t) + " ends at byte " + std::to_string(t->end) +
             " of them";
  }
  std::sort(tensors.begin(), tensors.end(), [](InFile const* a, InFile const* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::int64_t at = 0;
  for (InFile const* t : tensors) {
    if (t->begin != at)
      return named(*t) + " begins at byte " + std::to_string(t->begin) +
             (t->begin < at ? ", before another ends"
                            : ", behind bytes of no tensor, which begin") +
             " at byte " + std::to_string(at) + " of the data";
    at = t->end;
  }
  if (at != data_bytes)
    return "the file has " + std::to_string(data_bytes) + " bytes behind its header, its tensors " +
           std::to_string(at);
  return {};
}

template <class List>
std::vector<InFile const*> pointers_to(List const& tensors) {
  std::vector<InFile const*> out;
  out.reserve(tensors.size());
  for (InFile const& t : tensors) out.push_back(&t);
  return out;
}

SHARDTYPE_INLINE FileHeader parse(std::string_view text, std::string const& path,
                                  std::int64_t file_bytes) {
  auto const damaged = [&](std::string const& what) {
    return Error("E94", path + ": " + what, FailedOn::every_rank);
  };
  FileHeader out;
  out.data_offset = static_cast<std::int64_t>(text.size());
  out.tensors.reserve(occurrences(text, "\"dtype\""));
  JsonReader in(text.substr(8), 8);
  if (in.rest().empty() || in.rest()[0] != '{')
    throw damaged("its header is no JSON object of tensors");
  std::string reading;
  bool has_texts = false;
  in.object([&](std::string const& name) {
    std::string const quoted = "\"" + io::shortened(name) + "\"";
    reading = (name == "__metadata__" ? "" : "tensor " + quoted + ": ") + "the entry " + quoted +
              " is invalid: ";
    if (name != "__metadata__") {
      out.tensors.push_back(read_in_file(
          in, name, [&](std::string const&) { in.fail("has a member that is unknown"); }));
    } else if (std::exchange(has_texts, true)) {
      in.fail("is there twice");
    } else if (in.next() != 'n' || !in.take("null")) {
      in.object([&](std::string const& key) {
        if (!out.metadata.emplace(key, in.text()).second) in.fail("has a text twice");
      });
    }
    if (in.good()) reading.clear();
  });
  in.end();
  if (!in.good())
    throw damaged("its header is no JSON object of tensors: " + reading + "it " + in.problem());
  if (std::string const wrong =
          wrong_layout(pointers_to(out.tensors), file_bytes - out.data_offset);
      !wrong.empty())
    throw damaged(wrong);
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
