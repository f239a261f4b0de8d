#pragma once
/// Definitions of npz.hpp.

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/io/npy_header.hpp>

namespace shardtype::checkpoint::detail {

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
  check_names(tensors, path);
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

/// Rank 0's part: the file's arrays, a line each: place, end, type, number of dims, extents, name.
inline std::string arrays_text(std::string const& path, NpyOutcome& outcome) {
  std::int64_t file_bytes = 0;
  std::vector<ZipEntry> const entries = read_zip(path, file_bytes, outcome);
  std::ostringstream out;
  std::string start;
  for (ZipEntry const& e : entries) {
    if (!outcome.fine()) return {};
    std::string name = e.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    std::string const what = tensor_of_file(name, path);
    if (int const fault = read_piece(path, e.begin, std::min<std::int64_t>(e.bytes, 65536), start);
        fault != 0) {
      outcome.note("IO1", "cannot read " + path + ": " + runtime::file_fault_text(fault));
      return {};
    }
    io::NpyHeader array;
    try {
      array = io::parse_npy_header(start, what);
    } catch (Error const&) {
      outcome.note("E94", what + " is no array of numbers");
      return {};
    }
    ArrayType const* type = nullptr;
    for (ArrayType const& a : array_types)
      if (array.dtype == a.numpy) type = &a;
    io::NpyInts shape = array.shape;
    std::int64_t const bytes = type == nullptr ? 0 : e.bytes - array.data_offset;
    std::int64_t const item = type == nullptr ? 1 : std::atoi(type->numpy + 2);
    if (array.fortran_order && shape.size() > 1)
      outcome.note("E94", what + " is in Fortran's order; save np.ascontiguousarray(a)");
    if (type != nullptr && io::npy_data_bytes(shape, item) != bytes)
      outcome.note("E94", what + " is cut off: its bytes are not those of its shape");
    if (type != nullptr && type->pair) shape.push_back(2);
    std::int64_t const begin = e.begin + array.data_offset;
    out << begin << ' ' << begin + bytes << ' ' << (type == nullptr ? array.dtype : type->dtype)
        << ' ' << shape.size();
    for (std::int64_t const n : shape) out << ' ' << n;
    out << ' ' << name.size() << ' ' << name << '\n';
  }
  return out.str();
}
inline FileHeader arrays_of(std::string const& text) {
  FileHeader out;
  std::istringstream in(text);
  InFile t;
  std::size_t dims = 0, letters = 0;
  while (in >> t.begin >> t.end >> t.dtype >> dims) {
    t.shape = {};
    for (std::int64_t n = 0; dims > 0 && in >> n; --dims) t.shape.push_back(n);
    in >> letters;
    in.get();
    t.name.resize(letters);
    in.read(t.name.data(), static_cast<std::streamsize>(letters));
    out.tensors.push_back(t);
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
  read_file(mesh, tensors, path, arrays_of(text), ignore_others);
}

}  // namespace shardtype::checkpoint::detail
