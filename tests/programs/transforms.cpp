// Fourier transforms of arrays that fourier_reference.py has drawn: transforms FOLDER CUBES LINES.
// Each rank writes its blocks of the results to FOLDER/out.RANK, one after another: a line with the
// name, the whole shape, and where the block begins and ends, and its numbers. The script compares
// them with numpy.fft.
// SOURCES: tests/harness/yield.cpp
// NEEDS: FFT
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/four_step.hpp>
#include <shardtype/fft/frequencies.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct F : Index<"F"> {};
struct K1 : Index<"K1"> {};
struct K2 : Index<"K2"> {};

// The transforms of one precision. Arrays are named after their kind, number and precision.
template <class Real>
class Transforms {
  using C = Kokkos::complex<Real>;

 public:
  Transforms(Mesh<X, Y> const& mesh, std::string folder, std::string precision, std::ostream& out)
      : mesh_(mesh), folder_(std::move(folder)), precision_(std::move(precision)), out_(out) {}

  // Of arrays of three dims.
  void cubes(std::string const& number) {
    batches(number);
    slabs(number);
    pencils(number);
    auto const a = complex<Dim<I, X>, Dim<J, Y>, Dim<K>>(number);
    write("fftshift", number, fftshift<J>(fftshift<I>(a)));
    write("ifftshift", number, ifftshift<J>(ifftshift<I>(a)));
  }
  // Of arrays of two dims, along the second one.
  void lines(std::string const& number) {
    auto const a = load_npy<C, Dim<I>, Dim<J, X, Y>>(mesh_, path("line", number));
    auto const b = load_npy<C, Dim<I, Y>, Dim<J, X>>(mesh_, path("line", number));
    for (auto const& [norm, name] : norms) {
      std::string const end = number + "." + name;
      auto const f = fft_four_step<J, K1, K2>(a, norm);
      write("line_transposed", end, f);
      write("line_transposed_back", end, ifft_four_step<K1, K2, J>(f, norm));
      write("line", end, fft_four_step<J, K>(a, norm));
      write("line_inverse", end, ifft_four_step<J, K>(a, norm));
      write("line_batch", end, fft_four_step<J, K>(b, norm));
    }
    std::int64_t const n = a.extents()[1];
    write("fftfreq", number, fftfreq<Real, Dim<J, X, Y>>(mesh_, n, 0.25));
    write("rfftfreq", number, rfftfreq<Real, Dim<J, X, Y>>(mesh_, n, 0.25));
    auto const f = fft_four_step<J, K1, K2>(a);
    write("fftfreq_transposed", number,
          fftfreq<Real, Dim<K1, X, Y>, Dim<K2>>(mesh_, {f.extents()[1], f.extents()[2]}, 0.25));
  }

 private:
  struct Named {
    op::FftNorm norm;
    char const* name;
  };
  static constexpr Named norms[] = {{op::FftNorm::backward, "backward"},
                                    {op::FftNorm::ortho, "ortho"},
                                    {op::FftNorm::forward, "forward"}};

  std::string path(std::string const& kind, std::string const& number) const {
    return folder_ + "/" + kind + "." + number + "." + precision_ + ".npy";
  }
  template <class... Dims>
  auto complex(std::string const& number, std::string const& kind = "complex") const {
    return load_npy<C, Dims...>(mesh_, path(kind, number));
  }
  template <class... Dims>
  auto real(std::string const& number) const {
    return load_npy<Real, Dims...>(mesh_, path("real", number));
  }
  template <class A>
  void write(char const* what, std::string const& end, A const& a) {
    shardtype::detail::NpyBlock const part(a);
    out_ << what << '.' << precision_ << '.' << end;
    for (auto const* list : {&part.shape, &part.begin, &part.count}) {
      out_ << ' ';
      for (auto const n : *list) out_ << n << ',';
    }
    out_ << '\n';
    auto const block = shardtype::detail::block_on_host(a);
    out_.write(reinterpret_cast<char const*>(block.data()),
               static_cast<std::streamsize>(block.size() * sizeof(typename A::element)));
  }

