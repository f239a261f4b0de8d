// The programs of docs/by_example/linear_algebra.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/four_step.hpp>
#include <shardtype/fft/frequencies.hpp>
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct B : Index<"B"> {};    // the matrices of a stack
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Complex = Kokkos::complex<double>;
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void solutions(Mesh<X> const& mesh) {
  {
    part("linalg::solve");
    // docs: linalg::solve
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 3, 4, 0, 0, 5});
    auto const b =
        from_host<double, Dim<B, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{3, 5, 8, 10});
    print(linalg::solve<I, J>(a, b));  // a system on each rank
    // docs: end
  }
  {
    part("linalg::lu_factor");
    // docs: linalg::lu_factor
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{4, 2, 2, 4, 1, 2, 4, 2});
    auto const lu = linalg::lu_factor<I, J>(a);
    print(lu.factors);  // L below the diagonal, U on and above it
    print(lu.pivots);   // the row that was exchanged with each row
    // docs: end
  }
  {
    part("linalg::lu_solve");
    // docs: linalg::lu_solve
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 3, 4, 0, 0, 5});
    auto const b =
        from_host<double, Dim<B, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{3, 5, 8, 10});
    auto const lu = linalg::lu_factor<I, J>(a);  // once, for several right-hand sides
    print(linalg::lu_solve<I, J>(lu, b));
    print(linalg::lu_solve<I, J>(lu, b * 2.0));
    // docs: end
  }
  {
    part("linalg::cholesky");
    // docs: linalg::cholesky
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{4, 2, 2, 5, 9, 3, 3, 2});
    print(linalg::cholesky<I, J>(a));
    // docs: end
  }
  {
    part("linalg::cholesky_solve");
    // docs: linalg::cholesky_solve
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{4, 2, 2, 5, 9, 3, 3, 2});
    auto const b =
        from_host<double, Dim<B, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{6, 7, 12, 5});
    auto const l = linalg::cholesky<I, J>(a);
    print(linalg::cholesky_solve<I, J>(l, b));
    // docs: end
  }
  {
    part("linalg::triangular_solve");
    // docs: linalg::triangular_solve
    auto const l = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 0, 1, 2, 3, 0, 1, 1});
    auto const b =
        from_host<double, Dim<B, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{4, 6, 6, 3});
    print(linalg::triangular_solve<I, J>(l, b));
    // docs: end
  }
  {
    part("linalg::ldl_factor");
    // docs: linalg::ldl_factor
    // One symmetric matrix, its columns block-cyclic over the ranks.
    auto const a = from_host<double, Dim<I>, Dim<J, Cyclic<X, 1>>>(
        mesh, {2, 2}, std::vector<double>{4, 2, 2, -3});
    auto const ldl = linalg::ldl_factor<I, J>(a);  // a = L D L^T
    print(ldl.l);
    print(ldl.d);
    // docs: end
  }
  {
    part("linalg::ldl_solve");
    // docs: linalg::ldl_solve
    auto const a = from_host<double, Dim<I>, Dim<J, Cyclic<X, 1>>>(
        mesh, {2, 2}, std::vector<double>{4, 2, 2, -3});
    auto const b = from_host<double, Dim<I>>(mesh, {2}, std::vector<double>{6, -1});
    print(linalg::ldl_solve<I, J>(linalg::ldl_factor<I, J>(a), b));
    // docs: end
  }
  {
    part("linalg::lstsq");
    // docs: linalg::lstsq
    // A line through the points (0, 1), (1, 3), (2, 5) of each rank.
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 3, 2}, std::vector<double>{1, 0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2});
    auto const b =
        from_host<double, Dim<B, X>, Dim<I>>(mesh, {2, 3}, std::vector<double>{1, 3, 5, 2, 3, 4});
    print(linalg::lstsq<I, J>(a, b));
    // docs: end
  }
  {
    part("linalg::inv");
    // docs: linalg::inv
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 1, 4, 0, 0, 5});
    print(linalg::inv<I, J>(a));
    // docs: end
  }
  {
    part("linalg::pinv");
    // docs: linalg::pinv
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 1, 1, 1, 4, 0, 0, 5});
    print(linalg::pinv<I, J>(a));  // of a singular matrix, too
    // docs: end
  }
}

