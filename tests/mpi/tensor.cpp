// Creation, access, value semantics and memory of tensors.
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K", 6> {};

template <class T>
T number(std::int64_t n) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(n);
  } else {
    return T(static_cast<typename T::value_type>(n), static_cast<typename T::value_type>(-n));
  }
}

template <class T>
void round_trip() {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto f = [](std::int64_t i, std::int64_t j) { return number<T>(i * 10 + j); };
  auto const a = from_function<T, Dim<I, Y>, Dim<J, X>>(mesh, {7, 5}, f);
  std::vector<T> const whole = to_host(a);
  REQUIRE(whole.size() == 35);
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      CHECK(whole[static_cast<std::size_t>(i * 5 + j)] == f(i, j));
  auto const b = from_host<T, Dim<I>, Dim<J, X, Y>>(mesh, {7, 5}, whole);
  CHECK(to_host(b) == whole);
  auto const c = full<T, Dim<I, X>>(mesh, {9}, number<T>(3));
  CHECK(to_host(c) == std::vector<T>(9, number<T>(3)));
  std::string const path = "tensor_" + std::to_string(on_ranks::rank_total()) + ".npy";
  save_npy(a, path);
  CHECK(to_host(load_npy<T, Dim<I>, Dim<J, Y>>(mesh, path)) == whole);
}

}  // namespace

TEST_CASE("every element type: creation, files, back to the host") {
  round_trip<float>();
  round_trip<double>();
  round_trip<std::int32_t>();
  round_trip<std::int64_t>();
  round_trip<Kokkos::complex<float>>();
  round_trip<Kokkos::complex<double>>();
}

TEST_CASE("extents, ranges and global indices") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = zeros<float, Dim<I, Y>, Dim<K>, Dim<J, X>>(mesh, {10, 6, 3});
  CHECK(a.template extent<I>() == 10);
  CHECK(a.template extent<K>() == 6);
  CHECK(a.extents() == std::array<std::int64_t, 3>{10, 6, 3});
  std::int64_t const py = mesh.template size_of<Y>();
  std::int64_t const length = core::ceil_div(10, py);
  CHECK(a.template global_index<I>(0) ==
        std::min<std::int64_t>(10, length * mesh.template coordinate<Y>()));
  CHECK(a.local().extent(1) == 6);
  CHECK(a.local_size() == a.template local_extent<I>() * 6 * a.template local_extent<J>());
  static_assert(std::is_same_v<decltype(a.local())::array_layout, Kokkos::LayoutRight>);
  static_assert(decltype(a)::rank == 3);
  // static extents may be left out
  auto const b = zeros<double, Dim<K, X>>(mesh);
  CHECK(b.template extent<K>() == 6);
  CHECK_THROWS_AS((zeros<double, Dim<K, X>>(mesh, {5})), Error);
  CHECK_THROWS_AS((zeros<double, Dim<I, X>>(mesh, {-1})), Error);
}

TEST_CASE("the block of an unreduced tensor is asked for by name") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const u = to_partial<X>(full<float, Dim<I, Y>>(mesh, {8}, 3.0F));
  bool const has = mesh.template coordinate<X>() == 0;
  auto const block = u.unreduced_local();
  for (std::size_t k = 0; k < block.extent(0); ++k) CHECK(block(k) == (has ? 3.0F : 0.0F));
  auto const e = u * 2.0F;
  auto const twice = e.unreduced_local();
  for (std::size_t k = 0; k < twice.extent(0); ++k) CHECK(twice(k) == (has ? 6.0F : 0.0F));
  auto const a = all_reduce<X>(u);
  CHECK(a.unreduced_local().data() == a.local().data());
}

TEST_CASE("a tensor is a value") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto a = full<float, Dim<I, X>>(mesh, {8}, 1.0F);
  CHECK_FALSE(a.shared());
  {
    auto const b = a;
    CHECK(a.shared());
    CHECK(b.local().data() == a.local().data());
    CHECK_THROWS_AS(a.mutable_local(), Error);
    auto c = a.clone();
    CHECK(c.local().data() != a.local().data());
    if (c.local_size() > 0) harness::write_block(c, [](auto const& view) { view(0) = 5.0F; });
    if (a.local_size() > 0) CHECK(harness::host_block(a)(0) == 1.0F);
  }
  CHECK_NOTHROW(a.mutable_local());
  auto const same = reshard<Dim<I, X>>(a);  // nothing changes: the memory is shared
  CHECK(same.local().data() == a.local().data());
  CHECK_THROWS_AS(a.mutable_local(), Error);
}

// Writes `x` through a view of a tensor.
template <class View>
void write_through(View const& view, float x) {
  for (std::size_t k = 0; k < view.extent(0); ++k) view(k) = x;
}