  // One dim and two dims, which are whole; the others are split.
  void batches(std::string const& number) {
    auto const a = complex<Dim<I, X>, Dim<J>, Dim<K, Y>>(number);
    auto const r = real<Dim<I, X>, Dim<J>, Dim<K, Y>>(number);
    auto const half = complex<Dim<I, X>, Dim<F>, Dim<K, Y>>(number, "half_of_second");
    auto const two = complex<Dim<I, X, Y>, Dim<J>, Dim<K>>(number);
    auto const real_two = real<Dim<I, X, Y>, Dim<J>, Dim<K>>(number);
    auto const half_two = complex<Dim<I, X, Y>, Dim<J>, Dim<F>>(number, "half_of_third");
    for (auto const& [norm, name] : norms) {
      std::string const end = number + "." + name;
      auto const f = fft<J>(a, norm);
      write("fft", end, f);
      write("fft_back", end, ifft<J>(f, norm));
      write("ifft", end, ifft<J>(a, norm));
      auto const h = rfft<J, F>(r, norm);
      write("rfft", end, h);
      write("rfft_back", end, irfft<F, J>(h, r.extents()[1], norm));
      write("irfft", end, irfft<F, J>(half, r.extents()[1], norm));
      write("fft2", end, fftn<J, K>(two, norm));
      write("ifft2", end, ifftn<J, K>(two, norm));
      write("rfft2", end, rfftn<J, K, F>(real_two, norm));
      write("irfft2", end, irfftn<J, F, K>(half_two, r.extents()[2], norm));
    }
  }
  // Three dims, of which one is split over all ranks, by two axes.
  void slabs(std::string const& number) {
    auto const a = complex<Dim<I, X, Y>, Dim<J>, Dim<K>>(number);
    auto const r = real<Dim<I, X, Y>, Dim<J>, Dim<K>>(number);
    for (auto const& [norm, name] : norms) {
      std::string const end = number + "." + name;
      auto const f = fftn<I, J, K, Dim<I>, Dim<J, X, Y>, Dim<K>>(a, norm);
      write("slab", end, f);
      write("slab_back", end, ifftn<I, J, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(f, norm));
      auto const h = rfftn<I, J, K, F, Dim<I>, Dim<J, X, Y>, Dim<F>>(r, norm);
      write("real_slab", end, h);
      write("real_slab_back", end,
            irfftn<I, J, F, K, Dim<I, X, Y>, Dim<J>, Dim<K>>(h, r.extents()[2], norm));
    }
  }
  // Three dims, of which two are split; the halved one too.
  void pencils(std::string const& number) {
    auto const a = complex<Dim<I, X>, Dim<J, Y>, Dim<K>>(number);
    auto const r = real<Dim<I, X>, Dim<J, Y>, Dim<K>>(number);
    auto const half = complex<Dim<I>, Dim<J, X>, Dim<F, Y>>(number, "half_of_third");
    for (auto const& [norm, name] : norms) {
      std::string const end = number + "." + name;
      auto const f = fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K, Y>>(a, norm);
      write("pencil", end, f);
      write("pencil_back", end, ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(f, norm));
      write("pencil_inverse", end, ifftn<I, J, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, norm));
      write("two_of_a_pencil", end, fftn<I, J, Dim<I, X>, Dim<J, Y>, Dim<K>>(a, norm));
      write("real_pencil", end, rfftn<I, J, K, F, Dim<I>, Dim<J, X>, Dim<F, Y>>(r, norm));
      write("half_pencil", end,
            irfftn<I, J, F, K, Dim<I, X>, Dim<J, Y>, Dim<K>>(half, r.extents()[2], norm));
    }
  }

  Mesh<X, Y> const& mesh_;
  std::string folder_, precision_;
  std::ostream& out_;
};

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  if (argc != 4) return 2;
  int rows = 1;
  for (int k = 1; k * k <= env.size(); ++k)
    if (env.size() % k == 0) rows = k;
  Mesh<X, Y> const mesh(env.world(), {rows, env.size() / rows});
  std::string const folder = argv[1];
  std::ofstream out(folder + "/out." + std::to_string(env.rank()), std::ios::binary);
  Transforms<double> in_double(mesh, folder, "double", out);
  Transforms<float> in_float(mesh, folder, "float", out);
  for (int k = 0; k < std::atoi(argv[2]); ++k) {
    in_double.cubes(std::to_string(k));
    in_float.cubes(std::to_string(k));
  }
  for (int k = 0; k < std::atoi(argv[3]); ++k) {
    in_double.lines(std::to_string(k));
    in_float.lines(std::to_string(k));
  }
  return out.flush() ? 0 : 1;
}
