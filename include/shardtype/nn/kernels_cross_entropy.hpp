#pragma once
/// Cross entropy of rows of logits: what ranks exchange about a row, its loss, and the gradient in
/// one pass.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/vector_functions.hpp>
#include <shardtype/nn/kernels_norm.hpp>
#include <shardtype/nn/types_cross_entropy.hpp>

namespace shardtype::nn::kernels {

/// e^(x[k] - base) for a row, added. `Host`: by the vector functions.
template <bool Host, class T, class C>
KOKKOS_FUNCTION C sum_of_exponentials(T const* x, std::int64_t n, std::int64_t stride, C base) {
  if constexpr (Host && std::is_same_v<T, C>) {
    if constexpr (shardtype::kernels::vectors::vectorised<functions::Exp, C>) {
      if (stride == 1) {
        constexpr std::int64_t lanes = shardtype::kernels::vectors::formulas::sums_of_one;
        constexpr std::int64_t run = 64 * lanes;  // long rows in parts, for the digits of the sum
        shardtype::kernels::wide_t<C> total{};
        for (std::int64_t begin = 0; begin < n; begin += run) {
          alignas(64) C sums[static_cast<std::size_t>(lanes)] = {};
          shardtype::kernels::vectors::add_exponentials<false>(n - begin < run ? n - begin : run,
                                                               sums, x + begin, &base);
          for (C const s : sums) total += s;
        }
        return static_cast<C>(total);
      }
    }
  }
  return static_cast<C>(kernels::sum_of<shardtype::kernels::wide_t<C>>(
      n, [&](std::int64_t k) -> shardtype::kernels::wide_t<C> {
        return shardtype::kernels::math::exp(static_cast<C>(x[k * stride]) - base);
      }));
}

/// The largest element and the sum of a row, in parts that a processor computes at once.
template <class T, class C, class Stride>
KOKKOS_FUNCTION void largest_and_sum(T const* x, std::int64_t n, Stride stride, C& largest,
                                     C& sum) {
  constexpr int lanes = 16;
  C tops[static_cast<std::size_t>(lanes)];
  C sums[static_cast<std::size_t>(lanes)] = {};
  for (C& t : tops) t = -std::numeric_limits<C>::infinity();
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int j = 0; j < lanes; ++j) {
      C const v = static_cast<C>(x[(k + j) * stride]);
      tops[j] = v > tops[j] ? v : tops[j];
      sums[j] += v;
    }
  for (; k < n; ++k) {
    C const v = static_cast<C>(x[k * stride]);
    tops[0] = v > tops[0] ? v : tops[0];
    sums[0] += v;
  }
  for (C const t : tops) largest = t > largest ? t : largest;
  for (C const s : sums) sum += s;
}

/// Classes `first`, first + 1, ... of `total`, in rows of a block.
template <bool Host, class T, class Id>
struct CrossEntropyNumbers {
  using C = shardtype::detail::computed_t<T>;
  RowShape shape;
  C* out;
  T const* logits;
  Id const* targets;
  std::int64_t first, total;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const { find(row, out + row * row_numbers); }
  KOKKOS_FUNCTION void find(std::int64_t row, C* to) const {
    std::int64_t const n = shape.length;
    T const* const x = logits + shape.begin(row);
    C largest = -std::numeric_limits<C>::infinity();
    C sums{};
    if (shape.inner == 1) {
      kernels::largest_and_sum(x, n, Neighbours{}, largest, sums);
    } else {
      kernels::largest_and_sum(x, n, shape.inner, largest, sums);
    }
    store(row, largest, sums, to);
    to[static_cast<int>(RowNumber::exponentials)] = kernels::sum_of_exponentials<Host>(
        x, n, shape.inner, to[static_cast<int>(RowNumber::largest)]);
  }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return shape.length; }
  /// Device: one row by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    C to[static_cast<std::size_t>(row_numbers)];
    find_by_team(team, row, to);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int k = 0; k < row_numbers; ++k) out[row * row_numbers + k] = to[k];
    });
  }
  /// Device: as find, by a team, each member of which has the numbers.
  template <class Member>
  KOKKOS_FUNCTION void find_by_team(Member const& team, std::int64_t row, C* to) const {
    using Wide = shardtype::kernels::wide_t<C>;
    std::int64_t const n = shape.length, stride = shape.inner;
    T const* const x = logits + shape.begin(row);
    // the least finite number where no element is larger, relative to which -inf adds nothing
    C largest{};
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n),
        [&](std::int64_t k, C& part) {
          C const v = static_cast<C>(x[k * stride]);
          part = v > part ? v : part;
        },
        Kokkos::Max<C>(largest));
    C const sums = kernels::team_sum<C>(
        team, n, [&](std::int64_t k) { return static_cast<C>(x[k * stride]); });
    store(row, largest, sums, to);
    C const base = to[static_cast<int>(RowNumber::largest)];
    to[static_cast<int>(RowNumber::exponentials)] =
        static_cast<C>(kernels::team_sum<Wide>(team, n, [&](std::int64_t k) -> Wide {
          return shardtype::kernels::math::exp(static_cast<C>(x[k * stride]) - base);
        }));
  }

 private:
  /// All numbers of a row but the sum of exponentials.
  KOKKOS_FUNCTION void store(std::int64_t row, C largest, C sums, C* to) const {
    std::int64_t const n = shape.length;
    T const* const x = logits + shape.begin(row);
    std::int64_t const target = static_cast<std::int64_t>(targets[row]);
    C picked{};
    if (target < 0 || target >= total) {
      picked = std::numeric_limits<C>::quiet_NaN();
    } else if (target >= first && target < first + n) {
      picked = static_cast<C>(x[(target - first) * shape.inner]);
    }
    // infinities have no difference
    C const base = largest - largest == C{} ? largest : C{};
    to[static_cast<int>(RowNumber::largest)] = base;
    to[static_cast<int>(RowNumber::picked)] = picked;
    to[static_cast<int>(RowNumber::logits)] = sums;
    to[static_cast<int>(RowNumber::classes)] = static_cast<C>(n);
  }
};

