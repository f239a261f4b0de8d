// One matrix over all ranks, its columns block-cyclic, or rows and columns over a grid: LU and a
// solution against ScaLAPACK's pdgesv, Cholesky and a solution against pdposv, on several grids
// with several block sizes, alternating. LU also against its own products alone, and on one rank
// against LAPACK's dgesv and dposv.
// NEEDS: ScaLAPACK
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
int numroc_(int const* n, int const* block, int const* me, int const* first, int const* parts);
void descinit_(int* desc, int const* m, int const* n, int const* row_block, int const* col_block,
               int const* first_row, int const* first_col, int const* context, int const* ld,
               int* info);
void pdgesv_(int const* n, int const* rights, double* a, int const* ia, int const* ja,
             int const* desc_a, int* pivots, double* b, int const* ib, int const* jb,
             int const* desc_b, int* info);
void pdposv_(char const* part, int const* n, int const* rights, double* a, int const* ia,
             int const* ja, int const* desc_a, double* b, int const* ib, int const* jb,
             int const* desc_b, int* info);
void pdgeqrf_(int const* m, int const* n, double* a, int const* ia, int const* ja,
              int const* desc_a, double* tau, double* work, int const* size, int* info);
void pdorgqr_(int const* m, int const* n, int const* k, double* a, int const* ia, int const* ja,
              int const* desc_a, double const* tau, double* work, int const* size, int* info);
void dgesv_(int const* n, int const* rights, double* a, int const* ld_a, int* pivots, double* b,
            int const* ld_b, int* info);
void dposv_(char const* part, int const* n, int const* rights, double* a, int const* ld_a,
            double* b, int const* ld_b, int* info);
}

using namespace shardtype;

namespace {

char const* const help =
    "bench_lu [--size=2048] [--rounds=21] [--blocks=32,64] [--benchmark_filter=CASE]\n"
    "A system of equations in double, one right-hand side: LU and Cholesky, ours in blocks of 64 "
    "columns,\n"
    "from 4096 on of 96. Last lines: ratio lu METHOD_GRID_nbBLOCK RANKS MEDIAN Q1 Q3, ours over "
    "ScaLAPACK's\n"
    "in time, qr_... q and r over pdgeqrf and pdorgqr, lu_products over its products alone, "
    "lu_refined the solve with factors in float over "
    "that in double, METHOD_messages\n"
    "over itself with panels by messages, METHOD_late over itself without look-ahead, on one rank "
    "METHOD_lapack over dgesv or dposv,\n"
    "grid_METHOD_PxQ_over_PxQ_nbBLOCK of a matrix over a grid; Q1 and Q3 are the quartiles of the "
    "ratios of one round; before them, as itself, the rival over "
    "itself.\n";

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

double drawn(std::int64_t i, std::int64_t j) {
  std::uint64_t h = (static_cast<std::uint64_t>(i) << 32U | static_cast<std::uint64_t>(j)) *
                    0x9E3779B97F4A7C15ULL;
  h ^= h >> 29U;
  h *= 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>((h ^ h >> 32U) >> 11U) * 0x1p-53 - .5;
}
double general(std::int64_t i, std::int64_t j) { return drawn(i, j); }
double definite(std::int64_t n, std::int64_t i, std::int64_t j) {
  return i == j ? 2 * std::sqrt(static_cast<double>(n)) : drawn(std::max(i, j), std::min(i, j));
}
double right_side(std::int64_t i) { return drawn(i, 1 << 20); }

/// What is timed: a system of equations by LU or Cholesky, or q and r.
enum class Case { lu, cholesky, qr };
char const* name_of(Case c) {
  return c == Case::lu ? "lu" : c == Case::cholesky ? "cholesky" : "qr";
}

/// The matrix and the right-hand side in ScaLAPACK's form; each run works on a copy.
class Rival {
 public:
  Rival(int rows, int cols, int block, int n, Case what,
        std::function<double(int, int)> const& entry)
      : n_(n), what_(what) {
    int context = 0;
    int my_row = 0;
    int my_col = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, cols);
    Cblacs_gridinfo(context, &rows, &cols, &my_row, &my_col);
    int const zero = 0;
    int const one = 1;
    int info = 0;
    int const m = numroc_(&n, &block, &my_row, &zero, &rows);
    int const k = numroc_(&n, &block, &my_col, &zero, &cols);
    int const ld = std::max(1, m);
    descinit_(desc_a_, &n, &n, &block, &block, &zero, &zero, &context, &ld, &info);
    descinit_(desc_b_, &n, &one, &block, &block, &zero, &zero, &context, &ld, &info);
    auto const global = [&](int local, int me, int parts) {
      return (local / block * parts + me) * block + local % block;
    };
    given_.resize(static_cast<std::size_t>(ld) * static_cast<std::size_t>(std::max(1, k)));
    for (int c = 0; c < k; ++c)
      for (int r = 0; r < m; ++r)
        given_[static_cast<std::size_t>(c) * static_cast<std::size_t>(ld) +
               static_cast<std::size_t>(r)] =
            entry(global(r, my_row, rows), global(c, my_col, cols));
    right_.resize(static_cast<std::size_t>(ld));
    for (int r = 0; r < m; ++r)
      right_[static_cast<std::size_t>(r)] = right_side(global(r, my_row, rows));
    pivots_.resize(static_cast<std::size_t>(ld + block));
    tau_.resize(static_cast<std::size_t>(k + block));
    a_ = given_;
    b_ = right_;
  }
  void run() {
    int const one = 1;
    int info = 0;
    a_ = given_;  // ours copies the matrix too
    b_ = right_;
    yield_in_mpi = runtime::run_time.yield_while_waiting;
    if (what_ == Case::qr) {
      factor_qr();
    } else if (what_ == Case::lu) {
      pdgesv_(&n_, &one, a_.data(), &one, &one, desc_a_, pivots_.data(), b_.data(), &one, &one,
              desc_b_, &info);
    } else {
      pdposv_("L", &n_, &one, a_.data(), &one, &one, desc_a_, b_.data(), &one, &one, desc_b_,
              &info);
    }
    yield_in_mpi = false;
    if (info != 0) stop("ScaLAPACK returned " + std::to_string(info));
  }

