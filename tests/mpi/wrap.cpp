// Tensors over the user's own memory: values, writes and results in it, no copy and nothing in the
// pool, blocks that are empty, uneven and block-cyclic; const memory is copied where another tensor
// would be written.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K", 3> {};
using Int = std::int64_t;
using Z = Kokkos::complex<double>;

// The block of `A` that this rank would hold, in memory of exactly its size.
template <class A>
struct Mine {
  using T = typename A::element;
  std::array<core::Rows, A::rank> rows;
  std::size_t count = 1;
  std::unique_ptr<T[]> memory;

  Mine(runtime::MeshRef const& mesh, std::array<Int, A::rank> const& extents)
      : rows(A::local_rows(mesh, extents)) {
    for (core::Rows const& r : rows) count *= static_cast<std::size_t>(r.size());
    if (count > 0) memory.reset(new T[count]);
  }
  std::span<T> span() const { return {memory.get(), count}; }
};

// Whether `run` is an Error with this text.
template <class Run>
bool fails(Run run, std::string const& has) {
  try {
    run();
  } catch (Error const& e) {
    return std::string(e.what()).find(has) != std::string::npos;
  }
  return false;
}

double value(Int i, Int j) { return static_cast<double>(i * 100 + j); }

template <class A>
void fill(Mine<A> const& mine, bool columns_first) {
  std::size_t k = 0;
  for (Int a = 0; a < mine.rows[0].size(); ++a)
    for (Int b = 0; b < mine.rows[1].size(); ++b) {
      Int const p = mine.rows[0][a], q = mine.rows[1][b];
      mine.memory[k++] =
          typename A::element(static_cast<float>(columns_first ? value(q, p) : value(p, q)));
    }
}

// Counters of the pool and of memory, which a wrapped tensor does not change.
struct Counters {
  runtime::Pool& pool;
  std::size_t used = pool.used_bytes(), idle = pool.idle_bytes(), allocations = pool.allocations();
  Int now = runtime::run_time.memory.now();
  bool same() const {
    return pool.used_bytes() == used && pool.idle_bytes() == idle &&
           pool.allocations() == allocations && runtime::run_time.memory.now() == now;
  }
};

template <class A, class M>
void check_values(M const& mesh, std::array<Int, 2> const& extents, bool columns_first) {
  INFO("extents " << extents[0] << " " << extents[1]);
  using T = typename A::element;
  Mine<A> const mine(mesh, extents);
  fill(mine, columns_first);
  {
    Counters const counters{mesh.state().pool()};
    auto a = wrap<A>(mesh, extents, mine.span());
    static_assert(std::is_same_v<decltype(a), A>);
    CHECK(counters.same());
    CHECK_FALSE(a.shared());
    if (mine.count > 0) CHECK(a.local().data() == mine.memory.get());
    auto const other = a;
    CHECK(a.shared());
    CHECK(other.buffer().data() == a.buffer().data());
    CHECK(counters.same());
  }
  auto a = wrap<A>(mesh, extents, mine.span());
  auto const dense = from_function<A>(mesh, extents, [&](Int p, Int q) {
    return T(static_cast<float>(columns_first ? value(q, p) : value(p, q)));
  });
  CHECK(array_equal(a, dense));
  a += T(1.0F);
  bool written = true;
  for (std::size_t k = 0; k < mine.count; ++k)
    written &= mine.memory[k] == static_cast<T const*>(dense.buffer().data())[k] + T(1.0F);
  CHECK(written);
  // a copy is read while the wrapped tensor is destroyed
  auto copy = std::make_unique<A>(a);
  a = dense;
  CHECK_FALSE(copy->shared());
  CHECK(copy->buffer().data() != dense.buffer().data());
}

}  // namespace

TEST_CASE("blocks of the user's memory") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& n : {std::array<Int, 2>{12, 7}, {1, 1}, {0, 5}, {17, 0}, {3, 130}}) {
    check_values<Tensor<double, Dim<I, X>, Dim<J>>>(mesh, n, false);
    check_values<Tensor<float, Dim<I, X>, Dim<J, Y>>>(mesh, n, false);
    check_values<Tensor<double, Dim<J, Cyclic<X, 2>>, Dim<I>>>(mesh, n, true);
    check_values<Tensor<double, Dim<J, Cyclic<Y, 3>>, Dim<I, Cyclic<X, 2>>>>(mesh, n, true);
    check_values<Tensor<Z, Dim<J, X, Y>, Dim<I>>>(mesh, n, true);
  }
}

TEST_CASE("a number, static extents, more memory than is needed, memory at any element") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::vector<float> mine(20, 2.0F);
  auto const number = wrap<float>(mesh, {}, std::span(mine));
  CHECK(item(number) == 2);
  auto b = wrap<float, Dim<K>>(mesh, std::span(mine).subspan(1));
  b *= b;
  for (std::size_t k = 0; k < mine.size(); ++k)
    CHECK(mine[k] == (mesh.here() && k > 0 && k < 4 ? 4.0F : 2.0F));
  auto const pair = wrap<float, Dim<I>, Dim<J>>(mesh, {3, 5}, std::span(mine).subspan(3));
  CHECK(item(sum(matmul(pair, ones<float, Dim<J>, Dim<K>>(mesh, {5, 3})))) == 3 * (14 * 2 + 4));
}

