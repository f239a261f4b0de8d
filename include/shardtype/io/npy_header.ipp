#pragma once
/// Definitions of npy_header.hpp.

#include <algorithm>

#include <shardtype/io/npy_header.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE bool NpyDictReader::read(io::NpyHeader& header) {
  bool seen[3] = {false, false, false};
  if (!want_next('{')) return false;
  while (!next('}')) {
    std::string key;
    if (!read_string(key) || !want_next(':')) return false;
    int const which = key == "descr" ? 0 : (key == "fortran_order" ? 1 : (key == "shape" ? 2 : -1));
    if (which < 0) return fail("has an unknown key '" + io::shortened(key) + "'");
    if (seen[which]) return fail("has the key '" + key + "' twice");
    seen[which] = true;
    bool const fine = which == 0   ? read_dtype(header.dtype)
                      : which == 1 ? read_bool(header.fortran_order)
                                   : read_shape(header.shape);
    if (!fine) return false;
    if (!next(',')) {
      if (!want_next('}')) return false;
      break;
    }
  }
  skip_any(" \t\n");
  if (!rest().empty()) return fail("goes on after its '}'");
  char const* const names[3] = {"descr", "fortran_order", "shape"};
  for (int k = 0; k < 3; ++k)
    if (!seen[k]) return fail(std::string("lacks the key '") + names[k] + "'");
  return true;
}

SHARDTYPE_INLINE bool NpyDictReader::read_string(std::string& out) {
  skip();
  char const quote = rest().empty() ? ' ' : rest()[0];
  if (quote != '\'' && quote != '"') return fail("lacks a quoted text");
  auto const end = rest().find(quote, 1);
  if (end == std::string_view::npos) return fail("has an open quote");
  out = rest().substr(1, end - 1);
  bytes(end + 1);
  return true;
}

SHARDTYPE_INLINE bool NpyDictReader::read_bool(bool& out) {
  skip();
  out = take("True");
  return out || take("False") || fail("has a 'fortran_order' that is neither True nor False");
}

SHARDTYPE_INLINE bool NpyDictReader::read_shape(io::NpyInts& out) {
  if (!next('(')) return fail("has a 'shape' that is not a tuple");
  bool comma = true;
  while (!next(')')) {
    if (!comma) return fail("has a 'shape' without a comma between its numbers");
    skip();
    out.push_back(small_natural("has a 'shape' that is not of whole numbers"));
    if (!good()) return false;
    if (long_integers_) next('L');
    comma = next(',');
  }
  return (out.size() != 1 || comma) || fail("has a 'shape' that is not a tuple");
}

SHARDTYPE_INLINE bool NpyDictReader::read_dtype(std::string& out) {
  skip();
  if (!rest().empty() && (rest()[0] == '[' || rest()[0] == '('))
    return fail("has a structured dtype; save each field as a file of its own");
  if (!read_string(out)) return false;
  std::string const kind(npy_kind(out));
  if (kind.empty()) return fail("has an empty dtype");
  if (kind[0] == 'O') return fail("has dtype object (pickled Python objects)");
  if (out[0] == '>')
    return fail("has the big-endian dtype '" + out + "'; convert it with a.astype('<" + kind +
                "')");
  return true;
}

}  // namespace shardtype::detail

