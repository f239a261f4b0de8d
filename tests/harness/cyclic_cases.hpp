// Matrices over all ranks, their columns block-cyclic, that are factorized and solved by the engine
// itself, so that block sizes are values: random ones and those on which a factorization can lose
// digits, beside LAPACK on one rank, and the same bits however panels travel.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/run_cyclic_panels.hpp>

#include "harness/catch.hpp"
#include "harness/linalg.hpp"
#include "harness/panel_ways.hpp"

namespace cyclic_cases {

using namespace shardtype;
using namespace shardtype::execute;
namespace lk = shardtype::linalg::kernels;

using Int = std::int64_t;

using linear::Kind;

struct Case {
  Kind kind = Kind::random;
  Int n = 0;
  Int block = 1;
  Int right = 0;
  bool by_rows = true;
  bool definite = false;
};
inline std::string text(Case const& c) {
  return std::string(linear::name(c.kind)) + ", n " + std::to_string(c.n) + ", blocks of " +
         std::to_string(c.block) + ", " + std::to_string(c.right) + " right-hand sides, " +
         (c.by_rows ? "row-major" : "column-major") + (c.definite ? ", definite" : "");
}

inline constexpr Int extents[] = {0, 1, 2, 7, 63, 64, 65, 130, 257};
inline constexpr Int blocks[] = {1, 8, 32, 64, 300};
inline constexpr Int rights[] = {1, 5, 0};
inline constexpr int kinds = std::size(linear::kinds);
inline constexpr int all_cases = kinds * 9 * 5 * 3 * 2 * 2;

inline Case case_number(int k) {
  Case c;
  auto const next = [&](int n) {
    int const at = k % n;
    k /= n;
    return at;
  };
  c.kind = linear::kinds[next(kinds)];
  c.n = extents[next(9)];
  c.block = blocks[next(5)];
  c.right = rights[next(3)];
  c.by_rows = next(2) == 0;
  c.definite = next(2) == 0;
  return c;
}

// Row-major elements as column-major ones, or of as many columns the other way.
inline std::vector<double> turned(std::vector<double> const& from, Int rows, Int cols) {
  std::vector<double> to(from.size());
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < cols; ++j)
      to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * cols + j)];
  return to;
}

// The whole matrix, column-major, and the right-hand sides, row-major; the same on all ranks.
struct Whole {
  Int n = 0;
  std::vector<double> a, b;

  explicit Whole(Case const& c) : n(c.n) {
    a.resize(static_cast<std::size_t>(n * n));
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < n; ++i) at(i, j) = linear::element<double>(c.kind, n, 0, i, j);
    for (Int i = 0; i < n; ++i)
      for (Int r = 0; r < c.right; ++r) b.push_back(linear::right<double>(i, r));
    if (c.definite) make_definite();
  }
  double& at(Int i, Int j) { return a[static_cast<std::size_t>(j * n + i)]; }
  double at(Int i, Int j) const { return a[static_cast<std::size_t>(j * n + i)]; }

  // The backward error of row-major solutions, in units of rounding.
  double error(std::vector<double> const& x, Int right) const {
    return linear::backward_error<double>(n, right, a, turned(b, n, right), turned(x, n, right)) /
           std::numeric_limits<double>::epsilon();
  }

 private:
  // Symmetric, with the sum of each row on the diagonal in addition.
  void make_definite() {
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < j; ++i) at(i, j) = at(j, i);
    for (Int i = 0; i < n; ++i) {
      double sum = 0;
      for (Int j = 0; j < n; ++j) sum += std::abs(at(i, j));
      at(i, i) = sum + (sum == 0 ? 1 : 0);
    }
  }
};

// LU on a rank that does nothing for a while before its first update, as one that shares its core
// with others.
struct SlowLu : LuMethod<double> {
  bool slow = false;
  template <class Poke>
  void apply(Matrix<double> const& panel, Int k, Int first, Int count, Poke poke) {
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    slow = false;
    LuMethod<double>::apply(panel, k, first, count, poke);
  }
};

