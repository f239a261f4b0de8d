#pragma once
/// Definitions of npy_dtype.hpp.

#include <shardtype/io/npy_dtype.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::int64_t take_number(std::string_view& text) {
  std::int64_t n = -1;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    std::int64_t const digit = text[0] - '0';
    if (n > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return -1;
    n = (n < 0 ? 0 : 10 * n) + digit;
    text.remove_prefix(1);
  }
  return n;
}

}  // namespace shardtype::detail

namespace shardtype::io {

SHARDTYPE_INLINE std::string npy_dtype_name(std::string_view dtype) {
  auto const kind = detail::npy_kind(dtype);
  if (kind == "b1") return "bool";
  if (kind == "V2") return "bfloat16";
  auto const letter = kind.empty() ? ' ' : kind[0];
  std::string const family = letter == 'f'   ? "float"
                             : letter == 'c' ? "complex"
                             : letter == 'i' ? "int"
                             : letter == 'u' ? "uint"
                                             : "";
  std::string_view digits = kind.substr(kind.empty() ? 0 : 1);
  std::int64_t const bytes = detail::take_number(digits);
  if (family.empty() || bytes < 0 || bytes > 64) return "'" + std::string(dtype) + "'";
  return family + std::to_string(bytes * 8);
}

SHARDTYPE_INLINE std::int64_t npy_item_bytes(std::string_view dtype) {
  auto const kind = detail::npy_kind(dtype);
  std::string_view digits = kind.substr(kind.empty() ? 0 : 1);
  std::int64_t const bytes = detail::take_number(digits);
  bool const usable = bytes > 0 && bytes < (std::int64_t(1) << 31);
  return usable ? (kind[0] == 'U' ? 4 * bytes : bytes) : 0;
}

}  // namespace shardtype::io
