// Transforms of one shape in double and float. With the word `check` each rank says whether FFTW
// has measured them, in this program or before; check_wisdom.py runs it.
// SOURCES: tests/harness/yield.cpp
// NEEDS: FFTW
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <fftw3.h>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

#include "../harness/host_block.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

constexpr int rows = 12;
constexpr int length = 96;

// Whether FFTW has measured this rank's transforms.
bool knows_double(int ranks) {
  auto* const in = fftw_alloc_complex(rows * length);
  auto* const out = fftw_alloc_complex(rows * length);
  fftw_plan const p =
      fftw_plan_many_dft(1, &length, rows / ranks, in, nullptr, 1, length, out, nullptr, 1, length,
                         FFTW_FORWARD, FFTW_MEASURE | FFTW_WISDOM_ONLY | FFTW_PRESERVE_INPUT);
  fftw_destroy_plan(p);
  fftw_free(out);
  fftw_free(in);
  return p != nullptr;
}
bool knows_float(int ranks) {
  auto* const in = fftwf_alloc_complex(rows * length);
  auto* const out = fftwf_alloc_complex(rows * length);
  fftwf_plan const p =
      fftwf_plan_many_dft(1, &length, rows / ranks, in, nullptr, 1, length, out, nullptr, 1, length,
                          FFTW_FORWARD, FFTW_MEASURE | FFTW_WISDOM_ONLY | FFTW_PRESERVE_INPUT);
  fftwf_destroy_plan(p);
  fftwf_free(out);
  fftwf_free(in);
  return p != nullptr;
}

// Whether the transform of ones is n, 0, 0, ...
template <class Real>
bool transforms(Mesh<X> const& mesh) {
  using C = Kokkos::complex<Real>;
  auto const f = fft<J>(full<C, Dim<I, X>, Dim<J>>(mesh, {rows, length}, C(1)));
  auto const block = harness::host_block(f);
  bool good = true;
  shardtype::detail::for_each_element(
      f, [&](std::int64_t at, std::array<std::int64_t, 2> const& k) {
        good = good && Kokkos::abs(block.data()[at] - C(k[1] == 0 ? length : 0)) < Real(1e-3);
      });
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  bool const good = transforms<double>(mesh) && transforms<float>(mesh);
  if (argc > 1 && std::string(argv[1]) == "check")
    std::printf("rank %d knows %d and %d\n", env.rank(), knows_double(env.size()),
                knows_float(env.size()));
  return good ? 0 : 1;
}
