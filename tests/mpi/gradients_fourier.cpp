// Gradients of Fourier transforms against central differences: strict along whole dims, named
// through slabs and pencils; one row, odd and even numbers of rows, empty blocks; what a backward
// pass sends.
// RANKS: 1 2 4 8
// NEEDS: FFT
#include <array>
#include <cstdint>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/four_step.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct F : Index<"F"> {};
using Z = Kokkos::complex<double>;
template <class... Parts>
using T = Tensor<double, Parts...>;
template <class... Parts>
using C = Tensor<Z, Parts...>;

// A real function of complex numbers that is not symmetric in them.
struct Total {
  auto operator()(auto const& a) const {
    return sum(square(real(a) + 0.3) + sin(imag(a)) * real(a));
  }
};
constexpr Total total{};

constexpr op::FftNorm norms[] = {op::FftNorm::backward, op::FftNorm::ortho, op::FftNorm::forward};

}  // namespace

TEST_CASE("strict transforms") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {1, 2, 5, 6})
    for (auto const norm : norms) {
      auto const c = make<C<Dim<B, X>, Dim<I>>>(mesh, {3, n}, 1);
      check<0>("fft", mesh, [norm](auto v) { return total(fft<I>(v, norm)); }, c);
      check<0>("ifft", mesh, [norm](auto v) { return total(ifft<I>(v, norm)); }, c);
      check<0>(
          "rfft", mesh, [norm](auto v) { return total(rfft<I>(v, norm)); },
          make<T<Dim<B, X>, Dim<I>>>(mesh, {3, n}, 2));
      auto const half = make<C<Dim<F>, Dim<B, X>>>(mesh, {n / 2 + 1, 3}, 3);
      check<0>(
          "irfft", mesh, [norm, n](auto v) { return sum(sin(irfft<F, I>(v, n, norm))); }, half);
      check<0>(
          "fftn, ifftn", mesh,
          [norm](auto v) { return total(fftn<I, J>(v, norm)) + total(ifftn<I, J>(v, norm)); },
          make<C<Dim<I>, Dim<B, X>, Dim<J>>>(mesh, {2, 3, n}, 4));
      check<0>(
          "rfftn", mesh, [norm](auto v) { return total(rfftn<I, J, F>(v, norm)); },
          make<T<Dim<I>, Dim<J>, Dim<B, X>>>(mesh, {3, n, 2}, 5));
      check<0>(
          "irfftn", mesh, [norm, n](auto v) { return sum(sin(irfftn<I, F, J>(v, n, norm))); },
          make<C<Dim<I>, Dim<B, X>, Dim<F>>>(mesh, {3, 2, n / 2 + 1}, 6));
    }
}

TEST_CASE("operands that are reduced or unreduced, second order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  check<0>(
      "unreduced", mesh, [](auto v) { return total(all_reduce<X>(fft<I>(v))); },
      make<C<Dim<B, Y>, Dim<I>, Unreduced<X>>>(mesh, {3, 5}, 1));
  check<0>(
      "reduced", mesh, [](auto v) { return total(rfft<I>(v)); },
      make<T<Dim<B, Y>, Dim<I>, Reduced<X>>>(mesh, {3, 6}, 1));
  auto squared = [](auto v) {
    return sum(square(grad<0>([](auto u) { return total(rfft<I>(u)); })(v)));
  };
  check<0>("second order", mesh, squared, make<T<Dim<B, X>, Dim<I>>>(mesh, {3, 5}, 2));
}

