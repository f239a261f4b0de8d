// Solves a x = b with the matrix of a Matrix Market file, `matrix_market FILE.mtx`, which the
// library fast_matrix_market reads; b is such that x is all ones. The matrix is dense and its
// columns are block-cyclic over the ranks, so it may be larger than the memory of one. Without a
// file: a Laplacian, which is written to one first.
// RANKS: 4
// NEEDS: MatrixMarket
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fast_matrix_market/fast_matrix_market.hpp>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct All : Axis<"All"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Matrix = Tensor<double, Dim<I>, Dim<J, Cyclic<All, 32>>>;

// The elements of a file that are not 0.
struct Elements {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> row, column;
  std::vector<double> value;
};

// docs: read
// Each rank reads the file and keeps the columns that it holds; of a symmetric matrix the file has
// one triangle.
Matrix read(Mesh<All> const& mesh, std::string const& path) {
  std::ifstream file(path);
  if (!file) throw Error("example", "there is no file " + path);
  Elements e;
  fast_matrix_market::read_matrix_market_triplet(file, e.rows, e.columns, e.row, e.column, e.value);
  auto a = zeros<Matrix>(mesh, {e.rows, e.columns});
  auto const block = a.mutable_local();
  auto const mine = a.rows()[1];
  for (std::size_t k = 0; k < e.value.size(); ++k) {
    std::int64_t const local = mine.below(e.column[k]);
    if (local < mine.size() && mine[local] == e.column[k]) block(e.row[k], local) += e.value[k];
  }
  return a;
}
// docs: end

// The lower triangle of the Laplacian of a square with n x n points, in one file.
void write_laplacian(std::string const& path, std::int64_t n) {
  Elements e;
  auto const put = [&](std::int64_t i, std::int64_t j, double value) {
    e.row.push_back(i);
    e.column.push_back(j);
    e.value.push_back(value);
  };
  for (std::int64_t i = 0; i < n * n; ++i) {
    put(i, i, 4);
    if (i % n > 0) put(i, i - 1, -1);
    if (i >= n) put(i, i - n, -1);
  }
  fast_matrix_market::matrix_market_header header(n * n, n * n);
  header.symmetry = fast_matrix_market::symmetric;
  std::ofstream file(path);
  fast_matrix_market::write_matrix_market_triplet(file, header, e.row, e.column, e.value);
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<All> const mesh(env.world());
  std::string path = "laplacian.mtx";
  if (argc > 1) {
    path = argv[1];
  } else {
    if (mesh.coordinate<All>() == 0) write_laplacian(path, 20);
    MPI_Barrier(env.world());
  }

  auto a = read(mesh, path);
  auto const b = all_reduce<All>(sum<J>(a));  // f64[I]: the product with ones
  auto const x = linalg::solve<I, J>(a, b);   // f64[J@All%32]
  double const off = item(all_reduce<All>(max(abs(x - 1.0))));
  auto const n = static_cast<long long>(a.extent<J>());
  if (mesh.coordinate<All>() == 0)
    std::printf("%s: %lld x %lld, largest error %s 1e-8\n", path.c_str(), n, n,
                off < 1e-8 ? "below" : "not below");
  if (argc == 1 && !(off < 1e-10)) throw Error("example", "the solution is wrong");
  return 0;
}
