#pragma once
/// Local work of pools, on blocks in the order [outer, dim of windows] for each window, then inner.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/nn/types_pool_work.hpp>

namespace shardtype::nn::kernels {

/// Elements of the result that one call makes: on the host so many that the loops over them are
/// vectorized and what they read stays in cache.
template <class Exec>
inline constexpr std::size_t pool_tile =
    Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible ? 256 : 1;

/// The calls of a pool's local work: each makes some neighbouring places (or rows) of the last
/// dim, of which each has some of the inner elements.
struct PoolTiles {
  std::int64_t along = 1;   ///< places of a tile
  std::int64_t inner = 1;   ///< inner elements of each
  std::int64_t beside = 1;  ///< tiles of the inner elements
  std::int64_t lines = 1;   ///< tiles of the last dim
  std::int64_t calls = 0;

  PoolTiles(detail::PoolSizes const& s, bool of_rows, std::int64_t most) {
    std::int64_t const length = of_rows ? s.axis[2].rows : s.axis[2].places;
    std::int64_t const all = s.elements(of_rows);
    if (all == 0) return;
    beside = (s.inner + most - 1) / most;
    inner = (s.inner + beside - 1) / beside;
    along = most / inner < length ? most / inner : length;
    lines = (length + along - 1) / along;
    calls = all / (length * s.inner) * lines * beside;
  }
};
/// One tile: where it is.
struct PoolTile {
  std::int64_t outer[3], at[2];           ///< before each dim, and along the first two
  std::int64_t begin, end, first, inner;  ///< along the last dim, and of the inner elements

  KOKKOS_FUNCTION PoolTile(detail::PoolSizes const& s, PoolTiles const& tiles, bool of_rows,
                           std::int64_t call) {
    first = call % tiles.beside * tiles.inner;
    call /= tiles.beside;
    inner = s.inner - first < tiles.inner ? s.inner - first : tiles.inner;
    std::int64_t const length = of_rows ? s.axis[2].rows : s.axis[2].places;
    begin = call % tiles.lines * tiles.along;
    call /= tiles.lines;
    end = length - begin < tiles.along ? length : begin + tiles.along;
    outer[2] = call % s.axis[2].outer;
    call /= s.axis[2].outer;
    for (int i = 1; i >= 0; --i) {
      std::int64_t const n = of_rows ? s.axis[i].rows : s.axis[i].places;
      at[i] = call % n;
      call /= n;
      outer[i] = call % s.axis[i].outer;
      call /= s.axis[i].outer;
    }
  }
  /// The first inner element of this tile in the line with these rows (or places) of the first two
  /// dims.
  KOKKOS_FUNCTION std::int64_t line(detail::PoolSizes const& s, bool of_rows, std::int64_t at_0,
                                    std::int64_t at_1) const {
    std::int64_t const n_0 = of_rows ? s.axis[0].rows : s.axis[0].places;
    std::int64_t const n_1 = of_rows ? s.axis[1].rows : s.axis[1].places;
    std::int64_t const n_2 = of_rows ? s.axis[2].rows : s.axis[2].places;
    std::int64_t n = outer[0] * n_0 + at_0;
    n = (n * s.axis[1].outer + outer[1]) * n_1 + at_1;
    return (n * s.axis[2].outer + outer[2]) * n_2 * s.inner + first;
  }
};

/// The least j with j times + first >= bound.
KOKKOS_INLINE_FUNCTION std::int64_t least_place(std::int64_t bound, std::int64_t first,
                                                std::int64_t times) {
  return bound <= first ? 0 : (bound - first + times - 1) / times;
}
/// The row that tap `t` of place `j` is, or -1.
KOKKOS_INLINE_FUNCTION std::int64_t row_of_tap(detail::PoolAxis const& x, std::int64_t j,
                                               std::int64_t t) {
  std::int64_t const r = x.first + j * x.times + t * x.step;
  return r >= 0 && r < x.rows ? r : -1;
}
/// The place of which tap `t` is row `r`, or -1.
KOKKOS_INLINE_FUNCTION std::int64_t place_of_tap(detail::PoolAxis const& x, std::int64_t r,
                                                 std::int64_t t) {
  std::int64_t const apart = r - x.first - t * x.step;
  if (apart < 0 || apart % x.times != 0) return -1;
  return apart / x.times < x.places ? apart / x.times : -1;
}
/// Taps of place `j` that are rows of the tensor.
KOKKOS_INLINE_FUNCTION std::int64_t taps_inside(detail::PoolAxis const& x, std::int64_t j) {
  std::int64_t const first = x.row + x.first + j * x.times;
  std::int64_t const begin = least_place(0, first, x.step);
  std::int64_t const end = least_place(x.all_rows, first, x.step);
  return begin >= x.taps ? 0 : (end < x.taps ? end : x.taps) - begin;
}
/// What the mean over a window divides by.
KOKKOS_INLINE_FUNCTION std::int64_t pool_count(detail::PoolSizes const& s, std::int64_t at_0,
                                               std::int64_t at_1, std::int64_t at_2) {
  if (s.count_all) return s.axis[0].taps * s.axis[1].taps * s.axis[2].taps;
  return taps_inside(s.axis[0], at_0) * taps_inside(s.axis[1], at_1) * taps_inside(s.axis[2], at_2);
}

/// Calls `one(k, from)` for the elements k of a tile's places from `begin` to `end`, which are
/// `inner` at each; place j reads from element (first + j times) * stride on.
template <class One>
KOKKOS_INLINE_FUNCTION void each_of_tile(PoolTile const& tile, std::int64_t begin, std::int64_t end,
                                         std::int64_t first, std::int64_t times,
                                         std::int64_t stride, One const& one) {
  std::int64_t const inner = tile.inner, places = end - begin;
  std::int64_t const to = (begin - tile.begin) * inner, from = (first + begin * times) * stride;
  if (inner == 1 && stride == 1 && times == 2) {
    for (std::int64_t j = 0; j < places; ++j) one(to + j, from + 2 * j);
  } else if (inner == 1) {
    for (std::int64_t j = 0; j < places; ++j) one(to + j, from + j * times * stride);
  } else if (times == 1 && inner == stride) {
    for (std::int64_t k = 0; k < places * inner; ++k) one(to + k, from + k);
  } else {
    for (std::int64_t j = 0; j < places; ++j)
      for (std::int64_t k = 0; k < inner; ++k)
        one(to + j * inner + k, from + j * times * stride + k);
  }
}

/// The results of a tile of places: of `in`, and where taps choose of `taps`, which `max_taps`
/// writes.
template <detail::PoolKind kind, class T, std::size_t most>
struct PoolPlaces {
  using Kind = detail::PoolKind;
  using C = shardtype::detail::computed_t<T>;
  using Tap = detail::tap_number;
  using Taps = std::conditional_t<kind == Kind::take, Tap const, Tap>;
  detail::PoolSizes sizes;
  PoolTiles tiles;
  T const* in;
  T* out;
  Taps* taps;

