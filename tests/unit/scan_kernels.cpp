// Running values along every dim of blocks of one to four dims, and transposing copies, element by
// element. Lengths are around those of vectors, groups and tiles. Optimized, because the test also
// covers the compiler's version of the loops.
// OPTIMIZE: 3
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/scan.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"

using namespace shardtype;
using namespace shardtype::kernels;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

template <class T>
struct Drawn {
  static T of(Draw& draw) { return static_cast<T>(static_cast<float>(draw.below(9)) - 4); }
};
template <class R>
struct Drawn<Kokkos::complex<R>> {
  static Kokkos::complex<R> of(Draw& draw) {
    return {static_cast<R>(draw.below(9)) - 4, static_cast<R>(draw.below(9)) - 4};
  }
};

/// Compares all scans of a drawn block [outer, middle, inner] with one element after the other.
/// Sums of small integers are exact, so that the order does not matter.
template <class T, class R>
void check_scan(Draw& draw, Int outer, Int middle, Int inner, bool products) {
  INFO("outer " << outer << " middle " << middle << " inner " << inner);
  auto const n = static_cast<std::size_t>(outer * middle * inner);
  auto const row = static_cast<std::size_t>(outer * inner);
  std::vector<T> in(n), start(row), want(n), without(n), total(row);
  for (T& x : in) x = products ? T(draw.below(8) == 0 ? -1.F : 1.F) : Drawn<T>::of(draw);
  for (T& x : start) x = products ? T(1.F) : Drawn<T>::of(draw);
  for (int const which : {0, 1, 2, 3}) {
    bool const starts = which % 2 == 1;
    bool const reverse = which >= 2;
    for (Int o = 0; o < outer; ++o)
      for (Int c = 0; c < inner; ++c) {
        auto const column = static_cast<std::size_t>(o * inner + c);
        typename R::Part sum = starts ? R::load(start[column]) : R::nothing();
        for (Int row_number = 0; row_number < middle; ++row_number) {
          Int const k = reverse ? middle - 1 - row_number : row_number;
          auto const at = static_cast<std::size_t>((o * middle + k) * inner + c);
          without[at] = static_cast<T>(sum);
          R::join(sum, R::load(in[at]));
          want[at] = static_cast<T>(sum);
        }
        total[column] = static_cast<T>(sum);
      }
    T const* const from = starts ? start.data() : nullptr;
    std::vector<T> got(n + 1, T(99.F));
    scan_middle<R>(Host(), in.data(), got.data(), from, outer, middle, inner, false, reverse);
    REQUIRE(std::equal(want.begin(), want.end(), got.begin()));
    scan_middle<R>(Host(), in.data(), got.data(), from, outer, middle, inner, true, reverse);
    REQUIRE(std::equal(without.begin(), without.end(), got.begin()));
    REQUIRE(got.back() == T(99.F));
    if (starts) continue;
    std::vector<T> last(row + 1, T(99.F));
    total_middle<R>(Host(), in.data(), last.data(), outer, middle, inner, reverse);
    if (middle > 0) REQUIRE(std::equal(total.begin(), total.end(), last.begin()));
    REQUIRE(last.back() == T(99.F));
  }
}

template <class T>
void check_dims(Draw& draw) {
  for (int round = 0; round < 150; ++round) {
    int const rank = 1 + static_cast<int>(draw.below(4));
    std::vector<Int> extent;
    for (int d = 0; d < rank; ++d)
      extent.push_back(draw.below(20) == 0 ? 0 : 1 + draw.below(rank < 3 ? 300 : 18));
    for (int d = 0; d < rank; ++d) {
      Int outer = 1;
      Int inner = 1;
      for (int e = 0; e < rank; ++e)
        (e < d ? outer : inner) *= e == d ? 1 : extent[static_cast<std::size_t>(e)];
      Int const middle = extent[static_cast<std::size_t>(d)];
      check_scan<T, SumReducer<T>>(draw, outer, middle, inner, false);
      check_scan<T, ProductReducer<T>>(draw, outer, middle, inner, true);
      if constexpr (!shardtype::detail::is_complex<T>) {
        check_scan<T, ExtremeReducer<T, true>>(draw, outer, middle, inner, false);
        check_scan<T, ExtremeReducer<T, false>>(draw, outer, middle, inner, false);
      }
    }
  }
}

