// Reductions of blocks compared with a plain loop over their elements: maxima and minima, their
// indices, and sums of all real element types, NaNs and equal elements, run lengths around the
// sizes of lanes and blocks, views with any order of strides. Optimized, because the test also
// covers the compiler's version of the loops.
// OPTIMIZE: 3
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <shardtype/kernels/moments.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/reducers.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"

using namespace shardtype::kernels;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

template <class T>
bool is_nan(T x) {
  return x != x;
}

// The result of a reducer on elements one after the other: of two equal elements the index of the
// first.
template <class T, bool Max>
struct Extreme {
  using Reducer = ExtremeReducer<T, Max>;
  bool any = false;
  T best{};
  Int place = -1;
  void take(T x, Int k) {
    bool const better = !any || (is_nan(x) && !is_nan(best)) || (Max ? x > best : x < best);
    if (!better) return;
    best = x;
    place = k;
    any = true;
  }
  bool agrees(T got) const {
    if (!any) return got == extreme_value<T, !Max>();
    return (is_nan(got) && is_nan(best)) || got == best;
  }
};
template <class T, bool Max>
struct Place : Extreme<T, Max> {
  using Reducer = PlaceReducer<T, Max>;
  bool agrees(Int got) const { return got == this->place; }
};
template <class T>
struct Sum {
  using Reducer = SumReducer<T>;
  double sum = 0;
  void take(T x, Int) { sum += static_cast<double>(x); }
  template <class U>
  bool agrees(U got) const {  // the elements are small integers: sums are exact
    return (is_nan(sum) && is_nan(got)) || static_cast<double>(got) == sum;
  }
};

template <class T>
struct Largest {
  using Reducer = NormInfReducer<T>;
  float best = 0;
  void take(T x, Int) {
    float const size = std::fabs(static_cast<float>(x));
    best = size > best || is_nan(size) ? size : best;
  }
  bool agrees(T got) const {
    return (is_nan(best) && is_nan(static_cast<float>(got))) || static_cast<float>(got) == best;
  }
};

