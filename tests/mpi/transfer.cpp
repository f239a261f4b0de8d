// Transfers to another mesh: with other axes, other ranks in any order, disjoint or overlapping.
// Checks the values on every rank, and the bytes of the plan, in which each element is sent once to
// each rank that lacks it.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 300
#include <cstdint>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/simulate.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct P : Axis<"P"> {};
struct Q : Axis<"Q"> {};
struct R : Axis<"R"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

std::int64_t sum_over_job(std::int64_t mine) {
  std::int64_t all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

template <class T>
T value(std::int64_t i, std::int64_t j) {
  return T(static_cast<double>(i * 100 + j));
}

// The number of wrong elements of `b`; the dim with extent 13 is I, the other J.
template <class B>
int wrong(B const& b) {
  int bad = 0;
  bool const swapped = b.extents()[0] != 13;
  auto const block = harness::host_block(b);
  detail::for_each_element(b, [&](std::int64_t k, auto const& at) {
    auto const i = swapped ? at[1] : at[0];
    auto const j = swapped ? at[0] : at[1];
    if (block.data()[k] != value<typename B::element>(i, j)) ++bad;
  });
  return bad;
}

// The number of elements of this rank's block of `b` that its block of `a` lacks, counted one by
// one.
template <class A, class B>
std::int64_t lacking(A const& a, B const& b) {
  bool const swapped = b.extents()[0] != a.extents()[0];
  std::int64_t n = 0;
  detail::for_each_element(b, [&](std::int64_t, auto const& at) {
    bool has = a.mesh().here();
    for (std::size_t d = 0; d < 2; ++d) {
      Range const r = a.ranges()[d];
      std::int64_t const i = at[swapped ? 1 - d : d];
      has = has && i >= r.begin && i < r.end;
    }
    n += has ? 0 : 1;
  });
  return n;
}

// Transfers `a` and checks the values, the bytes of this rank, and that nothing is sent twice.
template <class... Out, class A, class... Ys>
void check(A const& a, Mesh<Ys...> const& mesh) {
  TransferPlan const plan = plan_transfer<Out...>(a, mesh);
  auto& memory = runtime::run_time.memory;
  std::int64_t const others =
      memory.now() - (a.mesh().here()
                          ? a.local_size() * static_cast<std::int64_t>(sizeof(typename A::element))
                          : 0);
  auto& staging = runtime::run_time.staging;
  memory.reset();
  staging.reset();
  shim::reset();
  auto const b = transfer<Out...>(a, mesh);
  CHECK(memory.most() - others == plan.peak_bytes(on_ranks::my_rank()));
  bool const staged =
      !runtime::host_reads<typename A::memory_space> && !runtime::run_time.device_messages;
  CHECK(staging.most() == (staged ? plan.staging_bytes(on_ranks::my_rank()) : 0));
  CHECK(staging.now() == 0);
  std::int64_t const sent = shim::bytes();
  static_assert(std::is_same_v<decltype(b), named_t<A, Out...> const>);
  static_assert(Transferable<A, named_t<A, Out...>>);
  CHECK(b.mesh() == mesh);
  CHECK(wrong(b) == 0);
  CHECK(sent == plan.bytes(on_ranks::my_rank()));
  std::int64_t const all =
      sum_over_job(lacking(a, b)) * static_cast<std::int64_t>(sizeof(typename A::element));
  CHECK(plan.total_bytes() == all);
  CHECK(sum_over_job(sent) == all);
}

template <class T, class... Dims, class... Xs>
auto filled(Mesh<Xs...> const& mesh) {
  return from_function<T, Dims...>(mesh, {13, 6}, [](auto i, auto j) { return value<T>(i, j); });
}

std::vector<int> ranks_from_to(int first, int last) {
  std::vector<int> out;
  for (int r = first; r != last; r += first < last ? 1 : -1) out.push_back(r);
  return out;
}

}  // namespace

