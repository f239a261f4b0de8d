// The Fourier transform of a cube of complex double, split by planes, with the order of dims that
// costs one exchange, alternating with FFTW's MPI transform (transposed output) where it is built,
// with a program by hand (FFTW's local transforms, MPI_Alltoall), and with the library's own
// parts: local transforms, and an exchange of the same bytes.
// NEEDS: FFTW
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <fftw3.h>

#include <shardtype/fft/fft.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_fft [--sizes=128,256] [--rounds=21] [--fftw-mpi=LIBRARY] [--benchmark_filter=CASE]\n"
    "fftn of n x n x n complex double, c128[I@X, J, K] to c128[I, J@X, K], against a rival.\n"
    "fftw_mpi: FFTW's MPI transform, transposed output (its shared library, built for this MPI);\n"
    "by_hand: FFTW's local transforms and MPI_Alltoall; parts: our local transforms of the same\n"
    "blocks and an MPI_Alltoall of the block, nothing packed. All plans are measured by FFTW\n"
    "(SHARDTYPE_FFTW=measure), blocks must be equal, operands are kept. Last lines: ratio fft\n"
    "CASE_N RANKS MEDIAN Q1 Q3, ours over the rival in time; value fft CASE_N RANKS ours_ms MS,\n"
    "and rival_ms.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using C = Kokkos::complex<double>;
using A = Tensor<C, Dim<I, X>, Dim<J>, Dim<K>>;
using Programs = std::pair<std::function<void()>, std::function<void()>>;

// A plane wave and some noise.
C value(std::int64_t i, std::int64_t j, std::int64_t k) {
  return {static_cast<double>((i * 7 + j * 3 + k * 5) % 11 - 5),
          static_cast<double>((i * 2 + j * 5 + k * 3) % 7 - 3)};
}
auto ours(A const& a) { return fftn<I, J, K, Dim<I>, Dim<J, X>, Dim<K>>(a); }

fftw_complex* as_fftw(void const* p) { return static_cast<fftw_complex*>(const_cast<void*>(p)); }

/// The block of one rank: n / p planes.
struct Cube {
  std::int64_t n, mine, first;
  std::int64_t elements() const { return mine * n * n; }
  explicit Cube(std::int64_t rows)
      : n(rows), mine(rows / ranks_here()), first(rank_here() * (rows / ranks_here())) {
    if (rows % ranks_here() != 0) stop("the ranks must divide the rows");
  }
};

/// Compares our result with a rival's, which is [J@X, I, K].
template <class B>
void check(B const& b, HostArray<C> const& other, Cube const& c) {
  double worst = 0;
  double most = 1;
  auto const* const mine = static_cast<C const*>(b.buffer().data());
  for (std::int64_t j = 0; j < c.mine; ++j)
    for (std::int64_t i = 0; i < c.n; ++i)
      for (std::int64_t k = 0; k < c.n; ++k) {
        C const x = mine[(i * c.mine + j) * c.n + k];
        C const y = other.data()[(j * c.n + i) * c.n + k];
        worst = std::max(worst, Kokkos::abs(x - y));
        most = std::max(most, Kokkos::abs(y));
      }
  if (greatest(worst) > 1e-12 * greatest(most)) stop("the two programs computed different values");
}

/// The functions of FFTW's MPI library that are used here. It is loaded, because it belongs to one
/// MPI, and distributions have it for one only.
struct FftwMpiLibrary {
  using Extent = std::ptrdiff_t;
  void (*init)() = nullptr;
  Extent (*local_size)(Extent n0, Extent n1, Extent n2, MPI_Comm comm, Extent* mine, Extent* first,
                       Extent* mine_out, Extent* first_out) = nullptr;
  fftw_plan (*plan)(Extent n0, Extent n1, Extent n2, fftw_complex* in, fftw_complex* out,
                    MPI_Comm comm, int sign, unsigned flags) = nullptr;
  void (*execute)(fftw_plan plan, fftw_complex* in, fftw_complex* out) = nullptr;

