// Block-cyclic dims: reshards between every pair of shardings of a matrix over two axes, packed and
// as views: values, bytes and the numbers of packing and unpacking kernels. Then user operations
// compared with the whole array: creation, access, elementwise functions, sums, products, shape
// operations, files, text.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
// OPTIMIZE: 1
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/run_reshard.hpp"
#include "harness/simulate.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;
using run_reshard::Operand;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

using Int = std::int64_t;

std::array<Int, 2> grid() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  switch (ranks) {
    case 4:
      return {2, 2};
    case 6:
      return {2, 3};
    case 8:
      return {4, 2};
    default:
      return {1, ranks};
  }
}

Int element(Extents const& at) { return at[0] * 101 + at[1] * 13 + 1; }

// See run_reshard; runs both layouts of the operand.
int run(MeshState& mesh, AxisMap const& axes, Spec const& from, Spec const& to, Sizing const& z) {
  return run_reshard::run(mesh, axes, from, to, z, element, Operand::packed) +
         run_reshard::run(mesh, axes, from, to, z, element, Operand::view);
}

// The number of local elements of `a` that are not f(indices).
template <class A, class F>
Int wrong(A const& expression, F f) {
  auto const& a = expression.tensor();
  auto const host = detail::block_on_host(a);
  Int bad = 0;
  detail::for_each_element(a, [&](Int k, auto const& at) {
    if (host[static_cast<std::size_t>(k)] !=
        static_cast<typename std::remove_cvref_t<decltype(a)>::element>(std::apply(f, at)))
      ++bad;
  });
  return bad;
}
Int f(Int i, Int j) { return i * 31 + j * 7 - 40; }
Int g(Int j, Int k) { return j * 5 - k * 3 + 2; }

struct Shape {
  Int i, j;
};
std::vector<Shape> const shapes{{16, 24}, {13, 7}, {3, 2}, {0, 5}, {1, 11}, {70, 9}};

}  // namespace

TEST_CASE("every pair of shardings of a matrix with block-cyclic dims") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  AxisMap const axes = map_axes(mesh.state(), Scope<Tensor<float, Reduced<X, Y>>>::names);
  Sizing z;
  z.sizes = axes.sizes;
  z.element_bytes = 8;
  std::vector<Spec> const specs = simulate::all_specs(2, 2, true, {1, 3});
  for (auto const& extents : {Shape{16, 24}, Shape{13, 7}, Shape{2, 9}, Shape{0, 5}}) {
    z.extents = {{extents.i, extents.j}};
    int pairs = 0;
    for (std::size_t a = 0; a < specs.size(); ++a)
      for (std::size_t b = 0; b < specs.size(); ++b) {
        if (specs[a].cyclic_dim() < 0 && specs[b].cyclic_dim() < 0) continue;
        if (!rules::reshard(specs[a], specs[b])) continue;
        ++pairs;
        INFO("from " << a << " to " << b << " of " << extents.i << " x " << extents.j);
        CHECK(run(mesh.state(), axes, specs[a], specs[b], z) == 0);
        if (b % 5 == 0) {  // dims in the other order
          Spec swapped = specs[b];
          std::swap(swapped.dims[0], swapped.dims[1]);
          CHECK(run(mesh.state(), axes, specs[a], swapped, z) == 0);
        }
      }
    CHECK(pairs == 1640);
  }
}

TEMPLATE_TEST_CASE("block-cyclic tensors, made and read", "", std::int32_t, Int, float, double,
                   bool, Kokkos::complex<float>, Kokkos::complex<double>) {
  using T = TestType;
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  for (auto const [ni, nj] : shapes) {
    INFO(ni << " x " << nj);
    auto const value = [](Int i, Int j) {
      return static_cast<T>(static_cast<short>((i * 3 + j * 5) % 7));
    };
    auto const a =
        from_function<T, Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 3>>>(mesh, {ni, nj}, value);
    Int const px = mesh.size_of<X>();
    Int const py = mesh.size_of<Y>();
    auto const block = harness::host_block(a);
    // the local rows from the definition
    Int local_i = 0;
    Int bad = 0;
    for (Int i = 0; i < ni; ++i)
      if (i / 2 % px == mesh.coordinate<X>()) {
        Int local_j = 0;
        for (Int j = 0; j < nj; ++j)
          if (j / 3 % py == mesh.coordinate<Y>()) {
            if (a.template global_index<I>(local_i) != i) ++bad;
            if (a.rows()[1][local_j] != j) ++bad;
            if (block(static_cast<std::size_t>(local_i), static_cast<std::size_t>(local_j)) !=
                value(i, j))
              ++bad;
            ++local_j;
          }
        if (a.template local_extent<J>() != local_j) ++bad;
        ++local_i;
      }
    if (a.template local_extent<I>() != local_i) ++bad;
    CHECK(bad == 0);
    std::vector<detail::host_element<T>> whole;
    for (Int i = 0; i < ni; ++i)
      for (Int j = 0; j < nj; ++j) whole.push_back(value(i, j));
    CHECK(to_host(a) == whole);
    // the values do not depend on the sharding
    auto const b = reshard<Dim<I, X>, Dim<J, Y>>(a);
    CHECK(plan_at(op::Reshard<Dim<I, X>, Dim<J, Y>>{}, a).count(Collective::all_to_all) == 2);
    CHECK(wrong(b, value) == 0);
    auto const text = to_text(a);
    CHECK(text.substr(text.find('\n')) == to_text(b).substr(to_text(b).find('\n')));
    if constexpr (!std::is_same_v<T, bool>) {
      auto const c = from_host<T, Dim<I, Cyclic<Y, 64>>, Dim<J>>(mesh, {ni, nj}, whole);
      CHECK(to_host(c) == whole);
      std::string const path = "cyclic.npy";
      save_npy(c, path);
      CHECK(to_host(load_npy<T, Dim<I, X>, Dim<J, Y>>(mesh, path)) == whole);
      auto const d = load_npy<T, Dim<I, Cyclic<X, 3>>, Dim<J, Cyclic<Y, 1>>>(mesh, path);
      CHECK(wrong(d, value) == 0);
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 0) std::remove(path.c_str());
    }
  }
}

