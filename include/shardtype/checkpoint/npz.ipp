#pragma once
/// Definitions of npz.hpp.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/io/npy_header.hpp>

namespace shardtype::checkpoint::detail {

inline constexpr std::size_t longest_array_name = 0xffff - 4;  ///< ".npy" is added

/// NumPy's types and those of FileType; of a complex number the type of its pair.
struct ArrayType {
  char const* numpy;
  char const* dtype;
  bool pair;
};
inline constexpr ArrayType array_types[] = {
    {"<f4", "F32", false},  {"<f8", "F64", false}, {"<i4", "I32", false}, {"<i8", "I64", false},
    {"|b1", "BOOL", false}, {"<c8", "F32", true},  {"<c16", "F64", true}};

inline std::string array_header(SavedTensor const& t, std::string const& path) {
  for (ArrayType const& a : array_types)
    if (t.dtype == a.dtype && t.pair == a.pair) {
      io::NpyInts shape = t.file_shape();
      if (t.pair) shape.pop_back();
      return io::format_npy_header(a.numpy, shape);
    }
  throw Error("E93",
              tensor_of_file(t.name, path) +
                  " has elements of type bfloat16, which NumPy does not have; save "
                  "cast<float>(a), or a safetensors file",
              FailedOn::every_rank);
}

SHARDTYPE_INLINE void save_arrays(Tensors<SavedTensor> const& tensors, std::string const& path,
                                  std::source_location const& where) {
  if (!tensors.mesh || !tensors.mesh->here()) return;
  runtime::MeshState& mesh = tensors.mesh->state();
  mesh.agreement().agree("checkpoint::save_npz", where);
  std::vector<std::string_view> names;
  for (SavedTensor const& t : tensors.list) {
    names.push_back(t.name);
    if (t.name.find('\0') != t.name.npos || t.name.size() > longest_array_name)
      throw Error("E91",
                  "a tensor would have the name \"" + io::shortened(t.name) + "\" in " + path +
                      "; one of an .npz file has at most " + std::to_string(longest_array_name) +
                      " bytes, and none of them is 0",
                  FailedOn::every_rank);
  }
  check_names(std::move(names), path);
  FileHeader header;
  std::vector<ZipEntry> entries;
  std::vector<std::string> starts;
  std::int64_t at = 0;
  for (SavedTensor const& t : tensors.list) {
    std::string const array = array_header(t, path);
    ZipEntry e;
    e.name = t.name + ".npy";
    e.header = at;
    e.bytes = static_cast<std::int64_t>(array.size()) + t.block.array_bytes();
    std::string const local = zip_local_header(e);
    e.begin = at + static_cast<std::int64_t>(local.size());
    std::int64_t const begin = e.begin + static_cast<std::int64_t>(array.size());
    at = e.begin + e.bytes;
    header.tensors.push_back({t.name, t.dtype, t.file_shape(), begin, at});
    entries.push_back(e);
    starts.push_back(local + array);
  }
  write_file(mesh, tensors, path, header, {}, [&](std::string const& written) {
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (int const fault = write_piece(written, starts[k], entries[k].header); fault != 0)
        return fault;
    return finish_zip(written, entries);
  });
}

/// Appends a text with its length, and takes it off.
inline void put_text(std::string& out, std::string_view text) {
  put(out, {{text.size(), 8}});
  out += text;
}
inline std::string take_text(io::ByteReader& in) { return std::string(in.bytes(in.number(8))); }

/// The array that an entry is; a mistake is noted.
inline InFile array_of(runtime::OpenFile const& file, ZipEntry const& e, std::string const& what,
                       NpyOutcome& outcome) {
  constexpr std::int64_t longest_start = 10012;  // NumPy reads no longer one
  constexpr std::size_t most_dims = 64;
  InFile out;
  std::string start;
  if (int const fault = file.read(e.begin, std::min(e.bytes, longest_start), start); fault != 0) {
    outcome.note("IO1", "cannot read " + what + ": " + runtime::file_fault_text(fault));
    return out;
  }
  io::NpyHeader array;
  try {
    array = io::parse_npy_header(start, {});
  } catch (Error const& failure) {
    // its text without the code and the running operation
    std::string_view text = failure.what();
    text.remove_suffix(std::min(text.size(), core::RunningCall::text().size()));
    text.remove_prefix(std::min(text.size(), text.find("] ") + 1));
    outcome.note("E94", what + " is no array of numbers: it" + std::string(text));
    return out;
  }
  std::string const wrong = io::npy_unreadable(array);
  if (!wrong.empty() || array.shape.size() > most_dims) {
    outcome.note("E94", what + " " + (wrong.empty() ? "has more than 64 dims" : wrong));
    return out;
  }
  ArrayType const* type = nullptr;
  for (ArrayType const& a : array_types)
    if (array.dtype == a.numpy) type = &a;
  std::int64_t const bytes = type == nullptr ? 0 : e.bytes - array.data_offset;
  std::int64_t const item = type == nullptr ? 1 : std::atoi(type->numpy + 2);
  if (array.fortran_order && array.shape.size() > 1)
    outcome.note("E94", what + " is in Fortran's order; save np.ascontiguousarray(a)");
  if (type != nullptr && io::npy_data_bytes(array.shape, item) != bytes)
    outcome.note("E94", what + " is cut off: its bytes are not those of its shape");
  out.shape = array.shape;
  if (type != nullptr && type->pair) out.shape.push_back(2);
  // quoted, so that a word of the file is none of ours
  out.dtype = type == nullptr ? "'" + array.dtype + "'" : type->dtype;
  out.begin = e.begin + array.data_offset;
  out.end = out.begin + bytes;
  return out;
}

/// Rank 0's part: the file's arrays, as arrays_of reads them.
inline std::string arrays_text(std::string const& path, NpyOutcome& outcome) {
  runtime::OpenFile const file(path);
  if (int const fault = file.fault(); fault != 0) {
    outcome.note("IO1", "cannot read " + path + ": " +
                            (fault == ENOENT ? "no such file" : runtime::file_fault_text(fault)));
    return {};
  }
  std::vector<ZipEntry> entries = read_zip(file, path, outcome);
  std::vector<std::string_view> names;
  for (ZipEntry& e : entries) {
    if (e.name.ends_with(".npy")) e.name.resize(e.name.size() - 4);
    names.push_back(e.name);
  }
  std::sort(names.begin(), names.end());
  auto const twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) outcome.note("E94", tensor_of_file(*twice, path) + " is there twice");
  constexpr std::size_t longest = std::size_t{1} << 30;
  std::string out;
  for (ZipEntry const& e : entries) {
    if (out.size() > longest) outcome.note("E94", path + " has too many arrays");
    if (!outcome.fine()) return {};
    InFile const t = array_of(file, e, tensor_of_file(e.name, path), outcome);
    put_text(out, e.name);
    put_text(out, t.dtype);
    put(out, {{t.shape.size(), 8}});
    for (std::int64_t const n : t.shape) put(out, {{static_cast<std::uint64_t>(n), 8}});
    for (std::int64_t const n : {t.begin, t.end, e.begin, e.bytes, std::int64_t{e.sum}})
      put(out, {{static_cast<std::uint64_t>(n), 8}});
  }
  return out;
}
inline FileHeader arrays_of(std::string const& text, std::vector<ZipEntry>& entries) {
  FileHeader out;
  io::ByteReader in(text);
  while (in.good() && !in.rest().empty()) {
    InFile t;
    ZipEntry e;
    t.name = e.name = take_text(in);
    t.dtype = take_text(in);
    for (std::int64_t dims = in.count(8); dims > 0 && in.good(); --dims)
      t.shape.push_back(in.count(8));
    for (std::int64_t* const n : {&t.begin, &t.end, &e.begin, &e.bytes}) *n = in.count(8);
    e.sum = static_cast<std::uint32_t>(in.count(8));
    out.tensors.push_back(std::move(t));
    entries.push_back(std::move(e));
  }
  return out;
}

SHARDTYPE_INLINE void load_arrays(Tensors<LoadedTensor> const& tensors, std::string const& path,
                                  bool ignore_others, std::source_location const& where) {
  runtime::MeshState* const mesh = tensors.here();
  if (mesh != nullptr) mesh->agreement().agree("checkpoint::load_npz", where);
  MPI_Comm const comm = mesh != nullptr ? mesh->whole().raw() : MPI_COMM_SELF;
  int const rank = mesh != nullptr ? mesh->whole().rank() : 0;
  std::string const text = detail::text_from_first(
      comm, rank, path, [&](NpyOutcome& outcome) { return arrays_text(path, outcome); });
  std::vector<ZipEntry> entries;
  FileHeader const header = arrays_of(text, entries);
  read_file(mesh, tensors, path, header, ignore_others, [&] {
    std::vector<ZipEntry> read;
    for (LoadedTensor const& t : tensors.list) read.push_back(*find_named(entries, t.name));
    check_zip_sums(mesh->whole(), path, read);
  });
}

}  // namespace shardtype::checkpoint::detail