  void load(std::string const& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) stop(dlerror());
    auto const find = [&](auto& to, char const* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(library, name));
      if (to == nullptr) stop(dlerror());
    };
    find(init, "fftw_mpi_init");
    find(local_size, "fftw_mpi_local_size_3d_transposed");
    find(plan, "fftw_mpi_plan_dft_3d");
    find(execute, "fftw_mpi_execute_dft");
    init();
  }
};
FftwMpiLibrary fftw_mpi;

class FftwMpi {
 public:
  explicit FftwMpi(Cube const& c) : c_(c) {
    std::ptrdiff_t mine = 0;
    std::ptrdiff_t first = 0;
    std::ptrdiff_t mine_out = 0;
    std::ptrdiff_t first_out = 0;
    std::ptrdiff_t const room =
        fftw_mpi.local_size(c.n, c.n, c.n, MPI_COMM_WORLD, &mine, &first, &mine_out, &first_out);
    if (mine != c.mine || mine_out != c.mine) stop("FFTW's blocks are others");
    in_ = std::make_unique<HostArray<C>>(room);
    out_ = std::make_unique<HostArray<C>>(room);
    plan_ =
        fftw_mpi.plan(c.n, c.n, c.n, as_fftw(in_->data()), as_fftw(out_->data()), MPI_COMM_WORLD,
                      FFTW_FORWARD, FFTW_MEASURE | FFTW_DESTROY_INPUT | (1U << 30U));
    if (plan_ == nullptr) stop("FFTW has no plan");
  }
  FftwMpi(FftwMpi const&) = delete;
  FftwMpi& operator=(FftwMpi const&) = delete;
  ~FftwMpi() { fftw_destroy_plan(plan_); }
  HostArray<C>& in() { return *in_; }
  HostArray<C> const& out() const { return *out_; }
  void operator()() { fftw_mpi.execute(plan_, as_fftw(in_->data()), as_fftw(out_->data())); }

 private:
  Cube c_;
  std::unique_ptr<HostArray<C>> in_, out_;
  fftw_plan plan_{};
};

/// FFTW on each plane, a packed exchange, and FFTW along the other dim.
class ByHand {
 public:
  explicit ByHand(Cube const& c)
      : c_(c), in_(c.elements()), out_(c.elements()), work_(c.elements()), wire_(c.elements()) {
    int const n = static_cast<int>(c.n);
    int const planes[] = {n, n};
    first_ = fftw_plan_many_dft(2, planes, static_cast<int>(c.mine), as_fftw(in_.data()), nullptr,
                                1, n * n, as_fftw(work_.data()), nullptr, 1, n * n, FFTW_FORWARD,
                                FFTW_MEASURE | FFTW_PRESERVE_INPUT);
    fftw_iodim64 const rows{c.n, c.n, c.n};
    fftw_iodim64 const loops[] = {{c.mine, c.n * c.n, c.n * c.n}, {c.n, 1, 1}};
    second_ = fftw_plan_guru64_dft(1, &rows, 2, loops, as_fftw(out_.data()), as_fftw(out_.data()),
                                   FFTW_FORWARD, FFTW_MEASURE);
  }
  ByHand(ByHand const&) = delete;
  ByHand& operator=(ByHand const&) = delete;
  ~ByHand() {
    fftw_destroy_plan(first_);
    fftw_destroy_plan(second_);
  }
  HostArray<C>& in() { return in_; }
  HostArray<C> const& out() const { return out_; }
  void operator()() {
    fftw_execute(first_);
    std::int64_t const p = ranks_here();
    std::int64_t const part = c_.mine * c_.mine * c_.n;
    // [i][j][k] to [rank of j][j][i][k]
    for (std::int64_t i = 0; i < c_.mine; ++i)
      for (std::int64_t j = 0; j < c_.n; ++j)
        std::copy_n(work_.data() + (i * c_.n + j) * c_.n, c_.n,
                    wire_.data() + j / c_.mine * part + (j % c_.mine * c_.mine + i) * c_.n);
    MPI_Alltoall(wire_.data(), static_cast<int>(2 * part), MPI_DOUBLE, work_.data(),
                 static_cast<int>(2 * part), MPI_DOUBLE, MPI_COMM_WORLD);
    for (std::int64_t r = 0; r < p; ++r)
      for (std::int64_t j = 0; j < c_.mine; ++j)
        std::copy_n(work_.data() + r * part + j * c_.mine * c_.n, c_.mine * c_.n,
                    out_.data() + (j * c_.n + r * c_.mine) * c_.n);
    fftw_execute(second_);
  }

