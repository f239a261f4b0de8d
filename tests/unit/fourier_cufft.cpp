// What the library does around cuFFT, on the host: layouts, plans and copies, with a stand-in for
// cuFFT (tests/shim/cuda) and for Kokkos::Cuda, against the library of the host. cuFFT itself needs
// a GPU.
// NEEDS: FFT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

// what must not see the stand-in for Kokkos::Cuda
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/run_time.hpp>

#include "harness/catch.hpp"

namespace Kokkos {
struct Cuda : DefaultHostExecutionSpace {
  using execution_space = DefaultHostExecutionSpace;
  void* cuda_stream() const { return nullptr; }
};
}  // namespace Kokkos
#define KOKKOS_ENABLE_CUDA
#define SHARDTYPE_HAVE_CUFFT 1
#include <shardtype/fft/kernels_tiles.hpp>

using namespace shardtype;
using kernels::FourierDims;
using kernels::Layout;

namespace {

static_assert(kernels::by_cufft<Kokkos::Cuda>());
static_assert(!kernels::by_cufft<Kokkos::DefaultHostExecutionSpace>());

// A block of these extents in a larger one, which has `more` rows in each dim.
Layout block(std::vector<std::int64_t> const& extents, std::int64_t more) {
  Layout l;
  l.rank = static_cast<int>(extents.size());
  std::int64_t next = 1;
  for (int d = l.rank - 1; d >= 0; --d) {
    l.extent[d] = extents[static_cast<std::size_t>(d)];
    l.stride[d] = next;
    next *= l.extent[d] + more;
  }
  return l;
}
std::size_t room(Layout const& l) {
  std::int64_t last = 0;
  for (int d = 0; d < l.rank; ++d) last += (l.extent[d] - 1) * l.stride[d];
  return static_cast<std::size_t>(last + 1);
}
template <class T>
std::vector<T> filled(Layout const& l) {
  std::vector<T> out(room(l));
  for (std::size_t k = 0; k < out.size(); ++k) {
    auto const re = static_cast<float>(k * 7 % 11) - 5;
    if constexpr (shardtype::detail::is_complex<T>)
      out[k] = T(re, static_cast<float>(k * 5 % 7) - 3);
    else
      out[k] = re;
  }
  return out;
}
FourierDims dims(std::vector<int> const& over) {
  FourierDims out;
  for (int d : over) out.push(d);
  return out;
}
template <class T>
bool close(std::vector<T> const& a, std::vector<T> const& b) {
  using Real = shardtype::detail::real_of<T>;
  using Kokkos::abs;
  using std::abs;
  Real most = 1;
  Real off = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    most = std::max(most, static_cast<Real>(abs(b[k])));
    off = std::max(off, static_cast<Real>(abs(a[k] - b[k])));
  }
  return off <= 50 * std::numeric_limits<Real>::epsilon() * most;
}

struct Case {
  std::vector<std::int64_t> extents;
  std::vector<int> over;
};
std::vector<Case> cases() {
  return {{{7}, {0}},       {{1}, {0}},          {{4, 6, 5}, {0}},       {{4, 6, 5}, {1}},
          {{4, 6, 5}, {2}}, {{4, 6, 5}, {2, 0}}, {{4, 6, 5}, {0, 1, 2}}, {{1, 3, 1}, {0, 1}},
          {{3, 1, 8}, {1}}, {{2, 3, 4, 5}, {1}}, {{2, 3, 4, 5}, {3, 1}}};
}

