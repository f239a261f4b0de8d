// One transform of a long dim that is split over all ranks, in four steps, and nothing is gathered:
// n = n1 n2 rows become a matrix, whose columns and rows are transformed. Two exchanges; the order of
// the result, k = k1 + n1 k2, is in its labels.
// RANKS: 4
// NEEDS: FFT
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct I : Index<"I", 96> {};
struct N1 : Index<"N1", 12> {};  // i = 8 i1 + i2
struct N2 : Index<"N2", 8> {};
struct K1 : Index<"K1", 12> {};  // k = k1 + 12 k2
struct K2 : Index<"K2", 8> {};
using C = Kokkos::complex<double>;
using Matrix = Tensor<C, Dim<N1, X>, Dim<N2>>;

C value(std::int64_t i) {
  return {static_cast<double>(i * 7 % 11 - 5), static_cast<double>(i * 2 % 7 - 3)};
}
C root(std::int64_t k) {
  double const angle = -2 * std::acos(-1.0) * static_cast<double>(k % 96) / 96;
  return {std::cos(angle), std::sin(angle)};
}
// the transform by its definition
C transformed(std::int64_t k1, std::int64_t k2) {
  C sum = 0;
  for (std::int64_t i = 0; i < 96; ++i) sum += value(i) * root(i * (k1 + 12 * k2));
  return sum;
}

constexpr auto columns = plan(op::Named<op::Fft<N1, K1>, Dim<K1>, Dim<N2, X>>{}, type<Matrix>);
static_assert(columns.count(Collective::all_gather) == 0 && columns.collectives() == 1);

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> mesh(env.world());
  auto const a = from_function<C, Dim<I, X>>(mesh, value);
  auto const matrix = split_dim<I, Dim<N1, X>, Dim<N2>>(a, {12, 8});  // shares memory
  auto c = fft<N1, K1, Dim<K1>, Dim<N2, X>>(matrix);
  auto const twiddles = from_function<decltype(c)>(
      mesh, [](std::int64_t k1, std::int64_t i2) { return root(k1 * i2); });
  auto d = fft<N2, K2, Dim<K1, X>, Dim<K2>>(c * twiddles);

  bool const right = allclose(d, from_function<decltype(d)>(mesh, transformed), 1e-10, 1e-10);
  if (env.rank() == 0) std::printf("the long transform is %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
