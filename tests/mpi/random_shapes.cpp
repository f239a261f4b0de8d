// Random programs of shape operations, with the same seed on all ranks, compared with the same
// program on the whole array.
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct N : Index<"N"> {};

using Int = std::int64_t;
using A = Tensor<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>;

// The whole array, row-major.
struct Dense {
  std::array<Int, 3> extent{};
  std::vector<Int> values{};

  Int at(Int i, Int j, Int k) const {
    return values[static_cast<std::size_t>((i * extent[1] + j) * extent[2] + k)];
  }
  static Dense make(std::array<Int, 3> const& n, std::function<Int(Int, Int, Int)> const& f) {
    Dense out{n, {}};
    for (Int i = 0; i < n[0]; ++i)
      for (Int j = 0; j < n[1]; ++j)
        for (Int k = 0; k < n[2]; ++k) out.values.push_back(f(i, j, k));
    return out;
  }
  Dense with(std::array<Int, 3> const& n, std::function<Int(Int, Int, Int)> const& f) const {
    return make(n, f);
  }
};

Int modulo(Int a, Int n) { return n == 0 ? 0 : ((a % n) + n) % n; }

struct ShapeProgram {
  A a;
  Dense d;
  std::mt19937 engine;

  Int draw(Int low, Int high) {
    return low + static_cast<Int>(engine() % static_cast<unsigned>(high - low + 1));
  }

  // Applies one random operation to both and returns its name.
  std::string step() {
    auto const n = d.extent;
    Int const r = draw(-7, 7);
    Dense const old = d;
    bool const small = n[1] <= 8;
    switch (draw(0, 12)) {
      case 0:
        a = shift<I>(a, r, op::Edge::wrap);
        d = old.with(n, [&](Int i, Int j, Int k) { return old.at(modulo(i - r, n[0]), j, k); });
        return "shift I, wrapped";
      case 1:
        a = shift<K>(a, r);
        d = old.with(n, [&](Int i, Int j, Int k) {
          return k - r >= 0 && k - r < n[2] ? old.at(i, j, k - r) : 0;
        });
        return "shift K";
      case 2:
        a = roll<J>(a, r);
        d = old.with(n, [&](Int i, Int j, Int k) { return old.at(i, modulo(j - r, n[1]), k); });
        return "roll J";
      case 3:
        a = flip<J>(a);
        d = old.with(n, [&](Int i, Int j, Int k) { return old.at(i, n[1] - 1 - j, k); });
        return "flip J";
      case 4: {
        Int const begin = draw(0, n[1]);
        Int const end = draw(begin, n[1]);
        Int const by = draw(1, 3);
        a = slice<J>(a, begin, end, by);
        d = old.with({n[0], (end - begin + by - 1) / by, n[2]},
                     [&](Int i, Int j, Int k) { return old.at(i, begin + j * by, k); });
        return "slice J";
      }
      case 5:
        a = pad<J>(a, 1, 2, r);
        d = old.with({n[0], n[1] + 3, n[2]}, [&](Int i, Int j, Int k) {
          return j < 1 || j > n[1] ? r : old.at(i, j - 1, k);
        });
        return "pad J";
      case 6:
        if (!small) return "nothing";
        a = relabel<L, J>(repeat<J, L>(a, 2));
        d = old.with({n[0], 2 * n[1], n[2]},
                     [&](Int i, Int j, Int k) { return old.at(i, j / 2, k); });
        return "repeat J";
      case 7:
        if (!small) return "nothing";
        a = concat<J>(a, flip<J>(a));
        d = old.with({n[0], 2 * n[1], n[2]}, [&](Int i, Int j, Int k) {
          return j < n[1] ? old.at(i, j, k) : old.at(i, 2 * n[1] - 1 - j, k);
        });
        return "concat J";
      case 8:
        a = cummax<I>(a);
        d = old.with(n, [&](Int i, Int j, Int k) {
          Int most = old.at(0, j, k);
          for (Int m = 1; m <= i; ++m) most = std::max(most, old.at(m, j, k));
          return most;
        });
        return "scan I, max";
      case 9:
        a = cumsum<K>(a, op::Cumulate::exclusive);
        d = old.with(n, [&](Int i, Int j, Int k) {
          Int sum = 0;
          for (Int m = 0; m < k; ++m) sum += old.at(i, j, m);
          return sum;
        });
        CHECK(wrong() == 0);
        // nested sums of sums would overflow
        d = d.with(n, [sums = d](Int i, Int j, Int k) { return sums.at(i, j, k) % 1000003; });
        a = from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(
            *mesh, d.extent, [&](Int i, Int j, Int k) { return d.at(i, j, k); });
        return "scan K";
      case 10: {
        // inverse pairs: dims reordered, split, merged
        auto const t = split_dim<J, L, N>(a, {1, n[1]});
        a = transpose<I, J, K>(transpose<K, J, I>(merge_dims<L, N, J>(t)));
        return "split, merge, transpose";
      }
      case 11: {
        // I and K swap, with their extents
        auto const t = relabel<I, K, K, I>(transpose<K, J, I>(a));
        a = reshard<Dim<I, X>, Dim<J>, Dim<K, Y>>(t);
        d = old.with({n[2], n[1], n[0]}, [&](Int i, Int j, Int k) { return old.at(k, j, i); });
        return "transpose, relabel, reshard";
      }
      default:
        if (!small) return "nothing";
        a = transpose<I, J, K>(merge_dims<L, N, J>(
            transpose<I, L, N, K>(stack<L>(relabel<J, N>(a), relabel<J, N>(shift<I>(a, 1))))));
        d = old.with({n[0], 2 * n[1], n[2]}, [&](Int i, Int j, Int k) {
          if (j < n[1]) return old.at(i, j, k);
          return i == 0 ? 0 : old.at(i - 1, j - n[1], k);
        });
        return "stack, merge";
    }
  }

  int wrong() const {
    int bad = a.extents() == d.extent ? 0 : 1;
    auto const block = harness::host_block(a);
    detail::for_each_element(a, [&](Int at, std::array<Int, 3> const& index) {
      if (bad == 0 && block.data()[at] != d.at(index[0], index[1], index[2])) ++bad;
    });
    return bad;
  }

  Mesh<X, Y> const* mesh;
};

}  // namespace

TEST_CASE("random programs of shape operations") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Mesh<X, Y> const mesh(MPI_COMM_WORLD,
                        {ranks % 2 == 0 ? ranks / 2 : ranks, ranks % 2 == 0 ? 2 : 1});
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 engine(seed);
    auto const extent = [&] { return static_cast<Int>(engine() % 9); };
    std::array<Int, 3> const n{extent(), extent(), extent()};
    auto f = [](Int i, Int j, Int k) { return i * 289 + j * 17 + k + 1; };
    ShapeProgram p{from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, n, f), Dense::make(n, f),
                   engine, &mesh};
    std::string so_far = "seed " + std::to_string(seed) + ":";
    for (int k = 0; k < 12; ++k) {
      so_far += " " + p.step() + ",";
      INFO(so_far);
      REQUIRE(p.wrong() == 0);
    }
  }
}
