#pragma once
/// Device: the cotangents of attention in two launches: of the queries by teams that go over the
/// keys, of keys and values by teams that go over the queries. Each computes the probabilities
/// again, so that no two teams add to one element.

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/nn/kernels_attention_rows.hpp>
#include <shardtype/nn/kernels_attention_team.hpp>

namespace shardtype::nn::kernels {

/// Operands of the backward passes. `sums`: logarithms of the sums; `ct`: the cotangent of `out`.
template <class T>
struct AttentionSaved {
  T const* q;
  T const* k;
  T const* v;
  T const* out;
  T const* sums;
  T const* ct;

  template <class Exec>
  bool keys_finite(Exec const& exec, AttentionShape const& s) const {
    return kernels::all_finite(exec, k, 1, s.batch * s.keys * s.key_heads * s.features, 0);
  }
  template <class Exec>
  bool queries_finite(Exec const& exec, AttentionShape const& s) const {
    return kernels::all_finite(exec, q, 1, s.batch * s.queries * s.heads * s.features, 0);
  }
  template <class Exec>
  bool cotangents_finite(Exec const& exec, AttentionShape const& s) const {
    return kernels::all_finite(exec, ct, 1, s.batch * s.queries * s.heads * s.features, 0);
  }
};

/// Where the cotangents of queries, keys and values are added.
template <class T>
struct AttentionCotangents {
  T* queries;
  T* keys;
  T* values;
};

/// A team adds the cotangents of a block of queries of a head, or with `OfKeys` those of a block of
/// keys and values. Correct for any team size, as AttentionTeam.
template <class Exec, class T, bool OfKeys>
struct AttentionBackTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr int most_rows = 16;     ///< queries at a time
  static constexpr int most_columns = 32;  ///< keys at a time
  static constexpr int numbers = most_rows * (2 * most_columns + 3);
  static constexpr int scratch_bytes = numbers * static_cast<int>(sizeof(T)) + 128;
  static constexpr int block = OfKeys ? most_columns : most_rows;  ///< of a team

