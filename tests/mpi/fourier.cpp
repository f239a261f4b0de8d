// Fourier transforms against sums over all rows: strict along whole dims, named through slabs and
// pencils; n = 1, primes, one less and one more than the ranks, empty blocks. The bytes and the
// memory of named transforms are compared with their plans, which gather nothing.
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
#include <vector>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/frequencies.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"
#include "harness/while_set.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct F : Index<"F"> {};
struct I6 : Index<"I6", 6> {};
struct F4 : Index<"F4", 4> {};

using Int = std::int64_t;
using Sum = std::complex<double>;
template <class Real>
using Complex = Kokkos::complex<Real>;

Sum value(Int i, Int j, Int k) {
  return {static_cast<double>((i * 7 + j * 3 + k * 5) % 11 - 5),
          static_cast<double>((i * 2 + j * 5 + k * 3) % 7 - 3)};
}
// The whole array of three dims, and its transforms.
struct Dense {
  std::array<Int, 3> n;
  std::vector<Sum> at;

  explicit Dense(std::array<Int, 3> extents, bool real = false) : n(extents) {
    for (Int i = 0; i < n[0]; ++i)
      for (Int j = 0; j < n[1]; ++j)
        for (Int k = 0; k < n[2]; ++k)
          at.push_back(real ? Sum(value(i, j, k).real()) : value(i, j, k));
  }
  Sum operator()(Int i, Int j, Int k) const {
    return at[static_cast<std::size_t>((i * n[1] + j) * n[2] + k)];
  }
  // The sum over the rows of one dim, divided by `by`.
  Dense along(std::size_t d, double sign, double by = 1) const {
    Dense out = *this;
    double const pi = std::acos(-1.0);
    std::array<Int, 3> o{};
    for (o[0] = 0; o[0] < n[0]; ++o[0])
      for (o[1] = 0; o[1] < n[1]; ++o[1])
        for (o[2] = 0; o[2] < n[2]; ++o[2]) {
          Sum sum = 0;
          for (Int r = 0; r < n[d]; ++r) {
            std::array<Int, 3> in = o;
            in[d] = r;
            double const angle =
                sign * 2 * pi * static_cast<double>(r * o[d] % n[d]) / static_cast<double>(n[d]);
            sum += (*this)(in[0], in[1], in[2]) * Sum(std::cos(angle), std::sin(angle));
          }
          out.at[static_cast<std::size_t>((o[0] * n[1] + o[1]) * n[2] + o[2])] = sum / by;
        }
    return out;
  }
  double most() const {
    double m = 1;
    for (Sum const& x : at) m = std::max(m, std::abs(x));
    return m;
  }
};

template <class T>
Sum of(T const& x) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
  } else {
    return static_cast<double>(x);
  }
}
// The largest difference from `wanted(global indices)`, in units of 10 epsilon log2(rows) of the
// largest element.
template <class A, class Wanted>
double error(A const& a, Dense const& dense, Wanted wanted) {
  using Real = shardtype::detail::real_of<typename A::element>;
  double worst = 0;
  auto const block = harness::host_block(a);
  shardtype::detail::for_each_element(a, [&](Int at, std::array<Int, A::rank> const& index) {
    worst = std::max(worst, std::abs(of(block.data()[at]) - std::apply(wanted, index)));
  });
  double const rows = static_cast<double>(dense.at.size()) + 2;
  return worst / dense.most() / (10 * std::numeric_limits<Real>::epsilon() * std::log2(rows));
}
template <class A>
double error(A const& a, Dense const& dense) {
  return error(a, dense, [&](Int i, Int j, Int k) { return dense(i, j, k); });
}

template <class T, class... Dims, class M>
auto filled(M const& mesh, std::array<Int, 3> const& n) {
  return from_function<T, Dims...>(mesh, n, [](Int i, Int j, Int k) {
    if constexpr (shardtype::detail::is_complex<T>) {
      auto const v = value(i, j, k);
      return T(static_cast<shardtype::detail::real_of<T>>(v.real()),
               static_cast<shardtype::detail::real_of<T>>(v.imag()));
    } else {
      return static_cast<T>(value(i, j, k).real());
    }
  });
}

