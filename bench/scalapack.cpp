// The product of two distributed matrices, all three split by rows, against ScaLAPACK's psgemm on
// each of its grids and with several block sizes, alternating.
// NEEDS: ScaLAPACK
// RANKS: 2
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
void Cblacs_gridexit(int context);
int numroc_(int const* n, int const* block, int const* me, int const* first, int const* parts);
void descinit_(int* desc, int const* m, int const* n, int const* row_block, int const* col_block,
               int const* first_row, int const* first_col, int const* context, int const* ld,
               int* info);
void psgemm_(char const* op_a, char const* op_b, int const* m, int const* n, int const* k,
             float const* alpha, float const* a, int const* ia, int const* ja, int const* desc_a,
             float const* b, int const* ib, int const* jb, int const* desc_b, float const* beta,
             float* c, int const* ic, int const* jc, int const* desc_c);
}

using namespace shardtype;

namespace {

char const* const help =
    "bench_scalapack [--size=4096] [--rounds=21] [--blocks=64,128,256] [--benchmark_filter=GRID]\n"
    "A product of square float32 matrices, ours against psgemm on each grid of all ranks.\n"
    "Last lines: ratio scalapack GRID_nbBLOCK RANKS MEDIAN Q1 Q3, ours over psgemm in time, where\n"
    "Q1 and Q3 are the quartiles of the ratios of one round, and the same, called best, for the\n"
    "grid and block size where psgemm took least time; before them, as itself, psgemm over\n"
    "itself. The case product_alone is one sgemm_ of a rank's share, nothing sent, over psgemm: "
    "what\n"
    "no program can beat.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;
using C = Tensor<float, Dim<I, X>, Dim<K>>;

// Small integers: every sum is exact in float, so both programs must agree.
std::int64_t left(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3) % 11 - 5; }
std::int64_t right(std::int64_t j, std::int64_t k) { return (j * 5 + k * 2) % 7 - 3; }

/// An exact checksum of C that depends on the indices of each element.
struct Checksum {
  double sum = 0;
  void add(std::int64_t i, std::int64_t k, float c) {
    sum += static_cast<double>(c) * static_cast<double>((i * 31 + k * 17) % 101 + 1);
  }
  double over_ranks() const {
    double all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }
};

/// Three n x n matrices on one grid in blocks of nb x nb, column-major, and their product.
class OnGrid {
 public:
  OnGrid(int rows, int cols, int nb, int n) : n_(n), nb_(nb) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", rows, cols);
    Cblacs_gridinfo(context_, &rows_, &cols_, &row_, &col_);
    int const zero = 0;
    int const local_rows = numroc_(&n_, &nb_, &row_, &zero, &rows_);
    int const local_cols = numroc_(&n_, &nb_, &col_, &zero, &cols_);
    ld_ = std::max(local_rows, 1);
    int info = 0;
    descinit_(desc_, &n_, &n_, &nb_, &nb_, &zero, &zero, &context_, &ld_, &info);
    if (info != 0) stop("descinit refuses this grid");
    local_ = {local_rows, local_cols};
    std::int64_t const elements = std::int64_t{local_rows} * local_cols;
    a_ = std::make_unique<HostArray<float>>(elements);
    b_ = std::make_unique<HostArray<float>>(elements);
    c_ = std::make_unique<HostArray<float>>(elements);
    each([&](std::int64_t i, std::int64_t k, std::size_t place) {
      a_->data()[place] = static_cast<float>(left(i, k));
      b_->data()[place] = static_cast<float>(right(i, k));
    });
  }
  OnGrid(OnGrid const&) = delete;
  OnGrid& operator=(OnGrid const&) = delete;
  ~OnGrid() { Cblacs_gridexit(context_); }

  void operator()() {
    int const first = 1;
    float const one = 1;
    float const zero = 0;
    psgemm_("N", "N", &n_, &n_, &n_, &one, a_->data(), &first, &first, desc_, b_->data(), &first,
            &first, desc_, &zero, c_->data(), &first, &first, desc_);
  }

  double checksum() const {
    Checksum sum;
    each([&](std::int64_t i, std::int64_t k, std::size_t place) {
      sum.add(i, k, c_->data()[place]);
    });
    return sum.over_ranks();
  }

 private:
  /// Calls `use(global row, global column, local index)` for each local element.
  template <class Use>
  void each(Use use) const {
    for (int c = 0; c < local_.second; ++c)
      for (int r = 0; r < local_.first; ++r)
        use(global(r, row_, rows_), global(c, col_, cols_),
            static_cast<std::size_t>(c) * static_cast<std::size_t>(ld_) +
                static_cast<std::size_t>(r));
  }
  std::int64_t global(int local, int me, int parts) const {
    return (std::int64_t{local} / nb_ * parts + me) * nb_ + local % nb_;
  }

  int n_, nb_;
  int context_ = 0, rows_ = 1, cols_ = 1, row_ = 0, col_ = 0, ld_ = 1;
  int desc_[9]{};
  std::pair<int, int> local_{};
  std::unique_ptr<HostArray<float>> a_, b_, c_;
};

