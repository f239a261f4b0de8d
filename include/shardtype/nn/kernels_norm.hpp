#pragma once
/// Rows that are centred and scaled: layer norm, RMS norm, and their gradients. A row is read from
/// memory once.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/moments.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::nn::kernels {

/// Rows of `length` elements: element k of row r is at r / inner * length * inner + r % inner + k *
/// inner.
struct RowShape {
  std::int64_t rows, length, inner;
  KOKKOS_FUNCTION std::int64_t begin(std::int64_t row) const {
    return row / inner * length * inner + row % inner;
  }
};

/// The sum of f(0), ..., f(n - 1), in partial sums that a processor adds at once.
template <class W, class F>
KOKKOS_FUNCTION W sum_of(std::int64_t n, F const& f) {
  constexpr int lanes = 8;
  W sums[static_cast<std::size_t>(lanes)] = {};
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int j = 0; j < lanes; ++j) sums[j] += f(k + j);
  for (; k < n; ++k) sums[0] += f(k);
  W out{};
  for (W const s : sums) out += s;
  return out;
}

/// The distance of a row's elements: a constant where they are neighbours, so that loops become
/// vectors.
struct Neighbours {
  KOKKOS_FUNCTION constexpr operator std::int64_t() const { return 1; }
};

/// Where a row is centred, and what it is multiplied with.
template <class W>
struct RowScale {
  W mean, scale;
};
/// `Centred`: the mean and 1 / deviation of a row, else 0 and 1 / the root of the mean square;
/// `eps` is added under the root.
template <bool Centred, class W, class T, class Stride>
KOKKOS_FUNCTION RowScale<W> scale_of(T const* x, std::int64_t n, Stride stride, W eps) {
  W const count = static_cast<W>(n);
  W mean{};
  if constexpr (Centred)
    mean = kernels::sum_of<W>(n, [&](std::int64_t k) { return static_cast<W>(x[k * stride]); }) /
           count;
  W const square = kernels::sum_of<W>(n, [&](std::int64_t k) {
    W const d = static_cast<W>(x[k * stride]) - mean;
    return d * d;
  });
  return {mean, W(1) / shardtype::kernels::math::sqrt(square / count + eps)};
}

/// Device: the sum of f(0), ..., f(n - 1), by a team.
template <class W, class Member, class F>
KOKKOS_FUNCTION W team_sum(Member const& team, std::int64_t n, F const& f) {
  W sum{};
  Kokkos::parallel_reduce(
      Kokkos::TeamThreadRange(team, n), [&](std::int64_t k, W& part) { part += f(k); }, sum);
  return sum;
}
/// Device: as scale_of, by a team.
template <bool Centred, class W, class Member, class T>
KOKKOS_FUNCTION RowScale<W> team_scale(Member const& team, T const* x, std::int64_t n,
                                       std::int64_t stride, W eps) {
  W const count = static_cast<W>(n);
  W mean{};
  if constexpr (Centred)
    mean = kernels::team_sum<W>(team, n,
                                [&](std::int64_t k) { return static_cast<W>(x[k * stride]); }) /
           count;
  W const square = kernels::team_sum<W>(team, n, [&](std::int64_t k) {
    W const d = static_cast<W>(x[k * stride]) - mean;
    return d * d;
  });
  return {mean, W(1) / shardtype::kernels::math::sqrt(square / count + eps)};
}

/// The same of the totals of a row of `n` elements that other ranks hold parts of.
template <class W, class Mean>
KOKKOS_FUNCTION RowScale<W> scale_of(shardtype::kernels::Moments<W, Mean> const& total, W, W eps) {
  W const off = total.distances / total.count;
  W const square = total.squares / total.count - off * off;
  return {total.near + off,
          W(1) / shardtype::kernels::math::sqrt((square < W(0) ? W(0) : square) + eps)};
}
template <class W, class Real>
KOKKOS_FUNCTION RowScale<W> scale_of(shardtype::kernels::Spread<Real> const& total, W, W eps) {
  W const deviation = static_cast<W>(total.deviation);
  return {static_cast<W>(total.mean),
          W(1) / shardtype::kernels::math::sqrt(deviation * deviation + eps)};
}
template <class W>
KOKKOS_FUNCTION RowScale<W> scale_of(W squares, W n, W eps) {
  return {W{}, W(1) / shardtype::kernels::math::sqrt(squares / n + eps)};
}

