// The circular convolution of two images by Fourier transforms, checked against the sum: split by
// rows, two transforms, one product, one inverse.
// RANKS: 4
// NEEDS: FFT
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct I : Index<"I", 21> {};  // no multiple of 4
struct J : Index<"J", 14> {};
struct F : Index<"F", 8> {};
using Image = Tensor<double, Dim<I, X>, Dim<J>>;

double pixel(std::int64_t i, std::int64_t j) { return static_cast<double>((3 * i + 5 * j) % 7); }
// a blur of 3 x 3 around (0, 0), on the torus
double blur(std::int64_t i, std::int64_t j) {
  bool const near = (i <= 1 || i == 20) && (j <= 1 || j == 13);
  return near ? 1.0 / 9 : 0.0;
}
double blurred(std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (int a = -1; a <= 1; ++a)
    for (int b = -1; b <= 1; ++b) sum += pixel((i + a + 21) % 21, (j + b + 14) % 14) / 9;
  return sum;
}

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> mesh(env.world());
  auto const image = from_function<Image>(mesh, pixel);
  auto const kernel = from_function<Image>(mesh, blur);
  auto const a = rfftn<I, J, F, Dim<I>, Dim<F, X>>(image);  // one exchange each
  auto const b = rfftn<I, J, F, Dim<I>, Dim<F, X>>(kernel);
  auto const result = irfftn<I, F, J, Dim<I, X>, Dim<J>>(a * b, 14);

  bool const right = allclose(result, from_function<Image>(mesh, blurred), 1e-12, 1e-12);
  if (env.rank() == 0) std::printf("the convolution is %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
