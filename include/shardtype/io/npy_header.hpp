#pragma once
/// The header of a NumPy file (.npy): parsing, writing, and comparison with a tensor.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/io/byte_reader.hpp>
#include <shardtype/io/npy_dtype.hpp>

namespace shardtype {

namespace io {

/// One number for each dimension of a file's array.
using NpyInts = detail::List<std::int64_t>;

/// The contents of the header of a .npy file.
struct NpyHeader {
  std::string dtype;  ///< as in the file: "<f4"
  bool fortran_order = false;
  NpyInts shape;
  std::int64_t data_offset = 0;  ///< bytes before the first element

  friend bool operator==(NpyHeader const&, NpyHeader const&) = default;
};

}  // namespace io

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::int64_t npy_longest_header = std::int64_t(1) << 20;

/// Parses the Python literal of the header. Functions return whether there was no mistake so far.
class NpyDictReader : public io::ByteReader {
 public:
  /// `long_integers`: whether numbers may end in Python 2's 'L'.
  NpyDictReader(std::string_view text, std::uint64_t place, bool long_integers)
      : ByteReader(text, place), long_integers_(long_integers) {}

  bool read(io::NpyHeader& header);

 private:
  // Python takes the same, and more; a line's begin and other spaces mean something to it
  void skip() { skip_any(" \t"); }
  bool next(char c) {
    skip();
    return take(c);
  }
  bool want_next(char c) {
    skip();
    return want(c);
  }

  bool read_string(std::string& out);

  bool read_bool(bool& out);

  bool read_shape(io::NpyInts& out);

  bool read_dtype(std::string& out);

  bool long_integers_;
};

}  // namespace detail

namespace io {

/// Bytes of all elements; -1 if they exceed 64 bits.
std::int64_t npy_data_bytes(NpyInts const& shape, std::int64_t item_bytes);

/// Why NumPy does not read an array with this header though it is one, or empty: a header of more
/// than 10,000 bytes, or extents beside one of 0 that no array can have.
std::string npy_unreadable(NpyHeader const& header);

/// Size of the header in bytes, from the first 12 bytes of the file; 0 if they do not determine it
/// (not a .npy file, or another version).
std::int64_t npy_header_bytes(std::string_view start);

/// Parses the header at the begin of `bytes` (format versions 1.0, 2.0, 3.0). `path` and `where`
/// are for the errors: IO2 not a .npy file; IO3 a header that is cut off, invalid, of an unknown
/// version or of a dtype that no tensor has (structured, Python objects, big-endian).
NpyHeader parse_npy_header(std::string_view bytes, std::string const& path,
                           FailedOn where = FailedOn::this_rank);

}  // namespace io

namespace detail {

/// The Python tuple: "()", "(3,)", "(3, 4)".
std::string npy_shape_text(io::NpyInts const& shape);

}  // namespace detail

namespace io {

/// The bytes before the data of a .npy file, as NumPy writes them: version 1.0 (2.0 if too long),
/// padded so that the data begin at a multiple of 64.
std::string format_npy_header(std::string const& dtype, NpyInts const& shape,
                              bool fortran_order = false);

/// Checks that a file can be loaded into a tensor of `dims` dimensions and dtype `wanted`
/// (npy_dtype): IO4 if the dtypes differ, IO5 if the numbers of dimensions differ.
void check_npy(NpyHeader const& header, std::string const& path, std::string const& wanted,
               std::size_t dims, FailedOn where = FailedOn::every_rank);

}  // namespace io

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_header.ipp>
#endif