/// out = (x - mean) scale gain + bias; `bias` null: none. `Total` not void: of these totals of rows
/// of `terms` elements.
template <bool Centred, class T, class Total = void>
struct NormRows {
  using W = shardtype::kernels::wide_t<T>;
  using C = shardtype::detail::computed_t<T>;
  RowShape shape;
  T* out;
  T const* x;
  T const* gain;
  T const* bias;
  W eps;
  Total const* totals = nullptr;
  W terms = 0;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const at = shape.begin(row);
    if (shape.inner == 1) {
      run(row, out + at, x + at, Neighbours{});
    } else {
      run(row, out + at, x + at, shape.inner);
    }
  }
  template <class Stride>
  KOKKOS_FUNCTION RowScale<W> scale([[maybe_unused]] std::int64_t row,
                                    [[maybe_unused]] T const* from,
                                    [[maybe_unused]] Stride stride) const {
    if constexpr (std::is_void_v<Total>) {
      return kernels::scale_of<Centred>(from, shape.length, stride, eps);
    } else {
      return kernels::scale_of(totals[row], terms, eps);
    }
  }
  template <class Stride>
  KOKKOS_FUNCTION void run(std::int64_t row, T* to, T const* from, Stride stride) const {
    auto const s = scale(row, from, stride);
    C const mean = static_cast<C>(s.mean);
    C const scale = static_cast<C>(s.scale);
    if (bias == nullptr) {
      for (std::int64_t k = 0; k < shape.length; ++k)
        to[k * stride] = static_cast<T>((static_cast<C>(from[k * stride]) - mean) * scale *
                                        static_cast<C>(gain[k]));
    } else {
      for (std::int64_t k = 0; k < shape.length; ++k)
        to[k * stride] = static_cast<T>((static_cast<C>(from[k * stride]) - mean) * scale *
                                            static_cast<C>(gain[k]) +
                                        static_cast<C>(bias[k]));
    }
  }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return shape.length; }
  /// Device: one row by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    std::int64_t const at = shape.begin(row), stride = shape.inner;
    T const* const from = x + at;
    T* const to = out + at;
    RowScale<W> s{};
    if constexpr (std::is_void_v<Total>) {
      s = kernels::team_scale<Centred>(team, from, shape.length, stride, eps);
    } else {
      s = scale(row, from, stride);
    }
    C const mean = static_cast<C>(s.mean);
    C const factor = static_cast<C>(s.scale);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, shape.length), [&](std::int64_t k) {
      C const y = (static_cast<C>(from[k * stride]) - mean) * factor * static_cast<C>(gain[k]);
      to[k * stride] = static_cast<T>(bias == nullptr ? y : y + static_cast<C>(bias[k]));
    });
  }
};