 private:
  void factor_qr() {
    int const one = 1;
    int const ask = -1;
    int info = 0;
    double size = 0;
    double most = 0;
    pdgeqrf_(&n_, &n_, a_.data(), &one, &one, desc_a_, tau_.data(), &most, &ask, &info);
    pdorgqr_(&n_, &n_, &n_, a_.data(), &one, &one, desc_a_, tau_.data(), &size, &ask, &info);
    work_.resize(static_cast<std::size_t>(std::max(size, most)));
    int const given = static_cast<int>(work_.size());
    pdgeqrf_(&n_, &n_, a_.data(), &one, &one, desc_a_, tau_.data(), work_.data(), &given, &info);
    r_ = a_;  // ours is another tensor too
    pdorgqr_(&n_, &n_, &n_, a_.data(), &one, &one, desc_a_, tau_.data(), work_.data(), &given,
             &info);
  }

  int n_;
  Case what_;
  int desc_a_[9]{};
  int desc_b_[9]{};
  std::vector<double> given_, right_, a_, b_, r_, tau_, work_;
  std::vector<int> pivots_;
};

/// The products of LU alone: what each panel does to this rank's columns behind it, without panels,
/// triangles or messages.
template <std::int64_t width>
class Products {
 public:
  Products(int n, int rank, int ranks)
      : blocks_{n, width, ranks},
        rank_(rank),
        mine_(std::int64_t{n} * blocks_.below(blocks_.count(), rank)),
        panel_(std::int64_t{n} * width) {
    for (std::size_t k = 0; k < mine_.size(); ++k) mine_.data()[k] = drawn(7, static_cast<int>(k));
    for (std::size_t k = 0; k < panel_.size(); ++k)
      panel_.data()[k] = 1e-3 * drawn(8, static_cast<int>(k));
  }
  void run() const {
    namespace lk = linalg::kernels;
    std::int64_t const columns = blocks_.below(blocks_.count(), rank_);
    lk::Matrix<double> const a = lk::row_major(mine_.data(), blocks_.n, columns);
    for (std::int64_t k = 0; k + 1 < blocks_.count(); ++k) {
      std::int64_t const w = blocks_.width(k);
      std::int64_t const begin = blocks_.begin(k);
      std::int64_t const rest = blocks_.n - begin - w;
      std::int64_t const first = blocks_.below(k + 1, rank_);
      lk::Matrix<double const> const panel = lk::column_major(panel_.data(), rest + w, w);
      lk::subtract_product<double>(panel.block(w, 0, rest, w),
                                   a.block(begin, first, w, columns - first),
                                   a.block(begin + w, first, rest, columns - first));
    }
  }

