#pragma once
/// Host: copies of many rows of one length, at different distances, forwards or reversed; and of
/// the rows of several blocks side by side. Rows are counted in bytes, so that one function serves
/// all element types.

#include <cstdint>

#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/layout.hpp>

namespace shardtype::kernels::detail {

/// Bytes of a call; bytes that are made in the cache before they are stored at once.
inline constexpr std::int64_t bytes_of_call = 1 << 16;
inline constexpr std::int64_t made_together = 1 << 12;

/// Whether stores of a result of `bytes` bytes bypass the cache: only of one that is too large for
/// the caches, because stores that bypass them also remove what they hold.
constexpr bool passes_cache(std::int64_t bytes) { return bytes > (std::int64_t{1} << 23); }

/// `rows` rows, `pitch` elements apart.
constexpr Layout row_layout(std::int64_t rows, std::int64_t pitch) {
  Layout l;
  l.rank = 1;
  l.extent[0] = rows;
  l.stride[0] = pitch;
  return l;
}

/// `rows` rows of `bytes` bytes, some bytes apart; reversed as in RowMove.
struct FewRows {
  char const* from;
  std::int64_t from_pitch;
  char* to;
  std::int64_t to_pitch;
  std::int64_t bytes, rows, reversed;
};
/// Copies them through the cache.
void move_rows(FewRows const& few);

/// Rows of one length that are moved to other distances.
struct RowMove {
  char const* src = nullptr;
  char* dst = nullptr;
  std::int64_t bytes = 0;     ///< of a row
  std::int64_t reversed = 0;  ///< bytes of an element of rows that are reversed, else 0
  Layout from;                ///< of the rows, strides in bytes
  Layout to;
  bool stream = false;     ///< whether the stores bypass the cache
  std::int64_t each = 1;   ///< rows of a call, 1 if a row has several pieces
  std::int64_t times = 1;  ///< how often a short row is written, one behind the other

  std::int64_t pieces() const { return (bytes + bytes_of_call - 1) / bytes_of_call; }
  std::int64_t calls() const {
    return pieces() > 1 ? from.elements() * pieces() : (from.elements() + each - 1) / each;
  }
  void operator()(std::int64_t work) const { move_some(*this, work); }

  /// The move of rows of `length` elements of `element` bytes, which `rows_from` and `rows_to`
  /// describe, strides in elements. Reversed rows begin with the element at `src`.
  static RowMove of(void const* src, Layout const& rows_from, void* dst, Layout const& rows_to,
                    std::int64_t length, std::int64_t element, bool reverse) {
    RowMove m;
    m.bytes = length * element;
    m.reversed = reverse ? element : 0;
    m.src = static_cast<char const*>(src) - (reverse ? m.bytes - element : 0);
    m.dst = static_cast<char*>(dst);
    m.from = in_bytes(rows_from, element);
    m.to = in_bytes(rows_to, element);
    m.each = m.bytes < bytes_of_call ? bytes_of_call / m.bytes : 1;
    m.stream = passes_cache(m.from.elements() * m.bytes);
    int const last = m.from.rank - 1;
    std::int64_t const times = m.from.extent[last];
    if (last > 0 && m.from.stride[last] == 0 && times * m.bytes <= made_together / 4 &&
        m.to.rank == 1 && m.to.stride[0] == m.bytes) {
      m.times = times;
      m.each = m.each / times * times;
    }
    return m;
  }

 private:
  static Layout in_bytes(Layout rows, std::int64_t element) {
    if (rows.rank == 0) {
      rows.rank = 1;
      rows.extent[0] = 1;
      rows.stride[0] = 0;
    }
    for (int d = 0; d < rows.rank; ++d) rows.stride[d] *= element;
    return rows;
  }
  static void move_some(RowMove const& m, std::int64_t work);
};

/// A block whose rows are a part of each row of the result.
struct RowPart {
  char const* from;
  std::int64_t bytes;  ///< of a row, which follow one another
};

/// Rows of several blocks side by side.
struct JoinedRows {
  RowPart const* parts;
  int count;
  char* dst;
  std::int64_t rows, width;  ///< bytes of a row of the result
  bool stream;               ///< whether the stores bypass the cache

  std::int64_t each() const { return width < bytes_of_call ? bytes_of_call / width : 1; }
  std::int64_t calls() const { return (rows + each() - 1) / each(); }
  void operator()(std::int64_t work) const { join_some(*this, work); }

 private:
  static void join_some(JoinedRows const& j, std::int64_t work);
};

}  // namespace shardtype::kernels::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/kernels/row_moves.ipp>
#endif
