// Rows of 1 to 513 elements, which kernels of the host compute many at once: reductions, softmax
// and elementwise functions of tensors and expressions, against plain loops in double; uneven and
// empty blocks, one row, gaps between rows, all element types. An element has the same bits
// whichever rows lie beside it, and softmax the same as through totals that ranks could join.
// RANKS: 1 3
// TIMEOUT: 300
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Int = std::int64_t;

template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  for (auto const& x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}
// Equal, or near enough; NaN is NaN.
bool same(double x, double y, double near) {
  if (std::isnan(y)) return std::isnan(x);
  return x == y || std::abs(x - y) <= near * (std::abs(y) + 1);
}
void check_all(std::vector<double> const& got, std::vector<double> const& expected, double near) {
  REQUIRE(got.size() == expected.size());
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t k = 0; k < got.size(); ++k)
    if (!same(got[k], expected[k], near) && wrong++ == 0) first = k;
  if (wrong > 0) {
    INFO("element " << first << ": " << got[first] << ", not " << expected[first]);
    CHECK(wrong == 0);
  }
}

// A whole matrix of rows of `width` elements, and what is expected of each row.
struct Rows {
  std::vector<double> x;
  std::size_t width = 0;

  std::size_t count() const { return width == 0 ? 0 : x.size() / width; }
  double at(std::size_t r, std::size_t j) const { return x[r * width + j]; }
  template <class F>
  std::vector<double> each(F const& f) const {
    std::vector<double> out;
    for (std::size_t r = 0; r < count(); ++r) out.push_back(f(r));
    return out;
  }
  template <class F>
  std::vector<double> elements(F const& f) const {
    std::vector<double> out;
    for (std::size_t r = 0; r < count(); ++r)
      for (std::size_t j = 0; j < width; ++j) out.push_back(f(r, j));
    return out;
  }
  double sum(std::size_t r) const {
    double s = 0;
    for (std::size_t j = 0; j < width; ++j) s += at(r, j);
    return s;
  }
  std::size_t best(std::size_t r, bool max) const {
    std::size_t b = 0;
    for (std::size_t j = 1; j < width; ++j)
      if (!std::isnan(at(r, b)) &&
          (std::isnan(at(r, j)) || (max ? at(r, j) > at(r, b) : at(r, j) < at(r, b))))
        b = j;
    return b;
  }
  double exponentials(std::size_t r) const {
    double s = 0;
    double const most = width == 0 ? 0 : at(r, best(r, true));
    for (std::size_t j = 0; j < width; ++j) s += std::exp(at(r, j) - most);
    return s;
  }
};

constexpr Int widths[] = {1,  2,  3,  4,  5,  8,  9,  15,  16,  17,
                          31, 32, 33, 63, 64, 65, 70, 127, 128, 129};
constexpr Int heights[] = {0, 1, 200};

// Few different numbers, so that rows have equal elements.
template <class T>
T drawn(Int i, Int j, Int salt) {
  Int const n = (i * 7919 + j * 104729 + salt * 31 + i * j * 13) % 41 - 20;
  return static_cast<T>(static_cast<float>(std::is_integral_v<T> ? n : n) *
                        (std::is_integral_v<T> ? 1.0F : 0.25F));
}
template <class T>
double precision() {
  return sizeof(T) == 2 ? 2e-2 : std::is_same_v<T, float> ? 5e-6 : 1e-13;
}

