// One transform along a long dim that is split over all ranks, and its inverse: nothing is
// gathered. The order of the result, k = k1 + n1 k2, is in its labels; the natural order costs an
// exchange more.
// RANKS: 4
// NEEDS: FFT
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/fft/four_step.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct I : Index<"I", 96> {};
struct K : Index<"K", 96> {};
struct K1 : Index<"K1", 12> {};
struct K2 : Index<"K2", 8> {};
using C = Kokkos::complex<double>;
using Signal = Tensor<C, Dim<I, X>>;

C value(std::int64_t i) {
  return {static_cast<double>(i * 7 % 11 - 5), static_cast<double>(i * 2 % 7 - 3)};
}
// the transform by its definition
C frequency(std::int64_t k) {
  C sum = 0;
  for (std::int64_t i = 0; i < 96; ++i) {
    double const angle = -2 * std::acos(-1.0) * static_cast<double>(i * k % 96) / 96;
    sum += value(i) * C(std::cos(angle), std::sin(angle));
  }
  return sum;
}
// a difference of neighbours, and the convolution with it
C kernel(std::int64_t i) { return i == 0 ? 1.0 : i == 1 ? -1.0 : 0.0; }
C convolved(std::int64_t i) { return value(i) - value((i + 95) % 96); }
C transposed(std::int64_t k1, std::int64_t k2) { return frequency(k1 + 12 * k2); }

constexpr auto two = plan(op::FftFourStep<I, K1, K2>{}, type<Signal>);
static_assert(two.count(Collective::all_gather) == 0 && two.collectives() == 2);
constexpr auto three = plan(op::FftFourStep<I, K>{}, type<Signal>);
static_assert(three.count(Collective::all_gather) == 0 && three.collectives() == 3);

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> mesh(env.world());
  auto const a = from_function<Signal>(mesh, value);
  auto const w = from_function<Signal>(mesh, kernel);
  // docs: transform
  auto f = fft_four_step<I, K1, K2>(a);         // c128[I@X] -> c128[K1@X, K2]: two all_to_all
  auto h = fft_four_step<I, K1, K2>(w);         // of a kernel
  auto b = ifft_four_step<K1, K2, I>(f * h);    // a cyclic convolution, c128[I@X]: two
  auto g = fft_four_step<I, K>(a);              // c128[K@X], the natural order: three
  auto inverse = ifft_four_step<K1, K2, I>(f);  // a again
  // docs: end
  bool right = allclose(f, from_function<decltype(f)>(mesh, transposed), 1e-10, 1e-10);
  right = right && allclose(g, from_function<decltype(g)>(mesh, frequency), 1e-10, 1e-10);
  right = right && allclose(inverse, a, 1e-12, 1e-12);
  right = right && allclose(b, from_function<Signal>(mesh, convolved), 1e-9, 1e-9);
  if (env.rank() == 0) std::printf("the long transform is %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