char const* const product_alone = "product_alone";

/// The part of the product that one rank computes: n x n times n x columns, by one sgemm_.
class Share {
 public:
  Share(int n, int columns)
      : n_(n),
        columns_(columns),
        a_(square()),
        b_(square() / n * columns),
        c_(square() / n * columns) {}
  void operator()() {
    float const one = 1;
    float const zero = 0;
    kernels::detail::sgemm_("N", "N", &n_, &columns_, &n_, &one, a_.data(), &n_, b_.data(), &n_,
                            &zero, c_.data(), &n_);
  }

 private:
  std::int64_t square() const { return std::int64_t{n_} * n_; }

  int n_, columns_;
  HostArray<float> a_, b_, c_;
};

double checksum(C const& c) {
  Checksum sum;
  auto const block = c.local();
  core::Range const rows = c.ranges()[0];
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t k = 0; k < block.extent(1); ++k)
      sum.add(rows.begin + static_cast<std::int64_t>(i), static_cast<std::int64_t>(k), block(i, k));
  return sum.over_ranks();
}

std::vector<int> numbers(std::string const& list) {
  std::vector<int> out;
  std::stringstream in(list);
  for (std::string one; std::getline(in, one, ',');) out.push_back(std::stoi(one));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "size", 4096);
  std::string const blocks = option(argc, argv, "blocks", std::string("64,128,256"));
  Suite suite("scalapack", option(argc, argv, "rounds", 21));
  {
    Mesh<X> const mesh(env.world(), {env.size()});
    A const a = from_function<A>(mesh, {n, n}, left);
    B const b = from_function<B>(mesh, {n, n}, right);
    Plan const p = plan_at(op::Matmul<C>{}, a, b);
    if (p.collectives() != 1 || p.count(Collective::all_gather) != 1)
      stop("our plan is another one:\n" + explain(op::Matmul<C>{}, a, b));
    auto const ours = [&] { benchmark::DoNotOptimize(matmul<C>(a, b).local_size()); };
    double const expected = checksum(matmul<C>(a, b));
    bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;

    for (int rows = 1; rows <= env.size(); ++rows) {
      if (env.size() % rows != 0) continue;
      int const cols = env.size() / rows;
      for (int nb : numbers(blocks)) {
        std::string const what =
            std::to_string(rows) + "x" + std::to_string(cols) + "_nb" + std::to_string(nb);
        suite.add(what, [=, &ours] {
          auto const grid = std::make_shared<OnGrid>(rows, cols, nb, static_cast<int>(n));
          auto const rival = [grid, share_cores] {
            yield_in_mpi = share_cores;
            (*grid)();
            yield_in_mpi = false;
          };
          rival();
          if (grid->checksum() != expected) stop("the two programs computed different C");
          return std::pair<std::function<void()>, std::function<void()>>{ours, rival};
        });
      }
    }
    // the lower bound of all programs here: each rank's part of the product, with nothing sent
    suite.add(product_alone, [&] {
      auto const grid =
          std::make_shared<OnGrid>(1, env.size(), numbers(blocks)[0], static_cast<int>(n));
      auto const share =
          std::make_shared<Share>(static_cast<int>(n), static_cast<int>(n / env.size()));
      auto const rival = [grid, share_cores] {
        yield_in_mpi = share_cores;
        (*grid)();
        yield_in_mpi = false;
      };
      return std::pair<std::function<void()>, std::function<void()>>{[share] { (*share)(); },
                                                                     rival};
    });
    suite.run(argc, argv);
  }
  suite.print();
  std::pair<std::string, Times> const* best = nullptr;
  for (auto const& result : suite.results())
    if (!result.second.rival.empty() && result.first != product_alone &&
        (best == nullptr || median(result.second.rival) < median(best->second.rival)))
      best = &result;
  if (best != nullptr) {
    if (env.rank() == 0) std::printf("psgemm was fastest on %s\n", best->first.c_str());
    print_ratio("ratio", "scalapack", "best", env.size(),
                divided(best->second.ours, best->second.rival));
  }
  return 0;
}
