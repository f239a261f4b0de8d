// Operations that communicate along a dim: shift, halo_exchange and scan. Every element is compared
// by its global index; uneven and empty blocks, distances larger than a block; the bytes are
// compared with a count of every row.
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};

using Int = std::int64_t;

Int f(Int j, Int i, Int k) { return i * 10000 + j * 100 + k + 1; }

// The source row of global row `i`, or -1 for zeros.
Int source(Int i, Int extent, op::Edge edge) {
  if (edge == op::Edge::wrap) return extent == 0 ? -1 : ((i % extent) + extent) % extent;
  return i >= 0 && i < extent ? i : -1;
}

// The bytes that this rank sends if every rank along I needs the rows [begin + low, end + high)
// relative to its own block: each needed row counts once per rank that needs it and lacks it.
template <class A>
Int sent_bytes(A const& a, Int low, Int high, op::Edge edge) {
  AxisMap const axes = map_axes(a.mesh().state(), Scope<A>::names);
  DimSpec const& dim = A::spec.dims[1];
  Int const extent = a.extents()[1];
  auto const rows_of = [&](Int g) {
    return block({0, extent}, dim.axes, axes.sizes, member(dim.axes, axes.sizes, axes.coords, g));
  };
  Range const mine = a.ranges()[1];
  Int rows = 0;
  for (Int g = 0; g < axes.sizes.product(dim.axes); ++g) {
    Range const theirs = rows_of(g);
    if (theirs.size() == 0 || theirs == mine) continue;
    for (Int i = theirs.begin + low; i < theirs.end + high; ++i) {
      Int const from = source(i, extent, edge);
      if (from >= mine.begin && from < mine.end) ++rows;
    }
  }
  return rows * a.local_extents()[0] * a.local_extents()[2] * static_cast<Int>(sizeof(Int));
}

// The shifted dim is the middle one, so that messages are packed; the outer dim is split too.
template <class Split>
void check_shifts(Mesh<X, Y> const& mesh, Int outer, Int extent, Int inner) {
  auto const a = from_function<Int, Dim<J>, Split, Dim<K>>(mesh, {outer, extent, inner}, f);
  for (op::Edge const edge : {op::Edge::fill_zero, op::Edge::wrap})
    for (Int n = -extent - 3; n <= extent + 3; ++n) {
      INFO("extent " << extent << " shifted by " << n
                     << (edge == op::Edge::wrap ? ", wrapped" : ""));
      shim::reset();
      auto const s = shift<I>(a, n, edge);
      Int const bytes = shim::bytes();
      static_assert(std::is_same_v<decltype(s), decltype(a)>);
      CHECK(s.extents() == a.extents());
      CHECK(on_ranks::wrong(s, [&](Int j, Int i, Int k) {
              Int const from = source(i - n, extent, edge);
              return from < 0 ? 0 : f(j, from, k);
            }) == 0);
      CHECK(bytes == sent_bytes(a, -n, -n, edge));
      AxisMap const axes = map_axes(mesh.state(), Scope<std::remove_const_t<decltype(a)>>::names);
      Sizing const z{Extents{{outer, extent, inner}}, axes.sizes, 8};
      CHECK(bytes ==
            window_bytes(decltype(a)::spec, 1, z, axes.coords, shift_window(n, extent, edge)));
      CHECK(bytes == plan_at(op::Shift<I>{n, edge}, a).bytes(axes.coords));
    }
  CHECK(on_ranks::wrong(a, f) == 0);
}