// All ranks, with a window that they share.
struct Ranks {
  Ranks() {
    for (int g = 0; g < comm.size(); ++g) all.push_back(g);
  }
  // The slots of panels in the window if that is the way, else in `own`.
  PanelSlots<double> slots(CyclicBlocks const& b, std::vector<double>& own) {
    Int const elements = shardtype::planning::panel_memory(b, sizeof(double)) / Int{sizeof(double)};
    if (run_time.settings.linalg.window && elements > 0) {
      REQUIRE(window.reserve(elements * 8));
      return {static_cast<double*>(window.data()), &window, &all};
    }
    own.resize(static_cast<std::size_t>(elements));
    return {own.data(), nullptr, nullptr};
  }

  static MPI_Comm copy() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
  }
  Comm comm{copy()};
  runtime::SharedWindow window{comm};
  detail::List<int> all;
};

// What the ranks find: the solution, gathered for the test, empty if the factorization stopped; the
// pivots of LU; this rank's factors.
struct Found {
  std::vector<double> x, factors;
  std::vector<std::int32_t> pivots;

  bool operator==(Found const& o) const {
    auto const same = [](std::vector<double> const& a, std::vector<double> const& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
    };
    return same(x, o.x) && same(factors, o.factors) && pivots == o.pivots;
  }
};

inline Found solve(Ranks& ranks, Case const& c, Whole const& whole, int slow_rank = -1) {
  Found found;
  auto& [x, own, pivots] = found;
  Comm& comm = ranks.comm;
  CyclicBlocks const b{c.n, c.block, comm.size()};
  Int const mine = b.below(b.count(), comm.rank());
  own.resize(static_cast<std::size_t>(c.n * mine));
  Matrix<double> const m =
      c.by_rows ? lk::row_major(own.data(), c.n, mine) : lk::column_major(own.data(), c.n, mine);
  CyclicColumns<double> const columns{comm, b, m};
  for (Int k = comm.rank(); k < b.count(); k += b.ranks)
    for (Int j = 0; j < b.width(k); ++j)
      for (Int i = 0; i < c.n; ++i)
        // of a symmetric matrix what is above the diagonal is not read
        lk::at(m, i, b.local(k) + j) = c.definite && i < b.begin(k) + j
                                           ? std::numeric_limits<double>::quiet_NaN()
                                           : whole.at(i, b.begin(k) + j);
  std::vector<double> panels;
  PanelSlots<double> const slots = ranks.slots(b, panels);
  std::vector<double> y(static_cast<std::size_t>(c.n * c.right), 0.);
  Matrix<double> const right = lk::row_major(y.data(), c.n, c.right);
  std::vector<double> wires(
      static_cast<std::size_t>(2 * std::min(c.n, b.ranks * b.block) * c.right));
  pivots.assign(static_cast<std::size_t>(c.n), 0);
  CyclicColumns<double const> const factors{comm, b, m};
  auto const keep_own = [&] {
    for (Int k = 0; k < b.count(); ++k)
      if (b.owner(k) != comm.rank())
        std::fill_n(y.begin() + b.begin(k) * c.right, b.width(k) * c.right, 0.);
  };
  if (c.definite) {
    std::vector<double> scratch(static_cast<std::size_t>(planning::cholesky_scratch(b)));
    CholeskyMethod<double> method{columns, scratch.data()};
    if (run_panels(columns, method, slots).kind != FactorFailure::none) return found;
    method.finish();
    y = whole.b;
    keep_own();
    solve_by_ring<double>({factors, true, false}, lk::row_major(y.data(), c.n, c.right),
                          wires.data());
    solve_by_spread<double>({factors, true, false}, lk::row_major(y.data(), c.n, c.right));
    x = y;
    return found;
  }
  bool const carries = b.count() > 0 && columns.owns(b.count() - 1);
  if (carries) std::copy(whole.b.begin(), whole.b.end(), y.begin());
  SlowLu method{{columns, pivots.data(), carries ? right : Matrix<double>{}},
                comm.rank() == slow_rank};
  if (run_panels(columns, method, slots).kind != FactorFailure::none) return found;
  method.finish();
  for (Int k = 0; k < b.count(); ++k)
    for (Int i = b.begin(k); i < b.begin(k) + b.width(k); ++i)
      pivots[static_cast<std::size_t>(i)] += static_cast<std::int32_t>(b.begin(k));
  solve_by_ring<double>({factors, false, false}, right, wires.data());
  keep_own();
  x.resize(y.size());
  MPI_Allreduce(y.data(), x.data(), static_cast<int>(y.size()), MPI_DOUBLE, MPI_SUM, comm.raw());
  return found;
}