/// The loss and the logarithm of the sum of exponentials of each row, from the numbers of `parts`
/// ranks.
template <class C, class Id>
struct CrossEntropyJoin {
  C* losses;
  C* sums;
  C const* numbers;
  Id const* targets;
  std::int64_t parts;
  CrossEntropy settings;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    C const* const of = numbers + row * parts * row_numbers;
    auto const number = [&](std::int64_t p, RowNumber which) {
      return of[p * row_numbers + static_cast<int>(which)];
    };
    // a part without classes, or with logits of -inf only, adds nothing
    auto const adds = [&](std::int64_t p) { return number(p, RowNumber::exponentials) != C{}; };
    C largest = -std::numeric_limits<C>::infinity();
    for (std::int64_t p = 0; p < parts; ++p)
      if (adds(p) && number(p, RowNumber::largest) > largest)
        largest = number(p, RowNumber::largest);
    C sum{};
    C picked{};
    C logits{};
    C classes{};
    for (std::int64_t p = 0; p < parts; ++p) {
      picked += number(p, RowNumber::picked);
      logits += number(p, RowNumber::logits);
      classes += number(p, RowNumber::classes);
      if (adds(p))
        sum += number(p, RowNumber::exponentials) *
               shardtype::kernels::math::exp(number(p, RowNumber::largest) - largest);
    }
    C const all = largest + static_cast<C>(shardtype::kernels::math::log(sum));
    C const share = static_cast<C>(settings.smoothing);
    C loss = all - picked;
    if (settings.smoothing != 0) loss = (C(1) - share) * loss + share * (all - logits / classes);
    bool const ignored = static_cast<std::int64_t>(targets[row]) == settings.ignored;
    losses[row] = ignored ? C{} : loss;
    sums[row] = all;
  }
};

/// Joins totals of rows.
template <class T>
struct ClassReducer {
  using C = shardtype::detail::computed_t<T>;
  using Total = ClassTotal<C>;
  KOKKOS_FUNCTION static void join(Total& a, Total const& b) {
    a.towards += b.towards;
    // a part without classes, or with logits of -inf only, adds nothing
    if (b.exponentials == C{}) return;
    if (a.exponentials == C{}) {
      a.largest = b.largest;
      a.exponentials = b.exponentials;
    } else if (b.largest > a.largest) {
      a.exponentials =
          b.exponentials + a.exponentials * shardtype::kernels::math::exp(a.largest - b.largest);
      a.largest = b.largest;
    } else {
      a.exponentials += b.exponentials * shardtype::kernels::math::exp(b.largest - a.largest);
    }
  }
};

