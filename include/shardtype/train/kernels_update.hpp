#pragma once
/// A step of an optimizer on the elements of one parameter: one kernel.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::train::kernels {

/// The blocks of a parameter after and before the step, its gradient, `N` moments, and the
/// parameter in the type that is computed with, or null: then `before` is read, which may be
/// `weights`. `W` and `G` are converted to `C`, and the result is rounded once.
template <class W, class G, class C, int N>
struct Blocks {
  W* weights;
  W const* before;
  G const* gradient;
  C* moments[static_cast<std::size_t>(N > 0 ? N : 1)];
  C* master;
};

/// Elements that one call computes: on a device one.
template <class Exec>
inline constexpr std::int64_t run = runtime::host_reads<Exec> ? 4096 : 1;

/// Where the elements of call `part` end, of `n`.
template <class Exec>
KOKKOS_FUNCTION std::int64_t end_of(std::int64_t part, std::int64_t n) {
  return (part + 1) * run<Exec> < n ? (part + 1) * run<Exec> : n;
}

/// to[k] = from[k], converted. Inner loops of a fixed length become vectors at -O2, too.
template <class From, class To>
KOKKOS_FUNCTION void convert_run(From const* from, To* to, std::int64_t n) {
  constexpr int together = 32;
  std::int64_t k = 0;
  for (; k + together <= n; k += together) {
    To some[together];
    for (int j = 0; j < together; ++j) some[j] = static_cast<To>(from[k + j]);
    for (int j = 0; j < together; ++j) to[k + j] = some[j];
  }
  for (; k < n; ++k) to[k] = static_cast<To>(from[k]);
}

/// `body(weight, gradient, moments...)` on a run of elements: on the host in vectors, to the last
/// element, so that an element has the same bits wherever it lies.
template <class Exec, class Body, class W, class G, class C, int N>
struct Update {
  static constexpr bool vectorised = runtime::host_reads<Exec> &&
                                     shardtype::kernels::detail::computes_in_vectors &&
                                     shardtype::kernels::detail::has_vectors<C>;
  Body body;
  Blocks<W, G, C, N> blocks;
  C scale;  ///< of the gradient
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int64_t const begin = part * run<Exec>;
    std::int64_t const end = kernels::end_of<Exec>(part, n);
    if constexpr (vectorised) {
      for (std::int64_t at = begin; at < end; at += tile)
        in_vectors(at, end - at < tile ? end - at : tile);
    } else {
      for (std::int64_t k = begin; k < end; ++k) one(k, std::make_integer_sequence<int, N>{});
    }
  }

 private:
  template <int... K>
  KOKKOS_FUNCTION void one(std::int64_t k, std::integer_sequence<int, K...>) const {
    C x = blocks.master != nullptr ? blocks.master[k] : static_cast<C>(blocks.before[k]);
    body(x, static_cast<C>(blocks.gradient[k]) * scale, blocks.moments[K][k]...);
    if (blocks.master != nullptr) blocks.master[k] = x;
    blocks.weights[k] = static_cast<W>(x);
  }

  /// Elements that are converted at once, and stay in the L1 cache.
  static constexpr std::int64_t tile = 512;

  /// `from` where its elements are `C`, else `buffer` with them.
  template <class T>
  static C const* converted(T const* from, [[maybe_unused]] C* buffer,
                            [[maybe_unused]] std::int64_t count) {
    if constexpr (std::is_same_v<T, C>) {
      return from;
    } else {
      kernels::convert_run(from, buffer, count);
      return buffer;
    }
  }
  void in_vectors(std::int64_t at, std::int64_t count) const {
    C buffer[static_cast<std::size_t>(tile)];
    C of_gradient[static_cast<std::size_t>(tile)];
    C* const master = blocks.master != nullptr ? blocks.master + at : nullptr;
    C const* const before =
        master != nullptr ? master : converted(blocks.before + at, buffer, count);
    C const* const gradient = converted(blocks.gradient + at, of_gradient, count);
    W* const weights = blocks.weights + at;
    C* after = master != nullptr ? master : buffer;
    if constexpr (std::is_same_v<W, C>)
      if (master == nullptr) after = weights;
    steps(at, count, before, gradient, after, std::make_integer_sequence<int, N>{});
    if constexpr (std::is_same_v<W, C>) {
      if (master != nullptr)
        std::memcpy(weights, master, static_cast<std::size_t>(count) * sizeof(C));
    } else {
      kernels::convert_run(static_cast<C const*>(after), weights, count);
    }
  }

  using Vector = shardtype::kernels::detail::vector_of<C, vectorised>;
  static constexpr std::int64_t lanes = sizeof(Vector) / sizeof(C);
  template <int... K>
  void steps([[maybe_unused]] std::int64_t at, std::int64_t count, C const* before,
             C const* gradient, C* after, std::integer_sequence<int, K...>) const {
    Body const step = body;
    Vector const factor = Vector{} + scale;
    [[maybe_unused]] C* const moments[] = {blocks.moments[K] + at..., nullptr};
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      Vector x, g;
      std::memcpy(&x, before + k, sizeof(Vector));
      std::memcpy(&g, gradient + k, sizeof(Vector));
      [[maybe_unused]] Vector m[] = {loaded(moments[K] + k)..., Vector{}};
      step(x, g * factor, m[K]...);
      std::memcpy(after + k, &x, sizeof(Vector));
      (std::memcpy(moments[K] + k, &m[K], sizeof(Vector)), ...);
    }
    if (k == count) return;
    auto const rest = static_cast<std::size_t>(count - k) * sizeof(C);
    Vector x = filled(before + k, rest);
    Vector const g = filled(gradient + k, rest);
    [[maybe_unused]] Vector m[] = {filled(moments[K] + k, rest)..., Vector{}};
    step(x, g * factor, m[K]...);
    std::memcpy(after + k, &x, rest);
    (std::memcpy(moments[K] + k, &m[K], rest), ...);
  }
  static Vector loaded(C const* from) {
    Vector v;
    std::memcpy(&v, from, sizeof(Vector));
    return v;
  }
  static Vector filled(C const* from, std::size_t bytes) {
    Vector v = Vector{} + C(1);  // usual arguments
    std::memcpy(&v, from, bytes);
    return v;
  }
};