/// The cotangent of x: with g = ct gain and the normalized row n, (g - mean(g) - n mean(g n))
/// scale; of RMS norm without mean(g).
template <bool Centred, class T>
struct NormRowsBack {
  using W = shardtype::kernels::wide_t<T>;
  using C = shardtype::detail::computed_t<T>;
  RowShape shape;
  T* out;
  T const* ct;
  T const* x;
  T const* gain;
  W eps;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const at = shape.begin(row);
    if (shape.inner == 1) {
      run(out + at, ct + at, x + at, Neighbours{});
    } else {
      run(out + at, ct + at, x + at, shape.inner);
    }
  }
  template <class Stride>
  KOKKOS_FUNCTION void run(T* to, T const* c, T const* from, Stride stride) const {
    std::int64_t const n = shape.length;
    auto const s = kernels::scale_of<Centred>(from, n, stride, eps);
    W const count = static_cast<W>(n);
    auto const g = [&](std::int64_t k) {
      return static_cast<W>(c[k * stride]) * static_cast<W>(gain[k]);
    };
    W middle{};
    if constexpr (Centred) middle = kernels::sum_of<W>(n, g) / count;
    W const along =
        kernels::sum_of<W>(
            n, [&](std::int64_t k) { return g(k) * (static_cast<W>(from[k * stride]) - s.mean); }) *
        s.scale / count;
    C const mean = static_cast<C>(s.mean);
    C const scale = static_cast<C>(s.scale);
    C const less = static_cast<C>(middle);
    C const share = static_cast<C>(along);
    for (std::int64_t k = 0; k < n; ++k) {
      C const normal = (static_cast<C>(from[k * stride]) - mean) * scale;
      to[k * stride] = static_cast<T>(
          (static_cast<C>(c[k * stride]) * static_cast<C>(gain[k]) - less - normal * share) *
          scale);
    }
  }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return shape.length; }
  /// Device: one row by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    std::int64_t const at = shape.begin(row), stride = shape.inner, n = shape.length;
    T const* const c = ct + at;
    T const* const from = x + at;
    T* const to = out + at;
    auto const s = kernels::team_scale<Centred>(team, from, n, stride, eps);
    W const count = static_cast<W>(n);
    auto const g = [&](std::int64_t k) {
      return static_cast<W>(c[k * stride]) * static_cast<W>(gain[k]);
    };
    W middle{};
    if constexpr (Centred) middle = kernels::team_sum<W>(team, n, g) / count;
    W const along =
        kernels::team_sum<W>(
            team, n,
            [&](std::int64_t k) { return g(k) * (static_cast<W>(from[k * stride]) - s.mean); }) *
        s.scale / count;
    C const mean = static_cast<C>(s.mean);
    C const scale = static_cast<C>(s.scale);
    C const less = static_cast<C>(middle);
    C const share = static_cast<C>(along);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](std::int64_t k) {
      C const normal = (static_cast<C>(from[k * stride]) - mean) * scale;
      to[k * stride] = static_cast<T>(
          (static_cast<C>(c[k * stride]) * static_cast<C>(gain[k]) - less - normal * share) *
          scale);
    });
  }
};

/// Sums of ct times the normalized rows, of every part of the rows apart: part p has rows p, p + 1,
/// ... of `per_part` and sums of its own.
template <bool Centred, class T>
struct NormGainParts {
  using W = shardtype::kernels::wide_t<T>;
  RowShape shape;
  W* sums;
  T const* ct;
  T const* x;
  W eps;
  std::int64_t per_part;
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    W* const to = sums + part * shape.length;
    for (std::int64_t k = 0; k < shape.length; ++k) to[k] = W{};
    std::int64_t const end =
        (part + 1) * per_part < shape.rows ? (part + 1) * per_part : shape.rows;
    for (std::int64_t row = part * per_part; row < end; ++row) {
      std::int64_t const at = shape.begin(row);
      if (shape.inner == 1) {
        add(to, ct + at, x + at, Neighbours{});
      } else {
        add(to, ct + at, x + at, shape.inner);
      }
    }
  }
  template <class Stride>
  KOKKOS_FUNCTION void add(W* to, T const* c, T const* from, Stride stride) const {
    auto const s = kernels::scale_of<Centred>(from, shape.length, stride, eps);
    for (std::int64_t k = 0; k < shape.length; ++k)
      to[k] +=
          static_cast<W>(c[k * stride]) * (static_cast<W>(from[k * stride]) - s.mean) * s.scale;
  }
};
/// Device: what the rows are centred and scaled with, each by a team.
template <bool Centred, class T>
struct RowScales {
  using W = shardtype::kernels::wide_t<T>;
  RowShape shape;
  RowScale<W>* scales;
  T const* x;
  W eps;
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    auto const s =
        kernels::team_scale<Centred>(team, x + shape.begin(row), shape.length, shape.inner, eps);
    Kokkos::single(Kokkos::PerTeam(team), [&] { scales[row] = s; });
  }
};
/// Device: as NormGainParts, one element of one part.
template <class T>
struct NormGainElements {
  using W = shardtype::kernels::wide_t<T>;
  RowShape shape;
  W* sums;
  T const* ct;
  T const* x;
  RowScale<W> const* scales;
  std::int64_t per_part;
  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const part = work / shape.length, k = work % shape.length;
    std::int64_t const end =
        (part + 1) * per_part < shape.rows ? (part + 1) * per_part : shape.rows;
    W total{};
    for (std::int64_t row = part * per_part; row < end; ++row) {
      std::int64_t const at = shape.begin(row) + k * shape.inner;
      RowScale<W> const s = scales[row];
      total += static_cast<W>(ct[at]) * (static_cast<W>(x[at]) - s.mean) * s.scale;
    }
    sums[work] = total;
  }
};
template <class T>
struct AddParts {
  using W = shardtype::kernels::wide_t<T>;
  T* out;
  W const* sums;
  std::int64_t length, parts;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    W total{};
    for (std::int64_t p = 0; p < parts; ++p) total += sums[p * length + k];
    out[k] = static_cast<T>(total);
  }
};

