// Lookups, scatters, one-hot rows and elements taken along a dim: every element is compared with
// its definition by its global index; uneven and empty extents, ids outside of the table, strict
// and named forms; the shim counts the bytes.
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/call_text.hpp"
#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
struct K : Index<"K"> {};
struct V7 : Index<"V7", 7> {};

using Int = std::int64_t;
using Two = std::array<Int, 2>;

Int row(Int v, Int d) { return v * 100 + d + 1; }
// From -2 to n + 1, so that some ids are outside of the table.
Int id(Int b, Int s, Int n) { return (b * 7 + s * 3) % (n + 4) - 2; }
bool inside(Int k, Int n) { return k >= 0 && k < n; }
Int found(Int k, Int n, Int d) { return inside(k, n) ? row(k, d) : 0; }

template <class A, class Value>
int wrong(A const& a, Value value) {
  int bad = 0;
  auto const block = harness::host_block(a);
  detail::for_each_element(a, [&](Int at, std::array<Int, A::rank> const& index) {
    if (block.data()[at] != static_cast<typename A::element>(std::apply(value, index))) ++bad;
  });
  return bad;
}

template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (Error const& e) {
    return e.what();
  }
  return "none";
}

// The same of a call of `operation`, whose line the text ends with.
template <class Run>
std::string error_of(std::string const& operation, Run run) {
  return harness::before_call(error_of(run), operation, "indexing.cpp");
}

struct Case {
  Int v, d, b, s;
};
std::array<Case, 6> const cases = {
    {{7, 5, 9, 4}, {1, 1, 1, 1}, {13, 3, 2, 0}, {0, 4, 5, 3}, {5, 0, 6, 2}, {16, 8, 12, 6}}};

template <class T, class... Dims>
auto table_of(Mesh<X, Y> const& mesh, Case const& n) {
  return from_function<T, Dims...>(mesh, {n.v, n.d}, [](Int v, Int d) { return T(row(v, d)); });
}
template <class Id, class... Dims>
auto ids_of(Mesh<X, Y> const& mesh, Case const& n) {
  return from_function<Id, Dims...>(mesh, {n.b, n.s}, [&](Int b, Int s) { return id(b, s, n.v); });
}

}  // namespace

// The chosen plan may come from planning with other extents; the operands are then resharded as
// that plan requires.
TEST_CASE("a named scatter_add of few rows over three axes") {
  struct A0 : Axis<"A0"> {};
  struct A1 : Axis<"A1"> {};
  struct A2 : Axis<"A2"> {};
  struct Row : Index<"Row"> {};
  struct Left : Index<"Left"> {};
  struct Right : Index<"Right"> {};
  Int const ranks = on_ranks::rank_total();
  Mesh<A0, A1, A2> const mesh(MPI_COMM_WORLD,
                              {ranks % 2 == 0 ? 2 : 1, 1, ranks % 2 == 0 ? ranks / 2 : ranks});
  for (Int const n : {1, 3, 40})
    for (Int const left : {1, 5})
      for (Int const right : {1, 2, 40}) {
        INFO("extents " << n << " " << left << " " << right);
        auto const ids = from_function<Int, Dim<Left, A2>, Dim<Right, A0>>(
            mesh, {left, right}, [=](Int j, Int k) { return (j * 5 + k * 3) % n; });
        auto const updates = from_function<Int, Dim<Left>, Dim<Right>>(
            mesh, {left, right}, [](Int j, Int k) { return 1 + j * 10 + k; });
        auto const want = [=](Int v) {
          Int sum = 0;
          for (Int j = 0; j < left; ++j)
            for (Int k = 0; k < right; ++k) sum += (j * 5 + k * 3) % n == v ? 1 + j * 10 + k : 0;
          return sum;
        };
        CHECK(on_ranks::wrong(scatter_add<Row, Dim<Row, A2>>(updates, ids, n), want) == 0);
        CHECK(on_ranks::wrong(scatter_add<Row, Dim<Row, A2>, Reduced<A0>>(updates, ids, n), want) ==
              0);
      }
}

