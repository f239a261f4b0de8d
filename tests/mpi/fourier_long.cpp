// Long Fourier transforms along a split dim against sums over all rows in long double: 0, 1,
// primes, one less and one more than the ranks, blocks of unequal size and empty ones, several
// axes, batch dims, both orders. Bytes and memory are compared with the plans, which gather
// nothing.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
// OPTIMIZE: 1
// TIMEOUT: 300
// NEEDS: FFT
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/fft/four_step.hpp>
#include <shardtype/fft/frequencies.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct K : Index<"K"> {};
struct K1 : Index<"K1"> {};
struct K2 : Index<"K2"> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct Rows7 : Index<"Rows7", 7> {};

using Int = std::int64_t;
using Long = std::complex<long double>;
template <class Real>
using Complex = Kokkos::complex<Real>;

Long value(Int b, Int i, Int c) {
  return {static_cast<long double>((b * 5 + i * 7 + i * i * 3 + c * 2) % 11 - 5),
          static_cast<long double>((b * 3 + i * 2 + i * i + c) % 7 - 3)};
}
template <class Real>
struct Given {
  template <class... Ints>
  Complex<Real> operator()(Ints... at) const {
    Int const k[] = {at...};
    Long const v =
        sizeof...(at) == 1 ? value(0, k[0], 0) : value(k[0], k[1], sizeof...(at) > 2 ? k[2] : 0);
    return {static_cast<Real>(v.real()), static_cast<Real>(v.imag())};
  }
};

