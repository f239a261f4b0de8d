// Packing of views, element by element: any order of strides and any gaps, any dim split, parts in
// any order that may share rows.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/kernels/view_runs.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"

using namespace shardtype::kernels;
using shardtype::bfloat16;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

// A view of random extents, whose dims have a random order in memory and gaps after some.
Layout drawn_view(Draw& draw, int rank) {
  Layout l;
  l.rank = rank;
  std::vector<int> order;
  for (int d = 0; d < rank; ++d) {
    l.extent[d] = draw.below(6) == 0 ? draw.below(2) : 1 + draw.below(draw.below(3) == 0 ? 70 : 9);
    order.insert(order.begin() + draw.below(d + 1), d);
  }
  Int next = draw.below(4) == 0 ? 2 : 1;
  for (int const d : order) {
    l.stride[d] = next;
    next *= std::max<Int>(l.extent[d], 1) + (draw.below(3) == 0 ? 3 : 0);
  }
  return l;
}

// Messages of random runs, as tables.
struct Runs {
  std::vector<Int> at{0}, row, first{0}, order;

  Runs(Draw& draw, Int rows) {
    int const messages = 1 + draw.below(5);
    for (int m = 0; m < messages; ++m) {
      for (Int i = draw.below(4); i < rows; i += draw.below(5)) {
        Int const n = std::min({rows - i, view_tile, Int{1} + draw.below(40)});
        row.push_back(i);
        at.push_back(at.back() + n);
        i += n;
      }
      first.push_back(static_cast<Int>(row.size()));
    }
    for (std::size_t r = 0; r < row.size(); ++r) order.push_back(static_cast<Int>(r));
    std::sort(order.begin(), order.end(), [&](Int a, Int b) {
      return row[static_cast<std::size_t>(a)] < row[static_cast<std::size_t>(b)];
    });
  }
  RunTable table() const {
    return {at.data(),
            row.data(),
            first.data(),
            static_cast<Int>(first.size()) - 1,
            static_cast<Int>(row.size()),
            at.back()};
  }
};

// The expected contents of the messages: outer dims, then the rows of the message, then inner dims.
std::vector<Int> expected(std::vector<Int> const& memory, Layout const& l, int dim,
                          Runs const& runs) {
  std::vector<Int> out;
  auto const each = [&](Int count, int from, int to, Int offset, auto&& body) {
    for (Int k = 0; k < count; ++k) {
      Int at = offset;
      Int rest = k;
      for (int d = to - 1; d >= from; --d) {
        at += rest % l.extent[d] * l.stride[d];
        rest /= l.extent[d];
      }
      body(at);
    }
  };
  for (std::size_t m = 0; m + 1 < runs.first.size(); ++m)
    each(outer_length(l, dim), 0, dim, 0, [&](Int outer) {
      for (Int r = runs.first[m]; r < runs.first[m + 1]; ++r) {
        auto const run = static_cast<std::size_t>(r);
        for (Int i = 0; i < runs.at[run + 1] - runs.at[run]; ++i)
          each(inner_length(l, dim), dim + 1, l.rank, outer + (runs.row[run] + i) * l.stride[dim],
               [&](Int at) { out.push_back(memory[static_cast<std::size_t>(at)]); });
      }
    });
  return out;
}

}  // namespace

TEST_CASE("views are cut into messages") {
  Draw draw(11);
  int views = 0;
  int empty = 0;
  for (int k = 0; k < 3000; ++k) {
    int const rank = 1 + k % 4;
    Layout const l = drawn_view(draw, rank);
    if (l.elements() > 200000) continue;
    int const dim = draw.below(rank);
    Runs const runs(draw, l.extent[dim]);
    Int reach = 1;
    for (int d = 0; d < rank; ++d) reach += std::max<Int>(l.extent[d] - 1, 0) * l.stride[d];
    std::vector<Int> memory(static_cast<std::size_t>(reach));
    for (std::size_t e = 0; e < memory.size(); ++e) memory[e] = static_cast<Int>(e) + 1;
    std::vector<Int> const want = expected(memory, l, dim, runs);
    std::vector<Int> got(want.size() + 1, -1);
    split_view(Host{}, memory.data(), got.data(), l, dim, runs.table(), runs.order.data());
    INFO("view " << k << ", dim " << dim << " of " << rank);
    CHECK(got.back() == -1);
    got.pop_back();
    CHECK(got == want);
    ++views;
    empty += want.empty() ? 1 : 0;
  }
  CHECK(views > 2500);
  CHECK(empty > 100);
}