namespace shardtype::io {

SHARDTYPE_INLINE std::int64_t npy_data_bytes(NpyInts const& shape, std::int64_t item_bytes) {
  std::int64_t total = item_bytes;
  for (auto const n : shape)
    if (n == 0) return 0;
  for (auto const n : shape) {
    if (total > std::numeric_limits<std::int64_t>::max() / 2 / n) return -1;
    total *= n;
  }
  return total;
}

SHARDTYPE_INLINE std::string npy_unreadable(NpyHeader const& header) {
  constexpr std::int64_t longest = 10000;
  if (header.data_offset > longest + 12)
    return "has a header of " + std::to_string(header.data_offset) + " bytes; NumPy reads " +
           std::to_string(longest);
  NpyInts others;
  for (std::int64_t const n : header.shape)
    if (n > 0) others.push_back(n);
  if (npy_data_bytes(others, std::max<std::int64_t>(1, npy_item_bytes(header.dtype))) < 0)
    return "has a 'shape' that no array can have";
  return {};
}

SHARDTYPE_INLINE std::int64_t npy_header_bytes(std::string_view start) {
  auto const byte = [&](std::size_t k) {
    return std::int64_t(static_cast<unsigned char>(start[k]));
  };
  if (start.size() < 10 || start.substr(0, 6) != detail::npy_magic || byte(7) != 0) return 0;
  if (byte(6) == 1) return 10 + (byte(8) | byte(9) << 8);
  if (start.size() < 12 || byte(6) < 1 || byte(6) > 3) return 0;
  return 12 + (byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24);
}

SHARDTYPE_INLINE NpyHeader parse_npy_header(std::string_view bytes, std::string const& path,
                                            FailedOn where) {
  auto const magic = detail::npy_magic;
  if (bytes.substr(0, magic.size()) != magic)
    throw Error("IO2", path + " is not a .npy file: it does not begin with \\x93NUMPY", where);
  auto const refuse = [&](std::string const& what) { throw Error("IO3", path + what, where); };
  if (bytes.size() < 8) refuse(" ends within its header");
  int const major = static_cast<unsigned char>(bytes[6]);
  int const minor = static_cast<unsigned char>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(" has .npy format version " + std::to_string(major) + "." + std::to_string(minor) +
           "; known are 1.0, 2.0 and 3.0");
  std::int64_t const size = npy_header_bytes(bytes);
  if (size > detail::npy_longest_header)
    refuse(" says its header has " + std::to_string(size) + " bytes; at most " +
           std::to_string(detail::npy_longest_header) + " are read");
  if (size == 0 || std::int64_t(bytes.size()) < size) refuse(" ends within its header");
  std::size_t const start = major == 1 ? 10 : 12;
  NpyHeader header;
  detail::NpyDictReader reader(bytes.substr(start, std::size_t(size) - start), start, major < 3);
  if (!reader.read(header)) refuse(": the header " + reader.problem());
  header.data_offset = size;
  if (npy_data_bytes(header.shape, npy_item_bytes(header.dtype)) < 0)
    refuse(": the header has a 'shape' of more bytes than a file can hold");
  return header;
}

}  // namespace shardtype::io

namespace shardtype::detail {

SHARDTYPE_INLINE std::string npy_shape_text(io::NpyInts const& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace shardtype::detail

namespace shardtype::io {

SHARDTYPE_INLINE std::string format_npy_header(std::string const& dtype, NpyInts const& shape,
                                               bool fortran_order) {
  std::string dict = "{'descr': '" + dtype + "', 'fortran_order': ";
  dict += fortran_order ? "True" : "False";
  dict += ", 'shape': ";
  dict += detail::npy_shape_text(shape);
  dict += ", }";
  bool const long_one = dict.size() + 1 + 63 + 10 > 65535;
  std::size_t const start = long_one ? 12 : 10;
  dict.append(63 - (start + dict.size()) % 64, ' ');
  dict += '\n';
  std::string out(detail::npy_magic);
  out += long_one ? '\x02' : '\x01';
  out += '\0';
  for (std::size_t k = 0; k < start - 8; ++k)
    out += static_cast<char>(static_cast<unsigned char>(dict.size() >> (8 * k) & 0xff));
  return out + dict;
}

SHARDTYPE_INLINE void check_npy(NpyHeader const& header, std::string const& path,
                                std::string const& wanted, std::size_t dims, FailedOn where) {
  if (detail::npy_kind(header.dtype) != detail::npy_kind(wanted)) {
    auto const has = npy_dtype_name(header.dtype);
    auto const wants = npy_dtype_name(wanted);
    throw Error("IO4",
                path + " holds " + has + ", the tensor wants " + wants + "; cast it (a.astype('" +
                    (wants == "bfloat16" ? wants : wanted) + "')) or load it into a tensor of " +
                    has,
                where);
  }
  if (header.shape.size() != dims) {
    throw Error("IO5",
                path + " has " + std::to_string(header.shape.size()) + " dimensions, shape " +
                    detail::npy_shape_text(header.shape) + ", the tensor has " +
                    std::to_string(dims),
                where);
  }
}

}  // namespace shardtype::io