// The sum over the n rows i of value(b, i, c) exp(sign 2 pi i k / n), for each k.
std::vector<Long> dense(Int n, Int b, Int c, int sign) {
  std::vector<Long> roots, out;
  long double const pi = std::acos(-1.0L);
  for (Int k = 0; k < n; ++k) {
    long double const angle =
        sign * 2 * pi * static_cast<long double>(k) / static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  for (Int k = 0; k < n; ++k) {
    Long sum = 0;
    for (Int i = 0; i < n; ++i) sum += value(b, i, c) * roots[static_cast<std::size_t>(i * k % n)];
    out.push_back(sum);
  }
  return out;
}

// The largest difference from `wanted(global indices)` in units of 10 epsilon log2(n) of the
// largest element.
template <class A, class Wanted>
double error(A const& a, Int n, Wanted wanted) {
  using Real = shardtype::detail::real_of<typename A::element>;
  long double worst = 0;
  long double most = 1;
  auto const block = harness::host_block(a);
  shardtype::detail::for_each_element(a, [&](Int at, std::array<Int, A::rank> const& index) {
    auto const x = block.data()[at];
    Long const w = std::apply(wanted, index);
    worst = std::max(worst, std::abs(Long(x.real(), x.imag()) - w));
    most = std::max(most, std::abs(w));
  });
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  long double const unit =
      10 * std::numeric_limits<Real>::epsilon() * std::log2(static_cast<long double>(n + 2)) * most;
  return static_cast<double>(worst / unit);
}

// Rows: none, one, primes, one less and one more than the ranks, products of few factors.
std::vector<Int> lengths() {
  Int const p = on_ranks::rank_total();
  std::vector<Int> out = {0, 1, 2, 3, 4, 7, 12, 16, 30, 49, 64, 97, 106, 128, 210, p - 1, p + 1};
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <class Real>
void check_one_dim() {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using T = Complex<Real>;
  for (Int const n : lengths()) {
    INFO("rows " << n);
    auto const a = from_function<T, Dim<I, X>>(mesh, {n}, Given<Real>{});
    std::vector<Long> const all = dense(n, 0, 0, -1);
    std::vector<Long> const back = dense(n, 0, 0, 1);
    auto const wanted = [&](Int k) { return all[static_cast<std::size_t>(k)]; };
    auto const given = [&](Int i) { return value(0, i, 0); };

    auto const f = fft_four_step<I, K1, K2>(a);
    static_assert(std::is_same_v<decltype(f), Tensor<T, Dim<K1, X>, Dim<K2>> const>);
    auto const [n1, n2] = f.extents();
    CHECK(n1 * n2 == n);
    CHECK(error(f, n, [&, rows = n1](Int k1, Int k2) { return wanted(k1 + rows * k2); }) < 1);
    CHECK(error(ifft_four_step<K1, K2, I>(f), n, given) < 1);

    auto const g = fft_four_step<I, K>(a);
    static_assert(std::is_same_v<decltype(g), Tensor<T, Dim<K, X>> const>);
    CHECK(error(g, n, wanted) < 1);
    CHECK(error(ifft_four_step<K, I>(g), n, given) < 1);

    long double const rows = static_cast<long double>(std::max<Int>(n, 1));
    auto const over = [&](std::vector<Long> const& sums, long double by) {
      return [&sums, by](Int k) { return sums[static_cast<std::size_t>(k)] / by; };
    };
    using op::FftNorm;
    CHECK(error(fft_four_step<I, K>(a, FftNorm::ortho), n, over(all, std::sqrt(rows))) < 1);
    CHECK(error(fft_four_step<I, K>(a, FftNorm::forward), n, over(all, rows)) < 1);
    CHECK(error(ifft_four_step<I, K>(a), n, over(back, rows)) < 1);
    CHECK(error(ifft_four_step<I, K>(a, FftNorm::ortho), n, over(back, std::sqrt(rows))) < 1);
    CHECK(error(ifft_four_step<I, K>(a, FftNorm::forward), n, over(back, 1)) < 1);
    auto const h = fft_four_step<I, K1, K2>(a, FftNorm::ortho);
    CHECK(error(ifft_four_step<K1, K2, I>(h, FftNorm::ortho), n, given) < 1);
  }
}

}  // namespace

TEST_CASE("one split dim, float") { check_one_dim<float>(); }
TEST_CASE("one split dim, double") { check_one_dim<double>(); }

TEST_CASE("batch dims before and after, several axes on the dim") {
  using T = Complex<double>;
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (Int const n : {1, 5, 12, 30, 97}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", rows " << n);
      Int const batch = 3;
      std::vector<std::vector<Long>> all;
      for (Int b = 0; b < batch; ++b)
        for (Int c = 0; c < 2; ++c) all.push_back(dense(n, b, c, -1));
      auto const wanted = [&](Int b, Int k, Int c) {
        return all[static_cast<std::size_t>(b * 2 + c)][static_cast<std::size_t>(k)];
      };
      auto const given = [&](Int b, Int i, Int c) { return value(b, i, c); };
      // the batch is split over the other axis, so that some ranks have none of it
      auto const a =
          from_function<T, Dim<B, Y>, Dim<I, X>, Dim<C>>(mesh, {batch, n, 2}, Given<double>{});
      auto const f = fft_four_step<I, K1, K2>(a);
      static_assert(
          std::is_same_v<decltype(f), Tensor<T, Dim<B, Y>, Dim<K1, X>, Dim<K2>, Dim<C>> const>);
      Int const n1 = f.extents()[1];
      CHECK(error(f, n, [&](Int b, Int k1, Int k2, Int c) { return wanted(b, k1 + n1 * k2, c); }) <
            1);
      CHECK(error(ifft_four_step<K1, K2, I>(f), n, given) < 1);
      auto const g = fft_four_step<I, K>(a);
      CHECK(error(g, n, wanted) < 1);
      CHECK(error(ifft_four_step<K, I>(g), n, given) < 1);
      // the two dims of the frequencies in other places
      auto const turned = transpose<K2, B, C, K1>(f);
      auto const back = ifft_four_step<K1, K2, I>(turned);
      static_assert(std::is_same_v<decltype(back), Tensor<T, Dim<B, Y>, Dim<C>, Dim<I, X>> const>);
      CHECK(error(back, n, [&](Int b, Int c, Int i) { return value(b, i, c); }) < 1);
      // two axes, and no axis
      auto const both =
          from_function<T, Dim<B>, Dim<I, X, Y>, Dim<C>>(mesh, {batch, n, 2}, Given<double>{});
      auto const h = fft_four_step<I, K1, K2>(both);
      static_assert(
          std::is_same_v<decltype(h), Tensor<T, Dim<B>, Dim<K1, X, Y>, Dim<K2>, Dim<C>> const>);
      Int const h1 = h.extents()[1];
      CHECK(error(h, n, [&](Int b, Int k1, Int k2, Int c) { return wanted(b, k1 + h1 * k2, c); }) <
            1);
      CHECK(error(ifft_four_step<K1, K2, I>(h), n, given) < 1);
      CHECK(error(fft_four_step<I, K>(both), n, wanted) < 1);
      auto const whole =
          from_function<T, Dim<B, X>, Dim<I>, Dim<C, Y>>(mesh, {batch, n, 2}, Given<double>{});
      auto const w = fft_four_step<I, K1, K2>(whole);
      CHECK(error(w, n, [&](Int b, Int, Int k, Int c) { return wanted(b, k, c); }) < 1);
      CHECK(error(ifft_four_step<K1, K2, I>(transpose<K2, B, C, K1>(w)), n,
                  [&](Int b, Int c, Int i) { return value(b, i, c); }) < 1);
    }
  }
}