/// Each row of a drawn block with the bits that it has alone.
template <class T, class R>
void check_rows(Draw& draw, Int rows, Int n) {
  INFO("rows " << rows << " of " << n);
  std::vector<T> in(static_cast<std::size_t>(rows * n));
  std::vector<T> start(static_cast<std::size_t>(rows));
  for (T& x : in) {
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(draw.below(3) - 1);  // whose products do not overflow
    } else {
      float const special[] = {NAN, INFINITY, 0.F, -0.F};
      Int const which = draw.below(400);
      x = static_cast<T>(which < 4 ? special[which]
                                   : static_cast<float>(draw.below(20011)) / 97 - 100);
    }
  }
  for (T& x : start) x = static_cast<T>(static_cast<float>(draw.below(7)) / 3);
  for (int const which : {0, 1, 2, 3, 4, 5, 6, 7}) {
    bool const starts = which % 2 == 1;
    bool const reverse = which / 2 % 2 == 1;
    bool const exclusive = which >= 4;
    std::vector<T> got(in.size() + 1, T(99.F));
    std::vector<T> want = got;
    T const* from = starts ? start.data() : nullptr;
    scan_middle<R>(Host(), in.data(), got.data(), from, rows, n, 1, exclusive, reverse);
    for (Int r = 0; r < rows; ++r)
      scan_middle<R>(Host(), in.data() + r * n, want.data() + r * n, starts ? from + r : from, 1, n,
                     1, exclusive, reverse);
    REQUIRE(std::equal(got.begin(), got.end(), want.begin(), [](T const& x, T const& y) {
      return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y);
    }));
  }
}
template <class T>
void check_all_rows() {
  Draw draw(7);
  for (Int n = 1; n < 600; n += n < 140 ? 1 : 67)
    for (Int rows : {4, 16, 21}) {
      check_rows<T, SumReducer<T>>(draw, rows, n);
      check_rows<T, ProductReducer<T>>(draw, rows, n);
      check_rows<T, ExtremeReducer<T, true>>(draw, rows, n);
      check_rows<T, ExtremeReducer<T, false>>(draw, rows, n);
    }
}

template <class T>
void check_transpose(Draw& draw, Layout const& layout, Int size) {
  std::vector<T> in(static_cast<std::size_t>(size));
  for (T& x : in) x = static_cast<T>(static_cast<float>(draw.below(120)));
  std::vector<T> out(static_cast<std::size_t>(layout.elements()) + 1, T(121.F));
  copy_packed(Host(), static_cast<T const*>(in.data()), layout, out.data());
  bool good = out.back() == T(121.F);
  for (Int k = 0; good && k < layout.elements(); ++k) {
    Int at = 0;
    Int rest = k;
    for (int d = layout.rank - 1; d >= 0; --d) {
      at += rest % layout.extent[d] * layout.stride[d];
      rest /= layout.extent[d];
    }
    good = out[static_cast<std::size_t>(k)] == in[static_cast<std::size_t>(at)];
  }
  REQUIRE(good);
}

}  // namespace

TEST_CASE("running values along every dim") {
  Draw draw(3);
  check_dims<float>(draw);
  check_dims<double>(draw);
  check_dims<std::int32_t>(draw);
  check_dims<std::int64_t>(draw);
  check_dims<bfloat16>(draw);
  check_dims<Kokkos::complex<float>>(draw);
  check_dims<Kokkos::complex<double>>(draw);
}

TEST_CASE("a row has the same bits alone and among others") {
  check_all_rows<float>();
  check_all_rows<double>();
  check_all_rows<bfloat16>();
  check_all_rows<std::int32_t>();
  check_all_rows<std::int64_t>();
}