  KOKKOS_FUNCTION void operator()(std::int64_t call) const {
    PoolTile const tile(sizes, tiles, false, call);
    detail::PoolAxis const &x = sizes.axis[0], &y = sizes.axis[1], &z = sizes.axis[2];
    std::int64_t const n = (tile.end - tile.begin) * tile.inner;
    std::int64_t const to =
        tile.line(sizes, false, tile.at[0], tile.at[1]) + tile.begin * sizes.inner;
    C sum[most];
    Tap chosen[most];
    for (std::int64_t k = 0; k < n; ++k) sum[k] = least;
    if constexpr (kind == Kind::max_taps)
      for (std::int64_t k = 0; k < n; ++k) chosen[k] = -1;
    if constexpr (kind == Kind::take)
      for (std::int64_t k = 0; k < n; ++k) chosen[k] = taps[to + k];
    for (std::int64_t t0 = 0; t0 < x.taps; ++t0) {
      std::int64_t const r0 = row_of_tap(x, tile.at[0], t0);
      for (std::int64_t t1 = 0; t1 < y.taps && r0 >= 0; ++t1) {
        std::int64_t const r1 = row_of_tap(y, tile.at[1], t1);
        if (r1 < 0) continue;
        T const* const line = in + tile.line(sizes, true, r0, r1);
        for (std::int64_t t2 = 0; t2 < z.taps; ++t2) {
          std::int64_t const first = z.first + t2 * z.step;
          std::int64_t begin = least_place(0, first, z.times);
          std::int64_t end = least_place(z.rows, first, z.times);
          begin = begin < tile.begin ? tile.begin : begin;
          end = end < tile.end ? end : tile.end;
          if (begin >= end) continue;
          auto const tap = static_cast<Tap>(t0 * x.tap_stride + t1 * y.tap_stride + t2);
          kernels::each_of_tile(tile, begin, end, first, z.times, sizes.inner,
                                [&](std::int64_t k, std::int64_t from) {
                                  add(sum[k], chosen[k], static_cast<C>(line[from]), tap);
                                });
        }
      }
    }
    if constexpr (kind == Kind::avg)
      for (std::int64_t j = tile.begin; j < tile.end; ++j) {
        auto const count = static_cast<C>(pool_count(sizes, tile.at[0], tile.at[1], j));
        C* const some = sum + (j - tile.begin) * tile.inner;
        for (std::int64_t k = 0; k < tile.inner; ++k) some[k] /= count;
      }
    for (std::int64_t k = 0; k < n; ++k) out[to + k] = static_cast<T>(sum[k]);
    if constexpr (kind == Kind::max_taps)
      for (std::int64_t k = 0; k < n; ++k) taps[to + k] = chosen[k];
  }