template <class Split>
void check_halos(Mesh<X, Y> const& mesh, Int outer, Int extent, Int inner) {
  auto const a = from_function<Int, Dim<J>, Split, Dim<K>>(mesh, {outer, extent, inner}, f);
  for (op::Edge const edge : {op::Edge::fill_zero, op::Edge::wrap})
    for (Int const before : {Int{0}, Int{1}, Int{3}, extent + 2})
      for (Int const after : {Int{0}, Int{1}, Int{2}, 2 * extent + 1}) {
        INFO("extent " << extent << ", " << before << " before, " << after << " after");
        shim::reset();
        auto const h = halo_exchange<I>(a, before, after, edge);
        CHECK(shim::bytes() == sent_bytes(a, -before, after, edge));
        op::HaloExchange<I> const exchange{before, after, edge};
        CHECK(shim::bytes() == plan_at(exchange, a).bytes(coords_in(exchange, a)));
        Range const rows = h.ranges()[1];
        Range const own = a.ranges()[1];
        if (own.size() == 0) {
          CHECK(rows.size() == 0);
          CHECK(h.local().size() == 0);
          continue;
        }
        CHECK(rows == Range{own.begin - before, own.end + after});
        auto const view = harness::host_block(h);
        int bad = 0;
        for (std::size_t j = 0; j < view.extent(0); ++j)
          for (std::size_t i = 0; i < view.extent(1); ++i)
            for (std::size_t k = 0; k < view.extent(2); ++k) {
              Int const from = source(rows.begin + static_cast<Int>(i), extent, edge);
              Int const value = from < 0 ? 0
                                         : f(h.ranges()[0].begin + static_cast<Int>(j), from,
                                             h.ranges()[2].begin + static_cast<Int>(k));
              if (view(j, i, k) != value) ++bad;
            }
        CHECK(bad == 0);
      }
}

// The value at row `t` of the window of a block that begins at row `begin`.
Int in_halo(Int begin, Int j, Int t, Int k) { return (begin + 1) * 1000 + j * 100 + t * 10 + k; }

template <class Split>
void check_halo_adds(Mesh<X, Y> const& mesh, Int outer, Int extent, Int inner) {
  using A = Tensor<Int, Dim<J>, Split, Dim<K>>;
  auto const a = from_function<Int, Dim<J>, Split, Dim<K>>(mesh, {outer, extent, inner}, f);
  AxisMap const axes = map_axes(mesh.state(), Scope<A>::names);
  DimSpec const& dim = A::spec.dims[1];
  for (op::Edge const edge : {op::Edge::fill_zero, op::Edge::wrap})
    for (Int const before : {Int{0}, Int{1}, Int{3}, extent + 2})
      for (Int const after : {Int{0}, Int{2}, 2 * extent + 1}) {
        INFO("extent " << extent << ", " << before << " before, " << after << " after");
        auto const fetched = halo_exchange<I>(a, before, after, edge);
        auto h = zeros_like(fetched);
        Int const begin = a.ranges()[1].begin;
        harness::write_block(h, [&](auto const& to) {
          for (std::size_t j = 0; j < to.extent(0); ++j)
            for (std::size_t i = 0; i < to.extent(1); ++i)
              for (std::size_t k = 0; k < to.extent(2); ++k)
                to(j, i, k) = in_halo(begin, h.ranges()[0].begin + static_cast<Int>(j),
                                      h.ranges()[1].begin + static_cast<Int>(i),
                                      h.ranges()[2].begin + static_cast<Int>(k));
        });
        shim::reset();
        auto const sums = halo_add(h);
        Int const bytes = shim::bytes();
        static_assert(std::is_same_v<decltype(sums), A const>);
        CHECK(sums.extents() == a.extents());
        CHECK(on_ranks::wrong(sums, [&](Int j, Int i, Int k) {
                Int sum = 0;
                for (Int g = 0; g < axes.sizes.product(dim.axes); ++g) {
                  Range const block = shardtype::core::block({0, extent}, dim.axes, axes.sizes,
                                                             member(dim.axes, axes.sizes, {}, g));
                  if (block.size() == 0) continue;
                  for (Int t = block.begin - before; t < block.end + after; ++t)
                    if (source(t, extent, edge) == i) sum += in_halo(block.begin, j, t, k);
                }
                return sum;
              }) == 0);
        // what a rank received of the halos it sends back
        Sizing const z{Extents{{outer, extent, inner}}, axes.sizes, 8};
        Range const mine = a.ranges()[1];
        Int rows = 0;
        for (Int t = mine.begin - before; mine.size() > 0 && t < mine.end + after; ++t) {
          Int const row = source(t, extent, edge);
          if (row >= 0 && (row < mine.begin || row >= mine.end)) ++rows;
        }
        CHECK(bytes == rows * a.local_extents()[0] * a.local_extents()[2] * 8);
        CHECK(bytes == window_bytes(A::spec, 1, z, axes.coords, {-before, after, edge, true}));
        CHECK(bytes == plan_at(op::HaloAdd<I>{before, after, edge}, a).bytes(axes.coords));
      }
}