TEST_CASE("what is made of a tensor stays what it was while a view writes to it") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const is = [](auto const& t, float x) {
    return on_ranks::wrong(t, [=](std::int64_t) { return x; }) == 0;
  };
  auto a = full<float, Dim<I, X>>(mesh, {8}, 1.0F);
  {
    auto const view = a.mutable_local();
    auto const same = view;
    auto const copied = a;
    auto assigned = full<float, Dim<I, X>>(mesh, {8}, 0.0F);
    assigned = a;
    auto const renamed = relabel<I, J>(a);
    auto const later = lazy(a) + 0.0F;
    auto pending = start(op::AllGather<X>{}, a);
    write_through(view, 5.0F);
    CHECK(is(a, 5.0F));
    CHECK(is(copied, 1.0F));
    CHECK(is(assigned, 1.0F));
    CHECK(is(renamed, 1.0F));
    CHECK(is(evaluate<Dim<I, X>>(mesh, later), 1.0F));
    CHECK(is(std::move(pending).wait(), 1.0F));
    // operations that end before they return copy nothing
    CHECK_FALSE(a.shared());
  }
  // after the last view is gone, copies share again
  auto const copied = a;
  CHECK(copied.local().data() == a.local().data());
  CHECK_THROWS_AS(a.mutable_local(), Error);
}

TEST_CASE("item is the first rank's value on all") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto one = full<double>(mesh, {}, 2.5);
  CHECK(item(one) == 2.5);
  auto v = from_function<double, Dim<I, Y>>(mesh, {5}, [](auto i) { return double(i); });
  auto const squares = matmul<Tensor<double>>(v, v);
  CHECK(item(squares) == 30.0);
  auto const unreduced = matmul(v, v);
  static_assert(std::is_same_v<decltype(unreduced), Tensor<double, Unreduced<Y>> const>);
  CHECK(item(all_reduce<Y>(unreduced)) == 30.0);
}

TEST_CASE("ranks outside a mesh take no part") {
  Mesh<X> const one(MPI_COMM_WORLD, {1}, {on_ranks::rank_total() - 1});
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  CHECK(one.here() == (me == on_ranks::rank_total() - 1));
  auto const a = from_function<double, Dim<I, X>, Dim<J>>(
      one, {3, 2}, [](auto i, auto j) { return double(i + j); });
  auto const b = matmul<Dim<I>, Dim<K>>(a, full<double, Dim<J>, Dim<K>>(one, {2, 6}, 1.0));
  CHECK(b.template extent<K>() == 6);
  CHECK(b.local_size() == (one.here() ? 18 : 0));
  CHECK(to_host(b).size() == (one.here() ? 18U : 0U));
  if (!one.here()) CHECK_THROWS_AS(item(full<double>(one, {}, 1.0)), Error);
}

TEST_CASE("tensors of two meshes do not mix") {
  auto const first = on_ranks::two_axes<X, Y>();
  auto const second = on_ranks::two_axes<X, Y>();
  auto const a = zeros<double, Dim<I, X>, Dim<J>>(first, {4, 4});
  auto const b = zeros<double, Dim<J>, Dim<K>>(second, {4, 6});
  CHECK_THROWS_AS(matmul(a, b), Error);
  auto const c = zeros<double, Dim<J>, Dim<K>>(first, {5, 6});
  CHECK_THROWS_AS(matmul(a, c), Error);
}

TEST_CASE("a steady loop takes no memory from the system and makes no communicator") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
      mesh, {30, 20}, [](auto i, auto j) { return double(i - j); });
  auto const b = from_function<double, Dim<J, Y>, Dim<K>>(
      mesh, {20, 6}, [](auto j, auto k) { return double(j * k); });
  auto run = [&] { return matmul<Dim<I, X>, Dim<K, Y>>(a, b); };
  static_cast<void>(run());
  static_cast<void>(run());
  std::size_t const before = mesh.state().pool().allocations();
  for (int k = 0; k < 20; ++k) static_cast<void>(run());
  CHECK(mesh.state().pool().allocations() == before);
}

TEST_CASE("static sizes make memory a compile-time fact") {
  struct P : Axis<"P", 4> {};
  struct M : Index<"M", 4096> {};
  struct N : Index<"N", 1000> {};
  static_assert(bytes_per_rank<Tensor<float, Dim<M, P>, Dim<N>>> == 1024 * 1000 * 4);
  static_assert(bytes_per_rank<Tensor<double, Dim<M>, Dim<N, P>>> <= 16_MiB);
  CHECK(type_name<Tensor<double, Dim<M, P>, Dim<N>>>() == "f64[M@P, N]");
  CHECK(type_name<Tensor<std::int32_t, Dim<M>, Unreduced<Max, P>>>() == "i32[M]{U_max:P}");
}
