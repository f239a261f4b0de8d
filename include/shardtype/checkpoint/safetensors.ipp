#pragma once
/// Definitions of safetensors.hpp.

#include <cerrno>
#include <exception>
#include <map>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/load.hpp>
#include <shardtype/checkpoint/open_file.hpp>
#include <shardtype/checkpoint/safetensors.hpp>
#include <shardtype/checkpoint/step_write.hpp>
#include <shardtype/checkpoint/weight_map.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/io/npy_replacement.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

/// Writes the size of a file that exists, and pieces of it. 0 or an errno.
inline int write_start(std::string const& path, std::string_view start, std::int64_t bytes) {
  return with_file(path, O_WRONLY, [&](int descriptor) {
    int const fault = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    return fault != 0 ? fault : write_at(descriptor, start.data(), start.size(), 0);
  });
}

SHARDTYPE_INLINE void write_file(runtime::MeshState& mesh, Tensors<SavedTensor> const& tensors,
                                 std::string const& path, FileHeader const& header,
                                 std::string const& start,
                                 std::function<int(std::string const&)> const& finish) try {
  runtime::Comm& comm = mesh.whole();
  shardtype::detail::NpyReplacement file(comm.raw(), path);
  shardtype::detail::npy_agree(comm.raw(), file.outcome);
  auto const on_first = [&](auto const& f) {
    NpyOutcome outcome;
    try {
      int const fault = comm.rank() == 0 ? f() : 0;
      if (fault != 0)
        outcome.note("IO8", "cannot write " + path + ": " + runtime::file_fault_text(fault));
    } catch (std::exception const& failure) {
      outcome.note("IO8", "cannot write " + path + ": " + failure.what());
    }
    shardtype::detail::npy_agree(comm.raw(), outcome);
  };
  on_first([&] { return write_start(file.written(), start, header.file_bytes()); });
  io::NpyAccess const access = shardtype::detail::file_access();
  shardtype::detail::NpyTransfer out(access.collective ? comm.raw() : MPI_COMM_SELF,
                                     shardtype::detail::NpyWay::write, path, file.written());
  out.open();
  shardtype::detail::npy_agree(comm.raw(), out.outcome);
  for (SavedTensor const& t : tensors.list)
    write_tensor(out, access, t, header.data_offset + header.find(t.name)->begin, nullptr);
  out.sync();
  out.close();
  shardtype::detail::npy_agree(comm.raw(), out.outcome);
  if (finish) on_first([&] { return finish(file.written()); });
  file.finish();
  shardtype::detail::npy_agree(comm.raw(), file.outcome);
  on_first([&] {
    std::size_t const folder = path.rfind('/');
    return sync_path(folder == path.npos ? "." : path.substr(0, folder + 1));
  });
} catch (...) {
  throw;  // an exception that nobody catches would not destroy `file`, which removes what it wrote
}

SHARDTYPE_INLINE void read_file(runtime::MeshState* mesh, Tensors<LoadedTensor> const& tensors,
                                std::string const& path, FileHeader const& header,
                                bool ignore_others, std::function<void()> const& check) {
  std::set<std::string> wanted;
  for (LoadedTensor const& t : tensors.list) {
    InFile const* const found = header.find(t.name);
    if (found == nullptr)
      throw Error("E91", path + " has no tensor \"" + t.name + "\", which the program has",
                  FailedOn::every_rank);
    compare(t, *found, path);
    wanted.insert(t.name);
  }
  for (InFile const& t : header.tensors)
    if (!ignore_others && !wanted.contains(t.name))
      throw Error(
          "E91",
          tensor_of_file(t.name, path) + " is not in the program; ignore_others leaves it out",
          FailedOn::every_rank);
  if (mesh == nullptr) return;
  if (check) check();
  MPI_Comm const comm = mesh->whole().raw();
  io::NpyAccess const access = shardtype::detail::file_access();
  shardtype::detail::NpyTransfer in(access.collective ? comm : MPI_COMM_SELF,
                                    shardtype::detail::NpyWay::read, path, path);
  in.open();
  shardtype::detail::npy_agree(comm, in.outcome);
  in.require_bytes(comm, header.file_bytes());
  for (LoadedTensor const& t : tensors.list)
    read_tensor(in, access, t, header.data_offset + header.find(t.name)->begin, nullptr);
  in.check_bytes(header.file_bytes());
  in.close();
  shardtype::detail::npy_agree(comm, in.outcome);
}