template <class Exec, class Work>
void each_row(char const* name, Exec const& exec, std::int64_t n, Work const& work) {
  shardtype::kernels::launch(exec, name, n, work);
}

/// Device: `of.by_team(team, row)` for each row.
template <class Exec, class Work>
struct RowTeams {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  Work of;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    of.by_team(team, first + team.league_rank());
  }
};
/// Device: rows of `length` elements, each by a team.
template <class Exec, class Work>
void each_row_by_team(char const* name, Exec const& exec, std::int64_t n, std::int64_t length,
                      Work const& work) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  constexpr std::int64_t most = std::int64_t{1} << 30;  // the league size is an int
  int wanted = 32;
  while (wanted < 256 && wanted < length) wanted *= 2;
  RowTeams<Exec, Work> rows{work, 0};
  for (; rows.first < n; rows.first += most) {
    auto const league = static_cast<int>(n - rows.first < most ? n - rows.first : most);
    int const size = Policy(exec, league, 1).team_size_max(rows, Kokkos::ParallelForTag());
    Kokkos::parallel_for(shardtype::kernels::launch_name(name),
                         Policy(exec, league, size < wanted ? size : wanted), rows);
  }
}

/// Device: `of.element(row, k)` for each element; neighbouring calls have neighbouring elements.
template <class Work>
struct RowElements {
  Work of;
  RowShape shape;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    std::int64_t const outer = at / (shape.length * shape.inner);
    of.element(outer * shape.inner + at % shape.inner, at / shape.inner % shape.length);
  }
};
/// `work(row)` for each row of `shape`; on a device `work.element(row, k)` for each element.
template <class Exec, class Work>
void each_element(char const* name, Exec const& exec, RowShape const& shape, Work const& work) {
  if constexpr (runtime::host_reads<typename Exec::memory_space>) {
    kernels::each_row(name, exec, shape.rows, work);
  } else {
    kernels::each_row(name, exec, shape.rows * shape.length, RowElements<Work>{work, shape});
  }
}

/// The gain's cotangent; `sums` has room for parts_of(rows) * length numbers, on a device `scales`
/// for one per row.
template <bool Centred, class T, class Exec>
void norm_gain(Exec const& exec, RowShape const& shape, T* out, T const* ct, T const* x,
               shardtype::kernels::wide_t<T> eps, shardtype::kernels::wide_t<T>* sums,
               [[maybe_unused]] RowScale<shardtype::kernels::wide_t<T>>* scales) {
  std::int64_t const parts = parts_of(shape.rows);
  std::int64_t const per_part = parts == 0 ? 0 : (shape.rows + parts - 1) / parts;
  if constexpr (runtime::host_reads<Exec>) {
    kernels::each_row("shardtype::norm_gain", exec, parts,
                      NormGainParts<Centred, T>{shape, sums, ct, x, eps, per_part});
  } else {
    kernels::each_row_by_team("shardtype::norm_scale", exec, shape.rows, shape.length,
                              RowScales<Centred, T>{shape, scales, x, eps});
    kernels::each_row("shardtype::norm_gain", exec, parts * shape.length,
                      NormGainElements<T>{shape, sums, ct, x, scales, per_part});
  }
  kernels::each_row("shardtype::norm_gain", exec, shape.length,
                    AddParts<T>{out, sums, shape.length, parts});
}

}  // namespace shardtype::nn::kernels
