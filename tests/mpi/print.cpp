// The text of a tensor: the same for any sharding as for the whole array, only the corners if it is
// large, on every rank; printed once.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using detail::List;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

template <class T>
T number(std::int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(n * 7 % 1000 - 500);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(n) / 64 - 8;
  } else {
    return T(static_cast<typename T::value_type>(n), static_cast<typename T::value_type>(-n) / 3);
  }
}

/// The text of the whole array, computed without a tensor.
template <class T>
std::string expected(List<std::int64_t> const& extents) {
  detail::ShownArray out;
  out.extents = extents;
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  out.cut = n > 1000;
  out.single = std::is_same_v<T, float> || std::is_same_v<T, Kokkos::complex<float>>;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k;
    bool inside = true;
    for (std::size_t d = extents.size(); d-- > 0;) {
      std::int64_t const at = rest % extents[d];
      rest /= extents[d];
      inside = inside && (!out.cut || extents[d] <= 6 || at < 3 || at >= extents[d] - 3);
    }
    if (!inside) continue;
    T const value = number<T>(k);
    if constexpr (std::is_integral_v<T>) {
      out.kind = detail::ShownArray::Kind::integer;
      out.integers.push_back(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      out.real.push_back(value);
    } else {
      out.kind = detail::ShownArray::Kind::complex;
      out.real.push_back(value.real());
      out.imag.push_back(value.imag());
    }
  }
  return detail::array_text(out);
}

template <class T, class... Dims>
void same_text(std::array<std::int64_t, sizeof...(Dims)> const& extents) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<T, Dims...>(mesh, extents, [&](auto... at) {
    std::int64_t n = 0;
    std::size_t d = 0;
    ((n = n * extents[d++] + at), ...);
    return number<T>(n);
  });
  List<std::int64_t> all;
  for (std::int64_t e : extents) all.push_back(e);
  CHECK(to_text(a) == type_name(a) + "\n" + expected<T>(all));
}

}  // namespace

TEST_CASE("any sharding prints as the whole array") {
  same_text<double>({});
  for (std::int64_t n : {0, 1, 5, 999, 1000, 1001, 5000}) {
    same_text<float, Dim<I, X>>({n});
    same_text<std::int64_t, Dim<I, Y, X>>({n});
  }
  for (auto const& e : {std::array<std::int64_t, 2>{2, 3}, {7, 5}, {1001, 1}, {2, 600}, {40, 31}}) {
    same_text<float, Dim<I, X>, Dim<J>>(e);
    same_text<double, Dim<I>, Dim<J, X, Y>>(e);
    same_text<Kokkos::complex<float>, Dim<I, Y>, Dim<J, X>>(e);
    same_text<Kokkos::complex<double>, Dim<I>, Dim<J>>(e);
  }
  for (auto const& e : {std::array<std::int64_t, 3>{2, 3, 4}, {3, 20, 30}, {9, 8, 15}})
    same_text<std::int32_t, Dim<I, Y>, Dim<J, X>, Dim<K>>(e);
  for (auto const& e : {std::array<std::int64_t, 4>{2, 1, 3, 2}, {7, 2, 9, 10}})
    same_text<double, Dim<I>, Dim<J, X>, Dim<K, Y>, Dim<L>>(e);
}

TEST_CASE("bits survive the way") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  List<double> const values = {-0.0, 0.0, HUGE_VAL, -HUGE_VAL, 5e-324, -1.5};
  auto const a = from_host<double, Dim<I, Y>>(mesh, {6}, values);
  CHECK(to_text(a).substr(to_text(a).find('\n') + 1) ==
        "[-0.0e+000  0.0e+000       inf      -inf  4.9e-324 -1.5e+000]");
  auto const b = full<std::int64_t, Dim<I, X>>(mesh, {3}, INT64_MIN);
  CHECK(to_text(b).substr(to_text(b).find('\n') + 1) ==
        "[-9223372036854775808 -9223372036854775808 -9223372036854775808]");
  auto const d = from_function<bool, Dim<I, X>, Dim<J, Y>>(mesh, {2, 2},
                                                           [](auto i, auto j) { return i == j; });
  CHECK(to_text(d).substr(to_text(d).find('\n') + 1) == "[[ True False]\n [False  True]]");
  // an expression is evaluated and printed, too
  auto const half = full<double, Dim<I, X>>(mesh, {2}, 0.5);
  CHECK(to_text(half + half * 2.0) == type_name(half) + "\n[1.5 1.5]");
  auto const c = full<float, Dim<I>, Reduced<X>>(mesh, {2}, 0.5F);
  CHECK(to_text(c) == "f32[2]{R:X}\n[0.5 0.5]");
}

TEST_CASE("a mesh of some ranks; printed by its first rank") {
  Mesh<X> const one(MPI_COMM_WORLD, {1}, {on_ranks::rank_total() - 1});
  auto const a = from_function<float, Dim<I, X>, Dim<J>>(
      one, {2, 3}, [](auto i, auto j) { return float(i) + float(j) / 4; });
  std::string const text = "f32[2@X, 3]\n[[0.   0.25 0.5 ]\n [1.   1.25 1.5 ]]";
  CHECK(to_text(a) == (one.here() ? text : ""));
  // the text on standard output
  std::fflush(stdout);
  int const screen = dup(1);
  std::FILE* const file = std::tmpfile();
  dup2(fileno(file), 1);
  print(a);
  std::fflush(stdout);
  dup2(screen, 1);
  close(screen);
  std::rewind(file);
  std::string written;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) written += static_cast<char>(c);
  std::fclose(file);
  CHECK(written == (one.here() ? text + "\n" : ""));
}