TEST_CASE(
    "gather, strict: ids split, table whole, split elsewhere, split along what is looked up") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.d << " " << n.b << " " << n.s);
    auto const right = [&](Int b, Int s, Int d) { return found(id(b, s, n.v), n.v, d); };
    auto const ids = ids_of<std::int32_t, Dim<B, X>, Dim<N>>(mesh, n);
    auto const whole = take<V>(table_of<float, Dim<V>, Dim<D>>(mesh, n), ids);
    static_assert(std::is_same_v<decltype(whole), Tensor<float, Dim<B, X>, Dim<N>, Dim<D>> const>);
    CHECK(wrong(whole, right) == 0);
    auto const beside = take<V>(table_of<double, Dim<V>, Dim<D, Y>>(mesh, n), ids);
    static_assert(
        std::is_same_v<decltype(beside), Tensor<double, Dim<B, X>, Dim<N>, Dim<D, Y>> const>);
    CHECK(wrong(beside, right) == 0);
    shim::reset();
    auto const unreduced = take<V>(table_of<Int, Dim<V, Y>, Dim<D>>(mesh, n), ids);
    CHECK(shim::bytes() == 0);
    static_assert(std::is_same_v<decltype(unreduced),
                                 Tensor<Int, Dim<B, X>, Dim<N>, Dim<D>, Unreduced<Y>> const>);
    CHECK(wrong(all_reduce<Y>(unreduced), right) == 0);
    // bool has no sum: the result is the maximum of the found elements
    auto const odd = from_function<bool, Dim<V, Y>, Dim<D>>(
        mesh, {n.v, n.d}, [](Int v, Int d) { return row(v, d) % 2 != 0; });
    auto const found_odd = take<V>(odd, ids);
    static_assert(std::is_same_v<decltype(found_odd),
                                 Tensor<bool, Dim<B, X>, Dim<N>, Dim<D>, Unreduced<Max, Y>> const>);
    CHECK(wrong(all_reduce<Y>(found_odd),
                [&](Int b, Int s, Int d) { return right(b, s, d) % 2 != 0; }) == 0);
    // V in the middle, ids without dims
    auto const deep = from_function<Kokkos::complex<float>, Dim<K>, Dim<V>, Dim<D, Y>>(
        mesh, {3, n.v, n.d},
        [](Int k, Int v, Int d) { return Kokkos::complex<float>(float(row(v, d)), float(k)); });
    auto const middle = take<V>(deep, ids_of<Int, Dim<B>, Dim<N, X>>(mesh, n));
    CHECK(wrong(middle, [&](Int k, Int b, Int s, Int d) {
            return inside(id(b, s, n.v), n.v)
                       ? Kokkos::complex<float>(float(right(b, s, d)), float(k))
                       : Kokkos::complex<float>();
          }) == 0);
    auto const one = take<V>(deep, full<Int>(mesh, {}, n.v - 1));
    CHECK(wrong(one, [&](Int k, Int d) {
            return n.v > 0 ? Kokkos::complex<float>(float(row(n.v - 1, d)), float(k))
                           : Kokkos::complex<float>();
          }) == 0);
    // an expression is an operand
    CHECK(wrong(take<V>(table_of<Int, Dim<V>, Dim<D>>(mesh, n) * Int{2}, ids + 0),
                [&](Int b, Int s, Int d) { return 2 * right(b, s, d); }) == 0);
  }
}

TEST_CASE("gather: unreduced and reduced tables") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Case const n{7, 5, 9, 4};
  auto const right = [&](Int b, Int s, Int d) { return found(id(b, s, n.v), n.v, d); };
  auto const table = table_of<Int, Dim<V>, Dim<D>>(mesh, n);
  auto const ids = ids_of<Int, Dim<B, X>, Dim<N>>(mesh, n);
  auto const unreduced = take<V>(to_partial<Y>(table), ids);
  static_assert(std::is_same_v<decltype(unreduced),
                               Tensor<Int, Dim<B, X>, Dim<N>, Dim<D>, Unreduced<Y>> const>);
  CHECK(wrong(all_reduce<Y>(unreduced), right) == 0);
  auto const largest = max<K>(from_function<Int, Dim<K, Y>, Dim<V>, Dim<D>>(
      mesh, {5, n.v, n.d}, [](Int k, Int v, Int d) { return row(v, d) - k; }));
  CHECK(wrong(all_reduce<Y>(take<V>(largest, ids)), right) == 0);
  auto const kept = take<V>(reduced<X, Y>(table), ids);
  static_assert(
      std::is_same_v<decltype(kept), Tensor<Int, Dim<B, X>, Dim<N>, Dim<D>, Reduced<Y>> const>);
  CHECK(wrong(kept, right) == 0);
}