  AttentionShape shape;
  AttentionSaved<T> of;
  AttentionCotangents<T> to;
  T scale;
  std::int64_t blocks;  ///< per head
  std::int64_t first_team;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    Scratch const scratch(team.team_scratch(0), numbers);
    std::int64_t const id = first_team + team.league_rank();
    std::int64_t const heads = OfKeys ? shape.key_heads : shape.heads;
    std::int64_t const b = id / blocks / heads, h = id / blocks % heads;
    std::int64_t const first = id % blocks * block;
    if constexpr (OfKeys) {
      over_queries({scratch.data(), b, h, h, 0, 0, first, part(shape.keys - first, block)}, team);
    } else {
      std::int64_t const g = shape.key_head(h);
      over_keys({scratch.data(), b, h, g, first, part(shape.queries - first, block), 0, 0}, team);
    }
  }

 private:
  /// Some queries of a head and keys of a key head, and the probabilities of their scores, the
  /// cotangents of these, and of each query the product of its result and cotangent, the logarithm
  /// of its sum, and the size of its cotangent: one of 0 adds nothing.
  struct Tile {
    T* data;
    std::int64_t b, h, g;
    std::int64_t i0;
    int rows;
    std::int64_t j0;
    int columns;

    KOKKOS_FUNCTION T& p(int r, int c) const { return data[r * most_columns + c]; }
    KOKKOS_FUNCTION T& ds(int r, int c) const { return data[(most_rows + r) * most_columns + c]; }
    KOKKOS_FUNCTION T& mean(int r) const { return data[2 * most_rows * most_columns + r]; }
    KOKKOS_FUNCTION T& sum(int r) const { return mean(most_rows + r); }
    KOKKOS_FUNCTION T& size(int r) const { return mean(2 * most_rows + r); }
  };
  KOKKOS_FUNCTION static int part(std::int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  }

  KOKKOS_FUNCTION void over_keys(Tile t, Member const& team) const {
    rows_of(t, team);
    auto const out = shape.query(to.queries, t.b, t.i0, t.rows, t.h);
    std::int64_t const end = shape.seen(t.i0 + t.rows - 1);
    for (t.j0 = shape.from(t.i0); end > t.j0; t.j0 += most_columns) {
      t.columns = part(end - t.j0, most_columns);
      if (!kernels::segments_meet(shape, t.b, t.i0, t.rows, t.j0, t.columns)) continue;
      scores_of(t, team);
      auto const ks = shape.key(of.k, t.b, t.j0, t.columns, t.g);
      for_each(team, t.rows, [&](int r, std::int64_t f) {
        T sum{};
        for (int c = 0; c < t.columns; ++c)
          if (t.ds(r, c) != T{}) sum += t.ds(r, c) * ks.data[c * ks.row_stride + f];
        out.data[r * out.row_stride + f] += sum;
      });
    }
  }
  KOKKOS_FUNCTION void over_queries(Tile t, Member const& team) const {
    auto const of_keys = shape.key(to.keys, t.b, t.j0, t.columns, t.g);
    auto const of_values = shape.key(to.values, t.b, t.j0, t.columns, t.g);
    std::int64_t const begin = (shape.first_key_head + t.g) * shape.group - shape.first_head;
    std::int64_t const end = begin + shape.group;
    for (t.h = begin < 0 ? 0 : begin; t.h < end && t.h < shape.heads; ++t.h)
      for (t.i0 = 0; t.i0 < shape.queries; t.i0 += most_rows) {
        t.rows = part(shape.queries - t.i0, most_rows);
        if (shape.seen(t.i0 + t.rows - 1) <= t.j0 || shape.from(t.i0) >= t.j0 + t.columns ||
            !kernels::segments_meet(shape, t.b, t.i0, t.rows, t.j0, t.columns))
          continue;
        rows_of(t, team);
        scores_of(t, team);
        auto const qs = shape.query(of.q, t.b, t.i0, t.rows, t.h);
        auto const cs = shape.query(of.ct, t.b, t.i0, t.rows, t.h);
        for_each(team, t.columns, [&](int c, std::int64_t f) {
          T key{}, value{};
          for (int r = 0; r < t.rows; ++r) {
            if (t.ds(r, c) != T{}) key += t.ds(r, c) * qs.data[r * qs.row_stride + f];
            if (t.p(r, c) != T{}) value += t.p(r, c) * cs.data[r * cs.row_stride + f];
          }
          of_keys.data[c * of_keys.row_stride + f] += key;
          of_values.data[c * of_values.row_stride + f] += value;
        });
      }
  }

  /// Calls `add(row, feature)` for `rows` rows, when the team is done with what was before.
  template <class Add>
  KOKKOS_FUNCTION void for_each(Member const& team, int rows, Add const& add) const {
    team.team_barrier();
    std::int64_t const all = rows * shape.features;
    for (std::int64_t e = team.team_rank(); e < all; e += team.team_size())
      add(static_cast<int>(e / shape.features), e % shape.features);
  }
  /// What a tile has of each query.
  KOKKOS_FUNCTION void rows_of(Tile const& t, Member const& team) const {
    team.team_barrier();
    auto const os = shape.query(of.out, t.b, t.i0, t.rows, t.h);
    auto const cs = shape.query(of.ct, t.b, t.i0, t.rows, t.h);
    for (int r = static_cast<int>(team.team_rank()); r < t.rows;
         r += static_cast<int>(team.team_size())) {
      T const* const o = os.data + r * os.row_stride;
      T const* const c = cs.data + r * cs.row_stride;
      T mean{}, size{};
      for (std::int64_t f = 0; f < shape.features; ++f) {
        mean += o[f] * c[f];
        size += c[f] < 0 ? -c[f] : c[f];
      }
      t.mean(r) = mean;
      t.sum(r) = of.sums[shape.query_row(t.b, t.i0 + r, t.h)];
      t.size(r) = size;
    }
  }
  /// The probabilities and cotangents of a tile's scores.
  KOKKOS_FUNCTION void scores_of(Tile const& t, Member const& team) const {
    team.team_barrier();
    auto const qs = shape.query(of.q, t.b, t.i0, t.rows, t.h);
    auto const cs = shape.query(of.ct, t.b, t.i0, t.rows, t.h);
    auto const ks = shape.key(of.k, t.b, t.j0, t.columns, t.g);
    auto const vs = shape.key(of.v, t.b, t.j0, t.columns, t.g);
    T const fall = static_cast<T>(shape.slope(t.h));
    T const cap = static_cast<T>(shape.settings.soft_cap);
    for (int e = static_cast<int>(team.team_rank()); e < t.rows * most_columns;
         e += static_cast<int>(team.team_size())) {
      int const r = e / most_columns, c = e % most_columns;
      SeenKeys const keys = shape.keys_of(t.b, t.i0 + r, t.j0, t.columns);
      if (c < keys.begin || c >= keys.end || !keys.has(c) || t.size(r) == T{}) {
        t.p(r, c) = t.ds(r, c) = T{};
        continue;
      }
      T score{}, product{};
      for (std::int64_t f = 0; f < shape.features; ++f) {
        score += qs.data[r * qs.row_stride + f] * ks.data[c * ks.row_stride + f];
        product += cs.data[r * cs.row_stride + f] * vs.data[c * vs.row_stride + f];
      }
      score *= scale;
      T slope(1);
      if (cap != T{}) {
        T const x = shardtype::kernels::math::tanh(score / cap);
        score = cap * x;
        slope -= x * x;
      }
      if (fall != T{}) score -= fall * static_cast<T>(shape.distance(t.i0 + r, t.j0 + c));
      t.p(r, c) = shardtype::kernels::math::exp(score - t.sum(r));
      t.ds(r, c) = t.p(r, c) * (product - t.mean(r)) * scale * slope;
    }
  }
};

/// Adds the cotangents.
template <class Exec, class T>
void attention_back_by_teams(Exec const& exec, AttentionShape const& s, AttentionSaved<T> const& of,
                             AttentionCotangents<T> const& to, T scale) {
  using OfQueries = AttentionBackTeam<Exec, T, false>;
  using OfKeys = AttentionBackTeam<Exec, T, true>;
  std::int64_t const rows = (s.queries + OfQueries::block - 1) / OfQueries::block;
  std::int64_t const columns = (s.keys + OfKeys::block - 1) / OfKeys::block;
  kernels::launch_teams(exec, "shardtype::attention_back", OfQueries{s, of, to, scale, rows, 0},
                        s.batch * s.heads * rows);
  kernels::launch_teams(exec, "shardtype::attention_back", OfKeys{s, of, to, scale, columns, 0},
                        s.batch * s.key_heads * columns);
}

}  // namespace shardtype::nn::kernels