TEST_CASE("lengths in the types of the frequencies") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using T = Complex<double>;
  Int const n = 7 * 12;
  std::vector<Long> const all = dense(n, 0, 0, -1);
  auto const a = from_function<T, Dim<I, X>>(mesh, {n}, Given<double>{});
  auto const given = [&](Int i) { return value(0, i, 0); };
  auto const f = fft_four_step<I, Rows7, K2>(a);
  CHECK(f.extents()[1] == 12);
  CHECK(error(f, n, [&](Int k1, Int k2) { return all[static_cast<std::size_t>(k1 + 7 * k2)]; }) <
        1);
  CHECK(error(ifft_four_step<Rows7, K2, I>(f), n, given) < 1);
  auto const g = fft_four_step<I, K1, Rows7>(a);
  CHECK(g.extents()[0] == 12);
  CHECK(error(g, n, [&](Int k1, Int k2) { return all[static_cast<std::size_t>(k1 + 12 * k2)]; }) <
        1);
  CHECK(error(ifft_four_step<K1, Rows7, I>(g), n, given) < 1);
  auto const odd = from_function<T, Dim<I, X>>(mesh, {n + 1}, Given<double>{});
  CHECK(on_ranks::code_of([&] { (void)fft_four_step<I, Rows7, K2>(odd); }) == "E41");
  CHECK(on_ranks::code_of([&] { (void)fft_four_step<I, Rows7>(a); }) == "E41");
}

TEST_CASE("only composite lengths, by name") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using T = Complex<double>;
  auto const run = [&](Int n) {
    auto const a = from_function<T, Dim<I, X>>(mesh, {n}, Given<double>{});
    (void)fft_four_step<I, K1, K2>(a, op::FftNorm::backward, op::FftLength::composite);
    (void)fft_four_step<I, K>(a, op::FftNorm::backward, op::FftLength::composite);
  };
  run(96);
  bool const alone = on_ranks::rank_total() == 1;
  CHECK(on_ranks::code_of([&] { run(97); }) == (alone ? "none" : "E41"));
  if (on_ranks::rank_total() == 4) {
    std::string text;
    try {
      run(97);
    } catch (Error const& e) {
      text = e.what();
    }
    INFO(text);
    CHECK(text.find("index I: its extent 97 has no two factors with which 4 ranks have work") !=
          std::string::npos);
    CHECK(text.find("96 = 8 * 12, 98 = 7 * 14") != std::string::npos);
  }
}