TEST_CASE("to other axes and another order of the same ranks") {
  std::int64_t const n = on_ranks::rank_total();
  Mesh<X, Y> const from(MPI_COMM_WORLD, {n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n});
  Mesh<P> const to(MPI_COMM_WORLD, {n}, ranks_from_to(on_ranks::rank_total() - 1, -1));
  auto const a = filled<double, Dim<I, X>, Dim<J, Y>>(from);
  check<Dim<I, P>, Dim<J>>(a, to);
  check<Dim<I>, Dim<J, P>>(a, to);
  check<Dim<I>, Dim<J>>(a, to);
  check<Dim<J, P>, Dim<I>>(a, to);
  check<Tensor<double, Dim<J>, Dim<I, P>>>(a, to);
  // one of several replicas sends; each axis of the type that splits no dim has replicas
  auto const r = filled<double, Dim<I, Y>, Dim<J>>(from);
  check<Dim<I, P>, Dim<J>>(r, to);
  check<Dim<I>, Dim<J>, Reduced<P>>(r, to);
  // every rank has its elements already
  auto const whole = filled<double, Dim<I>, Dim<J>>(from);
  CHECK(plan_transfer<Dim<I, P>, Dim<J>>(whole, to).messages() == 0);
  check<Dim<I, P>, Dim<J>>(whole, to);
  // to the same mesh
  check<Dim<I, Y, X>, Dim<J>>(a, from);
}

TEST_CASE("between disjoint halves, and back") {
  int const n = on_ranks::rank_total();
  if (n < 2) return;
  int const half = n / 2;
  Mesh<X> const low(MPI_COMM_WORLD, {half}, ranks_from_to(0, half));
  Mesh<P, Q> const high(MPI_COMM_WORLD, {half % 2 == 0 ? 2 : 1, half % 2 == 0 ? half / 2 : half},
                        ranks_from_to(n - 1, n - 1 - half));
  auto const a = filled<float, Dim<I, X>, Dim<J>>(low);
  check<Dim<I, Q>, Dim<J, P>>(a, high);
  check<Dim<I, P, Q>, Dim<J>>(a, high);
  check<Dim<I>, Dim<J>>(a, high);
  auto const b = transfer<Dim<J, Q>, Dim<I, P>>(a, high);
  check<Dim<I, X>, Dim<J>>(b, low);
  check<Dim<I>, Dim<J, X>>(b, low);
  // whole blocks move: one message for each rank with elements
  Mesh<R> const row(MPI_COMM_WORLD, {half}, ranks_from_to(n - 1, n - 1 - half));
  check<Dim<I, R>, Dim<J>>(a, row);
  TransferPlan const plan = plan_transfer<Dim<I, R>, Dim<J>>(a, row);
  CHECK(plan.total_bytes() == 13 * 6 * 4);
  CHECK(plan.messages() == ceil_div(13, ceil_div(13, half)));
}

TEST_CASE("overlapping ranks, to one rank, from one rank") {
  int const n = on_ranks::rank_total();
  int const some = (n + 1) / 2;
  Mesh<X> const from(MPI_COMM_WORLD, {some});
  Mesh<P> const to(MPI_COMM_WORLD, {n - some / 2}, ranks_from_to(n - 1, some / 2 - 1));
  Mesh<Q> const one(MPI_COMM_WORLD, {1}, {n - 1});
  Mesh<X> const all(MPI_COMM_WORLD, {n});
  auto const a = filled<std::int64_t, Dim<I, X>, Dim<J>>(from);
  check<Dim<I, P>, Dim<J>>(a, to);
  check<Dim<J, P>, Dim<I>>(a, to);
  check<Dim<I>, Dim<J>>(a, one);
  check<Dim<I, Q>, Dim<J>>(a, one);
  auto const single = transfer<Dim<I>, Dim<J, Q>>(a, one);
  check<Dim<I, X>, Dim<J>>(single, all);
  check<Dim<I>, Dim<J>>(single, all);
  // an axis type of both meshes, with two sizes
  check<Dim<I>, Dim<J, X>>(a, all);
  auto const c = filled<Kokkos::complex<double>, Dim<I>, Dim<J, X>>(all);
  check<Dim<I, P>, Dim<J>>(c, to);
}

