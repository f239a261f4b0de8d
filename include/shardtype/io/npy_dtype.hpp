#pragma once
/// The element types of NumPy files: their dtypes, names and sizes.

#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/core/compiled.hpp>

namespace shardtype::io {

/// The text of the NumPy dtype of `T`; null of types that are not C++'s own.
template <class T>
constexpr char const* npy_text() {
  if constexpr (std::is_same_v<T, float>) return "<f4";
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, bool>) return "|b1";
  if constexpr (std::is_same_v<T, std::int32_t>) return "<i4";
  if constexpr (std::is_same_v<T, std::int64_t>) return "<i8";
  if constexpr (std::is_same_v<T, std::complex<float>>) return "<c8";
  if constexpr (std::is_same_v<T, std::complex<double>>) return "<c16";
  return nullptr;
}
/// The NumPy dtype of an element type, as `static constexpr char const* text`. Specialise it for
/// further types; for another library's complex type, derive from the specialisation of
/// std::complex.
template <class T>
struct NpyDtype;
template <class T>
  requires(io::npy_text<T>() != nullptr)
struct NpyDtype<T> {
  static constexpr char const* text = io::npy_text<T>();
};

/// The dtype of a .npy file of `T`, such as "<f4".
template <class T>
std::string npy_dtype() {
  static_assert(std::endian::native == std::endian::little, ".npy files here are little-endian");
  return NpyDtype<T>::text;
}

}  // namespace shardtype::io

namespace shardtype {

namespace detail {

/// Removes the whole number at the front of `text` and returns it; -1 if there is none or it
/// exceeds 64 bits.
std::int64_t take_number(std::string_view& text);

/// `dtype` without its byte order: "<f4" and "=f4" are equal on a little-endian machine.
inline std::string_view npy_kind(std::string_view dtype) {
  bool const marked = !dtype.empty() && std::string_view("<=|>").find(dtype[0]) != dtype.npos;
  return marked ? dtype.substr(1) : dtype;
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::io {

/// NumPy's name of a dtype: "float64" for "<f8"; an unknown kind is returned unchanged. Two bytes
/// of no kind are bfloat16 of the package ml_dtypes.
std::string npy_dtype_name(std::string_view dtype);

/// Bytes of one element; 0 if the dtype does not determine them.
std::int64_t npy_item_bytes(std::string_view dtype);

}  // namespace shardtype::io

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_dtype.ipp>
#endif
