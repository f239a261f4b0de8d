// Linear algebra of matrices that linalg_reference.py has drawn: matrices FOLDER STACKS ONES TALLS,
// the numbers of stacks, of single matrices and of tall ones. Rank 0 writes the results to
// FOLDER/out, one after another: a line with the name, the type of the elements and the shape, and
// the elements. The script compares them with numpy.linalg and scipy.linalg.
// SOURCES: tests/harness/yield.cpp
// NEEDS: LAPACK
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
using linalg::Norm;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

constexpr int block = 4;
template <class Label, class Axis>
using Blocks = Dim<Label, Cyclic<Axis, block>>;

// The functions for one type of elements.
template <class T>
class Functions {
 public:
  Functions(Mesh<X> const& line, Mesh<X, Y> const& grid, std::string folder, std::string type,
            std::ostream& out)
      : line_(line), grid_(grid), folder_(std::move(folder)), type_(std::move(type)), out_(out) {}

  // Matrices numbered by a dim that all ranks split.
  void stacks(std::string const& number) {
    number_ = number;
    auto const a = of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack");
    auto const h = of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack_definite");
    auto const b = of_stack<Dim<B, X, Y>, Dim<I>, Dim<K>>("stack_right");
    auto const columns = relabel<I, J>(b);
    write("stack_solve", linalg::solve<I, J>(a, b));
    write("stack_solve_vector",
          linalg::solve<I, J>(a, of_stack<Dim<B, X, Y>, Dim<I>>("stack_vector")));
    write("stack_solve_transposed", linalg::solve<J, I>(a, columns));
    // the same with rows and right-hand sides in another order, the latter split
    auto const other = reshard<Dim<J>, Dim<B, X>, Dim<I>>(transposed(a));
    auto const split = reshard<Dim<B, X>, Dim<K, Y>, Dim<I>>(swapped(b));
    write("stack_solve_other", linalg::solve<I, J>(other, split));
    auto const lu = linalg::lu_factor<I, J>(a);
    write("stack_lu", lu.factors);
    write("stack_pivots", lu.pivots);
    write("stack_lu_solve", linalg::lu_solve<I, J>(lu, b));
    write("stack_lu_solve_transposed", linalg::lu_solve<J, I>(lu, columns));
    auto const l = linalg::cholesky<I, J>(h);
    auto const u = linalg::cholesky<I, J>(h, linalg::upper);
    write("stack_cholesky", l);
    write("stack_cholesky_upper", u);
    write("stack_cholesky_solve", linalg::cholesky_solve<I, J>(l, b));
    write("stack_cholesky_solve_upper", linalg::cholesky_solve<I, J>(u, b, linalg::upper));
    triangles("stack", a, b, columns);
    factors("stack_square", a);
    write("stack_inv", linalg::inv<I, J>(a));
    write("stack_det", linalg::det<I, J>(a));
    auto const [sign, logdet] = linalg::slogdet<I, J>(a);
    write("stack_sign", sign);
    write("stack_logdet", logdet);
    auto const [w, v] = linalg::eigh<I, J, K>(h);
    write("stack_eigenvalues", w);
    write("stack_eigenvectors", v);
    write("stack_eigvalsh", linalg::eigvalsh<I, J, K>(h));
    write("stack_norm", linalg::norm<I, J>(a));
    write("stack_norm_one", linalg::norm<I, J, Norm::one>(a));
    write("stack_norm_infinity", linalg::norm<I, J, Norm::infinity>(a));
    write("stack_norm_two", linalg::norm<I, J, Norm::two>(a));
    write("stack_norms_of_columns", linalg::norm<I>(a));
    write("stack_norms_of_columns_one", linalg::norm<I, Norm::one>(a));
    write("stack_norms_of_columns_infinity", linalg::norm<I, Norm::infinity>(a));
    write("stack_cond", linalg::cond<I, J>(a));
    write("stack_cond_frobenius", linalg::cond<I, J, Norm::frobenius>(a));
    write("stack_cond_one", linalg::cond<I, J, Norm::one>(a));
    write("stack_cond_infinity", linalg::cond<I, J, Norm::infinity>(a));
    write("stack_rcond", linalg::rcond<I, J>(a));
    write("stack_rcond_of_lu", linalg::rcond<I, J>(lu, linalg::norm<I, J, Norm::one>(a)));
    write("stack_power_0", linalg::matrix_power<I, J, 0>(a));
    write("stack_power_1", linalg::matrix_power<I, J, 1>(a));
    write("stack_power_5", linalg::matrix_power<I, J, 5>(a));
    write("stack_power_back", linalg::matrix_power<I, J, -2>(a));
    auto const tall = of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack_tall");
    factors("stack_tall", tall);
    factors("stack_wide", of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack_wide"));
    auto const of_tall = of_stack<Dim<B, X, Y>, Dim<I>, Dim<K>>("stack_tall_right");
    write("stack_lstsq", linalg::lstsq<I, J>(tall, of_tall));
    auto const low = of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack_low");
    write("stack_low_pinv", linalg::pinv<I, J>(low, {.rtol = 1e-4}));
    write("stack_low_lstsq", linalg::lstsq<I, J>(low, of_tall, {.rcond = 1e-4}));
    write("stack_wide_lstsq",
          linalg::lstsq<I, J>(of_stack<Dim<B, X, Y>, Dim<I>, Dim<J>>("stack_wide"), b, 1e-10));
    write("stack_low_rank", linalg::matrix_rank<I, J>(low, {.rtol = 1e-4}));
  }

  // One matrix, whose columns, or rows, or both are block-cyclic.
  void ones(std::string const& number) {
    number_ = number;
    columns();
    rows();
    blocks();
  }

  // One matrix with many rows, which are split.
  void talls(std::string const& number) {
    number_ = number;
    auto const a = load<Dim<I, X>, Dim<J>>(line_, "tall");
    auto const b = load<Dim<I, X>, Dim<L>>(line_, "tall_right");
    auto const [q, r] = linalg::qr<I, J, K>(a);
    write("tall_q", q);
    write("tall_r", r);
    auto const by_products = linalg::qr<I, J, K>(a, linalg::cholesky_qr);
    write("tall_q_by_products", by_products.q);
    write("tall_r_by_products", by_products.r);
    write("tall_lstsq", linalg::lstsq<I, J>(a, b));
  }

 private:
  template <class... Dims, class M>
  auto load(M const& mesh, std::string const& what) const {
    return load_npy<T, Dims...>(mesh, folder_ + "/" + what + "." + type_ + "." + number_ + ".npy");
  }
  template <class... Dims>
  auto of_stack(std::string const& what) const {
    return load<Dims...>(grid_, what);
  }
  template <class A>
  static auto transposed(A const& a) {
    return transpose<J, B, I>(a);
  }
  template <class A>
  static auto swapped(A const& b) {
    return transpose<B, K, I>(b);
  }
  template <class A>
  void write(std::string const& what, A const& a) {
    auto const values = to_host(a);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    out_ << what << '.' << type_ << '.' << number_ << ' ' << io::npy_dtype<typename A::element>();
    for (auto const n : a.extents()) out_ << ' ' << n;
    out_ << '\n';
    out_.write(reinterpret_cast<char const*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(typename A::element)));
  }