TEST_CASE("a large tensor is printed by its corners") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  auto const a = from_function<Int, Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 1>>>(mesh, {60, 70}, f);
  auto const whole = to_text(reshard<Dim<I>, Dim<J>>(a));
  auto const text = to_text(a);
  CHECK(text.substr(0, text.find('\n')) == "i64[60@X%2, 70@Y%1]");
  CHECK(text.substr(text.find('\n')) == whole.substr(whole.find('\n')));
}

TEST_CASE("elementwise functions of block-cyclic tensors") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  for (auto const [ni, nj] : shapes) {
    INFO(ni << " x " << nj);
    auto const a =
        from_function<Int, Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 3>>>(mesh, {ni, nj}, f);
    auto const same = from_function<Int, Dim<J, Cyclic<Y, 3>>, Dim<I, Cyclic<X, 2>>>(
        mesh, {nj, ni}, [](Int j, Int i) { return g(j, i); });
    auto const whole = from_function<Int, Dim<I>, Dim<J>>(mesh, {ni, nj}, g);
    auto const half = from_function<Int, Dim<J>, Dim<I, Cyclic<X, 2>>>(mesh, {nj, ni}, g);
    auto const row = from_function<Int, Dim<J>>(mesh, {nj}, [](Int j) { return j * j; });
    shim::reset();
    CHECK(wrong(a + same, [](Int i, Int j) { return f(i, j) + g(j, i); }) == 0);
    CHECK(wrong(whole * a - row, [](Int i, Int j) { return g(i, j) * f(i, j) - j * j; }) == 0);
    CHECK(wrong(where(whole > row, a, half),
                [](Int i, Int j) { return g(i, j) > j * j ? f(i, j) : g(j, i); }) == 0);
    auto in_place = a.clone();
    in_place += whole;
    CHECK(wrong(in_place, [](Int i, Int j) { return f(i, j) + g(i, j); }) == 0);
    CHECK(shim::bytes() == 0);
    // named: the operands are sliced or resharded
    auto const direct =
        map<Dim<I, Cyclic<Y, 2>>, Dim<J, Cyclic<X, 1>>>(functions::Add{}, whole, row);
    CHECK(wrong(direct, [](Int i, Int j) { return g(i, j) + j * j; }) == 0);
    CHECK(shim::bytes() == 0);
    auto const moved = map<Dim<I, X>, Dim<J, Cyclic<Y, 1>>>(functions::Add{}, a, half);
    CHECK(wrong(moved, [](Int i, Int j) { return f(i, j) + g(j, i); }) == 0);
  }
}

TEST_CASE("sums over block-cyclic dims") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  for (auto const [ni, nj] : shapes) {
    INFO(ni << " x " << nj);
    auto const a =
        from_function<Int, Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 3>>>(mesh, {ni, nj}, f);
    auto const over_i = [n = ni](Int j) {
      Int s = 0;
      for (Int i = 0; i < n; ++i) s += f(i, j);
      return s;
    };
    auto const unreduced = sum<I>(a);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(unreduced)>,
                                 Tensor<Int, Dim<J, Cyclic<Y, 3>>, Unreduced<X>>>);
    CHECK(wrong(all_reduce<X>(unreduced), over_i) == 0);
    CHECK(wrong(reshard<Dim<J, Cyclic<Y, 3>>>(unreduced), over_i) == 0);
    CHECK(wrong(sum<Dim<J, Cyclic<X, 1>>>(a), over_i) == 0);
    CHECK(wrong(max<Dim<I, Cyclic<Y, 1>>>(a), [n = nj](Int i) {
            Int m = std::numeric_limits<Int>::min();
            for (Int j = 0; j < n; ++j) m = std::max(m, f(i, j));
            return m;
          }) == 0);
    if (nj > 0) CHECK(wrong(argmax<Dim<I, Cyclic<X, 2>>>(a), [n = nj](Int) { return n - 1; }) == 0);
    auto const part = to_partial<X, Y>(a);
    CHECK(to_host(all_reduce<X, Y>(part)) == to_host(a));
    CHECK(to_host(all_gather<X>(a)) == to_host(a));
  }
}