TEST_CASE("cotangents go back to the first mesh") {
  int const n = on_ranks::rank_total();
  int const half = (n + 1) / 2;
  Mesh<X> const low(MPI_COMM_WORLD, {half}, ranks_from_to(0, half));
  Mesh<P> const high(MPI_COMM_WORLD, {half}, ranks_from_to(n - 1, n - 1 - half));
  auto const a = filled<double, Dim<I, X>, Dim<J>>(low);
  auto const c = transfer<Dim<J>, Dim<I, P>>(a, high);
  auto const moved = [&](auto const& x) { return transfer<Dim<J>, Dim<I, P>>(x * x, high); };
  auto const loss = [&](auto const& x) { return sum<Tensor<double>>(moved(x) * c); };
  auto const both = value_and_grad<0>(loss)(a);
  CHECK(both.value.mesh() == high);
  CHECK(both.grad.mesh() == low);
  static_assert(std::is_same_v<decltype(both.grad), std::remove_const_t<decltype(a)>>);
  auto const twice = [](auto i, auto j) { return 2 * value<double>(i, j) * value<double>(i, j); };
  CHECK(on_ranks::wrong(both.grad, twice) == 0);
  // there and back: the loss is on the first mesh again
  auto const returned = [&](auto const& x) {
    return sum<Tensor<double>>(transfer<Dim<I>, Dim<J, X>>(moved(x), low));
  };
  auto const slopes = [](auto i, auto j) { return 2 * value<double>(i, j); };
  CHECK(on_ranks::wrong(grad<0>(returned)(a), slopes) == 0);
  using Reduces = op::Transfer<Mesh<P>, Dim<I>, Dim<J>, Reduced<P>>;
  using Whole = Tensor<double, Dim<I>, Dim<J>, Reduced<P>>;
  static_assert(autodiff::Vjp<Reduces>::judge<0, Whole, std::remove_const_t<decltype(a)>>().code ==
                rules::Code::X03_not_differentiable);
  // backward exactly what the plan of that transfer says
  auto const made = vjp(moved, a);
  shim::reset();
  static_cast<void>(made.pullback(c));
  CHECK(shim::bytes() == plan_transfer<Dim<I, X>, Dim<J>>(c, low).bytes(on_ranks::my_rank()));
}

TEST_CASE("scalars, empty tensors and blocks") {
  int const n = on_ranks::rank_total();
  Mesh<X> const from(MPI_COMM_WORLD, {1});
  Mesh<P> const to(MPI_COMM_WORLD, {n});
  auto const scalar = transfer<Tensor<float>>(full<float>(from, {}, 2.5F), to);
  CHECK(item(scalar) == 2.5F);
  auto const none = transfer<Dim<I, P>, Dim<J>>(zeros<float, Dim<I, X>, Dim<J>>(from, {0, 4}), to);
  CHECK(none.extents() == std::array<std::int64_t, 2>{0, 4});
  CHECK(none.local_size() == 0);
  auto const few = transfer<Dim<I, P>>(
      from_function<double, Dim<I, X>>(from, {2}, [](auto i) { return double(i + 1); }), to);
  CHECK(to_host(few) == std::vector<double>{1.0, 2.0});
}

TEST_CASE("holders of a block take turns") {
  int const n = on_ranks::rank_total();
  if (n % 2 != 0) return;
  int const half = n / 2;
  Mesh<X> const from(MPI_COMM_WORLD, {half});
  Mesh<P> const to(MPI_COMM_WORLD, {half}, ranks_from_to(half, n));
  auto const a = full<float, Dim<I>>(from, {12}, 1.0F);  // on all ranks of the one half
  TransferPlan const plan = plan_transfer<Dim<I>>(a, to);
  for (int r = 0; r < half; ++r) CHECK(plan.bytes(r) == 12 * 4);
  CHECK(plan.total_bytes() == half * 12 * 4);
}