 private:
  static constexpr C least = [] {
    if (kind == Kind::avg || kind == Kind::take) return C{};
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? static_cast<C>(-Limits::infinity()) : Limits::lowest();
  }();
  /// The first NaN stays. Without branches, so that compilers vectorize.
  KOKKOS_FUNCTION static void add(C& sum, Tap& chosen, C value, Tap tap) {
    if constexpr (kind == Kind::avg) {
      sum += value;
    } else if constexpr (kind == Kind::take) {
      sum = chosen == tap ? value : sum;
    } else {
      bool more = !(value <= sum);
      if constexpr (std::is_floating_point_v<C>) more = more & (sum == sum);
      if constexpr (kind == Kind::max_taps) {
        more = more | (chosen < 0);
        chosen = more ? tap : chosen;
      }
      sum = more ? value : sum;
    }
  }
};

/// The cotangents of a tile of rows, of those of the places.
template <detail::PoolKind kind, class T, std::size_t most>
struct PoolCotangents {
  using C = shardtype::detail::computed_t<T>;
  using Tap = detail::tap_number;
  static constexpr bool by_taps = kind == detail::PoolKind::max_back;
  detail::PoolSizes sizes;
  PoolTiles tiles;
  T const* in;
  T* out;
  Tap const* taps;

  KOKKOS_FUNCTION void operator()(std::int64_t call) const {
    PoolTile const tile(sizes, tiles, true, call);
    detail::PoolAxis const &x = sizes.axis[0], &y = sizes.axis[1], &z = sizes.axis[2];
    std::int64_t const n = (tile.end - tile.begin) * tile.inner;
    C sum[most];
    for (std::int64_t k = 0; k < n; ++k) sum[k] = C{};
    for (std::int64_t t0 = 0; t0 < x.taps; ++t0) {
      std::int64_t const j0 = place_of_tap(x, tile.at[0], t0);
      for (std::int64_t t1 = 0; t1 < y.taps && j0 >= 0; ++t1) {
        std::int64_t const j1 = place_of_tap(y, tile.at[1], t1);
        if (j1 < 0) continue;
        std::int64_t const line = tile.line(sizes, false, j0, j1);
        for (std::int64_t t2 = 0; t2 < z.taps; ++t2) {
          std::int64_t const first = z.first + t2 * z.step;
          std::int64_t const begin = least_place(tile.begin, first, z.times);
          std::int64_t end = least_place(tile.end, first, z.times);
          end = end < z.places ? end : z.places;
          auto const tap = static_cast<Tap>(t0 * x.tap_stride + t1 * y.tap_stride + t2);
          for (std::int64_t j = begin; j < end; ++j) {
            C* const to = sum + (first + j * z.times - tile.begin) * tile.inner;
            T const* const from = in + line + j * sizes.inner;
            if constexpr (by_taps) {
              Tap const* const chosen = taps + line + j * sizes.inner;
              for (std::int64_t k = 0; k < tile.inner; ++k)
                to[k] += chosen[k] == tap ? static_cast<C>(from[k]) : C{};
            } else {
              auto const count = static_cast<C>(pool_count(sizes, j0, j1, j));
              for (std::int64_t k = 0; k < tile.inner; ++k)
                to[k] += static_cast<C>(from[k]) / count;
            }
          }
        }
      }
    }
    std::int64_t const to =
        tile.line(sizes, true, tile.at[0], tile.at[1]) + tile.begin * sizes.inner;
    for (std::int64_t k = 0; k < n; ++k) out[to + k] = static_cast<T>(sum[k]);
  }
};

}  // namespace shardtype::nn::kernels