Int g(Int j, Int i, Int k) { return (i * 7 + j * 3 + k) % 11 - 5; }

template <class Split>
void check_scans(Mesh<X, Y> const& mesh, Int outer, Int extent, Int inner) {
  INFO("extent " << extent);
  auto const a = from_function<Int, Dim<J>, Split, Dim<K>>(mesh, {outer, extent, inner}, g);
  auto const running = [](auto combine, Int start, bool exclusive) {
    return [=](Int j, Int i, Int k) {
      Int sum = start;
      for (Int r = 0; r < (exclusive ? i : i + 1); ++r) sum = combine(sum, g(j, r, k));
      return sum;
    };
  };
  auto const add = [](Int x, Int y) { return x + y; };
  auto const most = [](Int x, Int y) { return x > y ? x : y; };
  auto const least = [](Int x, Int y) { return x < y ? x : y; };
  shim::reset();
  auto const s = cumsum<I>(a);
  AxisMap const axes = map_axes(mesh.state(), Scope<std::remove_const_t<decltype(a)>>::names);
  Int const p = axes.sizes.product(decltype(a)::spec.dims[1].axes);
  CHECK(shim::bytes() == (p - 1) * a.local_extents()[0] * a.local_extents()[2] * 8);
  CHECK(plan_at(op::CumSum<I>{}, a).bytes(axes.coords) ==
        (p - 1) * a.local_extents()[0] * a.local_extents()[2] * 8);
  CHECK(on_ranks::wrong(s, running(add, 0, false)) == 0);
  CHECK(on_ranks::wrong(cumsum<I>(a, op::Cumulate::exclusive), running(add, 0, true)) == 0);
  auto const times = [](Int x, Int y) { return x * y; };
  CHECK(on_ranks::wrong(cumprod<I>(a), running(times, 1, false)) == 0);
  CHECK(on_ranks::wrong(cumprod<I>(a, op::Cumulate::exclusive), running(times, 1, true)) == 0);
  CHECK(on_ranks::wrong(cummax<I>(a), running(most, INT64_MIN, false)) == 0);
  CHECK(on_ranks::wrong(cummax<I>(a, op::Cumulate::exclusive), running(most, INT64_MIN, true)) ==
        0);
  CHECK(on_ranks::wrong(cummin<I>(a), running(least, INT64_MAX, false)) == 0);
  CHECK(on_ranks::wrong(cummin<I>(a, op::Cumulate::exclusive), running(least, INT64_MAX, true)) ==
        0);
  // backward: the same values of the rows in reverse order, at the same cost
  auto const backward = [](auto combine, Int start, Int rows, bool exclusive) {
    return [=](Int j, Int i, Int k) {
      Int sum = start;
      for (Int r = rows - 1; r >= (exclusive ? i + 1 : i); --r) sum = combine(sum, g(j, r, k));
      return sum;
    };
  };
  using enum op::Cumulate;
  constexpr auto reverse = op::Direction::reverse;
  shim::reset();
  auto const back = cumsum<I>(a, inclusive, reverse);
  CHECK(shim::bytes() == (p - 1) * a.local_extents()[0] * a.local_extents()[2] * 8);
  CHECK(on_ranks::wrong(back, backward(add, 0, extent, false)) == 0);
  CHECK(on_ranks::wrong(cumsum<I>(a, exclusive, reverse), backward(add, 0, extent, true)) == 0);
  CHECK(on_ranks::wrong(cumprod<I>(a, inclusive, reverse), backward(times, 1, extent, false)) == 0);
  CHECK(on_ranks::wrong(cumprod<I>(a, exclusive, reverse), backward(times, 1, extent, true)) == 0);
  CHECK(on_ranks::wrong(cummax<I>(a, inclusive, reverse),
                        backward(most, INT64_MIN, extent, false)) == 0);
  CHECK(on_ranks::wrong(cummax<I>(a, exclusive, reverse),
                        backward(most, INT64_MIN, extent, true)) == 0);
  CHECK(on_ranks::wrong(cummin<I>(a, inclusive, reverse),
                        backward(least, INT64_MAX, extent, false)) == 0);
  CHECK(on_ranks::wrong(cummin<I>(a, exclusive, reverse),
                        backward(least, INT64_MAX, extent, true)) == 0);
  CHECK(on_ranks::wrong(a, g) == 0);
}