TEST_CASE("every number of columns and many lengths") {
  Draw draw(4);
  for (Int inner = 1; inner <= 40; ++inner)
    for (Int middle : {1, 2, 15, 16, 17, 31, 64, 65, 127, 200, 700})
      check_scan<float, SumReducer<float>>(draw, 1 + draw.below(3), middle, inner, false);
  check_scan<float, SumReducer<float>>(draw, 2, 3, 4096 + 5, false);
  check_scan<double, ExtremeReducer<double, true>>(draw, 1, 5, 2 * 4096 + 1, false);
}

TEST_CASE("a NaN stays in running maxima and minima") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (Int inner : {1, 2, 5, 15, 16, 50})
    for (Int place : {0, 1, 40, 99}) {
      std::vector<float> in(static_cast<std::size_t>(100 * inner), 1.0F);
      std::vector<float> out(in.size());
      in[static_cast<std::size_t>(place * inner)] = nan;
      auto const check = [&] {
        for (Int k = 0; k < 100; ++k)
          for (Int c = 0; c < inner; ++c) {
            float const x = out[static_cast<std::size_t>(k * inner + c)];
            REQUIRE((x != x) == (c == 0 && k >= place));
          }
      };
      float const* const none = nullptr;
      scan_middle<ExtremeReducer<float, true>>(Host(), in.data(), out.data(), none, 1, 100, inner,
                                               false, false);
      check();
      scan_middle<ExtremeReducer<float, false>>(Host(), in.data(), out.data(), none, 1, 100, inner,
                                                false, false);
      check();
    }
}

TEST_CASE("running maxima of long columns, before and after a NaN, and of infinities") {
  Draw draw(6);
  for (Int place : {-1, 0, 2047, 2048, 2100, 4099}) {
    std::vector<float> in(5000);
    for (float& x : in) x = Drawn<float>::of(draw);
    in[1000] = -std::numeric_limits<float>::infinity();
    in[4500] = std::numeric_limits<float>::infinity();
    if (place >= 0) in[static_cast<std::size_t>(place)] = std::numeric_limits<float>::quiet_NaN();
    using Max = ExtremeReducer<float, true>;
    std::vector<float> out(in.size());
    float const* const none = nullptr;
    for (bool const exclusive : {false, true}) {
      scan_middle<Max>(Host(), in.data(), out.data(), none, 1, 5000, 1, exclusive, false);
      float max = Max::nothing();
      bool good = true;
      for (std::size_t k = 0; k < in.size(); ++k) {
        float const before = max;
        Max::join(max, in[k]);
        float const want = exclusive ? before : max;
        good = good && (out[k] == want || (out[k] != out[k] && want != want));
      }
      REQUIRE(good);
    }
  }
}

TEST_CASE("transposes, element by element") {
  Draw draw(5);
  for (int round = 0; round < 200; ++round) {
    Layout l;
    l.rank = 2 + static_cast<int>(draw.below(2));
    for (int d = 0; d < l.rank; ++d) l.extent[d] = 1 + draw.below(l.rank == 2 ? 300 : 70);
    int const fast = static_cast<int>(draw.below(l.rank - 1));
    Int next = 1;
    l.stride[fast] = next;
    next *= l.extent[fast] + draw.below(3);
    for (int d = l.rank - 1; d >= 0; --d)
      if (d != fast) {
        l.stride[d] = next;
        next *= l.extent[d];
      }
    check_transpose<float>(draw, l, next);
    check_transpose<double>(draw, l, next);
    check_transpose<bfloat16>(draw, l, next);
    check_transpose<Kokkos::complex<double>>(draw, l, next);
    check_transpose<char>(draw, l, next);
  }
  // large enough for stores that bypass the cache
  for (Int const n : {1024, 1000}) {
    Layout l;
    l.rank = 2;
    l.extent[0] = l.extent[1] = n;
    l.stride[0] = 1;
    l.stride[1] = n;
    check_transpose<float>(draw, l, n * n);
    check_transpose<double>(draw, l, n * n);
    check_transpose<bfloat16>(draw, l, n * n);
    check_transpose<char>(draw, l, n * n);
  }
}