 private:
  planning::CyclicBlocks blocks_;
  std::int64_t rank_;
  HostArray<double> mine_;
  HostArray<double> panel_;
};

/// LAPACK's dgesv and dposv, of a copy.
class Lapack {
 public:
  Lapack(int n, bool lu, std::function<double(int, int)> const& entry)
      : n_(n), lu_(lu), pivots_(static_cast<std::size_t>(n)) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) given_.push_back(entry(i, j));
    for (int i = 0; i < n; ++i) right_.push_back(right_side(i));
  }
  void run() {
    int const one = 1;
    int info = 0;
    a_ = given_;
    b_ = right_;
    if (lu_) {
      dgesv_(&n_, &one, a_.data(), &n_, pivots_.data(), b_.data(), &n_, &info);
    } else {
      dposv_("L", &n_, &one, a_.data(), &n_, b_.data(), &n_, &info);
    }
    if (info != 0) stop("LAPACK returned " + std::to_string(info));
  }

 private:
  int n_;
  bool lu_;
  std::vector<double> given_, right_, a_, b_;
  std::vector<int> pivots_;
};

using Pair = std::pair<std::function<void()>, std::function<void()>>;

/// `work` with panels by messages, or without look-ahead.
std::function<void()> otherwise(std::function<void()> work,
                                bool runtime::LinalgSettings::* setting) {
  return [work = std::move(work), setting] {
    bool& now = runtime::run_time.settings.linalg.*setting;
    bool const was = std::exchange(now, false);
    work();
    now = was;
  };
}

std::vector<int> blocks_of_rivals(int argc, char** argv) {
  std::vector<int> out;
  std::stringstream words(option(argc, argv, "blocks", std::string("32,64")));
  for (std::string word; std::getline(words, word, ',');) out.push_back(std::stoi(word));
  return out;
}

/// A matrix over a grid, 1 x 2, 2 x 1 or 2 x 2, against ScaLAPACK on the same grid and on a single
/// row: grid_METHOD_PxQ_over_ PxQ_nbBLOCK.
template <std::int64_t width>
void add_grids(Suite& suite, Environment const& env, int n, std::vector<int> const& blocks) {
  using A = Tensor<double, Dim<I, Cyclic<X, width>>, Dim<J, Cyclic<Y, width>>>;
  using B = Tensor<double, Dim<I, Cyclic<X, width>>>;
  int const ranks = env.size();
  auto const named = [](int rows, int cols) {
    return std::to_string(rows) + "x" + std::to_string(cols);
  };
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks == 1 || ranks % rows != 0 || (ranks > 3 && (rows == 1 || rows == ranks))) continue;
    int const cols = ranks / rows;
    for (bool const by_lu : {true, false})
      for (bool const same : {true, false})
        for (int const block : blocks) {
          if (!same && rows == 1) continue;
          int const p = same ? rows : 1;
          int const q = ranks / p;
          suite.add(std::string(by_lu ? "grid_lu_" : "grid_cholesky_") + named(rows, cols) +
                        "_over_" + named(p, q) + "_nb" + std::to_string(block),
                    [&env, n, rows, cols, p, q, by_lu, block] {
                      Mesh<X, Y> const mesh(env.world(), {rows, cols});
                      auto const entry = [n, by_lu](std::int64_t i, std::int64_t j) {
                        return by_lu ? general(i, j) : definite(n, i, j);
                      };
                      auto const a = from_function<A>(mesh, {n, n}, entry);
                      auto const b = from_function<B>(mesh, {n}, &right_side);
                      auto const rival = std::make_shared<Rival>(
                          p, q, block, n, by_lu ? Case::lu : Case::cholesky, entry);
                      return Pair{[a, b, by_lu] {
                                    by_lu ? linalg::solve<I, J>(a, b)
                                          : linalg::cholesky_solve<I, J>(linalg::cholesky<I, J>(a),
                                                                         b);
                                  },
                                  [rival] { rival->run(); }};
                    });
        }
  }
}

