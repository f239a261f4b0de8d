#pragma once
/// Device: attention in one launch, a team per block of queries of a head.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/nn/kernels_attention_rows.hpp>

namespace shardtype::nn::kernels {

/// Whether segments of `rows` queries from i0 on are among those of `n` keys from j0 on.
KOKKOS_INLINE_FUNCTION bool segments_meet(AttentionShape const& shape, std::int64_t b,
                                          std::int64_t i0, int rows, std::int64_t j0, int n) {
  if (shape.segments.keys == nullptr) return true;
  std::int64_t const* const of_queries = shape.segments.queries + b * shape.queries + i0;
  std::int64_t const* const of_keys = shape.segments.keys + b * shape.keys + j0;
  std::int64_t least = of_queries[0], most = of_queries[0];
  for (int r = 1; r < rows; ++r) {
    least = of_queries[r] < least ? of_queries[r] : least;
    most = of_queries[r] > most ? of_queries[r] : most;
  }
  for (int c = 0; c < n; ++c)
    if (of_keys[c] >= least && of_keys[c] <= most) return true;
  return false;
}

/// Makes the calls of `work` for `teams` teams, which have its scratch memory.
template <class Exec, class Work>
void launch_teams(Exec const& exec, char const* name, Work work, std::int64_t teams) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  constexpr std::int64_t most = std::int64_t{1} << 30;  // the league size is an int
  auto const scratch = Kokkos::PerTeam(Work::scratch_bytes);
  for (work.first_team = 0; work.first_team < teams; work.first_team += most) {
    auto const league = static_cast<int>(std::min(most, teams - work.first_team));
    int const size = Policy(exec, league, 1)
                         .set_scratch_size(0, scratch)
                         .team_size_max(work, Kokkos::ParallelForTag());
    Kokkos::parallel_for(shardtype::kernels::launch_name(name),
                         Policy(exec, league, std::min(size, 256)).set_scratch_size(0, scratch),
                         work);
  }
}