template <class Check>
void for_extents(Check check) {
  for (Int const extent : {0, 1, 2, 5, 9, 16}) check(2, extent, 3);
  check(1, 7, 1);  // one-dimensional in memory: contiguous messages
  check(3, 4, 0);  // no elements at all
}

}  // namespace

TEST_CASE("shift: every amount, zeros and wrapped") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for_extents([&](Int a, Int b, Int c) { check_shifts<Dim<I, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_shifts<Dim<I, X, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_shifts<Dim<I>>(mesh, a, b, c); });
}

TEST_CASE("shift: other dims split, some ranks empty") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<J, X>, Dim<I, Y>, Dim<K>>(mesh, {1, 6, 2}, f);
  CHECK(on_ranks::wrong(shift<I>(a, 2),
                        [](Int j, Int i, Int k) { return i < 2 ? 0 : f(j, i - 2, k); }) == 0);
  CHECK(on_ranks::wrong(shift<J>(a, 1, op::Edge::wrap), f) == 0);
  CHECK(on_ranks::wrong(cumsum<J>(a), f) == 0);
  CHECK(on_ranks::wrong(shift<I>(a, INT64_MAX), [](Int, Int, Int) { return 0; }) == 0);
  CHECK(on_ranks::wrong(shift<I>(a, INT64_MIN, op::Edge::wrap), [](Int j, Int i, Int k) {
          return f(j, (i + INT64_MAX % 6 + 1) % 6, k);
        }) == 0);
}

TEST_CASE("halo_exchange: halos wider than blocks, zeros and wrapped") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for_extents([&](Int a, Int b, Int c) { check_halos<Dim<I, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_halos<Dim<I, Y, X>>(mesh, a, b, c); });
  auto const a = zeros<Int, Dim<I, X>>(mesh, {4});
  std::string code;
  try {
    halo_exchange<I>(a, -1, 0);
  } catch (Error const& e) {
    code = e.code();
  }
  CHECK(code == "E41");
}

TEST_CASE("halo_add: halos wider than blocks, zeros and wrapped") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for_extents([&](Int a, Int b, Int c) { check_halo_adds<Dim<I, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_halo_adds<Dim<I, Y, X>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_halo_adds<Dim<I>>(mesh, a, b, c); });
}

TEST_CASE("halo_add is the transpose of halo_exchange") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  // <h, exchange(a)> = <add(h), a>
  auto const a = from_function<double, Dim<I, X, Y>>(
      mesh, {23}, [](Int i) { return static_cast<double>(i * i % 7) - 2; });
  for (op::Edge const edge : {op::Edge::fill_zero, op::Edge::wrap}) {
    auto const fetched = halo_exchange<I>(a, 3, 4, edge);
    auto h = zeros_like(fetched);
    CHECK(h.local().size() == fetched.local().size());
    auto const of_a = harness::host_block(fetched);
    double mine = 0;
    harness::write_block(h, [&](auto const& to) {
      for (std::size_t i = 0; i < to.extent(0); ++i) {
        to(i) = static_cast<double>((h.ranges()[0].begin * 5 + static_cast<Int>(i) * 3) % 11);
        mine += to(i) * of_a(i);
      }
    });
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    auto const sums = halo_add(h);
    CHECK(item(sum<>(reshard<Dim<I>>((sums * a).tensor()))) == all);
  }
}