template <class T>
void check_reductions(Mesh<X> const& mesh, Int height, Int width) {
  INFO(height << " rows of " << width << " elements of " << sizeof(T) << " bytes");
  auto const a = from_function<T, Dim<I, X>, Dim<J>>(
      mesh, {height, width}, [](Int i, Int j) { return drawn<T>(i, j, 1); });
  Rows const rows{numbers(a), static_cast<std::size_t>(width)};
  double const near = precision<T>();
  auto const sums = rows.each([&](std::size_t r) { return rows.sum(r); });
  check_all(numbers(sum<J>(a)), sums, near);
  check_all(numbers(max<J>(a)),
            rows.each([&](std::size_t r) { return rows.at(r, rows.best(r, true)); }), 0);
  check_all(numbers(argmax<J>(a)),
            rows.each([&](std::size_t r) { return static_cast<double>(rows.best(r, true)); }), 0);
  check_all(numbers(argmin<J>(a)),
            rows.each([&](std::size_t r) { return static_cast<double>(rows.best(r, false)); }), 0);
  // of an expression, and of rows with gaps between them
  check_all(numbers(sum<J>(a + a)), rows.each([&](std::size_t r) { return 2 * rows.sum(r); }),
            2 * near);
  auto const wide = concat<J>(a, a);
  auto const part = slice<J>(wide, width / 2, width / 2 + width);
  Rows const cut{numbers(part), static_cast<std::size_t>(width)};
  check_all(numbers(sum<J>(part)), cut.each([&](std::size_t r) { return cut.sum(r); }), near);
  check_all(numbers(argmax<J>(part)),
            cut.each([&](std::size_t r) { return static_cast<double>(cut.best(r, true)); }), 0);
  if constexpr (!std::is_integral_v<T>) {
    check_all(numbers(var<J>(a)), rows.each([&](std::size_t r) {
      double const mean = rows.sum(r) / static_cast<double>(width);
      double s = 0;
      for (std::size_t j = 0; j < rows.width; ++j)
        s += (rows.at(r, j) - mean) * (rows.at(r, j) - mean);
      return s / static_cast<double>(width);
    }),
              near);
    check_all(numbers(logsumexp<J>(a)), rows.each([&](std::size_t r) {
      return rows.at(r, rows.best(r, true)) + std::log(rows.exponentials(r));
    }),
              near);
    auto const soft = softmax<J>(a);
    auto const logs = log_softmax<J>(a);
    auto const weight = [&](std::size_t r, std::size_t j) {
      return std::exp(rows.at(r, j) - rows.at(r, rows.best(r, true))) / rows.exponentials(r);
    };
    check_all(numbers(soft), rows.elements(weight), near);
    check_all(numbers(logs),
              rows.elements([&](std::size_t r, std::size_t j) { return std::log(weight(r, j)); }),
              near);
    // through totals
    check_all(numbers(soft), numbers(softmax<J, Dim<I, X>, Dim<J>>(a)), 0);
    check_all(numbers(logs), numbers(log_softmax<J, Dim<I, X>, Dim<J>>(a)), 0);
  }
  // alone and among others
  for (Int const r : {Int{0}, height / 2, height - 1}) {
    if (r < 0 || r >= height) continue;
    auto const one = from_function<T, Dim<I>, Dim<J>>(
        mesh, {1, width}, [=](Int, Int j) { return drawn<T>(r, j, 1); });
    auto const row = static_cast<std::size_t>(r);
    CHECK(numbers(sum<J>(one))[0] == numbers(sum<J>(a))[row]);
    if constexpr (!std::is_integral_v<T>) {
      CHECK(numbers(var<J>(one))[0] == numbers(var<J>(a))[row]);
      CHECK(numbers(logsumexp<J>(one))[0] == numbers(logsumexp<J>(a))[row]);
      CHECK(numbers(softmax<J>(one))[0] ==
            numbers(softmax<J>(a))[row * static_cast<std::size_t>(width)]);
    }
  }
}