TEST_CASE("slabs and pencils") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<std::int64_t, 3> const& n :
       {std::array<std::int64_t, 3>{5, 3, 4}, {1, 7, 2}, {8, 1, 3}}) {
    check<0>(
        "fftn, slabs", mesh,
        [](auto v) { return total(fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K>>(v)); },
        make<C<Dim<I, X>, Dim<J>, Dim<K>>>(mesh, n, 1));
    check<0>(
        "fftn, pencils", mesh,
        [](auto v) { return total(fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(v)); },
        make<C<Dim<I, X>, Dim<J, Y>, Dim<K>>>(mesh, n, 2));
    check<0>(
        "rfftn, slabs, half a spectrum split", mesh,
        [](auto v) { return total(rfftn<I, J, K, F, Dim<I>, Dim<J>, Dim<F, X>>(v)); },
        make<T<Dim<I, X>, Dim<J>, Dim<K>>>(mesh, n, 3));
    std::int64_t const rows = n[2];
    check<0>(
        "irfftn, slabs", mesh,
        [rows](auto v) { return sum(sin(irfftn<I, J, F, K, Dim<I>, Dim<J, X>, Dim<K>>(v, rows))); },
        make<C<Dim<I, X>, Dim<J>, Dim<F>>>(mesh, {n[0], n[1], n[2] / 2 + 1}, 4));
    check<0>(
        "a result that is used reduced", mesh,
        [](auto v) { return total(fft<I, Dim<I>, Dim<J, X>, Dim<K>, Reduced<Y>>(v)); },
        make<C<Dim<I, X>, Dim<J>, Dim<K>>>(mesh, n, 5));
    check<0>(
        "a reduced operand that is split", mesh,
        [](auto v) { return total(fft<I, Dim<I>, Dim<J, X>, Dim<K>>(v)); },
        make<C<Dim<I>, Dim<J>, Dim<K>, Reduced<X>>>(mesh, n, 6));
  }
}

TEST_CASE("long transforms along a split dim") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {12, 7})
    for (auto const norm : {op::FftNorm::backward, op::FftNorm::ortho}) {
      auto const a = make<C<Dim<I, X>, Dim<B, Y>>>(mesh, {n, 2}, 1);
      check<0>(
          "transposed order", mesh,
          [norm](auto v) { return total(fft_four_step<I, J, K>(v, norm)); }, a);
      check<0>(
          "natural order", mesh, [norm](auto v) { return total(fft_four_step<I, F>(v, norm)); }, a);
      check<0>(
          "inverse, natural order", mesh,
          [norm](auto v) { return total(ifft_four_step<I, F>(v, norm)); }, a);
      // lengths that the forward transform chooses, others, and the two dims in other places
      std::int64_t const n1 = fft_four_step<I, J, K>(a).template extent<J>();
      for (std::int64_t const rows : {n1, std::int64_t{n == 12 ? 2 : 1}}) {
        check<0>(
            "inverse, transposed order", mesh,
            [norm](auto v) { return total(ifft_four_step<J, K, I>(v, norm)); },
            make<C<Dim<J, X>, Dim<K>, Dim<B, Y>>>(mesh, {rows, n / rows, 2}, 2));
        check<0>(
            "inverse, transposed order, other places", mesh,
            [norm](auto v) { return total(ifft_four_step<J, K, I>(v, norm)); },
            make<C<Dim<K>, Dim<B, Y>, Dim<J, X>>>(mesh, {n / rows, 2, rows}, 3));
      }
    }
}

namespace {

struct X4 : Axis<"X", 4> {};
struct I8 : Index<"I", 8> {};
struct J8 : Index<"J", 8> {};
struct K6 : Index<"K", 6> {};
struct F4 : Index<"F", 4> {};
struct Spectrum {
  constexpr auto operator()(auto const& v) const {
    return sum(square(abs(fftn<I8, J8, K6, Dim<I8>, Dim<J8, X4>, Dim<K6>>(v))));
  }
};
struct HalfSpectrum {
  constexpr auto operator()(auto const& v) const {
    return sum(square(abs(rfftn<I8, J8, K6, F4, Dim<I8>, Dim<J8, X4>, Dim<F4>>(v))));
  }
};

}  // namespace

TEST_CASE("the backward pass of a named transform exchanges as much as the forward pass") {
  constexpr auto p = plan(grad<0>(Spectrum{}), type<C<Dim<I8, X4>, Dim<J8>, Dim<K6>>>);
  static_assert(p.forward.count(Collective::all_to_all) == 1);
  static_assert(p.backward.count(Collective::all_to_all) == 1);
  static_assert(p.backward.count(Collective::all_gather) == 0);
  static_assert(p.forward.bytes_per_rank() == p.backward.bytes_per_rank());
  constexpr auto q = plan(grad<0>(HalfSpectrum{}), type<T<Dim<I8, X4>, Dim<J8>, Dim<K6>>>);
  static_assert(q.backward.count(Collective::all_to_all) == 1);
  static_assert(q.backward.count(Collective::all_gather) == 0);
  CHECK(q.forward.bytes_per_rank() == q.backward.bytes_per_rank());
}
