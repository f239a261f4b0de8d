// Named Fourier transforms of tensors with three dims by their public functions, and their
// gradients, against sums over all rows: drawn sizes, norms and ways of exchange.
// WHEN: one in 2
// RANKS: 1 2 3 4 5 6 7 8
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
// NEEDS: FFT
#include "harness/fourier_forms.hpp"

using namespace fourier_cases;
using namespace fourier_cases::listed;

TEST_CASE("slabs") {
  std::vector<Mesh<X, Y, Z>> const meshes = all_meshes();
  check_form<C<Dim<I, X>, Dim<J>, Dim<K>>, C<Dim<I>, Dim<J, X>, Dim<K>>>(
      meshes, "slabs", forward, {i, j, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<K>>, C<Dim<I, X>, Dim<J>, Dim<K>>>(
      meshes, "slabs back", inverse, {i, j, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return ifftn<I, J, K, Dim<I, X>, Dim<J>, Dim<K>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J>, Dim<K, X, Y>>, C<Dim<I, X, Y>, Dim<J>, Dim<K>>>(
      meshes, "slabs of two axes", inverse, {i, j, k}, -1, draws,
      [](auto const& a, Norm norm, Int) {
        return ifftn<I, J, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(a, norm);
      });
  check_form<R<Dim<I, X>, Dim<J>, Dim<K>>, C<Dim<I>, Dim<J, X>, Dim<F>>>(
      meshes, "slabs, real", to_complex, {i, j, k}, f, draws, [](auto const& a, Norm norm, Int) {
        return rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<F>>, R<Dim<I, X>, Dim<J>, Dim<K>>>(
      meshes, "slabs back, real", to_real, {i, j, f}, k, draws,
      [](auto const& a, Norm norm, Int rows) {
        return irfftn<I, J, F, K, Dim<I, X>, Dim<J>, Dim<K>>(a, rows, norm);
      });
}

TEST_CASE("pencils and single dims") {
  std::vector<Mesh<X, Y, Z>> const meshes = all_meshes();
  check_form<C<Dim<I, X>, Dim<J, Y>, Dim<K>>, C<Dim<I>, Dim<J, X>, Dim<K, Y>>>(
      meshes, "pencils", forward, {i, j, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<K, Y>>, C<Dim<I, X>, Dim<J, Y>, Dim<K>>>(
      meshes, "pencils back", inverse, {i, j, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, norm);
      });
  check_form<S<Dim<I, X>, Dim<J, Y>, Dim<K>>, S<Dim<I, X>, Dim<J, Y>, Dim<K>>>(
      meshes, "pencils, own order", inverse, {i, j, k}, -1, draws,
      [](auto const& a, Norm norm, Int) {
        return ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, norm);
      });
  check_form<C<Dim<I, X>, Dim<J, Y>, Dim<K>>, C<Dim<K, X>, Dim<J>, Dim<I, Y>>>(
      meshes, "pencils, turned", forward, {i, j, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return fftn<I, J, K, Dim<K, X>, Dim<J>, Dim<I, Y>>(a, norm);
      });
  check_form<R<Dim<I, X>, Dim<J, Y>, Dim<K>>, C<Dim<I>, Dim<J, X>, Dim<F, Y>>>(
      meshes, "pencils, real", to_complex, {i, j, k}, f, draws, [](auto const& a, Norm norm, Int) {
        return rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F, Y>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<F, Y>>, R<Dim<I, X>, Dim<J, Y>, Dim<K>>>(
      meshes, "pencils back, real", to_real, {i, j, f}, k, draws,
      [](auto const& a, Norm norm, Int rows) {
        return irfftn<I, J, F, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, rows, norm);
      });
  check_form<C<Dim<I, X>, Dim<J, Y>, Dim<K>>, C<Dim<I, X>, Dim<J, Y>, Dim<K>>>(
      meshes, "two of three dims", inverse, {i, k}, -1, draws, [](auto const& a, Norm norm, Int) {
        return ifftn<I, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<K, Y>>, C<Dim<I, X>, Dim<J>, Dim<K, Y>>>(
      meshes, "one of three dims", inverse, {i}, -1, draws,
      [](auto const& a, Norm norm, Int) { return ifft<I, Dim<I, X>, Dim<J>, Dim<K, Y>>(a, norm); });
  check_form<C<Dim<I>, Dim<J, X>, Dim<K, Cyclic<Y, 2>>>,
             C<Dim<I, X>, Dim<J>, Dim<K, Cyclic<Y, 2>>>>(
      meshes, "a block-cyclic dim", inverse, {i}, -1, draws, [](auto const& a, Norm norm, Int) {
        return ifft<I, Dim<I, X>, Dim<J>, Dim<K, Cyclic<Y, 2>>>(a, norm);
      });
  check_form<C<Dim<I>, Dim<J, X>, Dim<K>>, C<Dim<I, X>, Dim<J, Z>, Dim<K>, Reduced<Y>>>(
      meshes, "an axis of a result that is replicated", inverse, {i, k}, -1, draws,
      [](auto const& a, Norm norm, Int) {
        return ifftn<I, K, Dim<I, X>, Dim<J, Z>, Dim<K>, Reduced<Y>>(a, norm);
      });
}