TEST_CASE("gather, named: reduced, scattered, sliced; ids that share an axis are gathered first") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.d << " " << n.b << " " << n.s);
    auto const right = [&](Int b, Int s, Int d) { return found(id(b, s, n.v), n.v, d); };
    auto const ids = ids_of<Int, Dim<B, X>, Dim<N>>(mesh, n);
    auto const table = table_of<float, Dim<V, Y>, Dim<D>>(mesh, n);
    using Met = Tensor<float, Dim<B, X>, Dim<N>, Dim<D>, Unreduced<Y>>;
    auto const unreduced = take<V>(table, ids);
    shim::reset();
    reshard<Dim<B, X>, Dim<N>, Dim<D>>(unreduced);
    Int const reducing = shim::bytes();
    shim::reset();
    auto const whole = take<V, Dim<B, X>, Dim<N>, Dim<D>>(table, ids);
    CHECK(shim::bytes() == reducing);
    CHECK(wrong(whole, right) == 0);
    CHECK(wrong(take<V, Dim<B, X>, Dim<N>, Dim<D, Y>>(table, ids), right) == 0);
    CHECK(wrong(all_reduce<Y>(take<V, Met>(table, ids)), right) == 0);
    CHECK(wrong(take<V, Dim<D, Y>, Dim<N>, Dim<B, X>>(table, ids),
                [&](Int d, Int s, Int b) { return right(b, s, d); }) == 0);
    // nothing is sent: the operands are sliced like the result before the lookup
    shim::reset();
    auto const sliced = take<V, Dim<B, X>, Dim<N>, Dim<D, Y>>(
        table_of<float, Dim<V>, Dim<D>>(mesh, n), ids_of<Int, Dim<B>, Dim<N>>(mesh, n));
    CHECK(shim::bytes() == 0);
    CHECK(wrong(sliced, right) == 0);
    // X splits both: the ids are gathered, the result is scattered over X
    auto const same = table_of<float, Dim<V, X>, Dim<D>>(mesh, n);
    CHECK(wrong(take<V, Dim<B, X>, Dim<N>, Dim<D>>(same, ids), right) == 0);
    auto const other = table_of<float, Dim<V, Y>, Dim<D, X>>(mesh, n);
    CHECK(wrong(take<V, Dim<B, X>, Dim<N, Y>, Dim<D>>(other, ids), right) == 0);
  }
}

namespace {

// The update at (b, s), and the sums of the updates of a row.
Int update(Int b, Int s, Int d) { return b * 31 + s * 5 + d + 1; }
Int added(Case const& n, Int v, Int d) {
  Int sum = 0;
  for (Int b = 0; b < n.b; ++b)
    for (Int s = 0; s < n.s; ++s)
      if (id(b, s, n.v) == v) sum += update(b, s, d);
  return sum;
}
template <class T, class... Dims>
auto updates_of(Mesh<X, Y> const& mesh, Case const& n) {
  return from_function<T, Dims...>(mesh, {n.b, n.s, n.d},
                                   [](Int b, Int s, Int d) { return T(update(b, s, d)); });
}

}  // namespace

