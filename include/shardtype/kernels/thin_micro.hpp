#pragma once
/// The innermost loops of products with few columns, by AVX-512. They are compiled for processors
/// that have it in any unit, and run where all ranks have one.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <shardtype/core/bfloat16.hpp>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define SHARDTYPE_THIN_PRODUCTS

namespace shardtype::kernels::detail {

/// A register of numbers.
template <class R>
struct ThinRegister {
  // NOLINTBEGIN(modernize-use-using): the attribute of a dependent type needs it in g++
  typedef R Type __attribute__((vector_size(64)));
  typedef R Half __attribute__((vector_size(32)));
  typedef R Quarter __attribute__((vector_size(16)));
  // NOLINTEND(modernize-use-using)
  static constexpr int lanes = static_cast<int>(64 / sizeof(R));
};
/// How elements are read: `parts` registers of numbers from 64 bytes.
template <class T>
struct ThinElements {
  using Real = T;
  static constexpr int parts = 1;
  static constexpr int lanes = ThinRegister<Real>::lanes;
  static constexpr int step = lanes;  ///< elements in 64 bytes
};
/// The even elements of a register, then the odd ones: a float is the bits of one and zeros.
template <>
struct ThinElements<bfloat16> {
  using Real = float;
  static constexpr int parts = 2;
  static constexpr int lanes = ThinRegister<Real>::lanes;
  static constexpr int step = 2 * lanes;
};
template <class T>
using thin_real = typename ThinElements<T>::Real;
template <class T>
using thin_vector = typename ThinRegister<thin_real<T>>::Type;
using ThinWords = ThinRegister<std::uint32_t>::Type;

/// sum += x y, rounded once. Written by hand, because compilers fuse some products with sums and
/// not others.
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_add(
    ThinRegister<float>::Type& sum, ThinRegister<float>::Type const& x,
    ThinRegister<float>::Type const& y) {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
}
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_add(
    ThinRegister<double>::Type& sum, ThinRegister<double>::Type const& x,
    ThinRegister<double>::Type const& y) {
  asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
}
/// A register of one number.
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_fill(ThinRegister<float>::Type& to,
                                                                     float const* from) {
  asm("vbroadcastss %1, %0" : "=v"(to) : "m"(*from));
}
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_fill(ThinRegister<double>::Type& to,
                                                                     double const* from) {
  asm("vbroadcastsd %1, %0" : "=v"(to) : "m"(*from));
}

/// Reads 64 bytes of elements.
template <class T>
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_read(T const* from,
                                                                     thin_vector<T>* to) {
  if constexpr (ThinElements<T>::parts == 1) {
    std::memcpy(to, from, 64);
  } else {
    ThinWords words;
    std::memcpy(&words, from, 64);
    to[0] = __builtin_bit_cast(thin_vector<T>, words << 16);
    to[1] = __builtin_bit_cast(thin_vector<T>, words & 0xFFFF0000U);
  }
}
/// Reads a register of neighbours.
template <class T>
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_read_row(T const* from,
                                                                         thin_vector<T>& to) {
  if constexpr (ThinElements<T>::parts == 1) {
    std::memcpy(&to, from, 64);
  } else {
    ThinWords words;
    asm("vpmovzxwd %1, %0" : "=v"(words) : "m"(*reinterpret_cast<char const(*)[32]>(from)));
    to = __builtin_bit_cast(thin_vector<T>, words << 16);
  }
}

/// Sums of neighbouring lanes of each of two registers, the two in turn.
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_pairs(
    ThinRegister<float>::Type const& a, ThinRegister<float>::Type const& b,
    ThinRegister<float>::Type& to) {
  to = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
       __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}
/// Writes the sums of the lanes of each of four registers.
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_four_sums(
    ThinRegister<float>::Type const* x, float* to) {
  using V = ThinRegister<float>::Type;
  using Half = ThinRegister<float>::Half;
  using Quarter = ThinRegister<float>::Quarter;
  V a;
  V b;
  detail::thin_pairs(x[0], x[1], a);
  detail::thin_pairs(x[2], x[3], b);
  V const four =
      __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  Half const half = __builtin_shufflevector(four, four, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(four, four, 8, 9, 10, 11, 12, 13, 14, 15);
  Quarter const sums = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                       __builtin_shufflevector(half, half, 4, 5, 6, 7);
  std::memcpy(to, &sums, sizeof(sums));
}
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_four_sums(
    ThinRegister<double>::Type const* x, double* to) {
  using V = ThinRegister<double>::Type;
  using Half = ThinRegister<double>::Half;
  using Quarter = ThinRegister<double>::Quarter;
  for (int k = 0; k < 4; k += 2) {
    V const two = __builtin_shufflevector(x[k], x[k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                  __builtin_shufflevector(x[k], x[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    Half const half = __builtin_shufflevector(two, two, 0, 1, 2, 3) +
                      __builtin_shufflevector(two, two, 4, 5, 6, 7);
    Quarter const sums =
        __builtin_shufflevector(half, half, 0, 1) + __builtin_shufflevector(half, half, 2, 3);
    std::memcpy(to + k, &sums, sizeof(sums));
  }
}

/// Rows whose sums along contiguous terms are made at once.
inline constexpr int thin_dot_rows = 4;

/// The sums of `Cols` columns for each of four rows from one step of each: I = 4 column + row.
template <class T, std::size_t... I>
[[gnu::target("avx512f"), gnu::always_inline]] inline void thin_dot_step(
    thin_vector<T>* sums, T const* const* rows, std::int64_t at, thin_real<T> const* panel,
    std::index_sequence<I...>) {
  constexpr int parts = ThinElements<T>::parts;
  constexpr int lanes = ThinElements<T>::lanes;
  thin_vector<T> x[thin_dot_rows][static_cast<std::size_t>(parts)];
  detail::thin_read(rows[0] + at, x[0]);
  detail::thin_read(rows[1] + at, x[1]);
  detail::thin_read(rows[2] + at, x[2]);
  detail::thin_read(rows[3] + at, x[3]);
  thin_vector<T> y{};
  ((I % 4 == 0 ? void(std::memcpy(&y, panel + I / 4 * parts * lanes, 64)) : void(),
    detail::thin_add(sums[I], x[I % 4][0], y)),
   ...);
  if constexpr (parts == 2)
    ((I % 4 == 0 ? void(std::memcpy(&y, panel + (I / 4 * 2 + 1) * lanes, 64)) : void(),
      detail::thin_add(sums[I], x[I % 4][1], y)),
     ...);
}
/// Products of four rows with the columns of `panel`, whose steps lie `panel_step` apart and hold
/// the parts of each column: `sums` of the first column, then of the next. `tails` holds a last
/// step of each row if it is not null.
template <class T, std::size_t... I>
[[gnu::target("avx512f"), gnu::noinline]] void thin_dots(std::int64_t steps, T const* const* rows,
                                                         T const* tails, std::int64_t ahead,
                                                         thin_real<T> const* panel,
                                                         thin_real<T>* to,
                                                         std::index_sequence<I...> all) {
  constexpr int step = ThinElements<T>::step;
  constexpr std::int64_t panel_step = static_cast<std::int64_t>(sizeof...(I) / 4) * step;
  thin_vector<T> sums[sizeof...(I)] = {};
  T const* const mine[thin_dot_rows] = {rows[0], rows[1], rows[2], rows[3]};
  if (ahead != 0) {
    for (std::int64_t s = 0; s < steps; ++s, panel += panel_step) {
      __builtin_prefetch(mine[0] + s * step + ahead, 0, 2);
      __builtin_prefetch(mine[1] + s * step + ahead, 0, 2);
      __builtin_prefetch(mine[2] + s * step + ahead, 0, 2);
      __builtin_prefetch(mine[3] + s * step + ahead, 0, 2);
      detail::thin_dot_step<T>(sums, mine, s * step, panel, all);
    }
  } else {
    for (std::int64_t s = 0; s < steps; ++s, panel += panel_step)
      detail::thin_dot_step<T>(sums, mine, s * step, panel, all);
  }
  if (tails != nullptr) {
    T const* const last[thin_dot_rows] = {tails, tails + step, tails + 2 * step, tails + 3 * step};
    detail::thin_dot_step<T>(sums, last, 0, panel, all);
  }
  ((I % 4 == 0 ? detail::thin_four_sums(sums + I, to + I) : void()), ...);
}

/// Adds the product of `Rows` rows of numbers and of rows of `Vectors` registers, `steps` of them:
/// sums[r, v] += x[r, s] y[s, v], in the order of s.
template <class T, int Vectors, std::size_t... I>
[[gnu::target("avx512f"), gnu::noinline]] void thin_rows(std::int64_t steps, thin_real<T> const* x,
                                                         std::int64_t x_row, T const* y,
                                                         std::int64_t y_row, std::int64_t ahead,
                                                         thin_real<T>* to, std::int64_t to_row,
                                                         std::index_sequence<I...>) {
  constexpr int lanes = ThinElements<T>::lanes;
  using V = thin_vector<T>;
  V sums[sizeof...(I)] = {};
  auto const at = [&](std::size_t k) {
    return to + static_cast<std::int64_t>(k / Vectors) * to_row +
           static_cast<std::int64_t>(k % Vectors) * lanes;
  };
  for (std::int64_t s = 0; s < steps; ++s, y += y_row, ++x) {
    V line[static_cast<std::size_t>(Vectors)];
    V number{};
    if (ahead != 0)
      for (int v = 0; v < Vectors; v += ThinElements<T>::parts)
        __builtin_prefetch(y + ahead + v * lanes, 0, 2);
    ((I < Vectors ? detail::thin_read_row(y + I % Vectors * lanes, line[I % Vectors]) : void()),
     ...);
    ((I % Vectors == 0
          ? detail::thin_fill(number, x + static_cast<std::int64_t>(I / Vectors) * x_row)
          : void(),
      detail::thin_add(sums[I], number, line[I % Vectors])),
     ...);
  }
  V old;
  ((std::memcpy(&old, at(I), 64), old += sums[I], std::memcpy(at(I), &old, 64)), ...);
}

}  // namespace shardtype::kernels::detail

#endif