// Packed copies whose last dim runs forwards, backwards or stands still, of outputs that fit one
// piece and of ones that bypass the cache, at aligned and other places.
TEST_CASE("packed copies of rows, of reversed rows and of repeated elements", "") {
  auto const check = [](auto zero) {
    using T = decltype(zero);
    auto const size = static_cast<Int>(sizeof(T));
    auto const one = [](Int const(&extent)[3], Int const(&stride)[3], Int first, Int place) {
      Layout l;
      l.rank = 3;
      Int reach = first;
      for (int d = 0; d < 3; ++d) {
        l.extent[d] = extent[d];
        l.stride[d] = stride[d];
        reach += std::max<Int>(0, stride[d]) * std::max<Int>(0, extent[d] - 1);
      }
      std::vector<T> in(static_cast<std::size_t>(reach) + 1);
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = T(static_cast<float>(k * 7 % 101));
      auto const n = static_cast<std::size_t>(l.elements() + place);
      std::vector<T> out(n + 64, T(-1.0F));
      copy_packed(Host(), static_cast<T const*>(in.data()) + first, l, out.data() + place);
      Int wrong = 0;
      for (Int k = 0; k < l.elements(); ++k) {
        Int const i = k / (extent[1] * extent[2]);
        Int const at = first + i * stride[0] + k / extent[2] % extent[1] * stride[1] +
                       k % extent[2] * stride[2];
        wrong +=
            out[static_cast<std::size_t>(k + place)] == in[static_cast<std::size_t>(at)] ? 0 : 1;
      }
      // nothing around them is written
      for (Int k = 0; k < place; ++k) wrong += out[static_cast<std::size_t>(k)] == T(-1.0F) ? 0 : 1;
      for (std::size_t k = n; k < out.size(); ++k) wrong += out[k] == T(-1.0F) ? 0 : 1;
      INFO(extent[0] << " x " << extent[1] << " x " << extent[2] << " of " << sizeof(T)
                     << " bytes");
      CHECK(wrong == 0);
    };
    // one piece or many, whole lines or not; the last ones bypass the cache
    for (Int const n : {Int{2}, Int{15}, Int{64}, Int{1000}, Int{1 << 16} / size,
                        Int{1 << 16} / size + 1, Int{1200000} / size}) {
      one({1, 1, n}, {n, n, -1}, n - 1, 0);
      one({2, 3, n}, {3 * n, n, -1}, n - 1, 1);
      one({2, 3, n}, {n, 2 * n + 3, -1}, n - 1, 3);
      one({1, 1, n}, {n, n, 1}, 0, 0);
      one({2, 3, n}, {3 * n + 5, n, 1}, 2, 1);
      one({2, 3, n}, {n, 2 * n + 3, 1}, 1, 3);
      one({0, 3, n}, {n, 2 * n + 3, 1}, 0, 0);
    }
    // many rows: shorter ones go through the cache
    for (Int const bytes : {992, 1024, 1040, 5008})
      for (Int const gap : {0, 1, 40})
        one({40, 40, bytes / size}, {45 * (bytes / size + gap), bytes / size + gap, 1}, 0, gap);
    for (Int const times : {2, 3, 4, 5, 8, 16, 31, 32, 33, 65, 1000}) {
      for (Int const n : {Int{1}, Int{2}, Int{7}, Int{500}}) {
        one({2, n, times}, {n, 1, 0}, 0, 1);
        one({2, n, times}, {n + 1, 1, 0}, 0, 3);
        one({2, n, times}, {1, 3, 0}, 0, 0);
      }
      one({1, Int{1300000} / size / times, times}, {0, 1, 0}, 0, 0);
      one({2, Int{1300000} / size / times, times}, {1, 3, 0}, 0, 5);
    }
    one({1, 1, Int{1400000} / size}, {0, 0, 0}, 0, 1);
  };
  check(static_cast<signed char>(0));
  check(bfloat16(0.0F));
  check(0.0F);
  check(0.0);
  check(Kokkos::complex<double>());
}