TEST_CASE("scatter_add, strict: what splits the ids is unreduced, the rest stays") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.d << " " << n.b << " " << n.s);
    auto const right = [&](Int v, Int d) { return added(n, v, d); };
    auto const ids = ids_of<std::int32_t, Dim<B, X>, Dim<N>>(mesh, n);
    shim::reset();
    auto const sums =
        scatter_add<V>(updates_of<double, Dim<B, X>, Dim<N>, Dim<D, Y>>(mesh, n), ids, n.v);
    CHECK(shim::bytes() == 0);
    static_assert(
        std::is_same_v<decltype(sums), Tensor<double, Dim<V>, Dim<D, Y>, Unreduced<X>> const>);
    CHECK(wrong(all_reduce<X>(sums), right) == 0);
    // the replicated operand is sliced, whichever it is
    auto const by_ids =
        scatter_add<V>(updates_of<Int, Dim<B>, Dim<N, Y>, Dim<D>>(mesh, n), ids, n.v);
    static_assert(
        std::is_same_v<decltype(by_ids), Tensor<Int, Dim<V>, Dim<D>, Unreduced<X, Y>> const>);
    CHECK(wrong(all_reduce<X, Y>(by_ids), right) == 0);
    // the dims of the ids apart and in another order: V is at the position of the first
    auto const turned = transpose<N, D, B>(updates_of<float, Dim<B, X>, Dim<N>, Dim<D>>(mesh, n));
    CHECK(wrong(all_reduce<X>(scatter_add<V>(turned, ids, n.v)), right) == 0);
    auto const behind = transpose<D, B, N>(updates_of<Int, Dim<B, X>, Dim<N>, Dim<D, Y>>(mesh, n));
    CHECK(wrong(all_reduce<X>(scatter_add<V>(behind, ids, n.v)),
                [&](Int d, Int v) { return added(n, v, d); }) == 0);
    // unreduced updates, ids without dims
    auto const partial = to_partial<Y>(updates_of<Int, Dim<B, X>, Dim<N>, Dim<D>>(mesh, n));
    CHECK(wrong(all_reduce<X, Y>(scatter_add<V>(partial, ids + 0, n.v)), right) == 0);
    auto const line = from_function<Kokkos::complex<double>, Dim<D, Y>>(
        mesh, {n.d}, [](Int d) { return Kokkos::complex<double>(double(d), 1.0); });
    CHECK(wrong(scatter_add<V>(line, full<Int>(mesh, {}, 1), n.v), [](Int v, Int d) {
            return v == 1 ? Kokkos::complex<double>(double(d), 1.0) : Kokkos::complex<double>();
          }) == 0);
  }
}

TEST_CASE("scatter_add, named: own rows alone, reduced, or gathered where that moves less") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.d << " " << n.b << " " << n.s);
    auto const right = [&](Int v, Int d) { return added(n, v, d); };
    auto const ids = ids_of<Int, Dim<B, X>, Dim<N>>(mesh, n);
    auto const updates = updates_of<float, Dim<B, X>, Dim<N>, Dim<D>>(mesh, n);
    CHECK(wrong(scatter_add<V, Dim<V>, Dim<D>>(updates, ids, n.v), right) == 0);
    CHECK(wrong(scatter_add<V, Dim<V, X>, Dim<D>>(updates, ids, n.v), right) == 0);
    CHECK(wrong(scatter_add<V, Dim<V, Y, X>, Dim<D>>(updates, ids, n.v), right) == 0);
    CHECK(wrong(scatter_add<V, Dim<D, X>, Dim<V, Y>>(updates, ids, n.v),
                [&](Int d, Int v) { return added(n, v, d); }) == 0);
    auto const unreduced = scatter_add<V, Dim<V, Y>, Dim<D>, Unreduced<X>>(updates, ids, n.v);
    CHECK(wrong(all_reduce<X>(unreduced), right) == 0);
    // Y splits neither operand: every rank adds its own rows and columns, nothing is sent
    auto const all = updates_of<float, Dim<B>, Dim<N>, Dim<D>>(mesh, n);
    auto const all_ids = ids_of<Int, Dim<B>, Dim<N>>(mesh, n);
    shim::reset();
    auto const own = scatter_add<V, Dim<V, Y>, Dim<D, X>>(all, all_ids, n.v);
    CHECK(shim::bytes() == 0);
    CHECK(wrong(own, right) == 0);
    // ids that are sharded unlike the updates are resharded
    auto const apart = ids_of<Int, Dim<B, Y>, Dim<N, X>>(mesh, n);
    CHECK(wrong(scatter_add<V, Dim<V, X>, Dim<D>>(updates, apart, n.v), right) == 0);
  }
  // few updates into a large table are gathered, many into a small one are reduced
  int const p = static_cast<int>(mesh.size_of<X>());
  auto const bytes = [&](Int rows, Int batch) {
    auto const ids = from_function<Int, Dim<B, X>>(mesh, {batch}, [](Int b) { return b % 3; });
    auto const updates = full<float, Dim<B, X>, Dim<D>>(mesh, {batch, 4}, 1.0F);
    shim::reset();
    auto const sums = scatter_add<V, Dim<V, X>, Dim<D>>(updates, ids, rows);
    Int const sent = shim::bytes();
    CHECK(wrong(sums, [&](Int v, Int) { return v < 3 ? (batch - v + 2) / 3 : 0; }) == 0);
    return sent;
  };
  CHECK(bytes(6000, 12) == (p - 1) * (12 / p) * (4 * 4 + 8));
  CHECK(bytes(12, 6000) == (p - 1) * (12 / p) * 4 * 4);
}