TEST_CASE("a Halo is a value") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>>(mesh, {9}, [](Int i) { return i; });
  auto h = halo_exchange<I>(a, 1, 1);
  auto const copy = h;
  std::string code;
  try {
    static_cast<void>(h.mutable_local());
  } catch (Error const& e) {
    code = e.code();
  }
  CHECK(code == "E21");
  h = zeros_like(copy);
  harness::write_block(h, [](auto const& to) {
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i) = 1;
  });
  CHECK(h.extents() == a.extents());
  CHECK(copy.window() == h.window());
  auto const once = harness::host_block(copy);
  if (once.size() > 0) CHECK(once(1) == copy.ranges()[0].begin + 1);
}

TEST_CASE("scan: sums, maxima and minima, with and without the own element") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for_extents([&](Int a, Int b, Int c) { check_scans<Dim<I, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_scans<Dim<I, X, Y>>(mesh, a, b, c); });
  for_extents([&](Int a, Int b, Int c) { check_scans<Dim<I>>(mesh, a, b, c); });
  auto const d = full<double, Dim<I, X, Y>>(mesh, {9}, 0.5);
  CHECK(on_ranks::wrong(cumsum<I>(d), [](Int i) { return 0.5 * static_cast<double>(i + 1); }) == 0);
  CHECK(on_ranks::wrong(cummax<I>(d, op::Cumulate::exclusive), [](Int i) {
          return i == 0 ? -std::numeric_limits<double>::infinity() : 0.5;
        }) == 0);
  // a NaN stays, as in numpy.maximum.accumulate
  auto const nan = from_function<double, Dim<I, X, Y>>(mesh, {9}, [](Int i) {
    return i == 3 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i);
  });
  for (auto const& running : {cummax<I>(nan), cummin<I>(nan)})
    CHECK(item(sum<>(reshard<Dim<I>>(cast<Int>(isnan(running))))) == 6);
  auto const c = full<Kokkos::complex<float>, Dim<I, X>>(mesh, {5}, {1, 2});
  CHECK(on_ranks::wrong(cumsum<I>(c), [](Int i) {
          auto const n = static_cast<float>(i + 1);
          return Kokkos::complex<float>(n, 2 * n);
        }) == 0);
}

TEST_CASE("a stencil: the halo and the shift agree") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X, Y>>(mesh, {23}, [](Int i) { return i * i; });
  auto const left = shift<I>(a, 1);
  auto const right = shift<I>(a, -1);
  auto const h = halo_exchange<I>(a, 1, 1);
  int bad = 0;
  auto const at_here = harness::host_block(a);
  auto const at_left = harness::host_block(left);
  auto const at_right = harness::host_block(right);
  auto const halo = harness::host_block(h);
  for (std::size_t i = 0; i < at_here.extent(0); ++i) {
    Int const second = halo(i) - 2 * halo(i + 1) + halo(i + 2);
    if (second != at_left(i) - 2 * at_here(i) + at_right(i)) ++bad;
    Int const at = a.template global_index<I>(static_cast<Int>(i));
    Int const expected = at == 0 ? 1 : at == 22 ? 21 * 21 - 2 * 22 * 22 : 2;
    if (second != expected) ++bad;
  }
  CHECK(bad == 0);
}

TEST_CASE("ranks outside the mesh know the shapes and do nothing") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {1, 1}, {0});
  auto const a = from_function<Int, Dim<J>, Dim<I, X>, Dim<K>>(mesh, {2, 5, 3}, f);
  auto const b = cumsum<I>(shift<I>(concat<J>(flip<J>(a), pad<J>(a, 1, 0)), 1, op::Edge::wrap));
  CHECK(b.extents() == std::array<Int, 3>{5, 5, 3});
  CHECK(b.local_size() == (mesh.here() ? 75 : 0));
  auto const c = split_dim<I, Dim<P, X>, Q>(transpose<I, K, J>(a), {5, 1});
  CHECK(c.extents() == std::array<Int, 4>{5, 1, 3, 2});
  auto const h = halo_exchange<I>(a, 1, 1);
  CHECK(h.local().size() == (mesh.here() ? 42 : 0));
  CHECK(halo_add(zeros_like(h)).extents() == a.extents());
}
