#pragma once
/// Definitions of manifest.hpp.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#ifdef SHARDTYPE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

#include <shardtype/checkpoint/manifest.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE std::uint64_t hash_of_text(std::string_view text) {
  runtime::StepHash hash;
  for (char const c : text) hash.mix(static_cast<unsigned char>(c));
  return hash.value();
}

#ifdef SHARDTYPE_HAVE_JSON

inline constexpr char const* manifest_format = "shardtype checkpoint 1";

inline std::string hex(std::uint64_t n) {
  char out[20];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(n));
  return out;
}
/// 16 digits, as `hex` writes them.
inline std::uint64_t from_hex(JsonReader& in) {
  std::string const text = in.text();
  std::uint64_t out = 0;
  auto const read = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (text.size() != 16 || read.ec != std::errc() || read.ptr != text.data() + text.size())
    in.fail("has a text that is no hexadecimal number of 16 digits");
  return out;
}

/// JSON has no inf and no NaN: they are texts in an object.
inline nlohmann::json to_json(Extra const& extra) {
  nlohmann::json out = nlohmann::json::object();
  for (auto const& [name, value] : extra.values())
    std::visit(
        [&, key = name]<class T>(T const& v) {
          if constexpr (std::is_same_v<T, double>) {
            if (!std::isfinite(v)) {
              out[key] = {{"number", std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf"}};
              return;
            }
          }
          out[key] = v;
        },
        value.kinds());
  return out;
}
inline Value number_of(JsonReader& in) {
  std::string_view const text = in.number();
  auto const read_as = [&](auto& out) {
    char const* const begin = text.data();
    char const* const end = begin + text.size();
    auto const read = std::from_chars(begin, end, out);
    return read.ec == std::errc() && read.ptr == end;
  };
  std::uint64_t natural = 0;
  if (read_as(natural)) return natural;
  std::int64_t integer = 0;
  if (read_as(integer)) return integer;
  double real = 0;
  if (!read_as(real)) in.fail("has a value that is neither a number nor a text");
  return real;
}
inline Extra to_extra(JsonReader& in) {
  Extra out;
  in.object([&](std::string const& name) {
    if (out.has(name)) in.fail("has a value twice");
    if (in.next() == '"') return out.set(name, in.text());
    if (in.next() != '{') return out.set(name, number_of(in));
    double const inf = std::numeric_limits<double>::infinity();
    in.object([&](std::string const& member) {
      std::string const kind = in.text();
      if (member != "number" || (kind != "nan" && kind != "inf" && kind != "-inf"))
        in.fail("has a value that is neither a number nor a text");
      out.set(name, kind == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                    : kind == "inf" ? inf
                                    : -inf);
    });
    if (!out.has(name)) in.fail("has a value that is neither a number nor a text");
  });
  return out;
}

inline std::string dump(nlohmann::json const& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SHARDTYPE_INLINE std::string text_of_step(std::int64_t step, Extra const& counts,
                                          Extra const& extra) {
  std::string out = " of step " + std::to_string(step);
  if (counts.has("state.step"))
    out += ", state.step " + std::to_string(counts.get<std::int64_t>("state.step"));
  if (!extra.values().empty()) out += ", extra " + hex(hash_of_text(dump(to_json(extra))));
  return out;
}

SHARDTYPE_INLINE std::string format(Manifest const& manifest) {
  nlohmann::json json;
  json["format"] = manifest_format;
  json["step"] = manifest.step;
  json["chunk_bytes"] = chunk_bytes;
  json["extra"] = to_json(manifest.extra);
  json["counts"] = to_json(manifest.counts);
  for (ListedFile const& f : manifest.files) {
    nlohmann::json tensors = nlohmann::json::object();
    for (Listed const& t : f.tensors) {
      nlohmann::json shape = nlohmann::json::array(), sums = nlohmann::json::array();
      for (std::int64_t const n : t.shape) shape.push_back(n);
      for (std::uint64_t const n : t.sums) sums.push_back(hex(n));
      tensors[t.name] = {{"dtype", t.dtype},
                         {"shape", std::move(shape)},
                         {"data_offsets", {t.begin, t.end}},
                         {"sums", std::move(sums)}};
    }
    json["files"][f.name] = {{"bytes", f.bytes},
                             {"data_offset", f.data_offset},
                             {"header_hash", hex(f.header_hash)},
                             {"tensors", std::move(tensors)}};
  }
  json["hash"] = hex(hash_of_text(dump(json)));
  return dump(json) + "\n";
}

/// The lines of a manifest without that of its checksum, of which the checksum is; empty: it has
/// none.
struct WithoutHash {
  std::string_view before, after;
  std::string_view hash;  ///< 16 digits
};
inline WithoutHash without_hash(std::string_view text) {
  std::string_view const start = "\n \"hash\": \"", end = "\",\n";
  std::size_t const at = text.find(start);
  if (at == text.npos) return {};
  std::size_t const digits = at + start.size();
  if (!text.substr(std::min(text.size(), digits + 16)).starts_with(end)) return {};
  // `format` ends the text with a line's end
  return {text.substr(0, at + 1), text.substr(digits + 16 + end.size()), text.substr(digits, 16)};
}

inline ListedFile listed_file(JsonReader& in, std::string const& name) {
  ListedFile f;
  f.name = name;
  std::set<std::string> seen;
  in.object([&](std::string const& member) {
    if (!seen.insert(member).second) in.fail("has \"" + member + "\" twice");
    if (member == "bytes") {
      f.bytes = in.count();
    } else if (member == "data_offset") {
      f.data_offset = in.count();
    } else if (member == "header_hash") {
      f.header_hash = from_hex(in);
    } else if (member == "tensors") {
      in.object([&](std::string const& tensor) {
        Listed t;
        int sums = 0;
        static_cast<InFile&>(t) = read_in_file(in, tensor, [&](std::string const& other) {
          if (other != "sums" || ++sums > 1) in.fail("has a member that is unknown");
          in.array([&] { t.sums.push_back(from_hex(in)); });
        });
        f.tensors.push_back(std::move(t));
      });
    } else {
      in.fail("has a member that is unknown");
    }
  });
  if (seen.size() != 4) in.fail("lacks a member of the file " + io::shortened(name));
  return f;
}

/// Whether the places of a file's tensors, and the numbers of their checksums, can be true.
inline std::string wrong_file(ListedFile const& f) {
  if (f.data_offset < 8 || f.data_offset > f.bytes) return "its header does not fit into it";
  std::vector<InFile const*> all;
  for (Listed const& t : f.tensors) all.push_back(&t);
  if (std::string wrong = wrong_layout(std::move(all), f.bytes - f.data_offset); !wrong.empty())
    return wrong;
  for (Listed const& t : f.tensors) {
    std::int64_t const bytes = t.end - t.begin;
    std::int64_t const chunks = bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
    if (static_cast<std::int64_t>(t.sums.size()) != chunks)
      return "tensor \"" + io::shortened(t.name) + "\" has another number of checksums";
  }
  return {};
}

SHARDTYPE_INLINE Manifest parse_manifest(std::string_view text, std::string const& path) {
  auto const damaged = [&](std::string const& what) {
    return Error("E94", path + ": " + what, FailedOn::every_rank);
  };
  if (JsonReader(text).next() != '{') throw damaged("it is no JSON object");
  WithoutHash const lines = without_hash(text);
  runtime::StepHash hash;
  for (std::string_view const part : {lines.before, lines.after})
    for (char const c : part.ends_with("}\n") ? part.substr(0, part.size() - 1) : part)
      hash.mix(static_cast<unsigned char>(c));
  if (lines.hash != hex(hash.value())) throw damaged("its checksum differs: it is damaged");

  Manifest out;
  JsonReader in(text);
  std::set<std::string> seen;
  std::string format;
  in.object([&](std::string const& member) {
    if (!seen.insert(member).second) in.fail("has \"" + member + "\" twice");
    if (member == "format") {
      format = in.text();
      if (in.good() && format != manifest_format)
        in.fail("has the format \"" + io::shortened(format) + "\", not \"" + manifest_format +
                "\"");
    } else if (member == "hash") {
      from_hex(in);
    } else if (member == "chunk_bytes") {
      if (in.count() != chunk_bytes) in.fail("has chunks of another size");
    } else if (member == "step") {
      out.step = in.count();
    } else if (member == "extra") {
      out.extra = to_extra(in);
    } else if (member == "counts") {
      out.counts = to_extra(in);
    } else if (member == "files") {
      in.object([&](std::string const& name) { out.files.push_back(listed_file(in, name)); });
    } else {
      in.fail("has a member that is unknown");
    }
  });
  in.end();
  for (char const* const member : {"format", "hash", "chunk_bytes", "step", "extra", "counts"})
    if (!seen.contains(member)) in.fail(std::string("lacks \"") + member + "\"");
  if (!in.good()) throw damaged("it " + in.problem());
  std::set<std::string_view> files;
  for (ListedFile const& f : out.files) {
    std::string const name = "the file \"" + io::shortened(f.name) + "\"";
    if (std::string const wrong = wrong_file(f); !wrong.empty()) throw damaged(name + ": " + wrong);
    if (!files.insert(f.name).second) throw damaged(name + " is there twice");
  }
  return out;
}

#endif

}  // namespace shardtype::checkpoint::detail
