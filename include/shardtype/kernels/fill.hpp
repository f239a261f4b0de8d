#pragma once
/// Fills a block with one value.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {
template <class T>
struct Fill {
  T* data;
  T value;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { data[k] = value; }
};
/// Host: one call writes a part, past the cache if it is one of many.
template <class T>
struct FillParts {
  static constexpr std::int64_t part = bytes_of_call / static_cast<std::int64_t>(sizeof(T));
  T* data;
  std::int64_t n;
  T value;
  bool stream;

  std::int64_t calls() const { return (n + part - 1) / part; }
  SHARDTYPE_VECTOR_LOOP void operator()(std::int64_t work) const {
    T* out = data + work * part;
    T* const end = data + std::min((work + 1) * part, n);
    if (!stream) {
      std::fill(out, end, value);
      return;
    }
    constexpr auto room = static_cast<std::int64_t>(made_together / sizeof(T));
    alignas(64) T made[static_cast<std::size_t>(room)];
    std::fill(made, made + room, value);
    for (; out < end; out += room)
      kernels::stream_copy(out, made,
                           static_cast<std::size_t>(std::min(room, end - out)) * sizeof(T));
    kernels::stream_fence();
  }
};
}  // namespace detail

/// data[0 .. n) = value.
template <class T, class Exec>
void fill(Exec const& exec, T* data, std::int64_t n, T value) {
  if constexpr (runtime::host_reads<Exec>) {
    bool const stream = detail::passes_cache(n * static_cast<std::int64_t>(sizeof(T)));
    detail::FillParts<T> const parts{data, n, value, stream};
    kernels::launch(exec, "shardtype::fill", parts.calls(), parts);
  } else {
    kernels::launch(exec, "shardtype::fill", n, detail::Fill<T>{data, value});
  }
}

}  // namespace shardtype::kernels