 private:
  Cube c_;
  HostArray<C> in_, out_, work_, wire_;
  fftw_plan first_{}, second_{};
};

/// A rival program with a block in and a block out.
template <class Rival>
Programs against(A const& a, Cube const& c) {
  auto const rival = std::make_shared<Rival>(c);
  // planning has overwritten the operand
  for (std::int64_t i = 0; i < c.mine; ++i)
    for (std::int64_t j = 0; j < c.n; ++j)
      for (std::int64_t k = 0; k < c.n; ++k)
        rival->in().data()[(i * c.n + j) * c.n + k] = value(c.first + i, j, k);
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  auto const run = [rival, share_cores] {
    yield_in_mpi = share_cores;
    (*rival)();
    yield_in_mpi = false;
  };
  run();
  check(ours(a), rival->out(), c);
  return {[&a] { benchmark::DoNotOptimize(ours(a).local_size()); }, run};
}

/// The local transforms of our blocks, and an exchange of blocks as they are.
Programs against_parts(A const& a, Cube const& c) {
  auto const b = std::make_shared<decltype(ours(a))>(ours(a));
  auto const in = std::make_shared<HostArray<C>>(c.elements());
  auto const out = std::make_shared<HostArray<C>>(c.elements());
  int const part = static_cast<int>(2 * c.elements() / ranks_here());
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  return {[&a] { benchmark::DoNotOptimize(ours(a).local_size()); },
          [=, &a] {
            benchmark::DoNotOptimize(fftn<J, K>(a).local_size());
            yield_in_mpi = share_cores;
            MPI_Alltoall(in->data(), part, MPI_DOUBLE, out->data(), part, MPI_DOUBLE,
                         MPI_COMM_WORLD);
            yield_in_mpi = false;
            benchmark::DoNotOptimize(fft<I>(*b).local_size());
          }};
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  setenv("SHARDTYPE_FFTW", "measure", 0);  // as the rivals plan
  Environment env(argc, argv);
  std::string const library = option(argc, argv, "fftw-mpi", std::string());
  if (!library.empty())
    fftw_mpi.load(library);
  else if (env.rank() == 0)
    std::printf("without FFTW's MPI library (--fftw-mpi): against the same by hand only\n");
  Suite suite("fft", option(argc, argv, "rounds", 21));
  std::stringstream sizes(option(argc, argv, "sizes", std::string("128,256")));
  for (std::string word; std::getline(sizes, word, ',');) {
    std::int64_t const n = std::stoll(word);
    auto const operand = [n] {
      Mesh<X> const mesh(MPI_COMM_WORLD, {ranks_here()});
      return std::make_shared<A>(from_function<A>(mesh, {n, n, n}, value));
    };
    auto const add = [&](std::string const& what, auto make) {
      suite.add(what + "_" + word, [=] {
        auto const a = operand();
        auto const both = make(*a, Cube(n));
        return Programs{[a, both] { both.first(); }, both.second};
      });
    };
    if (!library.empty())
      add("fftw_mpi", [](A const& a, Cube const& c) { return against<FftwMpi>(a, c); });
    add("by_hand", [](A const& a, Cube const& c) { return against<ByHand>(a, c); });
    add("parts", [](A const& a, Cube const& c) { return against_parts(a, c); });
  }
  suite.run(argc, argv);
  suite.print();
  for (auto const& [what, times] : suite.results()) {
    if (times.ours.empty() || env.rank() != 0) continue;
    std::printf("value fft %s %d ours_ms %.2f\n", what.c_str(), ranks_here(),
                1e3 * median(times.ours));
    std::printf("value fft %s %d rival_ms %.2f\n", what.c_str(), ranks_here(),
                1e3 * median(times.rival));
  }
  return 0;
}
