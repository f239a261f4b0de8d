#pragma once
/// The manifest of a checkpoint: which tensors its files have, their checksums, and the values
/// beside them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/header.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>

namespace shardtype::checkpoint::detail {

/// A tensor of a file, with a checksum of each chunk of its bytes.
struct Listed : InFile {
  std::vector<std::uint64_t> sums;
};

struct ListedFile {
  std::string name;  ///< in the folder of the step
  std::int64_t bytes = 0;
  std::uint64_t header_hash = 0;
  std::int64_t data_offset = 0;
  std::vector<Listed> tensors;
};

struct Manifest {
  std::int64_t step = 0;
  Extra extra, counts;  ///< the program's values, and those of the library: "state.step"
  std::vector<ListedFile> files;

  ListedFile const* find(std::string_view file) const { return find_named(files, file); }
};

/// FNV-1a.
std::uint64_t hash_of_text(std::string_view text);

/// The text that ranks compare under SHARDTYPE_CHECK=agree: " of step 7, state.step 7, extra
/// 09b1...", with a hash of the names and values of `extra`.
std::string text_of_step(std::int64_t step, Extra const& counts, Extra const& extra);

/// The text of a manifest; it has a checksum of its own.
std::string format(Manifest const& manifest);

/// Error E94, on every rank: the text of the file `path` is no manifest, or is damaged.
Manifest parse_manifest(std::string_view text, std::string const& path);

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/manifest.ipp>
#endif