// The pieces of sums down the columns of a rows x columns block, for threads of a host.
constexpr Int pieces_of_columns(Int rows, Int columns, Int threads) {
  detail::ReduceShape shape;
  shape.kept.rank = shape.reduced.rank = 1;
  shape.kept.extent[0] = shape.outputs = columns;
  shape.reduced.extent[0] = shape.terms = rows;
  shape.kept.stride[0] = 1;
  shape.reduced.stride[0] = columns;
  return detail::host_pieces(shape, threads, true);
}
static_assert(pieces_of_columns(1'000'000, 64, 1) == 1);
static_assert(pieces_of_columns(1'000'000, 64, 2) == 2);
static_assert(pieces_of_columns(1'000'000, 64, 16) == 16);
static_assert(pieces_of_columns(1'000'000, 512, 2) == 1);  // each thread has outputs of its own
static_assert(pieces_of_columns(1'000'000, 512, 16) == 8);
static_assert(pieces_of_columns(2'000, 64, 2) == 1);  // too few terms
static_assert(pieces_of_columns(1'000'000, 4, 2) == 8);

// An m x n block with rows of `pitch` elements, or its transpose.
template <class T>
struct Block {
  Layout layout;
  std::unique_ptr<T[]> data;

  template <class Value>
  Block(Int rows, Int columns, bool transposed, Int pitch, Value const& value)
      : data(new T[static_cast<std::size_t>((transposed ? columns : rows) * pitch + 1)]) {
    layout.rank = 2;
    layout.extent[0] = rows;
    layout.extent[1] = columns;
    layout.stride[transposed ? 1 : 0] = pitch;
    layout.stride[transposed ? 0 : 1] = 1;
    for (Int i = 0; i < rows; ++i)
      for (Int j = 0; j < columns; ++j) data[index(i, j)] = value(i, j);
  }
  std::size_t index(Int i, Int j) const {
    return static_cast<std::size_t>(i * layout.stride[0] + j * layout.stride[1]);
  }
};

// Elements that are computed when they are read, as those of an expression.
template <class T>
struct Computed {
  T const* data;
  T operator[](Int k) const { return data[k]; }
  Computed operator+(Int by) const { return {data + by}; }
};

// Reduces over the second dim, or over both, the terms in `pieces` if not 0; returns the number of
// results that differ from the plain loop's.
template <class Expected, class T, class In>
int wrong(Block<T> const& block, In const& in, int kept, Int pieces = 0) {
  using Reducer = typename Expected::Reducer;
  Host const exec{};
  ReducePlan plan = plan_reduce<Reducer>(exec, block.layout, kept);
  if (pieces > 0) {
    plan.shape.pieces = pieces;
    plan.workspace =
        pieces * plan.shape.outputs * static_cast<Int>(sizeof(typename Reducer::Total));
  }
  Int const rows = block.layout.extent[0];
  Int const columns = block.layout.extent[1];
  Int const outputs = kept == 0 ? 1 : rows;
  std::unique_ptr<typename Reducer::Result[]> const got(
      new typename Reducer::Result[static_cast<std::size_t>(outputs)]);
  std::vector<char> workspace(static_cast<std::size_t>(plan.workspace));
  reduce<Reducer>(exec, plan, in, got.get(), workspace.data());
  exec.fence();
  int bad = 0;
  for (Int o = 0; o < outputs; ++o) {
    Expected expected;
    Int const first = kept == 0 ? 0 : o;
    Int const last = kept == 0 ? rows : o + 1;
    for (Int i = first; i < last; ++i)
      for (Int j = 0; j < columns; ++j)
        expected.take(block.data[block.index(i, j)], (i - first) * columns + j);
    if (!expected.agrees(got[static_cast<std::size_t>(o)])) ++bad;
  }
  return bad;
}

template <class T, class In>
void check_all(Block<T> const& block, In const& in) {
  for (int kept = 0; kept < 2; ++kept) {
    INFO(block.layout.extent[0] << " x " << block.layout.extent[1] << ", strides "
                                << block.layout.stride[0] << ", " << block.layout.stride[1]
                                << ", kept " << kept << ", elements of " << sizeof(T));
    CHECK(wrong<Extreme<T, true>>(block, in, kept) == 0);
    CHECK(wrong<Extreme<T, false>>(block, in, kept) == 0);
    CHECK(wrong<Place<T, true>>(block, in, kept) == 0);
    CHECK(wrong<Place<T, false>>(block, in, kept) == 0);
    CHECK(wrong<Sum<T>>(block, in, kept) == 0);
    CHECK(wrong<Place<T, true>>(block, in, kept, 3) == 0);
    CHECK(wrong<Sum<T>>(block, in, kept, 3) == 0);
  }
}
template <class T>
void check_all(Block<T> const& block) {
  T const* const data = block.data.get();
  check_all(block, data);
  check_all(block, Computed<T>{data});
}

// Extents around the lanes (64), the rows of one step (4, 128) and the blocks (4096) of the
// kernels.
Int drawn_extent(Draw& draw) {
  Int const around[] = {0, 1, 2, 4, 16, 64, 128, 133, 256, 500};
  return std::max<Int>(0, around[draw.below(10)] + draw.below(3) - 1);
}

template <class T>
T drawn_value(Draw& draw, int kinds) {
  int const v = draw.below(kinds);
  if constexpr (std::is_same_v<T, bool>) {
    return v > 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (v == 11) return std::numeric_limits<T>::quiet_NaN();
    if (v == 10) return -std::numeric_limits<T>::infinity();
    return static_cast<T>(v == 9 ? -0.0 : v - 5);
  } else {
    return static_cast<T>(v - 5);
  }
}

template <class T>
void check_drawn(unsigned seed, int draws) {
  Draw draw(seed);
  for (int n = 0; n < draws; ++n) {
    Int rows = drawn_extent(draw);
    Int columns = drawn_extent(draw);
    if (draw.below(5) == 0) (draw.below(2) == 0 ? rows : columns) = 4094 + draw.below(5000);
    if (rows * columns > 300'000)
      rows = std::min<Int>(rows, 5), columns = std::min<Int>(columns, 9000);
    bool const transposed = draw.below(2) == 0;
    // without NaNs, with many, and with one
    int const kinds = draw.below(3) == 0 ? 12 : 10;
    Int const row = rows > 0 && draw.below(3) == 0 ? draw.below(static_cast<int>(rows)) : -1;
    Int const column = columns > 0 ? draw.below(static_cast<int>(columns)) : 0;
    check_all(Block<T>(rows, columns, transposed, (transposed ? rows : columns) + draw.below(2) * 3,
                       [&](Int i, Int j) {
                         T const v = drawn_value<T>(draw, kinds);
                         return i == row && j == column ? drawn_value<T>(draw, 12) : v;
                       }));
  }
}

// The sums of squared distances of `columns` series of `rows` numbers. Apart: neighbouring numbers
// belong to different series, `columns` of them computed at once, or each alone; else to the same
// series.
enum class Series { apart, apart_alone, together };
template <class T>
auto spreads(Series how, Int rows, Int columns, std::vector<T> const& x) {
  using Reducer = VarianceReducer<T, false>;
  std::vector<typename Reducer::Result> out(static_cast<std::size_t>(columns));
  Host const exec{};
  Int const at_once = how == Series::apart_alone ? 1 : columns;
  for (Int first = 0; first < columns; first += at_once) {
    Layout layout;
    layout.rank = 2;
    layout.extent[0] = at_once;
    layout.extent[1] = rows;
    layout.stride[0] = how == Series::together ? rows : 1;
    layout.stride[1] = how == Series::together ? 1 : columns;
    ReducePlan const plan = plan_reduce<Reducer>(exec, layout, 1);
    std::vector<char> workspace(static_cast<std::size_t>(plan.workspace));
    T const* const from = x.data() + first;
    reduce<Reducer>(exec, plan, from, out.data() + first, workspace.data());
    exec.fence();
  }
  return out;
}

template <class T>
void check_spreads() {
  Draw draw(11);
  for (Int const rows : {1, 2, 7, 15, 16, 17, 33, 255, 256, 257, 300, 1000})
    for (Int const columns : {1, 3, 8, 15, 16, 17, 33, 129, 300}) {
      std::vector<T> apart(static_cast<std::size_t>(rows * columns));
      std::vector<T> together(apart.size());
      for (Int i = 0; i < rows; ++i)
        for (Int j = 0; j < columns; ++j) {
          T const x(static_cast<float>(draw.below(20001) - 10000) * 1e-3F + 3.0F);
          apart[static_cast<std::size_t>(i * columns + j)] = x;
          together[static_cast<std::size_t>(j * rows + i)] = x;
        }
      auto const got = spreads(Series::together, rows, columns, together);
      bool one_order = true;
      bool right = true;
      auto const columns_at_once = spreads(Series::apart, rows, columns, apart);
      auto const columns_alone = spreads(Series::apart_alone, rows, columns, apart);
      for (Int j = 0; j < columns; ++j) {
        auto const k = static_cast<std::size_t>(j);
        one_order = one_order && got[k] == columns_at_once[k] && got[k] == columns_alone[k];
        long double mean = 0;
        long double sum = 0;
        auto const size = [](T const& x) {
          if constexpr (requires { x.imag(); }) {
            return static_cast<long double>(x.real());
          } else {
            return static_cast<long double>(static_cast<double>(x));
          }
        };
        for (Int i = 0; i < rows; ++i)
          mean += size(together[static_cast<std::size_t>(j * rows + i)]);
        mean /= static_cast<long double>(rows);
        for (Int i = 0; i < rows; ++i) {
          long double const d = size(together[static_cast<std::size_t>(j * rows + i)]) - mean;
          sum += d * d;
        }
        long double const result = static_cast<double>(got[k]);
        // bfloat16 results have 8 bits
        long double const off = sizeof(T) == 2 ? 0.005L : 1e-6L;
        right = right && std::fabs(result - sum) <= off * sum + 1e-12L;
      }
      INFO(rows << " rows, " << columns << " columns, elements of " << sizeof(T));
      CHECK(one_order);
      CHECK(right);
    }
}

}  // namespace

TEST_CASE("reductions of drawn blocks are those of a plain loop") {
  check_drawn<float>(1, 120);
  check_drawn<double>(2, 120);
  check_drawn<std::int32_t>(3, 60);
  check_drawn<std::int64_t>(4, 60);
  check_drawn<bool>(5, 60);
}

TEST_CASE("one NaN is found wherever it stands") {
  for (Int const n : {1, 3, 4, 63, 64, 65, 130, 4096, 4100, 8200})
    for (Int const at : {Int{0}, n / 3, n / 2, n - 2, n - 1}) {
      if (at < 0) continue;
      for (bool const transposed : {false, true}) {
        Block<float> const block(3, n, transposed, transposed ? 3 : n, [&](Int i, Int j) {
          return i == 1 && j == at ? std::numeric_limits<float>::quiet_NaN()
                                   : static_cast<float>(j % 1000);
        });
        check_all(block);
      }
    }
}

TEST_CASE("the largest magnitude is that of a plain loop, and NaN if there is one") {
  using shardtype::bfloat16;
  float const infinity = std::numeric_limits<float>::infinity();
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (Int const n : {0, 1, 3, 15, 16, 63, 64, 65, 130, 4100, 8200})
    for (float const special : {0.0F, -0.0F, -1e4F, -infinity, infinity, nan, -nan, 0x1p-130F})
      for (Int const at : {Int{0}, n / 2, n - 1})
        for (bool const transposed : {false, true}) {
          Block<bfloat16> const block(3, n, transposed, transposed ? 3 : n, [&](Int i, Int j) {
            return bfloat16(i == 1 && j == at ? special
                                              : static_cast<float>((j * 7919 + i) % 1001 - 500));
          });
          for (int kept = 0; kept < 2; ++kept) {
            INFO(n << " terms, " << special << " at " << at << (transposed ? ", columns" : ""));
            CHECK(wrong<Largest<bfloat16>>(block, static_cast<bfloat16 const*>(block.data.get()),
                                           kept) == 0);
            CHECK(wrong<Largest<bfloat16>>(block, Computed<bfloat16>{block.data.get()}, kept) == 0);
          }
        }
}

TEST_CASE("rising and falling elements have their places") {
  for (Int const n : {5, 127, 128, 129, 5000, 20'000})
    for (int const sign : {-1, 1})
      for (bool const transposed : {false, true}) {
        check_all(Block<double>(2, n, transposed, transposed ? 2 : n,
                                [&](Int i, Int j) { return static_cast<double>(sign * j + i); }));
        check_all(Block<Int>(2, n, transposed, transposed ? 2 : n,
                             [&](Int i, Int j) { return sign * j + i; }));
      }
}

TEST_CASE("a variance has the same bits for neighbouring terms and for distant ones") {
  check_spreads<float>();
  check_spreads<double>();
  check_spreads<shardtype::bfloat16>();
  check_spreads<Kokkos::complex<float>>();
}
