#pragma once
/// A step of an optimizer on the elements of one parameter: one kernel.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/launch_name.hpp>

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

/// `body(weight, gradient, moments...)` on `run` elements, in registers of the machine where it can
/// be.
template <class Body, class W, class G, class C, int N>
struct Update {
  static constexpr std::int64_t run = 4096;
  Body body;
  Blocks<W, G, C, N> blocks;
  C scale;  ///< of the gradient
  std::int64_t n;

  // By default clang warns if it cannot vectorise a loop as told, for the function that holds the
  // loop after inlining, which would be Kokkos'; so `elements` is not inlined
  // (kernels/expression.hpp).
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
  [[gnu::noinline]]
#endif
  KOKKOS_FUNCTION void elements(std::int64_t begin, std::int64_t end) const {
    each(begin, end, std::make_integer_sequence<int, N>{});
  }
  template <int... K>
  KOKKOS_FUNCTION void each(std::int64_t begin, std::int64_t end,
                            std::integer_sequence<int, K...>) const {
    W* const weights = blocks.weights;
    W const* const before = blocks.before;
    G const* const gradient = blocks.gradient;
    C* const master = blocks.master;
    Body const step = body;
    C const factor = scale;
    Blocks<W, G, C, N> const all = blocks;
    if (master != nullptr) {
      for (std::int64_t k = begin; k < end; ++k) {
        step(master[k], static_cast<C>(gradient[k]) * factor, all.moments[K][k]...);
        weights[k] = static_cast<W>(master[k]);
      }
      return;
    }
    // the blocks are apart, or one
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (std::int64_t k = begin; k < end; ++k) {
      C x = static_cast<C>(before[k]);
      step(x, static_cast<C>(gradient[k]) * factor, all.moments[K][k]...);
      weights[k] = static_cast<W>(x);
    }
  }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    elements(part * run, part * run + run < n ? part * run + run : n);
  }
};

template <class Exec, class Body, class W, class G, class C, int N>
void update(Exec const& exec, Body const& body, Blocks<W, G, C, N> const& blocks, C scale,
            std::int64_t n) {
  using Work = Update<Body, W, G, C, N>;
  Kokkos::parallel_for(shardtype::kernels::launch_name("shardtype::optimizer"),
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                           exec, 0, (n + Work::run - 1) / Work::run),
                       Work{body, blocks, scale, n});
  exec.fence();
}

/// x[k] *= factor.
template <class Exec, class T, class C>
void scale(Exec const& exec, T* x, std::int64_t n, C factor) {
  Kokkos::parallel_for(
      shardtype::kernels::launch_name("shardtype::scale"),
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
      KOKKOS_LAMBDA(std::int64_t k) { x[k] = static_cast<T>(static_cast<C>(x[k]) * factor); });
  exec.fence();
}

/// The elements of a block as elements of another type.
template <class Exec, class T, class C>
void convert(Exec const& exec, T const* from, C* to, std::int64_t n) {
  Kokkos::parallel_for(
      shardtype::kernels::launch_name("shardtype::convert"),
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
      KOKKOS_LAMBDA(std::int64_t k) { to[k] = static_cast<C>(from[k]); });
  exec.fence();
}

}  // namespace shardtype::train::kernels