  // The solutions with each triangle of `a`, of `b[I, K]`, and of the transposed matrix, of
  // `columns[J, K]`.
  template <class A, class R, class C>
  void triangles(std::string const& of, A const& a, R const& b, C const& columns) {
    for (bool const upper : {false, true})
      for (bool const unit : {false, true}) {
        std::string const what = of + (upper ? "_upper" : "_lower") + (unit ? "_unit" : "");
        write(what, linalg::triangular_solve<I, J>(a, b, {upper, unit}));
        write(what + "_transposed", linalg::triangular_solve<J, I>(a, columns, {upper, unit}));
      }
  }
  template <class A>
  void factors(std::string const& of, A const& a) {
    auto const [q, r] = linalg::qr<I, J, K>(a);
    write(of + "_q", q);
    write(of + "_r", r);
    auto const [u, s, vh] = linalg::svd<I, J, K>(a);
    write(of + "_u", u);
    write(of + "_s", s);
    write(of + "_vh", vh);
    write(of + "_svdvals", linalg::svdvals<I, J, K>(a));
    write(of + "_pinv", linalg::pinv<I, J>(a));
    write(of + "_rank", linalg::matrix_rank<I, J>(a));
  }

  void columns() {
    auto const a = load<Dim<I>, Blocks<J, X>>(line_, "one");
    auto const h = load<Dim<I>, Blocks<J, X>>(line_, "one_definite");
    auto const b = load<Dim<I>, Dim<K>>(line_, "one_right");
    auto const turned = load<Blocks<J, X>, Dim<K>>(line_, "one_right");
    write("columns_solve", linalg::solve<I, J>(a, b));
    write("columns_solve_vector", linalg::solve<I, J>(a, load<Dim<I>>(line_, "one_vector")));
    write("columns_solve_in_place", linalg::solve<I, J>(a.clone(), b));
    write("columns_solve_transposed", linalg::solve<J, I>(a, turned));
    write("columns_solve_own", linalg::solve<I, J>(a, reshard<Dim<I>, Dim<K, X>>(b)));
    write("columns_refined", linalg::solve<I, J>(a, b, linalg::refined));
    auto const in_rows = load<Dim<I, X>, Dim<J>>(line_, "one");
    auto const right = load<Dim<I, X>, Dim<K>>(line_, "one_right");
    write("columns_solve_named", linalg::solve<I, J, Dim<J, X>, Dim<K>>(in_rows, right));
    auto const lu = linalg::lu_factor<I, J>(a);
    write("columns_lu", lu.factors);
    write("columns_pivots", lu.pivots);
    write("columns_lu_solve", linalg::lu_solve<I, J>(lu, b));
    write("columns_lu_solve_transposed", linalg::lu_solve<J, I>(lu, turned));
    auto const l = linalg::cholesky<I, J>(h);
    write("columns_cholesky", l);
    write("columns_cholesky_solve", linalg::cholesky_solve<I, J>(l, b));
    triangles("columns", a, b, turned);
    write("columns_inv", linalg::inv<I, J>(a));
    write("columns_det", linalg::det<I, J>(a));
    auto const [sign, logdet] = linalg::slogdet<I, J>(a);
    write("columns_sign", sign);
    write("columns_logdet", logdet);
    write("columns_rcond", linalg::rcond<I, J>(a));
    auto const norm = reshard<>(linalg::norm<I, J, Norm::one>(a));
    write("columns_norm_one", norm);
    write("columns_rcond_of_lu", linalg::rcond<I, J>(lu, norm));
  }
  void rows() {
    auto const a = load<Blocks<I, X>, Dim<J>>(line_, "one");
    auto const h = load<Blocks<I, X>, Dim<J>>(line_, "one_definite");
    auto const b = load<Blocks<I, X>, Dim<K>>(line_, "one_right");
    write("rows_solve", linalg::solve<I, J>(a, b));
    write("rows_cholesky_upper", linalg::cholesky<I, J>(h, linalg::upper));
    triangles("rows", a, b, load<Dim<J>, Dim<K>>(line_, "one_right"));
    write("rows_inv", linalg::inv<I, J>(a));
    write("rows_det", linalg::det<I, J>(a));
    write("rows_norm_infinity", reshard<>(linalg::norm<I, J, Norm::infinity>(a)));
  }
  void blocks() {
    auto const a = load<Blocks<I, X>, Blocks<J, Y>>(grid_, "one");
    auto const h = load<Blocks<I, X>, Blocks<J, Y>>(grid_, "one_definite");
    auto const b = load<Blocks<I, X>, Dim<K>>(grid_, "one_right");
    auto const turned = load<Blocks<J, Y>, Dim<K>>(grid_, "one_right");
    write("grid_solve", linalg::solve<I, J>(a, b));
    auto const lu = linalg::lu_factor<I, J>(a);
    write("grid_lu", lu.factors);
    write("grid_pivots", lu.pivots);
    write("grid_lu_solve", linalg::lu_solve<I, J>(lu, b));
    write("grid_lu_solve_transposed", linalg::lu_solve<J, I>(lu, turned));
    auto const l = linalg::cholesky<I, J>(h);
    write("grid_cholesky", l);
    write("grid_cholesky_solve", linalg::cholesky_solve<I, J>(l, b));
    triangles("grid", a, b, turned);
  }

  Mesh<X> const& line_;
  Mesh<X, Y> const& grid_;
  std::string folder_, type_, number_;
  std::ostream& out_;
};

template <class T>
void run(Functions<T> functions, char const* const* counts) {
  for (int k = 0; k < std::atoi(counts[0]); ++k) functions.stacks(std::to_string(k));
  for (int k = 0; k < std::atoi(counts[1]); ++k) functions.ones(std::to_string(k));
  for (int k = 0; k < std::atoi(counts[2]); ++k) functions.talls(std::to_string(k));
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  if (argc != 5) return 2;
  int rows = 1;
  for (int k = 1; k * k <= env.size(); ++k)
    if (env.size() % k == 0) rows = k;
  Mesh<X> const line(env.world(), {env.size()});
  Mesh<X, Y> const grid(env.world(), {rows, env.size() / rows});
  std::string const folder = argv[1];
  std::ofstream out;
  if (env.rank() == 0) out.open(folder + "/out", std::ios::binary);
  run<double>({line, grid, folder, "double", out}, argv + 2);
  run<float>({line, grid, folder, "float", out}, argv + 2);
  run<Kokkos::complex<double>>({line, grid, folder, "complex", out}, argv + 2);
  return out.flush() ? 0 : 1;
}