// Extents: 1, primes, one less and one more than the ranks, powers of two.
std::vector<Int> lengths() {
  Int const p = on_ranks::rank_total();
  std::vector<Int> out = {1, 2, 3, 4, 6, 7, 8, 11, 16, 30};
  for (Int n : {p - 1, p + 1})
    if (n > 0) out.push_back(n);
  return out;
}

template <class Real>
void check_one_dim() {
  using C = Complex<Real>;
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : lengths()) {
    INFO("rows " << n);
    double const rows = static_cast<double>(n);
    std::array<Int, 3> const e = {3, n, 5};
    auto const a = filled<C, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, e);
    Dense const d(e);
    CHECK(error(fft<J>(a), d.along(1, -1)) < 1);
    CHECK(error(ifft<J>(a), d.along(1, 1, rows)) < 1);
    CHECK(error(fft<J>(a, op::FftNorm::ortho), d.along(1, -1, std::sqrt(rows))) < 1);
    CHECK(error(ifft<J>(a, op::FftNorm::ortho), d.along(1, 1, std::sqrt(rows))) < 1);
    CHECK(error(fft<J>(a, op::FftNorm::forward), d.along(1, -1, rows)) < 1);
    CHECK(error(ifft<J>(a, op::FftNorm::forward), d.along(1, 1)) < 1);
    auto const renamed = fft<J, F>(a);
    static_assert(std::is_same_v<decltype(renamed), Tensor<C, Dim<I, X>, Dim<F>, Dim<K, Y>> const>);
    CHECK(error(renamed, d.along(1, -1)) < 1);
    CHECK(error(ifft<F, J>(renamed), d) < 1);

    auto const r = filled<Real, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, e);
    Dense const real(e, true);
    auto const h = rfft<J, F>(r);
    static_assert(std::is_same_v<decltype(h), Tensor<C, Dim<I, X>, Dim<F>, Dim<K, Y>> const>);
    CHECK(h.extents()[1] == n / 2 + 1);
    CHECK(error(h, real.along(1, -1)) < 1);
    CHECK(error(irfft<F, J>(h, n), real) < 1);
    CHECK(error(rfft<J>(r, op::FftNorm::ortho), real.along(1, -1, std::sqrt(rows))) < 1);
    CHECK(error(irfft<F>(rfft<J, F>(r, op::FftNorm::forward), n, op::FftNorm::forward), real) < 1);
    if (n % 2 == 0) CHECK(irfft<F, J>(h).extents()[1] == n);
    // the first and the last dim
    std::array<Int, 3> const first = {n, 2, 3};
    auto const b = filled<C, Dim<I>, Dim<J, X>, Dim<K, Y>>(mesh, first);
    CHECK(error(fft<I>(b), Dense(first).along(0, -1)) < 1);
    std::array<Int, 3> const last = {2, 3, n};
    auto const c = filled<Real, Dim<I, Y>, Dim<J, X>, Dim<K>>(mesh, last);
    CHECK(error(rfft<K, F>(c), Dense(last, true).along(2, -1)) < 1);
  }
}

// Exchanges by messages, while it exists.
struct ByMessages : harness::WhileSet<bool> {
  ByMessages() : WhileSet(run_time.settings.fft.window, false) {}
};

// Exchanges by messages as between nodes, in pieces, also of small blocks, while it exists.
struct InPieces {
  harness::WhileSet<bool> on_one_node{run_time.on_one_node, false};
  ByMessages messages;
  harness::Sending sizes{{.least_piece = 48}};
};

// What `run` sends and holds is what the plan says: by messages, and in shared memory, where it may
// hold less.
template <class Op, class Run, class A>
void check_plan(char const* what, Op const& op, Run run, A const& a) {
  {
    ByMessages const messages;
    measured_plan::check(what, op, run, a);
  }
  {
    InPieces const pieces;
    measured_plan::check(what, op, run, a);
  }
  INFO(what << ", in shared memory");
  Plan const plan = plan_at(op, a);
  Int const given = measured_plan::block_bytes(a);
  auto& memory = run_time.memory;
  (void)run(a);  // the window grows by messages
  Int const others = memory.now() - given;
  memory.reset();
  shim::reset();
  Int const before = run_time.exchanged_in_windows;
  {
    auto const result = run(a);
  }
  Int const sent = run_time.exchanged_in_windows - before + shim::bytes();
  CHECK(sent == plan.bytes(coords_in(op, a)));
  CHECK(memory.most() - others <= plan.peak_bytes());
  CHECK(memory.now() - others == given);
}

}  // namespace

