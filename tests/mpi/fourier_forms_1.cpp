// Named Fourier transforms of one and of two dims by their public functions, and their gradients,
// against sums over all rows: drawn sizes, norms and ways of exchange.
// WHEN: one in 2
// RANKS: 1 2 3 4 5 6 7 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
// NEEDS: FFT
#include "harness/fourier_forms.hpp"

using namespace fourier_cases;
using namespace fourier_cases::listed;

TEST_CASE("one dim") {
  std::vector<Mesh<X, Y, Z>> const meshes = all_meshes();
  check_form<C<Dim<I, X>, Dim<J>>, C<Dim<I>, Dim<J, X>>>(
      meshes, "an exchange first", forward, {i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return fft<I, Dim<I>, Dim<J, X>>(a, norm); });
  check_form<C<Dim<I>, Dim<J, X>>, C<Dim<I, X>, Dim<J>>>(
      meshes, "an exchange last", inverse, {i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifft<I, Dim<I, X>, Dim<J>>(a, norm); });
  check_form<C<Dim<I, X>, Dim<J, Y>>, C<Dim<I, X>, Dim<J, Y>>>(
      meshes, "own order", inverse, {i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifft<I, Dim<I, X>, Dim<J, Y>>(a, norm); });
  check_form<S<Dim<I, Y, X>, Dim<J>>, S<Dim<J, Y>, Dim<I, X>, Reduced<Z>>>(
      meshes, "turned", forward, {i}, -1, draws, [](auto const& a, Norm norm, Int) {
        return fft<I, Dim<J, Y>, Dim<I, X>, Reduced<Z>>(a, norm);
      });
  check_form<C<Dim<K>, Dim<I, Y, X>>, C<Dim<K>, Dim<F>, Reduced<X, Y>>>(
      meshes, "gathered", forward, {i}, f, draws, [](auto const& a, Norm norm, Int) {
        return fft<I, F, Dim<K>, Dim<F>, Reduced<X, Y>>(a, norm);
      });
  check_form<C<Dim<I, X>, Dim<J>, Reduced<Y>>, C<Dim<I, X>, Dim<J, Y>>>(
      meshes, "sliced", inverse, {j}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifft<J, Dim<I, X>, Dim<J, Y>>(a, norm); });
  check_form<R<Dim<I>, Dim<J, X>>, C<Dim<F, X>, Dim<J>>>(
      meshes, "an exchange last", to_complex, {i}, f, draws,
      [](auto const& a, Norm norm, Int) { return rfft<I, F, Dim<F, X>, Dim<J>>(a, norm); });
  check_form<Q<Dim<J>, Dim<I, Y, X>>, S<Dim<J, X, Y>, Dim<F>>>(
      meshes, "two axes", to_complex, {i}, f, draws,
      [](auto const& a, Norm norm, Int) { return rfft<I, F, Dim<J, X, Y>, Dim<F>>(a, norm); });
  check_form<R<Dim<I, X>, Dim<J, Y>>, C<Dim<I, X>, Dim<F, Y>>>(
      meshes, "own order", to_complex, {j}, f, draws,
      [](auto const& a, Norm norm, Int) { return rfft<J, F, Dim<I, X>, Dim<F, Y>>(a, norm); });
  check_form<C<Dim<F>, Dim<J, X>>, R<Dim<I, X>, Dim<J>>>(
      meshes, "an exchange last", to_real, {f}, i, draws, [](auto const& a, Norm norm, Int rows) {
        return irfft<F, I, Dim<I, X>, Dim<J>>(a, rows, norm);
      });
  check_form<C<Dim<F, X>, Dim<J, Y>>, R<Dim<I>, Dim<J, Y, X>>>(
      meshes, "two axes", to_real, {f}, i, draws, [](auto const& a, Norm norm, Int rows) {
        return irfft<F, I, Dim<I>, Dim<J, Y, X>>(a, rows, norm);
      });
  check_form<S<Dim<J, Y>, Dim<F, X>>, Q<Dim<J>, Dim<I, X>, Reduced<Y>>>(
      meshes, "gathered", to_real, {f}, i, draws, [](auto const& a, Norm norm, Int rows) {
        return irfft<F, I, Dim<J>, Dim<I, X>, Reduced<Y>>(a, rows, norm);
      });
}

TEST_CASE("two dims") {
  std::vector<Mesh<X, Y, Z>> const meshes = all_meshes();
  check_form<C<Dim<I, X>, Dim<J>>, C<Dim<I>, Dim<J, X>>>(
      meshes, "slabs", forward, {i, j}, -1, draws,
      [](auto const& a, Norm norm, Int) { return fftn<I, J, Dim<I>, Dim<J, X>>(a, norm); });
  check_form<C<Dim<I>, Dim<J, X>>, C<Dim<I, X>, Dim<J>>>(
      meshes, "slabs back", inverse, {i, j}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifftn<I, J, Dim<I, X>, Dim<J>>(a, norm); });
  check_form<S<Dim<I, X>, Dim<J>>, S<Dim<I, X>, Dim<J>>>(
      meshes, "own order", inverse, {j, i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifftn<J, I, Dim<I, X>, Dim<J>>(a, norm); });
  check_form<C<Dim<I, Y>, Dim<J, X>>, C<Dim<J, Y>, Dim<I, X>>>(
      meshes, "both split", forward, {j, i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return fftn<J, I, Dim<J, Y>, Dim<I, X>>(a, norm); });
  check_form<C<Dim<I, X>, Dim<J>, Unreduced<Y>>, C<Dim<I, X>, Dim<J, Y>>>(
      meshes, "a pending sum", inverse, {i, j}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifftn<I, J, Dim<I, X>, Dim<J, Y>>(a, norm); });
  check_form<R<Dim<I, X>, Dim<J>>, C<Dim<I>, Dim<F, X>>>(
      meshes, "slabs", to_complex, {i, j}, f, draws,
      [](auto const& a, Norm norm, Int) { return rfftn<I, J, F, Dim<I>, Dim<F, X>>(a, norm); });
  check_form<Q<Dim<I, X>, Dim<J, Y>>, S<Dim<F, X>, Dim<J, Y>>>(
      meshes, "own order", to_complex, {j, i}, f, draws,
      [](auto const& a, Norm norm, Int) { return rfftn<J, I, F, Dim<F, X>, Dim<J, Y>>(a, norm); });
  check_form<C<Dim<F>, Dim<J, X>>, R<Dim<I, X>, Dim<J>>>(
      meshes, "slabs back", to_real, {j, f}, i, draws, [](auto const& a, Norm norm, Int rows) {
        return irfftn<J, F, I, Dim<I, X>, Dim<J>>(a, rows, norm);
      });
  check_form<C<Dim<I, X>, Dim<F, Y>>, R<Dim<I, X, Y>, Dim<J>>>(
      meshes, "two axes", to_real, {i, f}, j, draws, [](auto const& a, Norm norm, Int rows) {
        return irfftn<I, F, J, Dim<I, X, Y>, Dim<J>>(a, rows, norm);
      });
}
