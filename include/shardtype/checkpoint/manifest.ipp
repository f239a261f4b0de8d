#pragma once
/// Definitions of manifest.hpp.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
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
  return runtime::StepHash().mix(std::string(text)).value();
}

#ifdef SHARDTYPE_HAVE_JSON

inline constexpr char const* manifest_format = "shardtype checkpoint 1";

inline std::string hex(std::uint64_t n) {
  char out[20];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(n));
  return out;
}
inline std::uint64_t from_hex(std::string const& text) {
  std::uint64_t out = 0;
  auto const read = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    throw nlohmann::json::other_error::create(501, "no hexadecimal number: " + text, nullptr);
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
inline Extra to_extra(nlohmann::json const& json) {
  Extra out;
  for (auto const& [name, v] : json.items()) {
    if (v.is_number_unsigned()) {
      out.set(name, v.get<std::uint64_t>());
    } else if (v.is_number_integer()) {
      out.set(name, v.get<std::int64_t>());
    } else if (v.is_number()) {
      out.set(name, v.get<double>());
    } else if (v.is_object()) {
      std::string const kind = v.at("number").get<std::string>();
      double const inf = std::numeric_limits<double>::infinity();
      out.set(name, kind == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                    : kind == "inf" ? inf
                                    : -inf);
    } else {
      out.set(name, v.get<std::string>());
    }
  }
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

SHARDTYPE_INLINE Manifest parse_manifest(std::string_view text, std::string const& path) {
  auto const damaged = [&](std::string const& what) {
    return Error("E94", path + ": " + what, FailedOn::every_rank);
  };
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw damaged("it is no JSON object");
  Manifest out;
  try {
    std::string const format = json.at("format").get<std::string>();
    if (format != manifest_format)
      throw damaged("its format is \"" + format + "\", not \"" + manifest_format + "\"");
    std::uint64_t const hash = from_hex(json.at("hash").get<std::string>());
    json.erase("hash");
    if (hash_of_text(dump(json)) != hash) throw damaged("its checksum differs: it is damaged");
    if (json.at("chunk_bytes").get<std::int64_t>() != chunk_bytes)
      throw damaged("its chunks have another size");
    out.step = json.at("step").get<std::int64_t>();
    out.extra = to_extra(json.at("extra"));
    out.counts = to_extra(json.at("counts"));
    if (!json.contains("files")) return out;
    for (auto const& [name, file] : json.at("files").items()) {
      ListedFile f;
      f.name = name;
      f.bytes = file.at("bytes").get<std::int64_t>();
      f.data_offset = file.at("data_offset").get<std::int64_t>();
      f.header_hash = from_hex(file.at("header_hash").get<std::string>());
      for (auto const& [tensor, value] : file.at("tensors").items()) {
        Listed t;
        t.name = tensor;
        t.dtype = value.at("dtype").get<std::string>();
        for (auto const& n : value.at("shape")) t.shape.push_back(n.get<std::int64_t>());
        t.begin = value.at("data_offsets").at(0).get<std::int64_t>();
        t.end = value.at("data_offsets").at(1).get<std::int64_t>();
        for (auto const& n : value.at("sums")) t.sums.push_back(from_hex(n.get<std::string>()));
        f.tensors.push_back(std::move(t));
      }
      out.files.push_back(std::move(f));
    }
  } catch (nlohmann::json::exception const& failure) {
    throw damaged(std::string("it is invalid: ") + failure.what());
  }
  return out;
}

#endif

}  // namespace shardtype::checkpoint::detail