TEST_CASE("one dim, float") { check_one_dim<float>(); }
TEST_CASE("one dim, double") { check_one_dim<double>(); }

TEST_CASE("values as NumPy prints them") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using C = Complex<double>;
  double const given[] = {1, 2, 0, -1, 3};
  auto const a = from_function<double, Dim<I>>(mesh, {5}, [&](Int i) { return given[i]; });
  // np.fft.rfft([1, 2, 0, -1, 3])
  C const wanted[] = {C(5, 0), C(3.3541019662496847, 0.36327126400268045),
                      C(-3.3541019662496847, 1.5388417685876268)};
  auto const f = rfft<I, F>(a);
  shardtype::detail::for_each_element(f, [&](Int at, std::array<Int, 1> const& k) {
    CHECK(Kokkos::abs(harness::host_block(f).data()[at] - wanted[k[0]]) < 1e-14);
  });
}

TEST_CASE("several whole dims") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  using C = Complex<double>;
  for (std::array<Int, 3> const e : {std::array<Int, 3>{4, 6, 5}, {1, 7, 8}, {3, 1, 2}}) {
    auto const a = filled<C, Dim<I, X, Y>, Dim<J>, Dim<K>>(mesh, e);
    Dense const d(e);
    Dense const two = d.along(1, -1).along(2, -1);
    CHECK(error(fftn<J, K>(a), two) < 1);
    CHECK(error(ifftn<J, K>(fftn<K, J>(a)), d) < 1);
    auto const w = filled<C, Dim<I>, Dim<J>, Dim<K>>(mesh, e);
    CHECK(error(fftn<I, J, K>(w), two.along(0, -1)) < 1);
    auto const r = filled<double, Dim<I, X, Y>, Dim<J>, Dim<K>>(mesh, e);
    Dense const real(e, true);
    auto const h = rfftn<K, J, F>(r);
    CHECK(error(h, real.along(1, -1).along(2, -1)) < 1);
    CHECK(error(irfftn<K, F, J>(h, e[1]), real) < 1);
  }
}

namespace {

void check_slabs_and_pencils() {
  using C = Complex<double>;
  Int const p = on_ranks::rank_total();
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e : {std::array<Int, 3>{8, 8, 8},
                                       {5, 7, 3},
                                       {1, 1, 1},
                                       {p + 1, 2, p},
                                       {3, p + 1, 1},
                                       {std::max<Int>(p - 1, 1), 13, 2}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", extents " << e[0] << " " << e[1] << " "
                   << e[2]);
      Dense const d(e);
      Dense const all = d.along(0, -1).along(1, -1).along(2, -1);
      auto const slab = filled<C, Dim<I, X, Y>, Dim<J>, Dim<K>>(mesh, e);
      auto const f = fftn<I, J, K, Dim<I>, Dim<J, X, Y>, Dim<K>>(slab);
      CHECK(error(f, all) < 1);
      CHECK(error(ifftn<I, J, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(f), d) < 1);
      CHECK(error(fftn<I, J, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(slab), all) < 1);
      auto const pencil = filled<C, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      auto const g = fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(pencil);
      CHECK(error(g, all) < 1);
      CHECK(error(ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(g), d) < 1);
      auto const turned = fftn<I, J, K, Dim<K, X>, Dim<J>, Dim<I, Y>>(pencil);
      CHECK(error(turned, all, [&](Int k, Int j, Int i) { return all(i, j, k); }) < 1);
      // two of three dims, each of which is split
      auto const two = fftn<I, J, Dim<I, X>, Dim<J, Y>, Dim<K>>(pencil);
      CHECK(error(two, d.along(0, -1).along(1, -1)) < 1);
      // one dim, and a replicated result
      CHECK(error(fft<I, F, Dim<F>, Dim<J>, Dim<K>>(pencil), d.along(0, -1)) < 1);
    }
  }
}

