#pragma once
/// Elementwise expressions on local blocks: one kernel for the whole expression, no temporaries.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/expression_tiles.hpp>
#include <shardtype/kernels/expression_tree.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/several.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// Merges neighbouring dims that are contiguous to each other in the result and in all operands.
template <int Count>
Layout merge_dims(Layout const& result, Sources<Count>& in) {
  Layout out;
  Sources<Count> merged = in;
  for (int d = 0; d < result.rank; ++d) {
    if (result.extent[d] == 1) continue;
    int const last = out.rank - 1;
    bool together = last >= 0;
    for (int k = 0; together && k < Count; ++k)
      together = merged.stride[k][last] == in.stride[k][d] * result.extent[d];
    if (together) {
      out.extent[last] *= result.extent[d];
    } else {
      out.extent[out.rank++] = result.extent[d];
    }
    for (int k = 0; k < Count; ++k) merged.stride[k][out.rank - 1] = in.stride[k][d];
  }
  if (out.rank == 0) {
    out.rank = 1;
    out.extent[0] = 1;
  }
  in = merged;
  return out.packed();
}

/// Host: one call computes a run of the last dim. Operands that are not contiguous there are first
/// copied to a small buffer, so that all loops have unit stride.
template <class Out, class E, class Types>
struct EvaluateRuns;
template <class Out, class E, class... Ts>
struct EvaluateRuns<Out, E, Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  static constexpr std::int64_t short_run = 512;

  E expression;
  Out out;
  Layout shape;
  Sources<count> in;
  std::int64_t run;   ///< elements per call
  std::int64_t runs;  ///< calls per row
  bool plain;         ///< whether no operand needs the buffer

  template <class U, int K>
  void gather(void const** from, std::int64_t n, U* buffer) const {
    std::int64_t const stride = in.stride[K][shape.rank - 1];
    if (stride == 1) return;
    auto const* const source = static_cast<U const*>(from[K]);
    if (stride == 0) {
      std::fill_n(buffer, n, *source);
    } else {
      for (std::int64_t i = 0; i < n; ++i) buffer[i] = source[i * stride];
    }
    from[K] = buffer;
  }
  template <int... K>
  void gather_all(void const** from, std::int64_t n, char (*buffers)[short_run * 16],
                  std::integer_sequence<int, K...>) const {
    static_assert(((sizeof(Ts) <= 16) && ...));
    (gather<Ts, K>(from, n, reinterpret_cast<Ts*>(buffers[K])), ...);
  }

  void operator()(std::int64_t work) const {
    int const last = shape.rank - 1;
    std::int64_t const begin = work % runs * run;
    std::int64_t const n = begin + run < shape.extent[last] ? run : shape.extent[last] - begin;
    std::int64_t row = work / runs;
    Out const to = out + (row * shape.extent[last] + begin);
    std::int64_t offset[at_least_one(count)];
    for (int k = 0; k < count; ++k) offset[k] = begin * in.stride[k][last];
    for (int d = last - 1; d >= 0; --d) {
      std::int64_t const at = row % shape.extent[d];
      row /= shape.extent[d];
      for (int k = 0; k < count; ++k) offset[k] += at * in.stride[k][d];
    }
    alignas(64) char buffers[at_least_one(count)][short_run * 16];
    void const* from[at_least_one(count)];
    place(from, offset, std::make_integer_sequence<int, count>{});
    if (!plain) gather_all(from, n, buffers, std::make_integer_sequence<int, count>{});
    detail::compute_run(expression, from, 0, n, to);
  }
  template <int... K>
  void place(void const** from, std::int64_t const* offset,
             std::integer_sequence<int, K...>) const {
    ((from[K] = static_cast<Ts const*>(in.data[K]) + offset[K]), ...);
  }
};

/// Device: one call computes one element.
template <class Out, class E, class Types>
struct EvaluateElements;
template <class Out, class E, class... Ts>
struct EvaluateElements<Out, E, Elements<Ts...>> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
  E expression;
  Out out;
  Layout shape;
  Sources<count> in;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t offset[at_least_one(count)] = {};
    std::int64_t rest = work;
    for (int d = shape.rank - 1; d >= 0; --d) {
      std::int64_t const at = rest % shape.extent[d];
      rest /= shape.extent[d];
      for (int k = 0; k < count; ++k) offset[k] += at * in.stride[k][d];
    }
    evaluate(offset, out + work, std::make_integer_sequence<int, count>{});
  }
  template <int... K>
  KOKKOS_FUNCTION void evaluate(std::int64_t const* offset, Out const& to,
                                std::integer_sequence<int, K...>) const {
    void const* from[at_least_one(count)] = {static_cast<Ts const*>(in.data[K]) + offset[K]...};
    detail::compute_element(expression, from, to);
  }
};

}  // namespace detail

/// Writes the expression of the operands `in` to `out`, packed, with the extents of `shape`. `out`
/// may be an operand with the same layout. Several expressions are written to Targets, which are
/// none of the operands. Runs on `exec`.
template <class Types, class Exec, class Out, class E>
void evaluate(Exec const& exec, E const& expression, Out const& out, Layout const& shape,
              Sources<Types::count> in) {
  std::int64_t const n = shape.elements();
  if (n == 0) return;
  Layout const merged = detail::merge_dims(shape, in);
  if constexpr (runtime::host_reads<Exec>) {
    using Tiles = detail::EvaluateTiles<Out, E, Types>;
    if (int const fast = Tiles::fast_dim(merged, in); fast >= 0) {
      Tiles const tiles{expression, out, merged, in, fast};
      kernels::launch(exec, "shardtype::elementwise", tiles.calls(), tiles);
      exec.fence();
      return;
    }
    bool plain = true;
    for (int k = 0; k < Types::count; ++k)
      plain = plain && (in.stride[k][merged.rank - 1] == 1 || merged.extent[merged.rank - 1] == 1);
    using Runs = detail::EvaluateRuns<Out, E, Types>;
    std::int64_t const row = merged.extent[merged.rank - 1];
    std::int64_t const run = plain ? 8192 : Runs::short_run;
    std::int64_t const runs = (row + run - 1) / run;
    kernels::launch(exec, "shardtype::elementwise", n / row * runs,
                    Runs{expression, out, merged, in, run, runs, plain});
    exec.fence();
  } else {
    kernels::launch(exec, "shardtype::elementwise", n,
                    detail::EvaluateElements<Out, E, Types>{expression, out, merged, in});
  }
}

}  // namespace shardtype::kernels