template <class Real>
void check_all() {
  using C = Kokkos::complex<Real>;
  Kokkos::Cuda const exec;
  for (Case const& c : cases())
    for (std::int64_t const more : {0, 3}) {
      INFO("dims " << c.extents.size() << ", first " << c.extents[0] << ", over " << c.over[0]
                   << " of " << c.over.size() << ", in " << more);
      Layout const from = block(c.extents, more);
      Layout const to = block(c.extents, more == 0 ? 0 : 1);
      FourierDims const over = dims(c.over);
      for (bool const forward : {true, false}) {
        auto const in = filled<C>(from);
        auto given = in;
        auto wanted = filled<C>(to);
        auto made = wanted;
        kernels::fourier_complex(in.data(), from, wanted.data(), to, over, forward);
        kernels::fourier_complex_by_tiles(exec, given.data(), from, made.data(), to, over, forward);
        CHECK(close(made, wanted));
        CHECK(given == in);
        // in place
        kernels::fourier_complex(wanted.data(), to, wanted.data(), to, over, forward);
        kernels::fourier_complex(exec, made.data(), to, made.data(), to, over, forward);
        CHECK(close(made, wanted));
      }
      int const last = over.last();
      std::vector<std::int64_t> half_extents = c.extents;
      half_extents[static_cast<std::size_t>(last)] =
          c.extents[static_cast<std::size_t>(last)] / 2 + 1;
      Layout const half = block(half_extents, more == 0 ? 0 : 1);
      auto const reals = filled<Real>(from);
      auto given = reals;
      auto wanted = filled<C>(half);
      auto made = wanted;
      kernels::fourier_real(reals.data(), from, wanted.data(), half, over);
      kernels::fourier_real(exec, given.data(), from, made.data(), half, over);
      CHECK(close(made, wanted));
      CHECK(given == reals);
      auto wanted_reals = filled<Real>(from);
      auto made_reals = wanted_reals;
      auto const before = made;
      kernels::fourier_half(made.data(), half, wanted_reals.data(), from, last);
      kernels::fourier_half(exec, made.data(), half, made_reals.data(), from, last);
      CHECK(close(made_reals, wanted_reals));
      CHECK(made == before);
    }
}

}  // namespace

TEST_CASE("transforms by cuFFT, float") { check_all<float>(); }
TEST_CASE("transforms by cuFFT, double") { check_all<double>(); }

TEST_CASE("real rows that begin at an odd place") {
  Kokkos::Cuda const exec;
  Layout const l = block({2, 5}, 0);
  Layout const half = block({2, 3}, 0);
  auto const all = filled<float>(block({11}, 0));
  std::vector<Kokkos::complex<float>> made(6), wanted(6);
  kernels::fourier_real(exec, all.data() + 1, l, made.data(), half, dims({1}));
  kernels::fourier_real(all.data() + 1, l, wanted.data(), half, dims({1}));
  CHECK(close(made, wanted));
}

TEST_CASE("plans are kept, few at a time, and loops of the host are few") {
  using C = Kokkos::complex<double>;
  Kokkos::Cuda const exec;
  auto const run = [&](std::vector<std::int64_t> const& extents, int d) {
    Layout const l = block(extents, 0);
    auto v = filled<C>(l);
    kernels::fourier_complex(exec, v.data(), l, v.data(), l, dims({d}), true);
  };
  run({6, 7, 8}, 1);
  int const made = mock::plans_made;
  int const before = mock::transforms;
  run({6, 7, 8}, 1);
  CHECK(mock::plans_made == made);
  CHECK(mock::transforms - before == 6);  // 8 rows each
  run({6, 7, 8}, 0);
  run({6, 7, 8}, 2);
  CHECK(mock::transforms - before == 8);  // all rows at once
  for (std::int64_t n = 200; n < 300; ++n) run({n}, 0);
  CHECK(mock::plans.size() == 64);
  run({299}, 0);
  CHECK(mock::plans_made == made + 2 + 100);
}

TEST_CASE("a plan that cannot be made") {
  using C = Kokkos::complex<double>;
  Kokkos::Cuda const exec;
  Layout const l = block({313}, 0);
  auto v = filled<C>(l);
  auto const size = mock::plans.size();
  mock::no_memory = true;
  std::string text;
  try {
    kernels::fourier_complex(exec, v.data(), l, v.data(), l, dims({0}), true);
  } catch (Error const& e) {
    text = e.what();
  }
  mock::no_memory = false;
  CHECK(text ==
        "[shardtype E74] a plan of cuFFT failed with status 2: no memory for its work area");
  CHECK(mock::plans.size() == size);
  kernels::fourier_complex(exec, v.data(), l, v.data(), l, dims({0}), true);
}