TEST_CASE("a sample of shardings on three axes each, over random ranks") {
  int const n = on_ranks::rank_total();
  std::mt19937 engine(11);
  auto below = [&](int bound) { return static_cast<int>(engine() % static_cast<unsigned>(bound)); };
  auto mesh_of = [&]<class A, class B, class C>(Type<Mesh<A, B, C>>) {
    std::vector<int> ranks = ranks_from_to(0, n);
    for (int k = n - 1; k > 0; --k)
      std::swap(ranks[static_cast<std::size_t>(k)], ranks[static_cast<std::size_t>(below(k + 1))]);
    std::array<std::int64_t, 3> sizes{1, 1, 1};
    std::int64_t used = 1;
    for (int tries = 0; tries < 6; ++tries) {
      std::int64_t& s = sizes[static_cast<std::size_t>(below(3))];
      if (used / s * (s + 1) <= n) used = used / s * (s + 1), ++s;
    }
    ranks.resize(static_cast<std::size_t>(used));
    return std::make_unique<Mesh<A, B, C>>(MPI_COMM_WORLD, sizes, ranks);
  };
  std::vector<Spec> const specs = simulate::all_specs(3, 3, false);
  auto element = [](Extents const& at) { return at[0] * 101 + at[1] * 13 + at[2] * 7 + 1; };
  Extents const extents{{5, 7, 6}};
  using Names3 = Scope<Tensor<float, Reduced<X, Y, Z>>>;
  using Names6 = Scope<Tensor<float, Reduced<P, Q, R>>>;
  int bad = 0;
  for (int mesh = 0; mesh < 20; ++mesh) {
    auto const from = mesh_of(type<Mesh<X, Y, Z>>);
    auto const to = mesh_of(type<Mesh<P, Q, R>>);
    for (int draw = 0; draw < 10; ++draw) {
      Spec const a = specs[static_cast<std::size_t>(below(static_cast<int>(specs.size())))];
      Spec b = specs[static_cast<std::size_t>(below(static_cast<int>(specs.size())))];
      std::swap(b.dims[below(3)], b.dims[below(3)]);
      Placement const source = execute::placement(from->state(), Names3::names, a);
      Placement const target = execute::placement(to->state(), Names6::names, b);
      TransferPlan const plan = planning::transfer_plan(source, target, extents, 8);
      execute::PlacedBlock const mine(source, extents, on_ranks::my_rank());
      execute::PlacedBlock const wanted(target, extents, on_ranks::my_rank());
      auto fill = [&](execute::PlacedBlock const& block, auto use) {
        std::int64_t k = 0;
        Extents at;
        for (std::int64_t i = block.at[0].begin; i < block.at[0].end; ++i)
          for (std::int64_t j = block.at[1].begin; j < block.at[1].end; ++j)
            for (std::int64_t l = block.at[2].begin; l < block.at[2].end; ++l) {
              at.at[block.spec.dims[0].label] = i;
              at.at[block.spec.dims[1].label] = j;
              at.at[block.spec.dims[2].label] = l;
              use(static_cast<std::size_t>(k++), element(at));
            }
      };
      std::vector<std::int64_t> data(static_cast<std::size_t>(mine.layout.elements()));
      if (from->here()) fill(mine, [&](std::size_t k, std::int64_t v) { data[k] = v; });
      shim::reset();
      execute::Carrier<std::int64_t, Kokkos::HostSpace> carrier(from->state(), to->state(), plan,
                                                                std::source_location::current());
      Buffer const got = carrier.run(mine, wanted, data.data());
      if (shim::bytes() != plan.bytes(on_ranks::my_rank())) ++bad;
      auto const* const values = static_cast<std::int64_t const*>(got.data());
      if (to->here())
        fill(wanted, [&](std::size_t k, std::int64_t v) { bad += values[k] != v ? 1 : 0; });
    }
  }
  CHECK(bad == 0);
}