#ifdef SHARDTYPE_HAVE_JSON

SHARDTYPE_INLINE void save_file(Tensors<SavedTensor> const& tensors, std::string const& path,
                                Metadata metadata, std::source_location const& where) {
  if (!tensors.mesh || !tensors.mesh->here()) return;
  runtime::MeshState& mesh = tensors.mesh->state();
  mesh.agreement().agree("checkpoint::save_safetensors", where);
  std::vector<Entry const*> entries;
  std::vector<std::string_view> names;
  for (SavedTensor const& t : tensors.list) {
    entries.push_back(&t);
    names.push_back(t.name);
  }
  check_names(std::move(names), path, "__metadata__");
  for (auto const& [name, text] : metadata)
    if (!io::is_utf8(name) || !io::is_utf8(text))
      throw Error("E95", "the text \"" + io::shortened(name) + "\" of " + path + " is no UTF-8",
                  FailedOn::every_rank);
  FileHeader header = arrange(entries, std::move(metadata));
  std::string const start = format(header);
  write_file(mesh, tensors, path, header, start, {});
}

/// A file, its header, and the tensors that are read from it.
struct ModelFile {
  std::string path;
  FileHeader header;
  Tensors<LoadedTensor> tensors;
};

/// The files of an index with the tensors of each; without `ignore_others` also those of which no
/// tensor is read. Error E91, on every rank: the index lacks a tensor.
inline std::vector<ModelFile> files_of(WeightMap const& map, Tensors<LoadedTensor> const& tensors,
                                       std::string const& index, bool ignore_others) {
  std::map<std::string, Tensors<LoadedTensor>> of_file;
  if (!ignore_others)
    for (auto const& [name, file] : map) of_file[file];
  for (LoadedTensor const& t : tensors.list) {
    auto const found = map.find(t.name);
    if (found == map.end())
      throw Error("E91", index + " has no tensor \"" + t.name + "\", which the program has",
                  FailedOn::every_rank);
    of_file[found->second].list.push_back(t);
  }
  std::string const folder = index.substr(0, index.rfind('/') + 1);
  std::vector<ModelFile> out;
  for (auto& [file, its] : of_file) out.push_back({folder + file, {}, std::move(its)});
  return out;
}

SHARDTYPE_INLINE Metadata load_file(Tensors<LoadedTensor> const& tensors, std::string const& path,
                                    bool ignore_others, std::source_location const& where) {
  runtime::MeshState* const mesh = tensors.here();
  if (mesh != nullptr) mesh->agreement().agree("checkpoint::load_safetensors", where);
  MPI_Comm const comm = mesh != nullptr ? mesh->whole().raw() : MPI_COMM_SELF;
  int const rank = mesh != nullptr ? mesh->whole().rank() : 0;
  std::string const file = detail::text_from_first(
      comm, rank, path, [&](auto const&) { return detail::file_of_model(path); });
  std::vector<ModelFile> files;
  if (is_index(file)) {
    files = files_of(detail::read_index(comm, rank, file), tensors, file, ignore_others);
  } else {
    files.push_back({file, {}, tensors});
  }
  for (ModelFile& f : files) {
    f.header = detail::read_header(comm, rank, f.path);
    read_file(nullptr, f.tensors, f.path, f.header, ignore_others);
  }
  Metadata out;
  for (ModelFile const& f : files) {
    if (mesh != nullptr) read_file(mesh, f.tensors, f.path, f.header, ignore_others);
    out.insert(f.header.metadata.begin(), f.header.metadata.end());
  }
  return out;
}

#endif

}  // namespace shardtype::checkpoint::detail