// Along the outer dim of a matrix of few columns, which several rows at once are read of.
template <class T>
void check_columns(Mesh<X> const& mesh, Int height, Int width) {
  INFO(height << " rows of " << width << " elements of " << sizeof(T) << " bytes");
  auto const a = from_function<T, Dim<I>, Dim<J>>(mesh, {height, width},
                                                  [](Int i, Int j) { return drawn<T>(i, j, 1); });
  Rows const columns{numbers(transpose<J, I>(a)), static_cast<std::size_t>(height)};
  double const near = 4 * precision<T>();
  auto const sums = columns.each([&](std::size_t r) { return columns.sum(r); });
  check_all(numbers(sum<I>(a)), sums, near);
  check_all(numbers(sum<I>(a + a)), columns.each([&](std::size_t r) { return 2 * columns.sum(r); }),
            2 * near);
  check_all(numbers(max<I>(a)),
            columns.each([&](std::size_t r) { return columns.at(r, columns.best(r, true)); }), 0);
  check_all(
      numbers(argmin<I>(a)),
      columns.each([&](std::size_t r) { return static_cast<double>(columns.best(r, false)); }), 0);
  // split over the ranks, and of the middle dim of three
  auto const split = from_function<T, Dim<I, X>, Dim<J>>(
      mesh, {height, width}, [](Int i, Int j) { return drawn<T>(i, j, 1); });
  check_all(numbers(all_reduce<X>(sum<I>(split))), sums, near);
  auto const three = from_function<T, Dim<K>, Dim<I>, Dim<J>>(
      mesh, {2, height, width}, [](Int, Int i, Int j) { return drawn<T>(i, j, 1); });
  auto twice = sums;
  twice.insert(twice.end(), sums.begin(), sums.end());
  check_all(numbers(sum<I>(three)), twice, near);
  if constexpr (!std::is_integral_v<T>) {
    auto const most =
        columns.each([&](std::size_t r) { return columns.at(r, columns.best(r, true)); });
    auto const all = columns.each([&](std::size_t r) { return columns.exponentials(r); });
    check_all(numbers(logsumexp<I>(a)),
              columns.each([&](std::size_t r) { return most[r] + std::log(all[r]); }), near);
    auto const weights = columns.elements([&](std::size_t r, std::size_t j) {
      return std::exp(columns.at(r, j) - most[r]) / all[r];
    });
    check_all(numbers(transpose<J, I>(softmax<I>(a))), weights, near);
    auto logs = weights;
    for (double& x : logs) x = std::log(x);
    check_all(numbers(transpose<J, I>(log_softmax<I>(a))), logs, near);
  }
}

template <class T>
void check_elementwise(Mesh<X> const& mesh, Int height, Int width) {
  INFO(height << " rows of " << width << " elements of " << sizeof(T) << " bytes");
  auto const a = from_function<T, Dim<I, X>, Dim<J>>(
      mesh, {height, width}, [](Int i, Int j) { return drawn<T>(i, j, 1); });
  auto const of_row =
      from_function<T, Dim<I, X>>(mesh, {height}, [](Int i) { return drawn<T>(i, 0, 2); });
  auto const of_column =
      from_function<T, Dim<J>>(mesh, {width}, [](Int j) { return drawn<T>(0, j, 3); });
  Rows const rows{numbers(a), static_cast<std::size_t>(width)};
  auto const r_ = numbers(of_row);
  auto const c_ = numbers(of_column);
  double const near = precision<T>();
  check_all(numbers((a + of_column).tensor()),
            rows.elements([&](std::size_t r, std::size_t j) { return rows.at(r, j) + c_[j]; }),
            near);
  check_all(
      numbers((a * of_row + of_column).tensor()),
      rows.elements([&](std::size_t r, std::size_t j) { return rows.at(r, j) * r_[r] + c_[j]; }),
      sizeof(T) == 2 ? 0.2 : near);
  if constexpr (!std::is_integral_v<T>) {
    check_all(numbers((a * exp(of_row)).tensor()), rows.elements([&](std::size_t r, std::size_t j) {
      return rows.at(r, j) * std::exp(r_[r]);
    }),
              sizeof(T) == 2 ? 0.1 : near);
  }
  // three dims: the number of the middle one lies along neither neighbour
  auto const b = from_function<T, Dim<I, X>, Dim<K>, Dim<J>>(
      mesh, {height, 3, width}, [](Int i, Int k, Int j) { return drawn<T>(i + k, j, 4); });
  auto const middle = from_function<T, Dim<K>>(mesh, {3}, [](Int k) { return drawn<T>(k, 1, 5); });
  auto const m_ = numbers(middle);
  auto const bs = numbers(b);
  auto const got = numbers((b + middle + of_row).tensor());
  std::vector<double> expected;
  for (std::size_t n = 0; n < bs.size(); ++n) {
    std::size_t const row = n / static_cast<std::size_t>(width);
    expected.push_back(bs[n] + m_[row % 3] + r_[row / 3]);
  }
  check_all(got, expected, near);
  // flipped rows
  auto const back = numbers((flip<J>(a) + of_column).tensor());
  check_all(back, rows.elements([&](std::size_t r, std::size_t j) {
    return rows.at(r, rows.width - 1 - j) + c_[j];
  }),
            near);
}

}  // namespace

