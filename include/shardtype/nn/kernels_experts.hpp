#pragma once
/// Rows of tokens on their way to experts and back: places by counting, copies, weighted sums.

#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/nn/types_experts.hpp>

namespace shardtype::nn::kernels {

/// Numbers the rows of the tokens of a rank: expert by expert, within an expert token by token.
struct ExpertOrder {
  std::int64_t first, last;                  ///< experts that are counted
  std::int64_t capacity = detail::no_limit;  ///< rows of an expert

  bool counts(std::int64_t expert) const { return expert >= first && expert < last; }
  /// Rows of each expert, with or without the limit.
  template <class Id>
  std::vector<std::int64_t> rows(Id const* ids, std::int64_t n, bool limited) const {
    std::vector<std::int64_t> out(static_cast<std::size_t>(last - first));
    for (std::int64_t i = 0; i < n; ++i)
      if (auto const e = static_cast<std::int64_t>(ids[i]); counts(e))
        ++out[static_cast<std::size_t>(e - first)];
    if (limited)
      for (std::int64_t& each : out) each = each < capacity ? each : capacity;
    return out;
  }
  /// The row of each id, -1 for those that have none.
  template <class Id>
  std::vector<std::int64_t> places(Id const* ids, std::int64_t n) const {
    std::vector<std::int64_t> const kept = rows(ids, n, true);
    std::vector<std::int64_t> begin(kept.size()), used(kept.size());
    for (std::size_t e = 1; e < kept.size(); ++e) begin[e] = begin[e - 1] + kept[e - 1];
    std::vector<std::int64_t> out(static_cast<std::size_t>(n), -1);
    for (std::int64_t i = 0; i < n; ++i) {
      auto const e = static_cast<std::int64_t>(ids[i]);
      if (!counts(e)) continue;
      auto const k = static_cast<std::size_t>(e - first);
      if (used[k] < kept[k]) out[static_cast<std::size_t>(i)] = begin[k] + used[k]++;
    }
    return out;
  }
};

/// Tokens [tokens, length] and the rows [.., length] that stand for them, `choices` each; row -1 is
/// none.
struct TokenRows {
  std::int64_t const* places;
  std::int64_t choices, length;
};

/// rows[place] = weight x for each choice of a token; `weights` null: 1.
template <class T>
struct SpreadTokens {
  using C = shardtype::detail::computed_t<T>;
  TokenRows at;
  T* rows;
  T const* x;
  T const* weights;
  KOKKOS_FUNCTION void operator()(std::int64_t token) const {
    T const* const from = x + token * at.length;
    for (std::int64_t k = token * at.choices; k < (token + 1) * at.choices; ++k) {
      if (at.places[k] < 0) continue;
      T* const to = rows + at.places[k] * at.length;
      if (weights == nullptr) {
        for (std::int64_t d = 0; d < at.length; ++d) to[d] = from[d];
      } else {
        C const w = static_cast<C>(weights[k]);
        for (std::int64_t d = 0; d < at.length; ++d)
          to[d] = static_cast<T>(w * static_cast<C>(from[d]));
      }
    }
  }
  /// Device: one element of a token.
  KOKKOS_FUNCTION void element(std::int64_t token, std::int64_t d) const {
    T const from = x[token * at.length + d];
    for (std::int64_t k = token * at.choices; k < (token + 1) * at.choices; ++k) {
      if (at.places[k] < 0) continue;
      rows[at.places[k] * at.length + d] =
          weights == nullptr ? from
                             : static_cast<T>(static_cast<C>(weights[k]) * static_cast<C>(from));
    }
  }
};
/// out = the sum over the choices of a token of weight times row, added in pieces of a row.
template <class T>
struct CombineTokens {
  using C = shardtype::detail::computed_t<T>;
  static constexpr std::int64_t piece = 32;
  TokenRows at;
  T* out;
  T const* rows;
  T const* weights;
  KOKKOS_FUNCTION void operator()(std::int64_t token) const {
    for (std::int64_t begin = 0; begin < at.length; begin += piece) {
      std::int64_t const n = at.length - begin < piece ? at.length - begin : piece;
      C sums[piece] = {};
      for (std::int64_t k = token * at.choices; k < (token + 1) * at.choices; ++k) {
        if (at.places[k] < 0) continue;
        T const* const from = rows + at.places[k] * at.length + begin;
        C const w = weights == nullptr ? C(1) : static_cast<C>(weights[k]);
        for (std::int64_t d = 0; d < n; ++d) sums[d] += w * static_cast<C>(from[d]);
      }
      for (std::int64_t d = 0; d < n; ++d)
        out[token * at.length + begin + d] = static_cast<T>(sums[d]);
    }
  }
  RowShape elements(std::int64_t tokens) const { return {tokens, at.length, 1}; }
  /// Device: one element of a token.
  KOKKOS_FUNCTION void element(std::int64_t token, std::int64_t d) const {
    C sum{};
    for (std::int64_t k = token * at.choices; k < (token + 1) * at.choices; ++k) {
      if (at.places[k] < 0) continue;
      C const w = weights == nullptr ? C(1) : static_cast<C>(weights[k]);
      sum += w * static_cast<C>(rows[at.places[k] * at.length + d]);
    }
    out[token * at.length + d] = static_cast<T>(sum);
  }
};
/// out[token, choice] = the product of the token and its row, 0 where there is none.
template <class T>
struct TokenDots {
  using C = shardtype::detail::computed_t<T>;
  TokenRows at;
  T* out;
  T const* x;
  T const* rows;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    if (at.places[k] < 0) {
      out[k] = T{};
      return;
    }
    T const* const a = x + k / at.choices * at.length;
    T const* const b = rows + at.places[k] * at.length;
    out[k] = static_cast<T>(kernels::sum_of<C>(
        at.length, [&](std::int64_t d) { return static_cast<C>(a[d]) * static_cast<C>(b[d]); }));
  }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return at.length; }
  /// Device: one product by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t k) const {
    T const* const a = x + k / at.choices * at.length;
    T const* const b = rows + (at.places[k] < 0 ? 0 : at.places[k]) * at.length;
    C const sum = kernels::team_sum<C>(team, at.places[k] < 0 ? 0 : at.length, [&](std::int64_t d) {
      return static_cast<C>(a[d]) * static_cast<C>(b[d]);
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] { out[k] = static_cast<T>(sum); });
  }
};
/// Whether an element of a list of places is one.
struct IsPlace {
  std::int64_t const* places;
  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t& sum) const {
    sum += places[k] >= 0 ? 1 : 0;
  }
};
/// Number of places, among `n`, that are not -1.
template <class Exec>
std::int64_t count_places(Exec const& exec, std::int64_t const* places, std::int64_t n) {
  std::int64_t out = 0;
  Kokkos::parallel_reduce(shardtype::kernels::launch_name("shardtype::count_places"),
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                          IsPlace{places}, out);
  return out;
}
/// Row r of the result is row from[r]; zeros if that is -1.
template <class T>
struct MoveRows {
  T* out;
  T const* rows;
  std::int64_t const* from;
  std::int64_t length;
  KOKKOS_FUNCTION void operator()(std::int64_t r) const {
    T* const to = out + r * length;
    T const* const source = rows + from[r] * length;
    bool const none = from[r] < 0;
    for (std::int64_t d = 0; d < length; ++d) to[d] = none ? T{} : source[d];
  }
  /// Device: one element of a row.
  KOKKOS_FUNCTION void element(std::int64_t r, std::int64_t d) const {
    out[r * length + d] = from[r] < 0 ? T{} : rows[from[r] * length + d];
  }
};

}  // namespace shardtype::nn::kernels