TEST_CASE("memory that cannot hold the block") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<J, Cyclic<X, 2>>, Dim<I>>;
  Mine<A> const mine(mesh, {9, 5});
  if (mine.count > 0 && mesh.here()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string const said = "wrap was given " + std::to_string(mine.count - 1) +
                             " elements on rank " + std::to_string(rank) + ", whose block has " +
                             std::to_string(mine.count) + ": " +
                             std::to_string(mine.rows[0].size()) + " of J x 5 of I";
    CHECK(fails([&] { (void)wrap<A>(mesh, {9, 5}, mine.span().first(mine.count - 1)); }, said));
    CHECK(
        fails([&] { (void)wrap<A>(mesh, {9, 5}, std::span<double>()); }, "E22] wrap was given 0"));
    alignas(double) std::array<char, 8 * 46> bytes{};
    auto* const odd = reinterpret_cast<double*>(bytes.data() + 4);
    CHECK(fails([&] { (void)wrap<A>(mesh, {9, 5}, std::span<double const>(odd, 45)); },
                "begins 4 bytes after a multiple of 8"));
  }
  CHECK(wrap<A>(mesh, {9, 0}, std::span<double>()).local_size() == 0);
}

TEST_CASE("const memory is not written") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<I, X>, Dim<J>>;
  Mine<A> const mine(mesh, {10, 3});
  fill(mine, false);
  std::vector<double> const before(mine.span().begin(), mine.span().end());
  auto const wrapped = [&] { return wrap<A>(mesh, {10, 3}, std::span<double const>(mine.span())); };
  auto a = wrapped();
  CHECK(a.shared());
  CHECK(fails([&] { (void)a.mutable_local(); }, "E21] the tensor's memory is const memory"));
  CHECK(fails([&] { a += 1.0; }, "E21] the tensor's memory is const memory"));
  auto b = a.clone();
  b += 1.0;
  CHECK(array_equal(b, a + 1.0));
  // given away: whatever may take the memory of its operand leaves this one
  using Sums = Tensor<double, Dim<I, X>, Dim<J>, Unreduced<Y>>;
  auto const total = all_reduce<Y>(wrap<Sums>(mesh, {10, 3}, std::span<double const>(mine.span())));
  CHECK(total.buffer().data() != mine.memory.get());
  CHECK(array_equal(total, a * static_cast<double>(mesh.size_of<Y>())));
  CHECK(std::equal(before.begin(), before.end(), mine.span().begin()));
}

TEST_CASE("a factorization in the user's memory") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  using A = Tensor<double, Dim<J, Cyclic<X, 3>>, Dim<I>>;
  Int const n = 17;
  auto const entry = [](Int j, Int i) {
    return i == j ? 3. : 1. / static_cast<double>(2 + 3 * i + 2 * j);
  };
  auto const dense = from_function<A>(mesh, {n, n}, entry);
  auto const expected = linalg::lu_factor<I, J>(dense);
  Mine<A> const block(mesh, {n, n});
  double* const mine = block.memory.get();
  std::size_t const count = block.count;
  auto const give = [&] {
    std::copy_n(static_cast<double const*>(dense.buffer().data()), count, mine);
  };
  give();
  {
    // docs: in-place
    auto a = wrap<A>(mesh, {n, n}, std::span(mine, count));  // f64[J@X%3, I], in the user's memory
    auto const lu = linalg::lu_factor<I, J>(std::move(a));   // lu.factors too
    // docs: end
    if (count > 0) CHECK(lu.factors.buffer().data() == mine);
    CHECK(array_equal(lu.factors, expected.factors));
  }
  // the tensors are gone, the result stays
  CHECK(
      std::equal(mine, mine + count, static_cast<double const*>(expected.factors.buffer().data())));
  // of const memory, or of memory that another tensor reads, the factors are a copy
  give();
  auto constant = wrap<A>(mesh, {n, n}, std::span<double const>(mine, count));
  auto const once = linalg::lu_factor<I, J>(std::move(constant));
  auto a = wrap<A>(mesh, {n, n}, std::span(mine, count));
  auto const read = a;
  auto const again = linalg::lu_factor<I, J>(std::move(a));
  CHECK(array_equal(again.factors, expected.factors));
  CHECK(array_equal(once.factors, expected.factors));
  CHECK(array_equal(read, dense));
}

TEST_CASE("memory that outlives its mesh, and memory that a view writes") {
  using A = Tensor<double, Dim<I, X>>;
  std::vector<double> mine;
  runtime::Buffer last;
  {
    Mesh<X> const mesh(MPI_COMM_WORLD);
    mine.assign(static_cast<std::size_t>(A::local_rows(mesh, {11})[0].size()), 1.);
    auto a = wrap<A>(mesh, {11}, std::span(mine));
    last = a.buffer();
    CHECK(fails([&] { (void)a.mutable_local(); }, "E21] the tensor's memory is shared"));
    last = {};
    auto const view = a.mutable_local();
    auto const copy = a;  // has memory of its own, because a view writes to that of a
    for (std::size_t k = 0; k < mine.size(); ++k) view(k) = 5;
    CHECK(item(all_reduce<X>(sum(copy))) == 11);
    CHECK(item(all_reduce<X>(sum(a))) == 55);
    last = a.buffer();
  }
  CHECK(last.data() == (mine.empty() ? last.data() : mine.data()));
}
