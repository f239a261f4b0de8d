// The Fourier transform of 16 x 16 x 16 numbers on a mesh of 4 x 2 ranks, as pencils, and on 1 x 8,
// as slabs: pictures of what each rank holds before and after, and of the plane [..., 0]; and the
// plans of the new order of dims and of the original one, which costs two more exchanges.
// SHOWN: docs
// RANKS: 8
// NEEDS: FFT
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct One : Axis<"One", 1> {};
struct All : Axis<"All", 8> {};
struct I : Index<"I", 16> {};
struct J : Index<"J", 16> {};
struct K : Index<"K", 16> {};
using C = Kokkos::complex<double>;
using Pencils = Tensor<C, Dim<I, X>, Dim<J, Y>, Dim<K>>;
using Slabs = Tensor<C, Dim<I, All>, Dim<J>, Dim<K>>;

// docs: budget
// The budget, from types alone. Each exchange sends a block less the part that stays.
constexpr std::int64_t one_block = 16 * 16 * 16 * 16 / 8;  // bytes
using Permuted = op::Named<op::Fftn<I, J, K>, Dim<I>, Dim<J, X>, Dim<K, Y>>;
using Original = op::Named<op::Fftn<I, J, K>, Dim<I, X>, Dim<J, Y>, Dim<K>>;
constexpr auto two = plan(Permuted{}, type<Pencils>);
static_assert(two.count(Collective::all_gather) == 0 && two.collectives() == 2);
static_assert(two.bytes_per_rank() == one_block * 3 / 4 + one_block / 2);
static_assert(two.peak_bytes() <= 4 * one_block);  // the operand, the result, and two blocks
constexpr auto four = plan(Original{}, type<Pencils>);
static_assert(four.collectives() == 4 && four.bytes_per_rank() == 2 * two.bytes_per_rank());
// docs: end
// the inverse undoes the new order at the price of a transform
constexpr auto back = plan(op::Named<op::Ifftn<I, J, K>, Dim<I, X>, Dim<J, Y>, Dim<K>>{},
                           type<result_t<Permuted, Pencils>>);
static_assert(back.collectives() == 2 && back.bytes_per_rank() == two.bytes_per_rank());
constexpr auto one = plan(op::Named<op::Fftn<I, J, K>, Dim<I>, Dim<J, All>, Dim<K>>{}, type<Slabs>);
static_assert(one.count(Collective::all_gather) == 0 && one.collectives() == 1);
static_assert(one.bytes_per_rank() == one_block * 7 / 8);

// one wave, so that the transform has one number that is not 0
C wave(std::int64_t i, std::int64_t j, std::int64_t k) {
  double const angle = 2 * std::numbers::pi * static_cast<double>(i + 2 * j + 3 * k) / 16;
  return {std::cos(angle), std::sin(angle)};
}
C peak(std::int64_t i, std::int64_t j, std::int64_t k) {
  return i == 1 && j == 2 && k == 3 ? 4096.0 : 0.0;
}

int main(int argc, char** argv) {
  Environment env(argc, argv);
  bool right = true;
  {
    Mesh<X, Y> mesh(env.world());
    auto const a = from_function<Pencils>(mesh, wave);
    // docs: transform
    auto f = fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(a);
    // docs: end
    if (env.rank() == 0)
      std::printf("== plan\n%s== original-order\n%s== pencils\n", explain(Permuted{}, a).c_str(),
                  explain(Original{}, a).c_str());
    visualize(a, "pencils on 4 x 2");
    visualize(f, "their transform: two exchanges");
    visualize(at<K, Dim<I>, Dim<J, X>>(f, 0), "its plane [..., 0]");
    right = right && allclose(f, from_function<decltype(f)>(mesh, peak), 1e-9, 1e-9);
  }
  {
    Mesh<One, All> mesh(env.world());
    auto const a = from_function<Slabs>(mesh, wave);
    auto f = fftn<I, J, K, Dim<I>, Dim<J, All>, Dim<K>>(a);
    if (env.rank() == 0) std::printf("== slabs\n");
    visualize(a, "slabs on 1 x 8");
    visualize(f, "their transform: one exchange");
    visualize(at<K>(f, 0), "its plane [..., 0], nothing sent");
    right = right && allclose(f, from_function<decltype(f)>(mesh, peak), 1e-9, 1e-9);
  }
  return right ? 0 : 1;
}
