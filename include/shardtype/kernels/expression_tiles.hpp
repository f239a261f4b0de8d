#pragma once
/// Host: elementwise expressions of operands that lie transposed.

#include <cstddef>
#include <cstdint>

#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/several.hpp>
#include <shardtype/kernels/short_rows.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// Writes the transposed of `columns` lines of `rows` elements, at distance `line`, to rows at
/// distance `pitch`, in squares. Fetches the lines at distance `ahead` if it is not 0, which the
/// hardware does not foresee.
template <class T>
SHARDTYPE_VECTOR_LOOP void transpose_tile(T const* in, std::int64_t line, std::int64_t rows,
                                          std::int64_t columns, std::int64_t ahead, T* out,
                                          std::int64_t pitch) {
  constexpr std::int64_t together = 16;  // lines
  constexpr auto in_line = static_cast<std::int64_t>(64 / sizeof(T));
  for (std::int64_t c = 0; c < columns; c += together) {
    std::int64_t const n = columns - c < together ? columns - c : together;
    if (ahead != 0)
      for (std::int64_t k = c; k < c + n; ++k)
        for (std::int64_t r = 0; r < rows; r += in_line)
          __builtin_prefetch(in + k * line + ahead + r);
    detail::turn_squares(in + c * line, line, rows, n, out + c, pitch);
  }
}

/// Tiles of the dim `fast` and of the last one. Operands that are contiguous along `fast` are
/// transposed to a small buffer, so that each of their lines is read once as a whole; then the rows
/// of the tile are computed.
template <class Types>
struct OperandTiles;
template <class... Ts>
struct OperandTiles<Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  static constexpr std::int64_t element = [] {
    std::size_t most = 1;
    ((most = sizeof(Ts) > most ? sizeof(Ts) : most), ...);
    return static_cast<std::int64_t>(most);
  }();
  /// Rows and columns of a tile: as many as about 80 KiB of buffers allow. Elements between the
  /// rows of a buffer: not a power of two.
  static constexpr std::int64_t side = [] {
    std::int64_t n = 64;
    while (n > 16 && at_least_one(count) * static_cast<std::size_t>(n * (n * element + 64)) >
                         (std::size_t{80} << 10))
      n /= 2;
    return n;
  }();
  static constexpr std::int64_t pitch = side + 64 / element;
  using Buffer = char[static_cast<std::size_t>(side * pitch * element)];
  static constexpr std::size_t slots = at_least_one(count);

  Layout shape;
  Sources<count> in;
  int fast;

  /// The dim along which some operand is contiguous that is not so along the last one, or -1 if
  /// there is none, or tiles do not pay.
  static int fast_dim(Layout const& shape, Sources<count> const& in) {
    constexpr std::int64_t least = 8;
    int const last = shape.rank - 1;
    if (shape.extent[last] < least) return -1;
    for (int k = 0; k < count; ++k) {
      if (in.stride[k][last] == 1 || in.stride[k][last] == 0) continue;
      for (int d = 0; d < last; ++d)
        if (in.stride[k][d] == 1 && shape.extent[d] >= least) return d;
    }
    return -1;
  }
  std::int64_t tiles(int d) const { return (shape.extent[d] + side - 1) / side; }
  std::int64_t calls() const {
    int const last = shape.rank - 1;
    return shape.elements() / shape.extent[last] / shape.extent[fast] * tiles(last) * tiles(fast);
  }

  /// The tile of a call.
  struct Tile {
    std::int64_t rows, columns;
    std::int64_t ahead;       ///< columns to the next tile, which is fetched, or 0
    std::int64_t to, to_row;  ///< place in the result, and stride of its rows
    std::int64_t offset[at_least_one(count)];
  };
  Tile tile(std::int64_t work) const {
    Tile t;
    int const last = shape.rank - 1;
    std::int64_t const j = work % tiles(last) * side;
    work /= tiles(last);
    std::int64_t const i = work % tiles(fast) * side;
    work /= tiles(fast);
    t.columns = shape.extent[last] - j < side ? shape.extent[last] - j : side;
    t.rows = shape.extent[fast] - i < side ? shape.extent[fast] - i : side;
    t.ahead = j + side + t.columns <= shape.extent[last] ? side : 0;
    for (int k = 0; k < count; ++k) t.offset[k] = i * in.stride[k][fast] + j * in.stride[k][last];
    t.to = j;
    std::int64_t to_stride = shape.extent[last];
    for (int d = last - 1; d >= 0; --d) {
      std::int64_t at = i;
      if (d == fast) {
        t.to_row = to_stride;
      } else {
        at = work % shape.extent[d];
        work /= shape.extent[d];
        for (int k = 0; k < count; ++k) t.offset[k] += at * in.stride[k][d];
      }
      t.to += at * to_stride;
      to_stride *= shape.extent[d];
    }
    return t;
  }
  void transpose(Tile const& t, Buffer* buffers) const {
    int k = 0;
    ((transpose_operand<Ts>(k, t, buffers[k]), ++k), ...);
  }
  /// Row `r` of the tile of each operand, where it lies or in its buffer.
  void place(void const** from, Tile const& t, std::int64_t r, Buffer* buffers) const {
    int k = 0;
    ((from[k] = row_of<Ts>(k, t, r, buffers[k]), ++k), ...);
  }

 private:
  bool transposes(int k) const {
    std::int64_t const line = in.stride[k][shape.rank - 1];
    return in.stride[k][fast] == 1 && line != 1 && line != 0;
  }
  template <class U>
  void transpose_operand(int k, Tile const& t, char* buffer) const {
    if (!transposes(k)) return;
    std::int64_t const line = in.stride[k][shape.rank - 1];
    detail::transpose_tile(static_cast<U const*>(in.data[k]) + t.offset[k], line, t.rows, t.columns,
                           t.ahead * line, reinterpret_cast<U*>(buffer), pitch);
  }
  template <class U>
  void const* row_of(int k, Tile const& t, std::int64_t r, char* memory) const {
    U* const buffer = reinterpret_cast<U*>(memory);
    if (transposes(k)) return buffer + r * pitch;
    std::int64_t const stride = in.stride[k][shape.rank - 1];
    auto const* const source =
        static_cast<U const*>(in.data[k]) + t.offset[k] + r * in.stride[k][fast];
    if (stride == 1) return source;
    for (std::int64_t c = 0; c < t.columns; ++c) buffer[c] = source[c * stride];
    return buffer;
  }
};
template <class Out, class E, class Types>
struct EvaluateTiles {
  OperandTiles<Types> all;
  E expression;
  Out out;

  void operator()(std::int64_t work) const {
    auto const tile = all.tile(work);
    alignas(64) typename OperandTiles<Types>::Buffer buffers[OperandTiles<Types>::slots];
    all.transpose(tile, buffers);
    void const* from[OperandTiles<Types>::slots];
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      all.place(from, tile, r, buffers);
      detail::compute_run(expression, from, 0, tile.columns, out + (tile.to + r * tile.to_row));
    }
  }
};

}  // namespace shardtype::kernels::detail
