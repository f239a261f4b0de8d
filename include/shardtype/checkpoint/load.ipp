#pragma once
/// Definitions of load.hpp.

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <map>
#include <set>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/load.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint {

SHARDTYPE_INLINE std::optional<Step> latest(runtime::MeshRef const& mesh, std::string const& run) {
  bool const looks = !mesh.here() || mesh.state().whole().rank() == 0;
  detail::NpyOutcome outcome;
  std::string folder = looks ? detail::find_step(run, outcome) : std::string();
  MPI_Comm const comm = mesh.here() ? mesh.state().whole().raw() : MPI_COMM_SELF;
  shardtype::detail::npy_agree(comm, outcome);
  if (mesh.here()) shardtype::detail::share_text(comm, folder, 0);
  if (folder.empty()) return {};
  auto name = std::filesystem::path(folder).filename().string();
  if (name.empty()) name = std::filesystem::path(folder).parent_path().filename().string();
  return Step{detail::step_of(name).value_or(0), folder};
}

namespace detail {

SHARDTYPE_INLINE void read_tensor(shardtype::detail::NpyTransfer& in, io::NpyAccess const& access,
                                  LoadedTensor const& tensor, std::int64_t at,
                                  std::uint64_t* sums) {
  std::byte* data = nullptr;
  bool good = true;
  try {
    data = tensor.begin();
  } catch (std::exception const& failure) {
    in.fail(failure.what());
    good = false;
  }
  BlockOfArray const& b = tensor.block;
  shardtype::detail::NpySlabs const slabs(b.shape, b.begin, b.count,
                                          static_cast<std::size_t>(b.element_bytes),
                                          tensor.transposed, access);
  in.move(at, slabs, good, data);
  if (!good) return;
  if (tensor.first_holder && sums != nullptr) add_sums(b, data, sums);
  tensor.end();
}

#ifdef SHARDTYPE_HAVE_JSON

inline std::string file_of(Entry const& e) { return e.part + ".safetensors"; }

SHARDTYPE_INLINE void compare(std::vector<LoadedTensor> const& tensors, Manifest const& manifest,
                              std::string const& folder, LoadOptions const& options) {
  std::map<std::string, std::set<std::string>> wanted;
  for (LoadedTensor const& t : tensors) {
    std::string const path = joined(folder, file_of(t));
    ListedFile const* const file = manifest.find(file_of(t));
    if (file == nullptr)
      throw Error("E91", "tensor \"" + t.name + "\": the checkpoint has no file " + path,
                  FailedOn::every_rank);
    Listed const* const found = find_named(file->tensors, t.name);
    if (found == nullptr)
      throw Error("E91", path + " has no tensor \"" + t.name + "\", which the program has",
                  FailedOn::every_rank);
    compare(t, *found, path);
    wanted[file->name].insert(t.name);
  }
  if (options.ignore_others) return;
  for (auto const& [name, names] : wanted)
    for (Listed const& t : manifest.find(name)->tensors)
      if (!names.contains(t.name))
        throw Error("E91",
                    tensor_of_file(t.name, joined(folder, name)) +
                        " is not in the program; ignore_others leaves it out",
                    FailedOn::every_rank);
}

/// Rank 0's part: the folder of the step and the text of its manifest.
inline std::string manifest_text(std::string const& path, std::string& folder,
                                 NpyOutcome& outcome) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  folder = find_step(path, outcome);
  if (!outcome.fine()) return {};
  if (folder.empty()) {
    outcome.note("E90", "there is no checkpoint at " + path +
                            ": neither a manifest.json nor a step_ folder with one");
    return {};
  }
  runtime::OpenFile const in(joined(folder, manifest_name));
  std::string text;
  int fault = in.fault();
  if (fault == 0) fault = in.bytes() > longest ? EFBIG : in.read(0, in.bytes(), text);
  if (fault != 0)
    outcome.note("IO1", "cannot read " + joined(folder, manifest_name) + ": " +
                            runtime::file_fault_text(fault));
  return text;
}

