#pragma once
/// Local work of convolutions, on blocks in the order [batch, dims of windows, groups, channels].

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/nn/types_conv_work.hpp>

namespace shardtype::nn::kernels {

/// A place of the local work: of the batch, and along each dim.
struct ConvPlace {
  std::int64_t batch, at[3];
  KOKKOS_FUNCTION ConvPlace(detail::ConvSizes const& s, std::int64_t place) {
    for (int i = 2; i >= 0; --i) {
      at[i] = place % s.axis[i].places;
      place /= s.axis[i].places;
    }
    batch = place;
  }
  /// The row of the operand that tap `t` of dim `i` reads, or -1.
  KOKKOS_FUNCTION std::int64_t row(detail::ConvSizes const& s, int i, std::int64_t t) const {
    std::int64_t const r = s.axis[i].first + at[i] * s.axis[i].times + t * s.axis[i].step;
    return r >= 0 && r < s.axis[i].rows ? r : -1;
  }
  /// The place among those of the result, which has these extents.
  KOKKOS_FUNCTION std::int64_t made(detail::ConvSizes const& s, std::int64_t const* extent) const {
    std::int64_t n = batch;
    for (int i = 0; i < 3; ++i)
      n = n * extent[i] + s.axis[i].made_first + at[i] * s.axis[i].made_step;
    return n;
  }
};

/// Copies the windows of places `first` + work as rows of a matrix for each group.
template <class T>
struct GatherWindows {
  detail::ConvSizes sizes;
  T const* in;
  T* out;
  std::int64_t first, places;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    ConvPlace const p(sizes, first + work);
    std::int64_t const inner = sizes.inner, width = sizes.groups * inner;
    std::int64_t const last = sizes.axis[2].taps;
    std::int64_t const begin = sizes.axis[2].first + p.at[2] * sizes.axis[2].times;
    bool const together = sizes.groups == 1 && sizes.axis[2].step == 1 && begin >= 0 &&
                          begin + last <= sizes.axis[2].rows;
    for (std::int64_t g = 0; g < sizes.groups; ++g) {
      T* to = out + (g * places + work) * sizes.axis[0].taps * sizes.axis[1].taps * last * inner;
      for (std::int64_t t0 = 0; t0 < sizes.axis[0].taps; ++t0) {
        std::int64_t const r0 = p.row(sizes, 0, t0);
        for (std::int64_t t1 = 0; t1 < sizes.axis[1].taps; ++t1, to += last * inner) {
          std::int64_t const r1 = p.row(sizes, 1, t1);
          if (r0 < 0 || r1 < 0) {
            for (std::int64_t k = 0; k < last * inner; ++k) to[k] = T{};
            continue;
          }
          T const* const line = in +
                                ((p.batch * sizes.axis[0].rows + r0) * sizes.axis[1].rows + r1) *
                                    sizes.axis[2].rows * width +
                                g * inner;
          if (together) {
            T const* const from = line + begin * width;
            for (std::int64_t k = 0; k < last * inner; ++k) to[k] = from[k];
            continue;
          }
          for (std::int64_t t2 = 0; t2 < last; ++t2) {
            std::int64_t const r2 = p.row(sizes, 2, t2);
            T* const one = to + t2 * inner;
            if (r2 < 0) {
              for (std::int64_t k = 0; k < inner; ++k) one[k] = T{};
            } else {
              for (std::int64_t k = 0; k < inner; ++k) one[k] = line[r2 * width + k];
            }
          }
        }
      }
    }
  }
};

/// Copies rows of `width` results of places `first` + work to where they belong.
template <class T>
struct PlaceResults {
  detail::ConvSizes sizes;
  T const* in;
  T* out;
  std::int64_t first, width, extent[3];

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    T const* const from = in + work * width;
    T* const to = out + ConvPlace(sizes, first + work).made(sizes, extent) * width;
    for (std::int64_t k = 0; k < width; ++k) to[k] = from[k];
  }
};

/// The results of one place where each channel has a kernel of its own, [taps, channels].
template <class T>
struct DirectPlaces {
  detail::ConvSizes sizes;
  T const* in;
  T const* kernel;
  T* out;
  std::int64_t extent[3];

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    ConvPlace const p(sizes, work);
    std::int64_t const width = sizes.groups;
    T* const to = out + p.made(sizes, extent) * width;
    for (std::int64_t g = 0; g < width; ++g) to[g] = T{};
    T const* w = kernel;
    for (std::int64_t t0 = 0; t0 < sizes.axis[0].taps; ++t0)
      for (std::int64_t t1 = 0; t1 < sizes.axis[1].taps; ++t1)
        for (std::int64_t t2 = 0; t2 < sizes.axis[2].taps; ++t2, w += width) {
          std::int64_t const r0 = p.row(sizes, 0, t0), r1 = p.row(sizes, 1, t1),
                             r2 = p.row(sizes, 2, t2);
          if (r0 < 0 || r1 < 0 || r2 < 0) continue;
          T const* const from =
              in + (((p.batch * sizes.axis[0].rows + r0) * sizes.axis[1].rows + r1) *
                        sizes.axis[2].rows +
                    r2) *
                       width;
          for (std::int64_t g = 0; g < width; ++g) to[g] += from[g] * w[g];
        }
  }
};

/// Channels of a DirectKernel that one call sums.
inline constexpr std::int64_t direct_channels = 32;
/// The kernel's cotangent [channels, taps] where each channel has a kernel of its own: the sums of
/// one tap and some channels, line by line.
template <class T>
struct DirectKernel {
  detail::ConvSizes sizes;
  T const* in;
  T const* ct;
  T* out;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const taps = sizes.taps(), width = sizes.groups;
    std::int64_t const tap = work % taps, begin = work / taps * direct_channels;
    std::int64_t const n = width - begin < direct_channels ? width - begin : direct_channels;
    std::int64_t const t2 = tap % sizes.axis[2].taps,
                       t1 = tap / sizes.axis[2].taps % sizes.axis[1].taps,
                       t0 = tap / sizes.axis[2].taps / sizes.axis[1].taps;
    T sums[direct_channels], line[direct_channels];
    for (std::int64_t g = 0; g < n; ++g) sums[g] = T{};
    std::int64_t const length = sizes.axis[2].places;
    std::int64_t const lines = length == 0 ? 0 : sizes.places() / length;
    for (std::int64_t l = 0; l < lines; ++l) {
      ConvPlace p(sizes, l * length);
      std::int64_t const r0 = p.row(sizes, 0, t0), r1 = p.row(sizes, 1, t1);
      if (r0 < 0 || r1 < 0) continue;
      T const* const row = in +
                           ((p.batch * sizes.axis[0].rows + r0) * sizes.axis[1].rows + r1) *
                               sizes.axis[2].rows * width +
                           begin;
      for (std::int64_t g = 0; g < n; ++g) line[g] = T{};
      for (p.at[2] = 0; p.at[2] < length; ++p.at[2]) {
        std::int64_t const r2 = p.row(sizes, 2, t2);
        if (r2 < 0) continue;
        T const* const factor = ct + (l * length + p.at[2]) * width + begin;
        for (std::int64_t g = 0; g < n; ++g) line[g] += row[r2 * width + g] * factor[g];
      }
      for (std::int64_t g = 0; g < n; ++g) sums[g] += line[g];
    }
    for (std::int64_t g = 0; g < n; ++g) out[(begin + g) * taps + tap] = sums[g];
  }
};

}  // namespace shardtype::nn::kernels