void factors(Mesh<X> const& mesh) {
  {
    part("linalg::qr");
    // docs: linalg::qr
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{3, 1, 4, 2, 8, 1, 6, 7});
    auto const [q, r] = linalg::qr<I, J, K>(a);
    print(abs(r));                        // upper triangular
    print(round(einsum<B, I, J>(q, r)));  // a again
    // docs: end
  }
  {
    part("linalg::eigh");
    // docs: linalg::eigh
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 2, 5, 0, 0, 3});
    auto const [w, v] = linalg::eigh<I, J, K>(a);
    print(w);       // ascending
    print(abs(v));  // the eigenvectors, whose signs are arbitrary
    // docs: end
  }
  {
    part("linalg::eigvalsh");
    // docs: linalg::eigvalsh
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 2, 5, 0, 0, 3});
    print(linalg::eigvalsh<I, J, K>(a));
    // docs: end
  }
  {
    part("linalg::svd");
    // docs: linalg::svd
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{3, 0, 4, 5, 2, 0, 0, 1});
    auto const [u, s, vh] = linalg::svd<I, J, K>(a);
    print(s);        // descending
    print(abs(vh));  // the right singular vectors, whose signs are arbitrary
    // docs: end
  }
  {
    part("linalg::svdvals");
    // docs: linalg::svdvals
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{3, 0, 4, 5, 2, 0, 0, 1});
    print(linalg::svdvals<I, J, K>(a));
    // docs: end
  }
}

void numbers_of_matrices(Mesh<X> const& mesh) {
  {
    part("linalg::det");
    // docs: linalg::det
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{2, 1, 1, 3, 4, 0, 0, 5});
    print(linalg::det<I, J>(a));
    // docs: end
  }
  {
    part("linalg::slogdet");
    // docs: linalg::slogdet
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 2, 3, 4, 4, 0, 0, 5});
    auto const [sign, logdet] = linalg::slogdet<I, J>(a);
    print(sign);
    print(logdet);
    // docs: end
  }
  {
    part("linalg::norm");
    // docs: linalg::norm
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{1, -2, 2, 4, 3, 0, 0, 4});
    print(linalg::norm<I, J>(a));  // Frobenius
    print(linalg::norm<I, J, linalg::Norm::one>(a));
    // docs: end
  }
  {
    part("linalg::cond");
    // docs: linalg::cond
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{4, 0, 0, 2, 3, 0, 4, 5});
    print(linalg::cond<I, J>(a));
    // docs: end
  }
  {
    part("linalg::rcond");
    // docs: linalg::rcond
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{4, 0, 0, 2, 10, 0, 0, 1});
    print(linalg::rcond<I, J>(a));
    // docs: end
  }
  {
    part("linalg::matrix_rank");
    // docs: linalg::matrix_rank
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 1, 1, 1, 4, 0, 0, 5});
    print(linalg::matrix_rank<I, J>(a));
    // docs: end
  }
  {
    part("linalg::matrix_power");
    // docs: linalg::matrix_power
    auto const a = from_host<double, Dim<B, X>, Dim<I>, Dim<J>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 1, 0, 1, 2, 0, 0, 3});
    print(linalg::matrix_power<I, J, 3>(a));
    // docs: end
  }
  {
    part("linalg::scalapack_descriptor");
    // docs: linalg::scalapack_descriptor
    auto const a = zeros<double, Dim<J, Cyclic<X, 3>>, Dim<I>>(mesh, {8, 5});
    std::string numbers;
    for (int const one : linalg::scalapack_descriptor<I, J>(a, 0))
      numbers += std::to_string(one) + " ";
    say(numbers);
    // docs: end
  }
}