TEST_CASE("scatter_add is the transpose of gather") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Case const n{7, 5, 9, 4};
  auto const ids = ids_of<Int, Dim<B, X>, Dim<N>>(mesh, n);
  auto const table = table_of<Int, Dim<V, Y>, Dim<D>>(mesh, n);
  auto const updates = updates_of<Int, Dim<B, X>, Dim<N>, Dim<D>>(mesh, n);
  Int const forward =
      item(sum<Tensor<Int>>(take<V, Dim<B, X>, Dim<N>, Dim<D>>(table, ids) * updates));
  Int const back =
      item(sum<Tensor<Int>>(scatter_add<V, Dim<V, Y>, Dim<D>>(updates, ids, n.v) * table));
  CHECK(forward == back);
  CHECK(forward != 0);
}

TEST_CASE("one_hot: whole and in parts; a product with it is a lookup") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.b << " " << n.s);
    auto const right = [&](Int b, Int s, Int v) { return id(b, s, n.v) == v ? 1 : 0; };
    auto const ids = ids_of<std::int32_t, Dim<B, X>, Dim<N>>(mesh, n);
    auto const hot = one_hot<V>(ids, n.v);
    static_assert(std::is_same_v<decltype(hot), Tensor<float, Dim<B, X>, Dim<N>, Dim<V>> const>);
    CHECK(wrong(hot, right) == 0);
    CHECK(wrong(one_hot<V, bool>(ids, n.v), right) == 0);
    shim::reset();
    auto const own = one_hot<V, double, Dim<B, X>, Dim<N>, Dim<V, Y>>(ids, n.v);
    CHECK(shim::bytes() == 0);
    static_assert(
        std::is_same_v<decltype(own), Tensor<double, Dim<B, X>, Dim<N>, Dim<V, Y>> const>);
    CHECK(wrong(own, right) == 0);
    auto const table = table_of<double, Dim<V, Y>, Dim<D>>(mesh, n);
    CHECK(wrong(einsum<Dim<B, X>, Dim<N>, Dim<D>>(own, table),
                [&](Int b, Int s, Int d) { return found(id(b, s, n.v), n.v, d); }) == 0);
    CHECK(wrong(one_hot<V, Tensor<Int, Dim<V, X>, Dim<N>, Dim<B>>>(ids, n.v),
                [&](Int v, Int s, Int b) { return right(b, s, v); }) == 0);
  }
  auto const seven = from_function<Int, Dim<B, X>>(mesh, {9}, [](Int b) { return b; });
  CHECK(wrong(one_hot<V7>(seven), [](Int b, Int v) { return b == v ? 1 : 0; }) == 0);
}