/// All cases, ours in blocks of `width` columns.
template <std::int64_t width>
void run(int argc, char** argv, Environment const& env, int n) {
  using Columns = Dim<J, Cyclic<X, width>>;
  Suite suite("lu", option(argc, argv, "rounds", 21));
  Mesh<X> const mesh(env.world());
  auto const entry_of = [n](bool by_lu) -> std::function<double(int, int)> {
    return [n, by_lu](int i, int j) { return by_lu ? general(i, j) : definite(n, i, j); };
  };
  auto const a = from_function<double, Dim<I>, Columns>(mesh, {n, n}, &general);
  auto const h = from_function<double, Dim<I>, Columns>(
      mesh, {n, n}, [n](std::int64_t i, std::int64_t j) { return definite(n, i, j); });
  auto const b = from_function<double, Dim<I>>(mesh, {n}, &right_side);
  auto const ours = [&](Case what) -> std::function<void()> {
    if (what == Case::lu) return [&] { linalg::solve<I, J>(a, b); };
    if (what == Case::qr) return [&] { linalg::qr<I, J, K>(a); };
    return [&] { linalg::cholesky_solve<I, J>(linalg::cholesky<I, J>(h), b); };
  };
  suite.add("lu_products", [&] {
    auto const rival = std::make_shared<Products<width>>(n, env.rank(), env.size());
    return Pair{ours(Case::lu), [rival] { rival->run(); }};
  });
  suite.add("lu_refined", [&] {
    return Pair{[&] { linalg::solve<I, J>(a, b, linalg::refined); }, ours(Case::lu)};
  });
  if (env.size() > 1)
    for (Case const c : {Case::lu, Case::cholesky}) {
      std::string const method = name_of(c);
      suite.add(method + "_messages", [&, c] {
        return Pair{ours(c), otherwise(ours(c), &runtime::LinalgSettings::window)};
      });
      suite.add(method + "_late", [&, c] {
        return Pair{ours(c), otherwise(ours(c), &runtime::LinalgSettings::ahead)};
      });
    }
  for (bool const by_lu : {true, false})
    if (env.size() == 1)
      suite.add(by_lu ? "lu_lapack" : "cholesky_lapack", [&, by_lu] {
        auto const rival = std::make_shared<Lapack>(n, by_lu, entry_of(by_lu));
        return Pair{ours(by_lu ? Case::lu : Case::cholesky), [rival] { rival->run(); }};
      });
  std::stringstream blocks(option(argc, argv, "blocks", std::string("32,64")));
  for (std::string word; std::getline(blocks, word, ',');) {
    int const block = std::stoi(word);
    for (Case const what : {Case::lu, Case::cholesky, Case::qr})
      for (bool const row : {true, false}) {
        if (!row && env.size() == 1) continue;
        int const rows = row ? 1 : env.size();
        int const cols = row ? env.size() : 1;
        suite.add(std::string(name_of(what)) + "_" + std::to_string(rows) + "x" +
                      std::to_string(cols) + "_nb" + word,
                  [&, what, rows, cols, block] {
                    auto const rival = std::make_shared<Rival>(rows, cols, block, n, what,
                                                               entry_of(what != Case::cholesky));
                    return Pair{ours(what), [rival] { rival->run(); }};
                  });
      }
  }
  add_grids<width>(suite, env, n, blocks_of_rivals(argc, argv));
  suite.run(argc, argv);
  suite.print();
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment const env(argc, argv);
  auto const n = static_cast<int>(option(argc, argv, "size", 2048));
  if (n < 4096) {
    run<64>(argc, argv, env, n);
  } else {
    run<96>(argc, argv, env, n);
  }
}