/// The results of all queries. Correct for any team size: between barriers each score, row or
/// element of the result belongs to one member of the team.
template <class Exec, class T>
struct AttentionTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr int most_rows = 16;     ///< queries of a team
  static constexpr int most_columns = 32;  ///< keys at a time
  static constexpr int numbers = most_rows * (most_columns + 3);
  static constexpr int scratch_bytes = numbers * static_cast<int>(sizeof(T)) + 128;

  AttentionShape shape;
  T const* q;
  T const* k;
  T const* v;
  T* out;
  T* sums;  ///< the logarithms of the sums, [batch, queries, heads], or null
  /// Of keys that come one block after the other, [batch, heads, queries]: the largest scores and
  /// the sums so far, with `out` not divided yet. Null: these are all keys.
  T* largest_so_far;
  T* total_so_far;
  T scale;
  std::int64_t blocks;  ///< of queries, per head
  std::int64_t first_team;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    Scratch const scratch(team.team_scratch(0), numbers);
    T* const scores = scratch.data();
    T* const largest = scores + most_rows * most_columns;
    T* const total = largest + most_rows;
    T* const factor = total + most_rows;
    int const rank = static_cast<int>(team.team_rank());
    int const size = static_cast<int>(team.team_size());
    std::int64_t const id = first_team + team.league_rank();
    std::int64_t const b = id / blocks / shape.heads, h = id / blocks % shape.heads;
    std::int64_t const i0 = id % blocks * most_rows;
    std::int64_t const left = shape.queries - i0;
    int const rows = left < most_rows ? static_cast<int>(left) : most_rows;
    std::int64_t const features = shape.features;
    std::int64_t const g = shape.key_head(h);
    std::int64_t const so_far = (b * shape.heads + h) * shape.queries + i0;
    auto const qs = shape.query(q, b, i0, rows, h);
    auto const os = shape.query(out, b, i0, rows, h);
    bool const continues = largest_so_far != nullptr;
    for (int r = rank; r < rows; r += size) {
      largest[r] = continues ? largest_so_far[so_far + r] : -std::numeric_limits<T>::infinity();
      total[r] = continues ? total_so_far[so_far + r] : T{};
    }
    if (!continues)
      for (std::int64_t e = rank; e < rows * features; e += size)
        os.data[e / features * os.row_stride + e % features] = T{};

    bool const by_options = shape.by_options();
    T const slope = static_cast<T>(shape.slope(h));
    std::int64_t const end = shape.seen(i0 + rows - 1);
    for (std::int64_t j0 = shape.from(i0); j0 < end; j0 += most_columns) {
      int const near = end - j0 < most_columns ? static_cast<int>(end - j0) : most_columns;
      if (!kernels::segments_meet(shape, b, i0, rows, j0, near)) continue;
      auto const ks = shape.key(k, b, j0, most_columns, g);
      auto const vs = shape.key(v, b, j0, most_columns, g);
      team.team_barrier();
      for (int e = rank; e < rows * most_columns; e += size) {
        int const r = e / most_columns, c = e % most_columns;
        SeenKeys const keys = shape.keys_of(b, i0 + r, j0, most_columns);
        if (c < keys.begin || c >= keys.end || !keys.has(c)) continue;
        T const* const x = qs.data + r * qs.row_stride;
        T const* const y = ks.data + c * ks.row_stride;
        T sum{};
        for (std::int64_t f = 0; f < features; ++f) sum += x[f] * y[f];
        scores[e] = by_options ? score(sum * scale, slope, i0 + r, j0 + c) : sum * scale;
      }
      team.team_barrier();
      for (int r = rank; r < rows; r += size) {
        T* const s = scores + r * most_columns;
        SeenKeys const keys = shape.keys_of(b, i0 + r, j0, most_columns);
        T const before = largest[r];
        T top = before;
        for (std::int64_t c = keys.begin; c < keys.end; ++c)
          if (keys.has(c)) top = s[c] > top ? s[c] : top;
        T sum{};
        for (std::int64_t c = keys.begin; c < keys.end; ++c) {
          if (!keys.has(c)) continue;
          s[c] = shardtype::kernels::math::exp(s[c] - top);
          sum += s[c];
        }
        factor[r] = before == top ? T(1) : shardtype::kernels::math::exp(before - top);
        total[r] = total[r] * factor[r] + sum;
        largest[r] = top;
      }
      team.team_barrier();
      for (std::int64_t e = rank; e < rows * features; e += size) {
        auto const r = static_cast<int>(e / features);
        std::int64_t const f = e % features;
        T& to = os.data[r * os.row_stride + f];
        T sum = to * factor[r];
        SeenKeys const keys = shape.keys_of(b, i0 + r, j0, most_columns);
        for (std::int64_t c = keys.begin; c < keys.end; ++c)
          if (keys.has(c)) sum += scores[r * most_columns + c] * vs.data[c * vs.row_stride + f];
        to = sum;
      }
    }
    team.team_barrier();
    if (continues) {
      for (int r = rank; r < rows; r += size) {
        largest_so_far[so_far + r] = largest[r];
        total_so_far[so_far + r] = total[r];
      }
      return;
    }
    for (std::int64_t e = rank; e < rows * features; e += size) {
      auto const r = static_cast<int>(e / features);
      T& to = os.data[r * os.row_stride + e % features];
      to = total[r] == T{} ? T{} : to * (T(1) / total[r]);
    }
    if (sums == nullptr) return;
    for (int r = rank; r < rows; r += size)
      sums[shape.query_row(b, i0 + r, h)] =
          total[r] == T{} ? -std::numeric_limits<T>::infinity()
                          : largest[r] + shardtype::kernels::math::log(total[r]);
  }

 private:
  /// The score of query `i` and key `j` whose scaled product is x.
  KOKKOS_FUNCTION T score(T x, T slope, std::int64_t i, std::int64_t j) const {
    T const cap = static_cast<T>(shape.settings.soft_cap);
    T const capped = cap == T{} ? x : cap * shardtype::kernels::math::tanh(x / cap);
    return shape.settings.alibi == 0 ? capped
                                     : capped - slope * static_cast<T>(shape.distance(i, j));
  }
};

/// Launches AttentionTeam, all members but the last two of which `work` has.
template <class Exec, class T>
void attention_by_teams(Exec const& exec, AttentionTeam<Exec, T> work) {
  using Work = AttentionTeam<Exec, T>;
  AttentionShape const& s = work.shape;
  work.blocks = (s.queries + Work::most_rows - 1) / Work::most_rows;
  kernels::launch_teams(exec, "shardtype::attention", work, s.batch * s.heads * work.blocks);
}

}  // namespace shardtype::nn::kernels