namespace {

template <class T>
T numbered(Int k) {
  return T(static_cast<float>(k * 7 % 101));
}
// `height` rows of `width` elements, `pitch` apart, in exactly as much memory as they need.
template <class T>
std::vector<T> block(Int height, Int width, Int pitch) {
  std::vector<T> out(static_cast<std::size_t>((height - 1) * pitch + width));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = numbered<T>(static_cast<Int>(k));
  return out;
}
Layout plane(Int rows, Int row_stride, Int columns, Int stride) {
  Layout l;
  l.rank = 2;
  l.extent[0] = rows;
  l.extent[1] = columns;
  l.stride[0] = row_stride;
  l.stride[1] = stride;
  return l;
}
// How many elements of `got` differ from numbered(from(row, column)).
template <class T, class From>
Int wrong_of(std::vector<T> const& got, Int rows, Int columns, From const& from) {
  Int wrong = 0;
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < columns; ++j)
      wrong += got[static_cast<std::size_t>(i * columns + j)] == numbered<T>(from(i, j)) ? 0 : 1;
  return wrong;
}
template <class T>
void check_plane(Int height, Int width, Int gap) {
  INFO(height << " x " << width << " of " << sizeof(T) << " bytes, gaps of " << gap);
  Int const pitch = width + gap;
  std::vector<T> const in = block<T>(height, width, pitch);
  auto const packed = [&](Int first, Layout const& l) {
    std::vector<T> out(static_cast<std::size_t>(height * width), T(-1.0F));
    copy_packed(Host(), in.data() + first, l, out.data());
    return out;
  };
  CHECK(wrong_of(packed(0, plane(height, pitch, width, 1)), height, width,
                 [&](Int i, Int j) { return i * pitch + j; }) == 0);
  CHECK(wrong_of(packed(width - 1, plane(height, pitch, width, -1)), height, width,
                 [&](Int i, Int j) { return i * pitch + width - 1 - j; }) == 0);
  CHECK(wrong_of(packed((height - 1) * pitch, plane(height, -pitch, width, 1)), height, width,
                 [&](Int i, Int j) { return (height - 1 - i) * pitch + j; }) == 0);
  CHECK(wrong_of(packed(0, plane(width, 1, height, pitch)), width, height,
                 [&](Int i, Int j) { return j * pitch + i; }) == 0);
  // back, with the gaps untouched
  std::vector<T> const rows = block<T>(height, width, width);
  for (bool const pitched : {false, true}) {
    std::vector<T> out(in.size(), T(-1.0F));
    if (pitched)
      copy_pitched(Host(), rows.data(), width, out.data(), pitch, height, width);
    else
      copy_unpacked(Host(), rows.data(), plane(height, pitch, width, 1), out.data());
    Int wrong = 0;
    for (Int k = 0; k < static_cast<Int>(out.size()); ++k)
      wrong += out[static_cast<std::size_t>(k)] ==
                       (k % pitch < width ? numbered<T>(k / pitch * width + k % pitch) : T(-1.0F))
                   ? 0
                   : 1;
    CHECK(wrong == 0);
  }
  // side by side
  auto const part = [](std::vector<T> const& x, Int n) {
    return detail::RowPart{reinterpret_cast<char const*>(x.data()),
                           n * static_cast<Int>(sizeof(T))};
  };
  std::vector<T> const other = block<T>(height, width + gap, width + gap);
  detail::RowPart const parts[] = {part(rows, width), part(other, width + gap), part(rows, 0),
                                   part(rows, width)};
  for (int const count : {1, 2, 3, 4}) {
    Int const all = count == 1 ? width : count == 4 ? 3 * width + gap : 2 * width + gap;
    std::vector<T> out(static_cast<std::size_t>(height * all), T(-1.0F));
    join_rows(Host(), parts, count, out.data(), height);
    CHECK(wrong_of(out, height, all, [&](Int i, Int j) {
            return j < width             ? i * width + j
                   : j < 2 * width + gap ? i * (width + gap) + j - width
                                         : i * width + j - 2 * width - gap;
          }) == 0);
  }
}

}  // namespace

// Rows and columns of each number, in exactly as much memory as they need.
TEMPLATE_TEST_CASE("packed, reversed, transposed and joined rows of all widths", "", signed char,
                   bfloat16, float, double, Kokkos::complex<double>) {
  for (Int width = 1; width <= 70; ++width)
    for (Int const height : {1, 2, 3, 5, 16, 67})
      for (Int const gap : {0, 1, 9}) check_plane<TestType>(height, width, gap);
  for (Int const width : {2, 3, 7, 20}) check_plane<TestType>(6000, width, 1);
  check_plane<TestType>(3, 40000, 1);
  check_plane<TestType>(130, 200, 0);
  check_plane<TestType>(1500, 1000, 5);
}