void check_real_slabs_and_pencils() {
  Int const p = on_ranks::rank_total();
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e :
         {std::array<Int, 3>{8, 6, 8}, {5, 3, 7}, {1, 1, 1}, {p + 1, p, 2}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", extents " << e[0] << " " << e[1] << " "
                   << e[2]);
      Dense const d(e, true);
      Dense const all = d.along(0, -1).along(1, -1).along(2, -1);
      auto const pencil = filled<float, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      auto const g = rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F, Y>>(pencil);
      CHECK(error(g, all) < 1);
      CHECK(error(irfftn<I, J, F, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(g, e[2]), d) < 1);
      // the halved dim is split at first, and in the end
      auto const slab = filled<float, Dim<I>, Dim<J>, Dim<K, Y, X>>(mesh, e);
      auto const h = rfftn<I, J, K, F, Dim<I>, Dim<J>, Dim<F, Y, X>>(slab);
      CHECK(error(h, all) < 1);
      CHECK(error(irfftn<J, I, F, K, Dim<I>, Dim<J>, Dim<K, Y, X>>(h, e[2], op::FftNorm::forward),
                  d, [&](Int i, Int j, Int k) {
                    return d(i, j, k) * static_cast<double>(e[0] * e[1] * e[2]);
                  }) < static_cast<double>(e[0] * e[1] * e[2]));
    }
  }
}

}  // namespace

TEST_CASE("slabs and pencils, in shared memory") { check_slabs_and_pencils(); }
TEST_CASE("real slabs and pencils, in shared memory") { check_real_slabs_and_pencils(); }
TEST_CASE("slabs and pencils, by messages") {
  ByMessages const messages;
  check_slabs_and_pencils();
  check_real_slabs_and_pencils();
}
TEST_CASE("slabs and pencils, by messages in pieces") {
  InPieces const pieces;
  check_slabs_and_pencils();
  check_real_slabs_and_pencils();
}

TEST_CASE("the way of the exchange does not change the values") {
  using C = Complex<double>;
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e : {std::array<Int, 3>{16, 16, 16}, {13, 7, 10}, {1, 9, 31}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", extents " << e[0] << " " << e[1] << " "
                   << e[2]);
      auto const check = [](auto const& run) {
        auto const in_window = to_host(run());
        {
          ByMessages const messages;
          CHECK(to_host(run()) == in_window);
        }
        InPieces const pieces;
        CHECK(to_host(run()) == in_window);
      };
      auto const slab = filled<C, Dim<I, X, Y>, Dim<J>, Dim<K>>(mesh, e);
      check([&] { return fftn<I, J, K, Dim<I>, Dim<J, X, Y>, Dim<K>>(slab); });
      check([&] { return ifftn<I, J, K, Dim<I>, Dim<J, X, Y>, Dim<K>>(slab); });
      auto const turned = filled<C, Dim<I>, Dim<J, X, Y>, Dim<K>>(mesh, e);
      check([&] { return ifftn<I, J, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(turned); });
      auto const pencil = filled<C, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      check([&] { return fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(pencil); });
    }
  }
}

namespace {

// Ranks whose block is empty between the last transform and the exchange after it, and others whose
// part of the window happens to be contiguous.
void check_scaled_once() {
  using C = Complex<double>;
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e :
         {std::array<Int, 3>{4, 1, 1}, {5, 1, 2}, {2, 7, 1}, {1, 5, 6}, {16, 9, 9}, {13, 13, 13}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", extents " << e[0] << " " << e[1] << " "
                   << e[2]);
      Dense const d(e);
      Dense const all = d.along(0, -1).along(1, -1).along(2, -1);
      double const rows = static_cast<double>(e[0] * e[1] * e[2]);
      auto const pencil = filled<C, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      auto const f = fftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(pencil, op::FftNorm::forward);
      CHECK(error(f, all, [&](Int i, Int j, Int k) { return all(i, j, k) / rows; }) < 1 / rows);
      CHECK(error(ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(f, op::FftNorm::forward), d) < 1);
      auto const columns = filled<C, Dim<I>, Dim<J, X, Y>, Dim<K>>(mesh, e);
      CHECK(error(ifft<I, Dim<I, X>, Dim<J, Y>, Dim<K>>(fft<I>(columns)), d) < 1);
      CHECK(error(ifft<I, Dim<I>, Dim<J>, Dim<K>>(fft<I>(columns)), d) < 1);
      Dense const real(e, true);
      auto const h = rfft<I, F>(filled<double, Dim<I>, Dim<J, X, Y>, Dim<K>>(mesh, e));
      CHECK(error(irfft<F, I, Dim<I, Y>, Dim<J, X>, Dim<K>>(h, e[0]), real) < 1);
      CHECK(error(irfftn<K, J, F, I, Dim<I, X>, Dim<J>, Dim<K>>(
                      fftn<K, J, Dim<F, X, Y>, Dim<J>, Dim<K>>(h), e[0]),
                  real) < 1);
    }
  }
}

}  // namespace