/// The totals of a rank's classes.
template <bool Host, class T, class Id>
struct FindClassTotals {
  using Numbers = CrossEntropyNumbers<Host, T, Id>;
  using C = typename Numbers::C;
  Numbers numbers;
  ClassTotal<C>* out;
  double smoothing;
  KOKKOS_FUNCTION ClassTotal<C> of(std::int64_t row) const {
    C n[static_cast<std::size_t>(row_numbers)];
    numbers.find(row, n);
    return total_of(n);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row) const { out[row] = of(row); }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return numbers.shape.length; }
  /// Device: one row by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    ClassTotal<C> const total = of(team, row);
    Kokkos::single(Kokkos::PerTeam(team), [&] { out[row] = total; });
  }
  template <class Member>
  KOKKOS_FUNCTION ClassTotal<C> of(Member const& team, std::int64_t row) const {
    C n[static_cast<std::size_t>(row_numbers)];
    numbers.find_by_team(team, row, n);
    return total_of(n);
  }

 private:
  KOKKOS_FUNCTION ClassTotal<C> total_of(C const* n) const {
    C towards = n[static_cast<int>(RowNumber::picked)];
    if (smoothing != 0)
      towards = static_cast<C>(1 - smoothing) * towards +
                static_cast<C>(smoothing) *
                    (n[static_cast<int>(RowNumber::logits)] / static_cast<C>(numbers.total));
    return {n[static_cast<int>(RowNumber::largest)], n[static_cast<int>(RowNumber::exponentials)],
            towards};
  }
};
/// The loss of a row, of the totals of all its classes.
template <class C>
KOKKOS_FUNCTION C class_loss(ClassTotal<C> const& t, bool ignored) {
  C const all = t.largest + static_cast<C>(shardtype::kernels::math::log(t.exponentials));
  return ignored ? C{} : all - t.towards;
}
template <class C, class Id>
struct ClassLosses {
  C* out;
  ClassTotal<C> const* totals;
  Id const* targets;
  std::int64_t ignored;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    out[row] = kernels::class_loss(totals[row], static_cast<std::int64_t>(targets[row]) == ignored);
  }
};
/// The same where a rank has all classes.
template <bool Host, class T, class Id>
struct ClassLossesHere {
  using Find = FindClassTotals<Host, T, Id>;
  Find find;
  typename Find::C* out;
  std::int64_t ignored;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    out[row] = kernels::class_loss(find.of(row),
                                   static_cast<std::int64_t>(find.numbers.targets[row]) == ignored);
  }
  static constexpr bool by_teams = true;
  std::int64_t row_length() const { return find.row_length(); }
  /// Device: one row by a team.
  template <class Member>
  KOKKOS_FUNCTION void by_team(Member const& team, std::int64_t row) const {
    ClassTotal<typename Find::C> const total = find.of(team, row);
    bool const ignores = static_cast<std::int64_t>(find.numbers.targets[row]) == ignored;
    Kokkos::single(Kokkos::PerTeam(team), [&] { out[row] = kernels::class_loss(total, ignores); });
  }
};

/// (softmax - target distribution) ct, 0 in ignored rows.
template <bool Host, class T, class Id>
struct CrossEntropyBack {
  using C = shardtype::detail::computed_t<T>;
  RowShape shape;
  T* out;
  T const* logits;
  Id const* targets;
  C const* sums;  ///< logarithms of the sums of exponentials
  C const* ct;
  std::int64_t first, total;
  CrossEntropy settings;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const n = shape.length;
    T const* const x = logits + shape.begin(row);
    T* const y = out + shape.begin(row);
    std::int64_t const target = static_cast<std::int64_t>(targets[row]);
    if (target == settings.ignored) {
      for (std::int64_t k = 0; k < n; ++k) y[k * shape.inner] = T{};
      return;
    }
    C const factor = ct[row];
    C const base = sums[row];
    exponentials(y, x, base, factor);
    C const evenly = static_cast<C>(settings.smoothing / static_cast<double>(total)) * factor;
    if (settings.smoothing != 0)
      for (std::int64_t k = 0; k < n; ++k)
        y[k * shape.inner] = static_cast<T>(static_cast<C>(y[k * shape.inner]) - evenly);
    if (target < first || target >= first + n) return;
    std::int64_t const at = (target - first) * shape.inner;
    // from the logit, so that bfloat16 is rounded once
    C const all = shardtype::kernels::math::exp(static_cast<C>(x[at]) - base) * factor;
    y[at] = static_cast<T>(all - evenly - static_cast<C>(1 - settings.smoothing) * factor);
  }
  RowShape elements(std::int64_t) const { return shape; }
  /// Device: one element.
  KOKKOS_FUNCTION void element(std::int64_t row, std::int64_t k) const {
    std::int64_t const at = shape.begin(row) + k * shape.inner;
    std::int64_t const target = static_cast<std::int64_t>(targets[row]);
    if (target == settings.ignored) {
      out[at] = T{};
      return;
    }
    C const factor = ct[row];
    C const evenly = static_cast<C>(settings.smoothing / static_cast<double>(total)) * factor;
    C const own = target == first + k ? static_cast<C>(1 - settings.smoothing) * factor : C{};
    C const all = shardtype::kernels::math::exp(static_cast<C>(logits[at]) - sums[row]) * factor;
    out[at] = static_cast<T>(all - evenly - own);
  }

 private:
  KOKKOS_FUNCTION void exponentials(T* y, T const* x, C base, C factor) const {
    if constexpr (Host && std::is_same_v<T, C>) {
      if (shape.inner == 1)
        return shardtype::kernels::vectors::scaled_exponentials<false>(shape.length, y, x, &base,
                                                                       &factor);
    }
    for (std::int64_t k = 0; k < shape.length; ++k)
      y[k * shape.inner] = static_cast<T>(
          shardtype::kernels::math::exp(static_cast<C>(x[k * shape.inner]) - base) * factor);
  }
};

template <class Exec>
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

}  // namespace shardtype::nn::kernels
