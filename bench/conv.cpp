// Convolutions of 3 x 3 with 64 channels, and a residual block of two of them with its gradients,
// against the products of their im2col shapes alone, in float. The rows of images are split over
// the ranks.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <shardtype/nn/conv.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_conv [--rounds=21] [--images=8] [--benchmark_filter=CASE]\n"
    "Images of 56 x 56 with 64 channels, in blocks of rows. conv: 3 x 3, 64 features. block:\n"
    "relu(x + conv(relu(conv(x)))) with the gradients of x and of both kernels. Rivals: one and "
    "six\n"
    "products of the shapes that im2col gives, without its copies and without an exchange.\n"
    "Last lines: ratio conv CASE RANKS MEDIAN Q1 Q3, ours over the products in time.\n";

struct X : Axis<"X"> {};
struct N : Index<"N"> {};
struct H : Index<"H", 56> {};
struct W : Index<"W", 56> {};
struct KH : Index<"KH", 3> {};
struct KW : Index<"KW", 3> {};
struct C : Index<"C", 64> {};
struct F : Index<"F", 64> {};
struct P : Index<"P"> {};       // places
struct T : Index<"T", 576> {};  // elements of a window

using Images = Tensor<float, Dim<N>, Dim<H, X>, Dim<W>, Dim<C>>;
using First = Tensor<float, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
using Second = Tensor<float, Dim<KH>, Dim<KW>, Dim<F>, Dim<C>>;
using Windows = Tensor<float, Dim<P, X>, Dim<T>>;
using Results = Tensor<float, Dim<P, X>, Dim<F>>;
using Kernel = Tensor<float, Dim<T>, Dim<F>>;
using Rows = nn::Window<H, KH, nn::same>;
using Columns = nn::Window<W, KW, nn::same>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

constexpr auto block = [](auto const& x, auto const& first, auto const& second) {
  auto const f = relu(nn::conv<Rows, Columns>(x, used_as<Reduced<X>>(first))).tensor();
  auto const g = nn::conv<Rows, Columns>(f, used_as<Reduced<X>>(second));
  return sum<Tensor<float>>(relu(x + g));
};
// a result, the cotangent of the windows, and that of the kernel
void products(Windows const& a, Kernel const& w, Results const& ct) {
  (void)matmul(a, w);
  (void)matmul(ct, w);
  (void)matmul(a, ct);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::int64_t const n = option(argc, argv, "images", 8);
  auto const x = normal<Images>(mesh, {n, 56, 56, 64}, RandomKey{1});
  auto const first = normal<First>(mesh, RandomKey{2});
  auto const second = normal<Second>(mesh, RandomKey{3});
  auto const a = normal<Windows>(mesh, {n * 56 * 56, 576}, RandomKey{4});
  auto const w = normal<Kernel>(mesh, RandomKey{5});
  auto const ct = normal<Results>(mesh, {n * 56 * 56, 64}, RandomKey{6});
  Suite suite("conv", option(argc, argv, "rounds", 21));
  suite.add("conv", [=] {
    return Pair{[=] { (void)nn::conv<Rows, Columns>(x, first); }, [=] { (void)matmul(a, w); }};
  });
  suite.add("block", [=] {
    return Pair{[=] { (void)value_and_grad<0, 1, 2>(block)(x, first, second); },
                [=] { products(a, w, ct), products(a, w, ct); }};
  });
  suite.run(argc, argv);
  suite.print();
  return 0;
}