TEST_CASE("the factor of a transform that an exchange follows, in shared memory") {
  check_scaled_once();
}
TEST_CASE("the factor of a transform that an exchange follows, by messages") {
  ByMessages const messages;
  check_scaled_once();
}
TEST_CASE("the factor of a transform that an exchange follows, by messages in pieces") {
  InPieces const pieces;
  check_scaled_once();
}

TEST_CASE("a block-cyclic dim that is neither transformed nor exchanged") {
  using C = Complex<double>;
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e : {std::array<Int, 3>{3, 5, 3}, {4, 9, 2}, {2, 1, 7}}) {
      auto const a = filled<C, Dim<I, X>, Dim<J, Cyclic<Y, 4>>, Dim<K>>(mesh, e);
      Dense const wanted = Dense(e).along(0, -1);
      CHECK(error(fft<I, Dim<I>, Dim<J, Cyclic<Y, 4>>, Dim<K, X>>(a), wanted) < 1);
      ByMessages const messages;
      CHECK(error(fft<I, Dim<I>, Dim<J, Cyclic<Y, 4>>, Dim<K, X>>(a), wanted) < 1);
    }
  }
}

TEST_CASE("rows that are far apart in memory") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  std::array<Int, 3> const e = {64, 3, 401};  // more than a megabyte from the first to the last row
  auto const check = [&]<class Real>(Type<Real>) {
    using C = Complex<Real>;
    auto const a = filled<C, Dim<I>, Dim<J>, Dim<K>>(mesh, e);
    Dense const d(e);
    CHECK(error(fft<I>(a), d.along(0, -1)) < 1);
    CHECK(error(fftn<I, J>(a), d.along(0, -1).along(1, -1)) < 1);
    CHECK(error(ifft<I>(fft<I>(a)), d) < 1);
  };
  check(type<double>);
  check(type<float>);
}

TEST_CASE("a pending sum stays pending, a pending maximum is refused") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using C = Complex<double>;
  std::array<Int, 3> const e = {2, 3, 4};
  auto const sum = to_partial<X>(filled<C, Dim<I>, Dim<J>, Dim<K, X>>(mesh, e));
  auto const f = fft<J>(sum);
  static_assert(std::is_same_v<decltype(f), Tensor<C, Dim<I>, Dim<J>, Dim<K>, Unreduced<X>> const>);
  CHECK(error(all_reduce<X>(f), Dense(e).along(1, -1)) < 1);
}