TEST_CASE("products of block-cyclic matrices") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  Int const nk = 10;
  for (auto const [ni, nj] : shapes) {
    INFO(ni << " x " << nj);
    auto const expected = [n = nj](Int i, Int k) {
      Int s = 0;
      for (Int j = 0; j < n; ++j) s += f(i, j) * g(j, k);
      return static_cast<double>(s);
    };
    auto const a =
        from_function<double, Dim<I, Cyclic<X, 2>>, Dim<J, Cyclic<Y, 3>>>(mesh, {ni, nj}, f);
    auto const b = from_function<double, Dim<J, Cyclic<Y, 3>>, Dim<K>>(mesh, {nj, nk}, g);
    shim::reset();
    auto const c = matmul(a, b);
    CHECK(shim::bytes() == 0);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(c)>,
                                 Tensor<double, Dim<I, Cyclic<X, 2>>, Dim<K>, Unreduced<Y>>>);
    CHECK(wrong(all_reduce<Y>(c), expected) == 0);
    auto const b2 =
        from_function<double, Dim<J, Cyclic<X, 3>>, Dim<K, Cyclic<Y, 2>>>(mesh, {nj, nk}, g);
    // as in ScaLAPACK: both operands and the result on one grid
    using Out = Tensor<double, Dim<I, Cyclic<X, 2>>, Dim<K, Cyclic<Y, 2>>>;
    auto const op = op::Matmul<Out>{};
    auto const plan = plan_at(op, a, b2);
    shim::reset();
    auto const d = matmul<Out>(a, b2);
    CHECK(shim::bytes() == plan.bytes(coords_in(op, a, b2)));
    CHECK(wrong(d, expected) == 0);
    CHECK(wrong(matmul<Dim<I, X>, Dim<K, Y>>(a, b2), expected) == 0);
    CHECK(wrong(matmul<Dim<K, Cyclic<X, 3>>, Dim<I, Cyclic<Y, 1>>>(a, b2),
                [&](Int k, Int i) { return expected(i, k); }) == 0);
    // a batch label that only one operand splits
    auto const e = from_function<double, Dim<I>, Dim<J, Cyclic<Y, 3>>>(mesh, {ni, nj}, f);
    auto const dots = einsum<I>(a, e);
    CHECK(wrong(all_reduce<Y>(dots), [n = nj](Int i) {
            Int s = 0;
            for (Int j = 0; j < n; ++j) s += f(i, j) * f(i, j);
            return static_cast<double>(s);
          }) == 0);
  }
}

TEST_CASE("shapes of block-cyclic tensors") {
  Mesh<X, Y> mesh(MPI_COMM_WORLD, grid());
  for (auto const [ni, nj] : shapes) {
    INFO(ni << " x " << nj);
    auto const a = from_function<Int, Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, {ni, nj}, f);
    CHECK(wrong(transpose<J, I>(a), [](Int j, Int i) { return f(i, j); }) == 0);
    CHECK(wrong(relabel<I, K>(a), f) == 0);
    CHECK(wrong(slice<J>(a, 1, nj), [](Int i, Int j) { return f(i, j + 1); }) == 0);
    CHECK(wrong(flip<J>(a), [n = nj](Int i, Int j) { return f(i, n - 1 - j); }) == 0);
    CHECK(wrong(concat<J>(a, a), [n = nj](Int i, Int j) { return f(i, j % n); }) == 0);
    CHECK(wrong(stack<K>(a, a), [](Int, Int i, Int j) { return f(i, j); }) == 0);
    CHECK(wrong(cumsum<J>(a), [](Int i, Int j) {
            Int s = 0;
            for (Int l = 0; l <= j; ++l) s += f(i, l);
            return s;
          }) == 0);
    CHECK(wrong(broadcast<Dim<L, Cyclic<Y, 2>>>(a, {5}),
                [](Int, Int i, Int j) { return f(i, j); }) == 0);
    auto const b = from_function<Int, Dim<I, Cyclic<X, 2>>, Dim<J, Y>>(mesh, {ni, nj}, f);
    CHECK(wrong(shift<J>(b, 1), [](Int i, Int j) { return j == 0 ? 0 : f(i, j - 1); }) == 0);
    CHECK(wrong(all_to_all<X, I, J>(a), f) == 0);
  }
}