/// Rank 0's part: whether a file has the bytes and the header that were written. Names the tensor
/// that is cut off.
inline void check_file(std::string const& folder, ListedFile const& file, NpyOutcome& outcome) {
  std::string const path = joined(folder, file.name);
  std::int64_t bytes = 0;
  NpyOutcome reading;
  std::string const text = header_text(path, bytes, reading);
  if (reading.code == "IO1") return outcome.note("IO1", reading.text);
  if (bytes < file.bytes) {
    Listed const* first = nullptr;
    for (Listed const& t : file.tensors)
      if (file.data_offset + t.end > bytes && (first == nullptr || t.begin < first->begin))
        first = &t;
    return outcome.note("E94", path + " has " + std::to_string(bytes) + " bytes, " +
                                   std::to_string(file.bytes) +
                                   " were written: the file is cut off" +
                                   (first == nullptr ? "" : " at tensor \"" + first->name + "\""));
  }
  bool same = bytes == file.bytes && reading.fine() && hash_of_text(text) == file.header_hash;
  if (same) {
    FileHeader const header = parse(text, path, bytes);
    same = header.data_offset == file.data_offset && header.tensors.size() == file.tensors.size();
    std::map<std::string_view, InFile const*> in_header;
    for (InFile const& t : header.tensors) in_header.emplace(t.name, &t);
    for (Listed const& t : file.tensors) {
      auto const found = in_header.find(t.name);
      same = same && found != in_header.end() && found->second->dtype == t.dtype &&
             found->second->shape == t.shape && found->second->begin == t.begin &&
             found->second->end == t.end;
    }
  }
  if (!same) outcome.note("E94", path + " has another header than was written, or more bytes");
}

inline void check_sums(std::vector<LoadedTensor> const& tensors,
                       std::vector<std::vector<std::uint64_t>> const& sums,
                       Manifest const& manifest, std::string const& folder) {
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    LoadedTensor const& t = tensors[k];
    Listed const& listed = *find_named(manifest.find(file_of(t))->tensors, t.name);
    for (std::size_t c = 0; c < sums[k].size(); ++c)
      if (c >= listed.sums.size() || sums[k][c] != listed.sums[c])
        throw Error("E94",
                    tensor_of_file(t.name, joined(folder, file_of(t))) +
                        " is damaged: the checksum differs of its bytes from " +
                        std::to_string(static_cast<std::int64_t>(c) * chunk_bytes) + " on",
                    FailedOn::every_rank);
  }
}

SHARDTYPE_INLINE Manifest load_now(Tensors<LoadedTensor> const& tensors, std::string const& path,
                                   std::string& folder, LoadOptions const& options,
                                   std::source_location const& where) {
  runtime::MeshState* const mesh = tensors.here();
  if (mesh != nullptr) mesh->agreement().agree("checkpoint::load", where);
  MPI_Comm const comm = mesh != nullptr ? mesh->whole().raw() : MPI_COMM_SELF;
  int const rank = mesh != nullptr ? mesh->whole().rank() : 0;
  std::string const text = detail::text_from_first(
      comm, rank, path, [&](NpyOutcome& outcome) { return manifest_text(path, folder, outcome); });
  shardtype::detail::share_text(comm, folder, 0);
  // from here on all ranks process the same bytes, so they fail together
  Manifest const manifest = parse_manifest(text, joined(folder, manifest_name));
  compare(tensors.list, manifest, folder, options);
  if (mesh == nullptr) return manifest;

  std::vector<std::vector<std::uint64_t>> sums;
  for (LoadedTensor const& t : tensors.list) sums.emplace_back(t.block.chunks(), 0U);
  io::NpyAccess const access = shardtype::detail::file_access();
  auto const is_used = [&](ListedFile const& file) {
    return std::any_of(tensors.list.begin(), tensors.list.end(),
                       [&](LoadedTensor const& t) { return file_of(t) == file.name; });
  };
  NpyOutcome outcome;
  for (ListedFile const& file : manifest.files) {
    try {
      if (rank == 0 && is_used(file)) check_file(folder, file, outcome);
    } catch (Error const&) {
      outcome.note("E94",
                   joined(folder, file.name) + " has a header that is no safetensors file's");
    } catch (std::exception const& failure) {
      outcome.note("IO1", "cannot read " + joined(folder, file.name) + ": " + failure.what());
    }
  }
  shardtype::detail::npy_agree(comm, outcome);
  for (ListedFile const& file : manifest.files) {
    if (!is_used(file)) continue;
    std::string const name = joined(folder, file.name);
    shardtype::detail::NpyTransfer in(access.collective ? comm : MPI_COMM_SELF,
                                      shardtype::detail::NpyWay::read, name, name);
    in.open();
    shardtype::detail::npy_agree(comm, in.outcome);
    in.require_bytes(comm, file.bytes);
    for (std::size_t k = 0; k < tensors.list.size(); ++k) {
      LoadedTensor const& t = tensors.list[k];
      if (file_of(t) == file.name)
        read_tensor(in, access, t, file.data_offset + find_named(file.tensors, t.name)->begin,
                    sums[k].data());
    }
    in.check_bytes(file.bytes);
    in.close();
    shardtype::detail::npy_agree(comm, in.outcome);
  }
  add_up(mesh->whole(), sums);
  check_sums(tensors.list, sums, manifest, folder);
  return manifest;
}

#endif

}  // namespace detail

}  // namespace shardtype::checkpoint