TEMPLATE_TEST_CASE("reductions and softmax of short rows", "", float, double, bfloat16,
                   std::int32_t) {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Int const height : heights)
    for (Int const width : widths) check_reductions<TestType>(mesh, height, width);
  for (Int const width : {100, 127, 512, 513}) check_reductions<TestType>(mesh, 5, width);
}

TEMPLATE_TEST_CASE("elementwise functions of short rows", "", float, double, bfloat16,
                   std::int32_t) {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Int const height : heights)
    for (Int const width : widths) check_elementwise<TestType>(mesh, height, width);
  for (Int const width : {Int{200}, Int{255}, Int{256}, Int{257}, Int{513}})
    check_elementwise<TestType>(mesh, 5, width);
}

TEMPLATE_TEST_CASE("reductions and softmax along the outer dim of few columns", "", float, double,
                   bfloat16, std::int32_t) {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Int const height : {Int{1}, Int{127}, Int{1537}})
    for (Int const width : {1, 2, 5, 16, 32, 33}) check_columns<TestType>(mesh, height, width);
}

TEST_CASE("rows of no elements") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  for (Int const height : {Int{0}, Int{1}, Int{5}}) {
    auto const a = full<float, Dim<I, X>, Dim<J>>(mesh, {height, 0}, 1.0F);
    CHECK(numbers(softmax<J>(a)).empty());
    CHECK(numbers(log_softmax<J>(a)).empty());
    CHECK(numbers((a + full<float, Dim<J>>(mesh, {0}, 1.0F)).tensor()).empty());
    CHECK(numbers(sum<J>(a)) == std::vector<double>(static_cast<std::size_t>(height), 0));
    for (double const x : numbers(var<J>(a))) CHECK(std::isnan(x));
  }
}

TEST_CASE("short rows with infinities and NaN") {
  Mesh<X> const mesh(MPI_COMM_WORLD, {on_ranks::rank_total()});
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (Int const width : {2, 3, 4, 16, 33, 64, 100, 512}) {
    INFO("rows of " << width);
    auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {5, width}, [](Int i, Int j) {
      return i == 0             ? -inf
             : i == 1 && j == 1 ? inf
             : i == 2 && j == 0 ? nan
             : i == 3 && j == 1 ? -inf
                                : static_cast<double>(j);
    });
    auto const tops = numbers(max<J>(a));
    CHECK(tops[0] == -inf);
    CHECK(tops[1] == inf);
    CHECK(std::isnan(tops[2]));
    auto const places = numbers(argmax<J>(a));
    CHECK(places[0] == 0);
    CHECK(places[1] == 1);
    CHECK(places[2] == 0);
    auto const logs = numbers(logsumexp<J>(a));
    CHECK(logs[0] == -inf);
    CHECK(logs[1] == inf);
    CHECK(std::isnan(logs[2]));
    auto const soft = numbers(softmax<J>(a));
    auto const w = static_cast<std::size_t>(width);
    for (std::size_t j = 0; j < w; ++j) {
      CHECK(std::isnan(soft[j]));
      CHECK(std::isnan(soft[w + j]));
      CHECK(std::isnan(soft[2 * w + j]));
      CHECK(std::isnan(soft[3 * w + j]) == false);
    }
    CHECK(soft[3 * w + 1] == 0);
  }
}