TEST_CASE("what named transforms send and hold is in their plans, and nothing is gathered") {
  using C = Complex<double>;
  Int const p = on_ranks::rank_total();
  for (std::array<Int, 2> const sizes : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, sizes);
    for (std::array<Int, 3> const e :
         {std::array<Int, 3>{64, 64, 64}, {61, 67, 59}, {5, 7, 3}, {1, 1, 1}, {1, 5, 6}}) {
      INFO("mesh " << sizes[0] << " x " << sizes[1] << ", extents " << e[0] << " " << e[1] << " "
                   << e[2]);
      auto const slab = filled<C, Dim<I, X, Y>, Dim<J>, Dim<K>>(mesh, e);
      op::Named<op::Fftn<I, J, K>, Dim<I>, Dim<J, X, Y>, Dim<K>> const by_slabs{};
      check_plan(
          "slabs", by_slabs,
          [](auto const& x) { return fftn<I, J, K, Dim<I>, Dim<J, X, Y>, Dim<K>>(x); }, slab);
      Plan const one = plan_at(by_slabs, slab);
      CHECK(one.count(Collective::all_gather) == 0);
      CHECK(one.count(Collective::all_to_all) <= 2);
      Int const block = ceil_div(ceil_div(e[0], sizes[0]), sizes[1]) * e[1] * e[2];
      CHECK(one.bytes_per_rank() <= 16 * block);
      auto const pencil = filled<C, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      op::Named<op::Fftn<I, J, K>, Dim<I>, Dim<J, X>, Dim<K, Y>> const by_pencils{};
      check_plan(
          "pencils", by_pencils,
          [](auto const& x) { return fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(x); }, pencil);
      Plan const two = plan_at(by_pencils, pencil);
      CHECK(two.count(Collective::all_gather) == 0);
      CHECK(two.count(Collective::all_to_all) == 2);
      if (e[0] == 64 && 64 % p == 0 && 64 % sizes[0] == 0 && 64 % sizes[1] == 0) {
        Int const whole = 16 * 64 * 64 * 64 / p;
        CHECK(one.bytes_per_rank() == whole - whole / p);
        CHECK(two.bytes_per_rank() == (whole - whole / sizes[0]) + (whole - whole / sizes[1]));
        // operand, result and two blocks
        CHECK(one.peak_bytes() <= 4 * whole);
        CHECK(two.peak_bytes() <= 4 * whole);
      }
      op::Named<op::Ifftn<I, J, K>, Dim<I, X>, Dim<J, Y>, Dim<K>> const own_order{};
      check_plan(
          "pencils, own order", own_order,
          [](auto const& x) { return ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(x); }, pencil);
      auto const r = filled<double, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
      op::Named<op::Rfftn<I, J, K, F>, Dim<I>, Dim<J, X>, Dim<F, Y>> const real{};
      check_plan(
          "real pencils", real,
          [](auto const& x) { return rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F, Y>>(x); }, r);
    }
  }
}

TEST_CASE("frequencies, and the order with zero in the middle") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  for (Int const n : lengths()) {
    INFO("rows " << n);
    // NumPy: 0, 1, ..., (n - 1) / 2, -(n / 2), ..., -1 over n d
    auto const all = fftfreq<double, Dim<I, X>>(mesh, n, 0.5);
    CHECK(all.extents()[0] == n);
    auto const block = harness::host_block(all);
    shardtype::detail::for_each_element(all, [&](Int at, std::array<Int, 1> const& k) {
      Int const wanted = k[0] <= (n - 1) / 2 ? k[0] : k[0] - n;
      CHECK(std::abs(block.data()[at] - static_cast<double>(wanted) * 2 / static_cast<double>(n)) <
            1e-14);
    });
    auto const half = rfftfreq<double, Dim<F, X>>(mesh, n, 0.5);
    CHECK(half.extents()[0] == n / 2 + 1);
    auto const real = harness::host_block(half);
    shardtype::detail::for_each_element(half, [&](Int at, std::array<Int, 1> const& k) {
      CHECK(std::abs(real.data()[at] - static_cast<double>(k[0]) * 2 / static_cast<double>(n)) <
            1e-14);
    });
    // shifted: from -(n / 2) on
    auto const shifted = fftshift<I>(all);
    auto const middle = harness::host_block(shifted);
    shardtype::detail::for_each_element(shifted, [&](Int at, std::array<Int, 1> const& k) {
      Int const wanted = k[0] - n / 2;
      CHECK(std::abs(middle.data()[at] - static_cast<double>(wanted) * 2 / static_cast<double>(n)) <
            1e-14);
    });
    CHECK(to_host(ifftshift<I>(shifted)) == to_host(all));
  }
}