// The same on this rank, by other code: LAPACK's, or the loops for whole matrices where there is
// none.
inline std::vector<double> solve_alone(Case const& c, Whole const& whole,
                                       std::vector<std::int32_t>& pivots) {
  std::vector<double> a = whole.a;
  std::vector<double> x = turned(whole.b, c.n, c.right);
  pivots.assign(static_cast<std::size_t>(c.n), 0);
  Int const n = c.n;
  if (c.definite) {
    if (lk::factor_cholesky(n, a.data(), n) != 0) return {};
    for (lk::Trans const op : {lk::Trans::no, lk::Trans::yes})
      lk::solve_triangular(lk::Triangle::lower, op, lk::Diagonal::general, n, c.right, a.data(), n,
                           x.data(), n);
  } else {
    if (lk::factor_lu(n, a.data(), n, pivots.data()) != 0) return {};
    lk::solve_lu(lk::Trans::no, n, c.right, a.data(), n, pivots.data(), x.data(), n);
  }
  return turned(x, c.right, n);
}

struct Tally {
  int solved = 0;
  double worst = 0;
  std::string wrong;
};

// `count` cases, with a step without a common divisor, from the `first` on.
inline Tally run_cases(Ranks& world, int count, int first = 0) {
  Tally t;
  for (int k = first; k < first + count; ++k) {
    Case const c = case_number(static_cast<int>(std::int64_t{k} * 7919 % all_cases));
    Whole const whole(c);
    std::vector<std::int32_t> pivots_alone;
    Found found;
    for (panel_ways::Way const& way : panel_ways::all) {
      panel_ways::Travel const travel(way);
      Found const now = solve(world, c, whole);
      if (&way == panel_ways::all) found = now;
      if (!(now == found)) t.wrong += text(c) + ": other bits in another way\n";
    }
    std::vector<double> const& x = found.x;
    std::vector<double> const one = solve_alone(c, whole, pivots_alone);
    bool const empty = c.n * c.right == 0;
    if (!empty && x.empty()) {
      if (!one.empty()) t.wrong += text(c) + ": LAPACK has factors\n";
      continue;
    }
    // where LAPACK's last pivot is 0 by rounding, the own one need not be
    if (!empty && one.empty() && c.kind != Kind::nearly_singular) {
      t.wrong += text(c) + ": LAPACK has no factors\n";
      continue;
    }
    double const error = whole.error(x, c.right);
    double const ratio = error / std::max(1., one.empty() ? 1. : whole.error(one, c.right));
    ++t.solved;
    t.worst = std::max(t.worst, ratio);
    if (!(ratio <= 10)) t.wrong += text(c) + ": " + std::to_string(error) + " roundings\n";
    // sums of small integers are exact, so that ties are equal on any number of ranks
    if (c.kind == Kind::permutation && found.pivots != pivots_alone)
      t.wrong += text(c) + ": other pivots\n";
  }
  return t;
}

}  // namespace cyclic_cases
