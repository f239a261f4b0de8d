#pragma once
/// Host: elementwise expressions of operands that lie transposed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/several.hpp>
#include <shardtype/kernels/transpose.hpp>

namespace shardtype::kernels::detail {

/// Writes the transposed of `columns` lines of `rows` elements, at distance `line`, to rows at
/// distance `pitch`, in squares. Fetches the lines at distance `ahead` if it is not 0, which the
/// hardware does not foresee.
template <class T>
void transpose_tile(T const* in, std::int64_t line, std::int64_t rows, std::int64_t columns,
                    std::int64_t ahead, T* out, std::int64_t pitch) {
  using Square = TransposeSquare<sizeof(T)>;
  constexpr std::int64_t side = Square::side;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  std::int64_t const whole_rows = side == 1 ? 0 : rows / side * side;
  std::int64_t const whole_columns = side == 1 ? 0 : columns / side * side;
  for (std::int64_t c = 0; c < whole_columns; c += side) {
    if (ahead != 0)
      for (std::int64_t k = 0; k < side; ++k)
        for (std::int64_t r = 0; r < rows; r += 64 / bytes)
          __builtin_prefetch(in + (c + k) * line + ahead + r);
    if constexpr (side > 1)
      for (std::int64_t r = 0; r < whole_rows; r += side)
        Square::move(reinterpret_cast<char const*>(in + c * line + r), line * bytes,
                     reinterpret_cast<char*>(out + r * pitch + c), pitch * bytes);
    for (std::int64_t k = c; k < c + side; ++k)
      for (std::int64_t r = whole_rows; r < rows; ++r) out[r * pitch + k] = in[k * line + r];
  }
  for (std::int64_t c = whole_columns; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) out[r * pitch + c] = in[c * line + r];
}

/// One call computes a tile of the dim `fast` and of the last one. Operands that are contiguous
/// along `fast` are transposed to a small buffer, so that each of their lines is read once as a
/// whole; then the rows of the tile are computed.
template <class Out, class E, class Types>
struct EvaluateTiles;
template <class Out, class E, class... Ts>
struct EvaluateTiles<Out, E, Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  static constexpr std::int64_t element = std::max({std::size_t{1}, sizeof(Ts)...});
  /// Elements between the rows of a buffer: not a power of two.
  static constexpr std::int64_t pitch(std::int64_t n) { return n + 64 / element; }
  static constexpr std::int64_t bytes_of(std::int64_t n) { return n * pitch(n) * element; }
  /// Rows and columns of a tile: as many as about 80 KiB of buffers allow.
  static constexpr std::int64_t side = [] {
    std::int64_t n = 64;
    while (n > 16 && std::max(count, 1) * bytes_of(n) > (80 << 10)) n /= 2;
    return n;
  }();
  using Buffer = char[static_cast<std::size_t>(bytes_of(side))];

  E expression;
  Out out;
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

  void operator()(std::int64_t work) const {
    int const last = shape.rank - 1;
    std::int64_t const j = work % tiles(last) * side;
    work /= tiles(last);
    std::int64_t const i = work % tiles(fast) * side;
    work /= tiles(fast);
    std::int64_t const columns = std::min(side, shape.extent[last] - j);
    std::int64_t const rows = std::min(side, shape.extent[fast] - i);
    std::int64_t offset[at_least_one(count)];
    for (int k = 0; k < count; ++k) offset[k] = i * in.stride[k][fast] + j * in.stride[k][last];
    std::int64_t to = j;
    std::int64_t to_row = 0;
    std::int64_t to_stride = shape.extent[last];
    for (int d = last - 1; d >= 0; --d) {
      std::int64_t at = i;
      if (d == fast) {
        to_row = to_stride;
      } else {
        at = work % shape.extent[d];
        work /= shape.extent[d];
        for (int k = 0; k < count; ++k) offset[k] += at * in.stride[k][d];
      }
      to += at * to_stride;
      to_stride *= shape.extent[d];
    }
    alignas(64) Buffer buffers[at_least_one(count)];
    std::int64_t const ahead = j + side + columns <= shape.extent[last] ? side : 0;
    compute(offset, rows, columns, ahead, out + to, to_row, buffers,
            std::make_integer_sequence<int, count>{});
  }

 private:
  template <int... K>
  void compute(std::int64_t const* offset, std::int64_t rows, std::int64_t columns,
               std::int64_t ahead, Out const& to, std::int64_t to_row, Buffer* buffers,
               std::integer_sequence<int, K...>) const {
    (transpose<Ts, K>(offset[K], rows, columns, ahead, reinterpret_cast<Ts*>(buffers[K])), ...);
    void const* from[at_least_one(count)];
    for (std::int64_t r = 0; r < rows; ++r) {
      ((from[K] = row_of<Ts, K>(offset[K], r, columns, reinterpret_cast<Ts*>(buffers[K]))), ...);
      detail::compute_run(expression, from, 0, columns, to + r * to_row);
    }
  }
  template <int K>
  bool transposes() const {
    std::int64_t const line = in.stride[K][shape.rank - 1];
    return in.stride[K][fast] == 1 && line != 1 && line != 0;
  }
  template <class U, int K>
  void transpose(std::int64_t offset, std::int64_t rows, std::int64_t columns, std::int64_t ahead,
                 U* buffer) const {
    if (!transposes<K>()) return;
    std::int64_t const line = in.stride[K][shape.rank - 1];
    detail::transpose_tile(static_cast<U const*>(in.data[K]) + offset, line, rows, columns,
                           ahead * line, buffer, pitch(side));
  }
  /// Row `r` of the tile of an operand, where it lies or in the buffer.
  template <class U, int K>
  void const* row_of(std::int64_t offset, std::int64_t r, std::int64_t columns, U* buffer) const {
    if (transposes<K>()) return buffer + r * pitch(side);
    std::int64_t const stride = in.stride[K][shape.rank - 1];
    auto const* const source = static_cast<U const*>(in.data[K]) + offset + r * in.stride[K][fast];
    if (stride == 1) return source;
    for (std::int64_t c = 0; c < columns; ++c) buffer[c] = source[c * stride];
    return buffer;
  }
};

}  // namespace shardtype::kernels::detail
