#pragma once
/// The element types of NumPy files: their dtypes, names and sizes.

#include <bit>
#include <charconv>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardtype {

/// The NumPy dtype of an element type, as `static constexpr char const* text`. Specialise it for
/// further types; of another library's complex type, derive from that of std::complex.
template <class T>
struct NpyDtype;
template <>
struct NpyDtype<float> {
  static constexpr char const* text = "<f4";
};
template <>
struct NpyDtype<double> {
  static constexpr char const* text = "<f8";
};
template <>
struct NpyDtype<std::int32_t> {
  static constexpr char const* text = "<i4";
};
template <>
struct NpyDtype<std::int64_t> {
  static constexpr char const* text = "<i8";
};
template <>
struct NpyDtype<std::complex<float>> {
  static constexpr char const* text = "<c8";
};
template <>
struct NpyDtype<std::complex<double>> {
  static constexpr char const* text = "<c16";
};

/// The dtype that a .npy file of `T` has, like "<f4".
template <class T>
std::string npy_dtype() {
  static_assert(std::endian::native == std::endian::little, ".npy files here are little-endian");
  return NpyDtype<T>::text;
}

namespace detail {

/// `dtype` without its byte order: "<f4" and "=f4" are the same on a little-endian machine.
inline std::string_view npy_kind(std::string_view dtype) {
  bool const marked = !dtype.empty() && std::string_view("<=|>").find(dtype[0]) != dtype.npos;
  return marked ? dtype.substr(1) : dtype;
}

}  // namespace detail

/// NumPy's name of a dtype: "float64" for "<f8"; a kind not known here stays as it is.
inline std::string npy_dtype_name(std::string_view dtype) {
  auto const kind = detail::npy_kind(dtype);
  if (kind == "b1") return "bool";
  auto const letter = kind.empty() ? ' ' : kind[0];
  std::string const family = letter == 'f'   ? "float"
                             : letter == 'c' ? "complex"
                             : letter == 'i' ? "int"
                             : letter == 'u' ? "uint"
                                             : "";
  int bytes = 0;
  auto const [end, status] = std::from_chars(kind.data() + 1, kind.data() + kind.size(), bytes);
  if (family.empty() || status != std::errc{} || bytes > 64) return "'" + std::string(dtype) + "'";
  return family + std::to_string(bytes * 8);
}

/// Bytes of one element; 0 where the dtype does not tell.
inline std::int64_t npy_item_bytes(std::string_view dtype) {
  auto const kind = detail::npy_kind(dtype);
  std::int64_t bytes = 0;
  if (kind.size() > 1) std::from_chars(kind.data() + 1, kind.data() + kind.size(), bytes);
  bool const usable = bytes > 0 && bytes < (std::int64_t(1) << 31);
  return usable ? (kind[0] == 'U' ? 4 * bytes : bytes) : 0;
}

}  // namespace shardtype
