#pragma once
/// Copies between a block and a part of another block, or adds to it: rows of one length, at
/// different distances.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// One work item copies, or `adds`, one piece of a row, so that few long rows occupy as many
/// threads as many short rows; on a device one element.
template <class T, bool adds>
struct Pitched {
  T const* src;
  T* dst;
  std::int64_t src_pitch, dst_pitch, length, pieces, piece;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / pieces;
    std::int64_t const from = work % pieces * piece;
    std::int64_t const to = from + piece < length ? from + piece : length;
    T const* const in = src + row * src_pitch;
    T* const out = dst + row * dst_pitch;
    for (std::int64_t k = from; k < to; ++k) {
      if constexpr (adds) {
        out[k] += in[k];
      } else {
        out[k] = in[k];
      }
    }
  }
};

template <bool adds, class T, class Exec>
void move_pitched(Exec const& exec, char const* name, T const* src, std::int64_t src_pitch, T* dst,
                  std::int64_t dst_pitch, std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return;
  if constexpr (!adds && runtime::host_reads<Exec>) {
    auto const move = RowMove::of(src, row_layout(rows, src_pitch), dst,
                                  row_layout(rows, dst_pitch), length, sizeof(T), false);
    kernels::launch(exec, name, move.calls(), move);
  } else {
    constexpr std::int64_t piece = runtime::host_reads<Exec> ? 4096 : 1;
    std::int64_t const pieces = (length + piece - 1) / piece;
    kernels::launch(exec, name, rows * pieces,
                    Pitched<T, adds>{src, dst, src_pitch, dst_pitch, length, pieces, piece});
  }
}

}  // namespace detail

/// dst[r * dst_pitch + k] = src[r * src_pitch + k] for r in [0, rows), k in [0, length).
template <class T, class Exec>
void copy_pitched(Exec const& exec, T const* src, std::int64_t src_pitch, T* dst,
                  std::int64_t dst_pitch, std::int64_t rows, std::int64_t length) {
  detail::move_pitched<false>(exec, "shardtype::copy_pitched", src, src_pitch, dst, dst_pitch, rows,
                              length);
}

/// dst[r * dst_pitch + k] += src[r * src_pitch + k].
template <class T, class Exec>
void add_pitched(Exec const& exec, T const* src, std::int64_t src_pitch, T* dst,
                 std::int64_t dst_pitch, std::int64_t rows, std::int64_t length) {
  detail::move_pitched<true>(exec, "shardtype::add_pitched", src, src_pitch, dst, dst_pitch, rows,
                             length);
}

/// Host: the rows of `count` packed blocks side by side, in `rows` packed rows at `dst`. `parts` is
/// read until `exec` is fenced.
template <class T, class Exec>
  requires(runtime::host_reads<Exec>)
void join_rows(Exec const& exec, detail::RowPart const* parts, int count, T* dst,
               std::int64_t rows) {
  detail::JoinedRows join{parts, count, reinterpret_cast<char*>(dst), rows, 0, false};
  for (int k = 0; k < count; ++k) join.width += parts[k].bytes;
  if (rows == 0 || join.width == 0) return;
  join.stream = detail::passes_cache(rows * join.width);
  kernels::launch(exec, "shardtype::join_rows", join.calls(), join);
}

}  // namespace shardtype::kernels