TEST_CASE("a pending sum stays pending") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  using T = Complex<double>;
  for (Int const n : {30, 97}) {
    std::vector<Long> const all = dense(n, 0, 0, -1);
    auto const sum = to_partial<Y>(from_function<T, Dim<I, X>>(mesh, {n}, Given<double>{}));
    auto const f = fft_four_step<I, K>(sum);
    static_assert(std::is_same_v<decltype(f), Tensor<T, Dim<K, X>, Unreduced<Y>> const>);
    CHECK(error(all_reduce<Y>(f), n, [&](Int k) { return all[static_cast<std::size_t>(k)]; }) < 1);
    auto const g = ifft_four_step<K1, K2, I>(fft_four_step<I, K1, K2>(sum));
    CHECK(error(all_reduce<Y>(g), n, [&](Int i) { return value(0, i, 0); }) < 1);
  }
}

TEST_CASE("frequencies in the transposed order") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (std::array<Int, 2> const n : {std::array<Int, 2>{5, 8}, {7, 1}, {1, 6}, {3, 3}}) {
    Int const all = n[0] * n[1];
    auto const f = fftfreq<double, Dim<K1, X>, Dim<K2>>(mesh, n, 0.5);
    auto const block = harness::host_block(f);
    shardtype::detail::for_each_element(f, [&](Int at, std::array<Int, 2> const& k) {
      Int const index = k[0] + n[0] * k[1];
      Int const wanted = index <= (all - 1) / 2 ? index : index - all;
      CHECK(std::abs(block.data()[at] -
                     static_cast<double>(wanted) * 2 / static_cast<double>(all)) < 1e-14);
    });
  }
}

TEST_CASE("what long transforms send and hold is in their plans, and nothing is gathered") {
  using T = Complex<double>;
  Int const p = on_ranks::rank_total();
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (Int const n :
         {Int{1}, Int{7}, p + 1, Int{97}, Int{106}, Int{210}, Int{1} << 19, Int{99991}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", rows " << n);
      auto const a = from_function<T, Dim<I, X, Y>>(mesh, {n}, Given<double>{});
      op::FftFourStep<I, K1, K2> const forward{};
      measured_plan::check(
          "transposed result", forward, [](auto const& x) { return fft_four_step<I, K1, K2>(x); },
          a);
      auto const f = fft_four_step<I, K1, K2>(a);
      op::IfftFourStep<K1, K2, I> const inverse{};
      measured_plan::check(
          "transposed operand", inverse, [](auto const& x) { return ifft_four_step<K1, K2, I>(x); },
          f);
      op::FftFourStep<I, K> const natural{};
      measured_plan::check(
          "natural order", natural, [](auto const& x) { return fft_four_step<I, K>(x); }, a);
      auto const batch =
          from_function<T, Dim<B, Y>, Dim<I, X>, Dim<C>>(mesh, {3, n, 2}, Given<double>{});
      measured_plan::check(
          "with a batch", forward, [](auto const& x) { return fft_four_step<I, K1, K2>(x); },
          batch);
      measured_plan::check(
          "with a batch, natural", natural, [](auto const& x) { return fft_four_step<I, K>(x); },
          batch);
      measured_plan::check(
          "with a batch, back", inverse, [](auto const& x) { return ifft_four_step<K1, K2, I>(x); },
          fft_four_step<I, K1, K2>(batch));

      Plan const plan = plan_at(forward, a);
      bool const convolves = p > 1 && n > 1 && f.extents()[1] == 1;
      CHECK(plan.count(Collective::all_gather) == 0);
      CHECK(plan.count(Collective::all_to_all) == (p == 1 ? 0 : convolves ? 5 : 2));
      CHECK(plan.collectives() == plan.count(Collective::all_to_all));
      CHECK(plan_at(natural, a).count(Collective::all_to_all) == (p == 1 ? 0 : convolves ? 5 : 3));
      if (n == Int{1} << 19) {
        Int const block = 16 * n / p;
        CHECK(plan.bytes_per_rank() == 2 * (block - block / p));
        CHECK(plan.peak_bytes() <= 4 * block + block / 8);  // operand, result, two blocks, tables
        CHECK(plan_at(inverse, f).bytes_per_rank() == 2 * (block - block / p));
        CHECK(plan_at(natural, a).bytes_per_rank() == 3 * (block - block / p));
      }
    }
  }
}