/// Makes `Kernel`'s calls for `n` elements.
template <class Exec, class Kernel>
void launch_runs(Exec const& exec, char const* name, std::int64_t n, Kernel const& kernel) {
  shardtype::kernels::launch(exec, name, (n + run<Exec> - 1) / run<Exec>, kernel);
  runtime::fence(exec);
}

template <class Exec, class Body, class W, class G, class C, int N>
void update(Exec const& exec, Body const& body, Blocks<W, G, C, N> const& blocks, C scale,
            std::int64_t n) {
  kernels::launch_runs(exec, "shardtype::optimizer", n,
                       Update<Exec, Body, W, G, C, N>{body, blocks, scale, n});
}

/// x[k] *= factor.
template <class Exec, class T, class C>
struct Scale {
  T* x;
  std::int64_t n;
  C factor;
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    constexpr int together = 32;
    std::int64_t const end = kernels::end_of<Exec>(part, n);
    std::int64_t k = part * run<Exec>;
    if constexpr (runtime::host_reads<Exec>) {
      for (; k + together <= end; k += together)
        for (int j = 0; j < together; ++j) scale(x[k + j]);
    }
    for (; k < end; ++k) scale(x[k]);
  }
  KOKKOS_FUNCTION void scale(T& one) const { one = static_cast<T>(static_cast<C>(one) * factor); }
};
template <class Exec, class T, class C>
void scale(Exec const& exec, T* x, std::int64_t n, C factor) {
  kernels::launch_runs(exec, "shardtype::scale", n, Scale<Exec, T, C>{x, n, factor});
}

/// The elements of a block as elements of another type.
template <class Exec, class T, class C>
struct Convert {
  T const* from;
  C* to;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int64_t const begin = part * run<Exec>;
    kernels::convert_run(from + begin, to + begin, kernels::end_of<Exec>(part, n) - begin);
  }
};
template <class Exec, class T, class C>
void convert(Exec const& exec, T const* from, C* to, std::int64_t n) {
  kernels::launch_runs(exec, "shardtype::convert", n, Convert<Exec, T, C>{from, to, n});
}

}  // namespace shardtype::train::kernels
