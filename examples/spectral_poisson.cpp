// Solves -laplace(u) = f on a periodic cube of pencils: a transform, a division of every frequency
// by |k|^2, and the inverse, which undoes the order of dims. Nothing is gathered.
// RANKS: 4
// NEEDS: FFT
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I", 24> {};
struct J : Index<"J", 20> {};
struct K : Index<"K", 18> {};
struct F : Index<"F", 10> {};  // the frequencies of K: 18 / 2 + 1
using Space = Tensor<double, Dim<I, X>, Dim<J, Y>, Dim<K>>;

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X, Y> mesh(env.world());
  double const tau = 2 * std::acos(-1.0);
  // u is known; f = -laplace(u) on the cube of side 1
  auto const wave = [tau](std::int64_t i, std::int64_t j, std::int64_t k) {
    return std::sin(tau * static_cast<double>(i) / 24) *
           std::cos(tau * 2 * static_cast<double>(j) / 20) *
           std::cos(tau * 3 * static_cast<double>(k) / 18);
  };
  auto const u = from_function<Space>(mesh, wave);
  auto const f = (tau * tau * (1 + 4 + 9)) * u;

  // docs: transform
  auto g = rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F, Y>>(f);  // two exchanges
  // 1 / |k|^2 of each frequency, and a mean of 0
  auto const scale = from_function<decltype(g)>(
      mesh, [tau](std::int64_t i, std::int64_t j, std::int64_t k) -> Kokkos::complex<double> {
        auto const x = static_cast<double>(i < 12 ? i : i - 24);
        auto const y = static_cast<double>(j < 10 ? j : j - 20);
        auto const z = static_cast<double>(k);
        double const squares = x * x + y * y + z * z;
        return squares > 0 ? 1 / (tau * tau * squares) : 0.0;
      });
  auto const solved = irfftn<I, J, F, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(g * scale, 18);
  // docs: end

  bool const right = allclose(solved, u, 1e-12, 1e-12);
  if (env.rank() == 0) std::printf("-laplace(u) = f is %s\n", right ? "solved" : "not solved");
  return right ? 0 : 1;
}
