#pragma once
/// Host: packed copies whose last dim is one element again and again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/kernels/vector_loop.hpp>

namespace shardtype::kernels::detail {

/// The runs of a packed result, each cut into pieces; one call makes a piece. A run has the
/// elements of the last dim, or of the last two.
template <class T>
struct PackedRuns {
  static constexpr std::int64_t piece = bytes_of_call / static_cast<std::int64_t>(sizeof(T));
  T const* src;
  T* dst;
  Layout outer;             ///< the dims outside of a run
  std::int64_t length = 1;  ///< of a run
  std::int64_t pieces;      ///< of a run
  bool stream;              ///< whether the stores bypass the cache

  PackedRuns(T const* from, T* to, Layout const& all, int inner) : src(from), dst(to), outer(all) {
    for (; inner > 0; --inner) length *= outer.extent[--outer.rank];
    pieces = (length + piece - 1) / piece;
    stream = passes_cache(all.elements() * static_cast<std::int64_t>(sizeof(T))) &&
             length * static_cast<std::int64_t>(sizeof(T)) >= 1024;
  }
  std::int64_t calls() const { return outer.elements() * pieces; }

  /// Calls `make(to, from, begin, n)` to write the elements from `begin` to `begin + n` of the run
  /// at `from`, and as many as fill `spare` bytes behind them.
  template <std::size_t spare, class Make>
  void write(std::int64_t work, Make const& make) const {
    std::int64_t const row = work / pieces;
    std::int64_t begin = work % pieces * piece;
    std::int64_t const end = std::min(begin + piece, length);
    T* out = dst + row * length + begin;
    T const* const in = src + offset_of(outer, row);
    constexpr auto room = static_cast<std::int64_t>(made_together / sizeof(T));
    alignas(64) char buffer[made_together + spare];
    T* const made = reinterpret_cast<T*>(buffer);
    for (; begin < end; begin += room, out += room) {
      std::int64_t const n = std::min(room, end - begin);
      std::size_t const bytes = static_cast<std::size_t>(n) * sizeof(T);
      make(made, in, begin, n);
      if (stream)
        kernels::stream_copy(out, buffer, bytes);
      else
        std::memcpy(static_cast<void*>(out), buffer, bytes);
    }
    if (stream) stream_fence();
  }
};

/// dst (packed) = src, whose last dim has stride 0.
template <class T>
struct RepeatedElements {
  PackedRuns<T> runs;  ///< of the last two dims
  std::int64_t times;
  std::int64_t stride;  ///< of the elements that are repeated

  static constexpr int lanes = sizeof(T) < 32 ? static_cast<int>(32 / sizeof(T)) : 1;

  void operator()(std::int64_t work) const {
    runs.template write<lanes * sizeof(T)>(
        work, [this](T* to, T const* from, std::int64_t begin, std::int64_t n) {
          repeat_some(to, from, begin, n);
        });
  }
  SHARDTYPE_VECTOR_LOOP void repeat_some(T* to, T const* from, std::int64_t begin,
                                         std::int64_t n) const {
    T* const end = to + n;
    T const* in = from + begin / times * stride;
    if (std::int64_t const used = begin % times; used > 0) {
      std::int64_t const rest = std::min(times - used, n);
      put(to, *in, rest);
      to += rest;
      in += stride;
    }
    if (times == 2)
      to = put_each<2>(to, end, in);
    else if (times == 3)
      to = put_each<3>(to, end, in);
    else if (times == 4)
      to = put_each<4>(to, end, in);
    else if (times <= lanes)
      for (; end - to >= times; to += times, in += stride) put(to, *in, lanes);
    for (; end - to >= times; to += times, in += stride) put(to, *in, times);
    if (to < end) put(to, *in, end - to);
  }
  /// All whole elements up to `end`.
  template <int n>
  T* put_each(T* to, T const* end, T const*& in) const {
    std::int64_t const count = (end - to) / n;
    if (stride == 1) {
      // compilers write no vectors of a class
      using Moved = std::conditional_t<sizeof(T) == sizeof(std::uint16_t), std::uint16_t, T>;
      T const* const given = in;
      for (std::int64_t k = 0; k < count; ++k) {
        Moved x;
        std::memcpy(static_cast<void*>(&x), given + k, sizeof x);
        for (int j = 0; j < n; ++j) std::memcpy(static_cast<void*>(to + k * n + j), &x, sizeof x);
      }
    } else {
      for (std::int64_t k = 0; k < count; ++k)
        for (int j = 0; j < n; ++j) to[k * n + j] = in[k * stride];
    }
    in += count * stride;
    return to + count * n;
  }
  /// Whole vectors: what is too much is overwritten by the next element.
  static void put(T* to, T const& x, std::int64_t n) {
    T many[static_cast<std::size_t>(lanes)];
    for (T& one : many) one = x;
    for (std::int64_t k = 0; k < n; k += lanes)
      std::memcpy(static_cast<void*>(to + k), many, sizeof many);
  }
};

}  // namespace shardtype::kernels::detail