TEST_CASE(
    "take_along: the same dims, another extent, another index, split where the tensor is whole") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.b << " " << n.s);
    auto const f = [](Int b, Int v) { return b * 1000 + v + 1; };
    auto const a = from_function<float, Dim<B, X>, Dim<V>>(
        mesh, {n.b, n.v}, [&](Int b, Int v) { return static_cast<float>(f(b, v)); });
    auto const right = [&](Int b, Int s) {
      return inside(id(b, s, n.v), n.v) ? f(b, id(b, s, n.v)) : 0;
    };
    auto const same = from_function<Int, Dim<B, X>, Dim<V>>(
        mesh, {n.b, n.s}, [&](Int b, Int s) { return id(b, s, n.v); });
    CHECK(wrong(take_along<V>(a, same), right) == 0);
    auto const other = ids_of<std::int32_t, Dim<B, X>, Dim<N, Y>>(mesh, n);
    auto const taken = take_along<V, N>(a, other);
    static_assert(std::is_same_v<decltype(taken), Tensor<float, Dim<B, X>, Dim<N, Y>> const>);
    CHECK(wrong(taken, right) == 0);
    // along the first of two dims, and of an unreduced tensor
    auto const b = transpose<V, B>(a);
    CHECK(wrong(all_reduce<Y>(take_along<V>(to_partial<Y>(b), transpose<V, B>(same))),
                [&](Int s, Int i) { return right(i, s); }) == 0);
  }
}

TEST_CASE("scatter_along: the transpose of take_along, equal positions, unreduced where split") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& n : cases) {
    INFO(n.v << " " << n.b << " " << n.s);
    auto const value = [](Int b, Int s) { return b * 10 + s + 1; };
    // a third of each row has the same id
    auto const of = [&](Int b, Int s) { return s % 3 == 1 ? b % 2 : id(b, s, n.v); };
    auto const right = [&](Int b, Int v) {
      Int sum = 0;
      for (Int s = 0; s < n.s; ++s) sum += of(b, s) == v ? value(b, s) : 0;
      return sum;
    };
    auto const ids = from_function<std::int32_t, Dim<B, X>, Dim<N, Y>>(
        mesh, {n.b, n.s}, [&](Int b, Int s) { return static_cast<std::int32_t>(of(b, s)); });
    auto const updates = from_function<float, Dim<B, X>, Dim<N, Y>>(
        mesh, {n.b, n.s}, [&](Int b, Int s) { return static_cast<float>(value(b, s)); });
    shim::reset();
    auto const sums = scatter_along<V, N>(updates, ids, n.v);
    CHECK(shim::bytes() == 0);
    static_assert(
        std::is_same_v<decltype(sums), Tensor<float, Dim<B, X>, Dim<V>, Unreduced<Y>> const>);
    CHECK(wrong(all_reduce<Y>(sums), right) == 0);
    CHECK(wrong(reduce_scatter<Y, V>(sums), right) == 0);
    // of the same index, along the first of two dims, of an unreduced and of a reduced tensor
    auto const whole = reshard<Dim<N>, Dim<B, X>>(updates);
    auto const at = reshard<Dim<N>, Dim<B, X>>(ids);
    auto const turned = [&](Int v, Int b) { return right(b, v); };
    CHECK(wrong(scatter_along<V, N>(whole, at, n.v), turned) == 0);
    CHECK(wrong(relabel<N, V>(scatter_along<N>(whole, at, n.v)), turned) == 0);
    CHECK(wrong(all_reduce<Y>(scatter_along<V, N>(to_partial<Y>(whole), at, n.v)), turned) == 0);
    auto const same = scatter_along<V, N>(reduced<Y>(whole), at, n.v);
    static_assert(
        std::is_same_v<decltype(same), Tensor<float, Dim<V>, Dim<B, X>, Reduced<Y>> const>);
    CHECK(wrong(same, turned) == 0);
    // <take_along(a), u> = <a, scatter_along(u)>
    auto const a = from_function<double, Dim<B, X>, Dim<V>>(
        mesh, {n.b, n.v}, [&](Int b, Int v) { return static_cast<double>((b + 2 * v) % 5 - 1); });
    auto const u = cast<double>(updates).tensor();
    double const left = item(all_reduce<X, Y>(sum<>((take_along<V, N>(a, ids) * u).tensor())));
    auto const back = all_reduce<Y>(scatter_along<V, N>(u, ids, n.v));
    CHECK(item(all_reduce<X>(sum<>((a * back).tensor()))) == left);
    // a permutation: what `sort` took from where
    auto const order = argsort<V>(a);
    CHECK(wrong(scatter_along<V>(sort<V>(a), order, n.v),
                [&](Int b, Int v) { return (b + 2 * v) % 5 - 1; }) == 0);
  }
}