TEST_CASE("manual mode: blocks of shard_map") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  using C = Complex<double>;
  Int const p = on_ranks::rank_total();  // divides the rows, as shard_map demands
  for (std::array<Int, 3> const e : {std::array<Int, 3>{2 * p, 6, 8}, {p, 7, 5}}) {
    auto const a = filled<C, Dim<I, X>, Dim<J>, Dim<K>>(mesh, e);
    Dense const d(e);
    auto const f = shard_map<Dim<I, X>, Dim<J>, Dim<K>>([](auto b) { return fft<J>(b); }, a);
    CHECK(error(f, d.along(1, -1)) < 1);
    auto const g =
        shard_map<Dim<I, X>, Dim<J>, Dim<K>>([](auto b) { return fftn<J, K>(ifft<K>(b)); }, a);
    CHECK(error(g, d.along(1, -1)) < 1);
    auto const r = filled<double, Dim<I, X>, Dim<J>, Dim<K>>(mesh, e);
    auto const h = shard_map<Dim<I, X>, Dim<J>, Dim<K>>(
        [&](auto b) { return irfft<F, J>(rfft<J, F>(b), e[1]); }, r);
    CHECK(error(h, Dense(e, true)) < 1);
  }
}

TEST_CASE("automatic mode brings the dims together") {
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  using C = Complex<double>;
  for (std::array<Int, 3> const e : {std::array<Int, 3>{4, 6, 8}, {3, 7, 5}}) {
    auto const a = filled<C, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
    Dense const d(e);
    Dense const all = d.along(0, -1).along(1, -1).along(2, -1);
    auto const one = evaluate<Dim<I, X>, Dim<J>, Dim<K>>(mesh, fft<I>(lazy(a)));
    CHECK(error(one, d.along(0, -1)) < 1);
    auto const f = evaluate<Dim<I>, Dim<J, X>, Dim<K, Y>>(mesh, fftn<I, J, K>(lazy(a)));
    CHECK(error(f, all) < 1);
    auto const back = evaluate<Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, ifftn<I, J, K>(lazy(f)));
    CHECK(error(back, d) < 1);
    auto const named = fft<I, Dim<I>, Dim<J, Y>, Dim<K, X>>(lazy(a));
    CHECK(error(evaluate<Dim<I>, Dim<J, Y>, Dim<K, X>>(mesh, named), d.along(0, -1)) < 1);
    auto const r = filled<double, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, e);
    Dense const real(e, true);
    auto const h = evaluate<Dim<I, X>, Dim<J, Y>, Dim<F>>(mesh, rfftn<I, J, K, F>(lazy(r)));
    CHECK(error(h, real.along(0, -1).along(1, -1).along(2, -1)) < 1);
    auto const s = evaluate<Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, irfftn<I, J, F, K>(lazy(h), e[2]));
    CHECK(error(s, real) < 1);
  }
}

TEST_CASE("errors of extents") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using C = Complex<float>;
  auto const h = filled<C, Dim<I, X>, Dim<F>, Dim<K>>(mesh, {2, 4, 2});
  CHECK(irfft<F, J>(h).extents()[1] == 6);
  CHECK(irfft<F, J>(h, 7).extents()[1] == 7);
  CHECK(on_ranks::code_of([&] { irfft<F, J>(h, 5); }) == "E41");
  CHECK(on_ranks::code_of([&] { irfft<F, J>(h, 8); }) == "E41");
  CHECK(irfft<F, I6>(h).extents()[1] == 6);
  CHECK(on_ranks::code_of([&] { irfft<F, I6>(h, 7); }) == "E41");
  auto const one = filled<C, Dim<I, X>, Dim<F>, Dim<K>>(mesh, {2, 1, 2});
  CHECK(on_ranks::code_of([&] { irfft<F, J>(one); }) == "E41");
  CHECK(irfft<F, J>(one, 1).extents()[1] == 1);
  auto const none = filled<float, Dim<I, X>, Dim<J>, Dim<K>>(mesh, {2, 0, 2});
  CHECK(on_ranks::code_of([&] { rfft<J, F>(none); }) == "E41");
  auto const empty = filled<C, Dim<I, X>, Dim<J>, Dim<K>>(mesh, {2, 0, 2});
  CHECK(fft<J>(empty).extents()[1] == 0);
  auto const four = filled<float, Dim<I, X>, Dim<J>, Dim<K>>(mesh, {2, 4, 2});
  CHECK(on_ranks::code_of([&] { rfft<J, F4>(four); }) == "E41");
  CHECK(on_ranks::code_of([&] { rfft<J, Dim<I>, Dim<J>, Dim<K, X>>(four); }) == "E41");
}