void transforms(Mesh<X> const& mesh) {
  {
    part("fft");
    // docs: fft
    auto const a = from_host<Complex, Dim<I>, Dim<J, X>>(
        mesh, {4, 2}, std::vector<Complex>{1, 1, 2, 0, 3, 0, 4, 0});
    print(fft<I>(a));  // of each column
    // docs: end
  }
  {
    part("ifft");
    // docs: ifft
    auto const a = from_host<Complex, Dim<I>, Dim<J, X>>(
        mesh, {4, 2}, std::vector<Complex>{1, 1, 2, 0, 3, 0, 4, 0});
    print(real(ifft<I>(fft<I>(a))));
    // docs: end
  }
  {
    part("fftn");
    // docs: fftn
    auto const a =
        from_host<Complex, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<Complex>{1, 2, 3, 4});
    print(fftn<I, J, Dim<I>, Dim<J, X>>(a));  // I is split: one all_to_all
    // docs: end
  }
  {
    part("ifftn");
    // docs: ifftn
    auto const a =
        from_host<Complex, Dim<I, X>, Dim<J>>(mesh, {2, 2}, std::vector<Complex>{1, 2, 3, 4});
    auto const f = fftn<I, J, Dim<I>, Dim<J, X>>(a);
    print(real(ifftn<I, J, Dim<I, X>, Dim<J>>(f)));
    // docs: end
  }
  {
    part("rfft");
    // docs: rfft
    auto const a = from_host<double, Dim<I>, Dim<J, X>>(
        mesh, {4, 2}, std::vector<double>{1, 1, 2, 0, 3, 0, 4, 0});
    print(rfft<I, K>(a));  // 4 / 2 + 1 frequencies
    // docs: end
  }
  {
    part("irfft");
    // docs: irfft
    auto const a = from_host<double, Dim<I>, Dim<J, X>>(
        mesh, {4, 2}, std::vector<double>{1, 1, 2, 0, 3, 0, 4, 0});
    print(irfft<K, I>(rfft<I, K>(a), 4));
    // docs: end
  }
  {
    part("rfftn");
    // docs: rfftn
    auto const a = from_host<double, Dim<I>, Dim<J>, Dim<B, X>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 0, 2, 0, 3, 0, 4, 1});
    print(rfftn<J, I, K>(a));  // the last label is that of 2 / 2 + 1 frequencies
    // docs: end
  }
  {
    part("irfftn");
    // docs: irfftn
    auto const a = from_host<double, Dim<I>, Dim<J>, Dim<B, X>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 0, 2, 0, 3, 0, 4, 1});
    print(irfftn<J, K, I>(rfftn<J, I, K>(a), 2));
    // docs: end
  }
  {
    part("fft_four_step");
    // docs: fft_four_step
    auto const a =
        from_host<Complex, Dim<I, X>>(mesh, {8}, std::vector<Complex>{1, 0, 0, 0, 0, 0, 0, 0});
    print(fft_four_step<I, K>(a));  // one transform over all ranks
    // docs: end
  }
  {
    part("ifft_four_step");
    // docs: ifft_four_step
    auto const a =
        from_host<Complex, Dim<I, X>>(mesh, {8}, std::vector<Complex>{1, 2, 3, 4, 5, 6, 7, 8});
    print(round(real(ifft_four_step<K, I>(fft_four_step<I, K>(a)))));
    // docs: end
  }
  {
    part("fftfreq");
    // docs: fftfreq
    print(fftfreq<double, Dim<I, X>>(mesh, 4));
    // docs: end
  }
  {
    part("rfftfreq");
    // docs: rfftfreq
    print(rfftfreq<double, Dim<K, X>>(mesh, 4));
    // docs: end
  }
  {
    part("fftshift");
    // docs: fftshift
    print(fftshift<I>(fftfreq<double, Dim<I, X>>(mesh, 4)));  // in ascending order
    // docs: end
  }
  {
    part("ifftshift");
    // docs: ifftshift
    print(ifftshift<I>(fftshift<I>(fftfreq<double, Dim<I, X>>(mesh, 4))));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  solutions(mesh);
  factors(mesh);
  numbers_of_matrices(mesh);
  transforms(mesh);
  return 0;
}