TEST_CASE("ids outside are an Error under SHARDTYPE_CHECK=values; other errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const table = full<float, Dim<V>, Dim<D>>(mesh, {7, 5}, 1.0F);
  auto const ids = from_function<std::int32_t, Dim<B>, Dim<N>>(
      mesh, {3, 2}, [](Int b, Int s) { return b == 2 && s == 1 ? 7 : b; });
  CHECK(error_of([&] { take<V>(table, ids); }) == "none");
  runtime::run_time.settings.check_values = true;
  std::string const text = "[shardtype E50] index V has extent 7; the ids hold 7 at [2, 1]";
  CHECK(error_of("take", [&] { take<V>(table, ids); }) == text);
  CHECK(error_of("one_hot", [&] { one_hot<V>(ids, 7); }) == text);
  CHECK(error_of("scatter_add", [&] {
          scatter_add<V>(full<float, Dim<B>, Dim<N>>(mesh, {3, 2}, 1.0F), ids, 7);
        }) == text);
  CHECK(error_of("take_along", [&] {
          take_along<V, N>(full<float, Dim<B>, Dim<V>>(mesh, {3, 7}, 1.0F), ids);
        }) == text);
  CHECK(error_of("scatter_along", [&] {
          scatter_along<V, N>(full<float, Dim<B>, Dim<N>>(mesh, {3, 2}, 1.0F), ids, 7);
        }) == text);
  CHECK(error_of("one_hot", [&] { one_hot<V>(ids - 1, 7); }) ==
        "[shardtype E50] index V has extent 7; the ids hold -1 at [0, 0]");
  CHECK(error_of([&] { take<V>(full<float, Dim<V>>(mesh, {8}, 1.0F), ids); }) == "none");
  runtime::run_time.settings.check_values = false;
  auto const code = [](auto run) { return error_of(run).substr(0, 15); };
  CHECK(code([&] {
          scatter_add<V>(full<float, Dim<B>>(mesh, {4}, 1.0F), full<Int, Dim<B>>(mesh, {3}, 0), 7);
        }) == "[shardtype E24]");
  CHECK(code([&] {
          take_along<V>(full<float, Dim<B>, Dim<V>>(mesh, {4, 2}, 1.0F),
                        full<Int, Dim<B>, Dim<V>>(mesh, {3, 2}, 0));
        }) == "[shardtype E24]");
  CHECK(code([&] {
          scatter_along<V, N>(full<float, Dim<B>, Dim<N>>(mesh, {3, 4}, 1.0F), ids, 7);
        }) == "[shardtype E24]");
  CHECK(code([&] {
          scatter_along<V, N>(full<float, Dim<B>, Dim<N>>(mesh, {3, 2}, 1.0F), ids, -1);
        }) == "[shardtype E20]");
  CHECK(code([&] { one_hot<V>(ids, -1); }) == "[shardtype E20]");
  CHECK(code([&] { one_hot<V7>(ids, 8); }) == "[shardtype E20]");
  auto const again = on_ranks::two_axes<X, Y>();
  CHECK(code([&] { take<V>(table, full<Int, Dim<B>>(again, {3}, 0)); }) == "[shardtype E23]");
}

TEST_CASE("ranks outside the mesh do nothing") {
  Mesh<X> const one(MPI_COMM_WORLD, {1});
  auto const table = full<float, Dim<V>, Dim<D>>(one, {7, 5}, 1.0F);
  auto const ids = full<Int, Dim<B, X>>(one, {3}, 2);
  auto const rows = take<V, Dim<B>, Dim<D>>(table, ids);
  CHECK(rows.extents() == Two{3, 5});
  CHECK(scatter_add<V, Dim<V, X>, Dim<D>>(rows, ids, 7).extents() == Two{7, 5});
  CHECK(one_hot<V>(ids, 7).extents() == Two{3, 7});
}
