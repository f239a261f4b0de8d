// Every operation against its plan: the bytes that each rank sends equal those of the shim, and the
// peak memory is at most the planned peak and, from a megabyte on, at least ten elevenths of it.
// The blocks have a megabyte and more, even and uneven, and also few or no elements. `item`,
// printing and files have no plans.
// SOURCES: tests/shim/pmpi.cpp
// TIMEOUT: 500
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::runtime;
using measured_plan::check;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
struct V : Index<"V"> {};
struct One : Index<"One"> {};

using Int = std::int64_t;

// Extents of a matrix; with 8 ranks the first two still give blocks of a megabyte.
struct Case {
  Int i, j;
};
constexpr std::array<Case, 6> cases = {{{1200, 960}, {1213, 977}, {5, 3}, {1, 2}, {0, 4}, {6, 0}}};

// The values do not matter.
template <class T, class... Dims, class M>
auto matrix(M const& mesh, Int i, Int j) {
  return zeros<T, Dims...>(mesh, {i, j});
}
template <class T, class... Dims, class M>
auto ids_below(M const& mesh, std::array<Int, sizeof...(Dims)> const& extents, Int n) {
  return from_function<T, Dims...>(mesh, extents, [n](auto... at) {
    Int sum = 0;
    ((sum = sum * 31 + at), ...);
    return static_cast<T>(n == 0 ? 0 : sum % n);
  });
}

template <class Test>
void for_cases(Test test) {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Case const& c : cases) {
    INFO("extents " << c.i << " x " << c.j);
    test(mesh, c.i, c.j);
  }
}

struct Weighted {
  double weight;
  double const* in;
  double* out;
  KOKKOS_FUNCTION void operator()(Int k) const { out[k] = weight * in[k]; }
};

// A user-defined operation: the mean of each element and its neighbours along I.
template <class L>
struct Smooth {
  using operation = Smooth;
  using from = Mentions<Dim<L>>;
  static constexpr std::string_view name = "smooth";
  double weight = 0.5;
  static constexpr Verdict rule(rules::Question const& q) { return rules::flip(q); }
  template <class Exec, class Out, class In>
  void kernel(Exec const& exec, Out const& out, In const& in) const {
    Kokkos::parallel_for(
        "smooth",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<Int>>(exec, 0, static_cast<Int>(in.size())),
        Weighted{weight, in.data(), out.data()});
  }
};

}  // namespace

TEST_CASE("dims in another order, renamed, added, split and merged") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    check("transpose", op::Transpose<J, I>{}, [](auto const& x) { return transpose<J, I>(x); }, a);
    check("relabel", op::Relabel<I, K>{}, [](auto const& x) { return relabel<I, K>(x); }, a);
    check("expand", op::Expand<K>{}, [](auto const& x) { return expand<K>(x); }, a);
    auto const e = expand<One>(a);
    check("squeeze", op::Squeeze<One>{}, [](auto const& x) { return squeeze<One>(x); }, e);
    check(
        "transpose around a dim of extent 1", op::Transpose<I, One, J>{},
        [](auto const& x) { return transpose<I, One, J>(x); }, e);
    check(
        "broadcast", op::Broadcast<K>{{3}}, [](auto const& x) { return broadcast<K>(x, {3}); }, a);
    check(
        "broadcast to one", op::Broadcast<K>{{1}},
        [](auto const& x) { return broadcast<K>(x, {1}); }, a);
    auto const b = matrix<double, Dim<I, X>, Dim<J>>(mesh, i, j);
    check(
        "broadcast, split", op::Broadcast<Dim<K, Y>>{{7}},
        [](auto const& x) { return broadcast<Dim<K, Y>>(x, {7}); }, b);
    check(
        "split_dim", op::SplitDim<J, P, Q>{{1, j}},
        [&](auto const& x) { return split_dim<J, P, Q>(x, {1, j}); }, b);
    check(
        "merge_dims", op::MergeDims<I, J, K>{},
        [](auto const& x) { return merge_dims<I, J, K>(x); },
        matrix<double, Dim<I>, Dim<J>>(mesh, i, j));
  });
}

TEST_CASE("along a dim that is not split") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I>, Dim<J, X, Y>>(mesh, i, j);
    auto const b = matrix<double, Dim<I, Y, X>, Dim<J>>(mesh, i, j);
    Int const half = i / 2;
    check("slice", op::Slice<I>{half, i}, [&](auto const& x) { return slice<I>(x, half, i); }, a);
    check(
        "slice by steps", op::Slice<J>{0, j, 2},
        [&](auto const& x) { return slice<J>(x, 0, j, 2); }, b);
    check("slice of all", op::Slice<J>{0, j}, [&](auto const& x) { return slice<J>(x, 0, j); }, b);
    check(
        "pad between rows", op::Pad<I>{2, 3, 1},
        [](auto const& x) { return pad<I>(x, 2, 3, op::Interior{1}); }, a);
    check("pad", op::Pad<I>{2, 3}, [](auto const& x) { return pad<I>(x, 2, 3); }, a);
    check(
        "pad with a value", op::PadValue<double, J>{2, 3, 1.0},
        [](auto const& x) { return pad<J>(x, 2, 3, 1.0); }, b);
    check("repeat", op::Repeat<I>{2}, [](auto const& x) { return repeat<I>(x, 2); }, a);
    check("tile", op::Tile<J>{3}, [](auto const& x) { return tile<J>(x, 3); }, b);
    check("flip", op::Flip<I>{}, [](auto const& x) { return flip<I>(x); }, a);
    check("roll", op::Roll<J>{5}, [](auto const& x) { return roll<J>(x, 5); }, b);
    check("roll all round", op::Roll<I>{-i}, [&](auto const& x) { return roll<I>(x, -i); }, a);
    auto const c = matrix<double, Dim<I>, Dim<J, X, Y>>(mesh, i + 3, j);
    check(
        "concat", op::Concat<I>{},
        [](auto const& x, auto const& y, auto const& z) { return concat<I>(x, y, z); }, a, c, a);
    check(
        "stack", op::Stack<K>{}, [](auto const& x, auto const& y) { return stack<K>(x, y); }, b,
        b.clone());
    check(
        "dynamic_slice", op::DynamicSlice<I>{half, 1},
        [&](auto const& x) { return dynamic_slice<I>(x, 1, half); }, a);
    check(
        "dynamic_slice of all", op::DynamicSlice<I>{i, 0},
        [&](auto const& x) { return dynamic_slice<I>(x, 0, i); }, a);
    auto const part = matrix<double, Dim<I>, Dim<J, X, Y>>(mesh, half, j);
    check(
        "dynamic_update", op::DynamicUpdate<I>{1},
        [](auto const& x, auto const& y) { return dynamic_update<I>(x, y, 1); }, a, part);
  });
}

TEST_CASE("along a dim that may be split") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const run = [&](auto const& a) {
      for (op::Edge const edge : {op::Edge::fill_zero, op::Edge::wrap})
        for (Int const n : {Int{0}, Int{1}, Int{-2}, i / 3, 2 * i + 1}) {
          INFO("by " << n << (edge == op::Edge::wrap ? ", wrapped" : ""));
          check(
              "shift", op::Shift<I>{n, edge}, [&](auto const& x) { return shift<I>(x, n, edge); },
              a);
          if (n >= 0)
            check(
                "halo_exchange", op::HaloExchange<I>{n, n / 2, edge},
                [&](auto const& x) { return halo_exchange<I>(x, n, n / 2, edge); }, a);
          if (n >= 0)
            check(
                "halo_add", op::HaloAdd<I>{n, n / 2, edge},
                [](auto const& h) { return halo_add(h); }, halo_exchange<I>(a, n, n / 2, edge));
        }
      check("cumsum", op::CumSum<I>{}, [](auto const& x) { return cumsum<I>(x); }, a);
      check(
          "cumsum, reverse", op::CumSum<I>{.reverse = true},
          [](auto const& x) {
            return cumsum<I>(x, op::Cumulate::inclusive, op::Direction::reverse);
          },
          a);
      check("cummax", op::CumMax<I>{}, [](auto const& x) { return cummax<I>(x); }, a);
      check(
          "cummin", op::CumMin<I>{true},
          [](auto const& x) { return cummin<I>(x, op::Cumulate::exclusive); }, a);
    };
    run(matrix<double, Dim<I, Y>, Dim<J, X>>(mesh, i, j));
    run(matrix<double, Dim<J>, Dim<I, X, Y>>(mesh, j, i));
    run(matrix<Int, Dim<I>, Dim<J, X>>(mesh, i, j));
  });
}

TEST_CASE("by ids") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const ids = ids_below<Int, Dim<B, X>>(mesh, {i / 2}, i);
    auto const table = matrix<double, Dim<V>, Dim<K, Y>>(mesh, i, j);
    auto const split = matrix<double, Dim<V, Y>, Dim<K>>(mesh, i, j);
    check(
        "take", op::Take<V>{}, [](auto const& t, auto const& n) { return take<V>(t, n); }, table,
        ids);
    check(
        "take of a split index", op::Take<V>{},
        [](auto const& t, auto const& n) { return take<V>(t, n); }, split, ids);
    check(
        "take, named", op::Take<V, Dim<B, X, Y>, Dim<K>>{},
        [](auto const& t, auto const& n) { return take<V, Dim<B, X, Y>, Dim<K>>(t, n); }, split,
        ids);
    auto const whole = matrix<double, Dim<V>, Dim<K>>(mesh, i, j);
    check(
        "take, named, of a slice", op::Take<V, Dim<B, X>, Dim<K, Y>>{},
        [](auto const& t, auto const& n) { return take<V, Dim<B, X>, Dim<K, Y>>(t, n); }, whole,
        ids);
    auto const updates = matrix<double, Dim<B, X>, Dim<K, Y>>(mesh, i, j);
    auto const coarse = matrix<double, Dim<K, Y>, Dim<B>>(mesh, j, i);
    auto const to = ids_below<Int, Dim<B, X>>(mesh, {i}, 40);
    check(
        "scatter_add", op::ScatterAdd<V>{40},
        [](auto const& u, auto const& n) { return scatter_add<V>(u, n, 40); }, updates, to);
    check(
        "scatter_add of a part", op::ScatterAdd<V>{40},
        [](auto const& u, auto const& n) { return scatter_add<V>(u, n, 40); }, coarse, to);
    check(
        "scatter_add, named", op::ScatterAdd<V, Dim<V, X>, Dim<K, Y>>{2000},
        [](auto const& u, auto const& n) {
          return scatter_add<V, Dim<V, X>, Dim<K, Y>>(u, n, 2000);
        },
        updates, to);
    check(
        "scatter_add, named, reduced", op::ScatterAdd<V, Dim<V>, Dim<K>>{40},
        [](auto const& u, auto const& n) { return scatter_add<V, Dim<V>, Dim<K>>(u, n, 40); },
        updates, to);
    // bfloat16 is added up in float, in workspace
    check(
        "scatter_add of bfloat16", op::ScatterAdd<V>{300000},
        [](auto const& u, auto const& n) { return scatter_add<V>(u, n, 300000); },
        matrix<bfloat16, Dim<B, X>, Dim<K, Y>>(mesh, i, std::min(j, Int{3})), to);
    check("one_hot", op::OneHot<V, float>{j}, [&](auto const& n) { return one_hot<V>(n, j); }, to);
    check(
        "one_hot, named", op::OneHot<V, double, Dim<B, X>, Dim<V, Y>>{j},
        [&](auto const& n) { return one_hot<V, double, Dim<B, X>, Dim<V, Y>>(n, j); }, to);
    check(
        "one_hot, named, gathered", op::OneHot<V, double, Dim<B>, Dim<V, Y>>{j},
        [&](auto const& n) { return one_hot<V, double, Dim<B>, Dim<V, Y>>(n, j); }, to);
    auto const along = ids_below<std::int32_t, Dim<V>, Dim<K, Y>>(mesh, {i + 7, j}, i);
    check(
        "take_along", op::TakeAlong<V>{},
        [](auto const& t, auto const& n) { return take_along<V>(t, n); }, table, along);
    check(
        "scatter_along", op::ScatterAlong<V>{i},
        [&](auto const& u, auto const& n) { return scatter_along<V>(u, n, i); },
        matrix<double, Dim<V>, Dim<K, Y>>(mesh, i + 7, j), along);
    check(
        "scatter_along of bfloat16", op::ScatterAlong<V>{i},
        [&](auto const& u, auto const& n) { return scatter_along<V>(u, n, i); },
        matrix<bfloat16, Dim<V>, Dim<K, Y>>(mesh, i + 7, j), along);
  });
}

TEST_CASE("sorted") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const run = [&](auto const& a) {
      check("sort", op::Sort<J>{}, [](auto const& x) { return sort<J>(x); }, a);
      check("argsort", op::ArgSort<J>{}, [](auto const& x) { return argsort<J>(x); }, a);
      for (Int const k : {Int{0}, Int{1}, j / 2, j})
        check(
            "top_k", op::TopK<J>{std::min(k, j)},
            [&](auto const& x) { return top_k<J>(x, std::min(k, j)); }, a);
    };
    run(matrix<double, Dim<I, X, Y>, Dim<J>>(mesh, i, j));
    run(matrix<std::int32_t, Dim<J>, Dim<I, Y, X>>(mesh, j, i));
  });
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const rows = matrix<double, Dim<I, X, Y>, Dim<J>>(mesh, 32, 40000);
  check("a few of many", op::TopK<J>{9}, [](auto const& x) { return top_k<J>(x, 9); }, rows);
}

TEST_CASE("elementwise") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    auto const b = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    auto const c = matrix<double, Dim<J>, Dim<I, X>>(mesh, j, i);
    auto const add = [](auto const& x, auto const& y) { return (x + y).tensor(); };
    check("add", op::Map<functions::Add>{}, add, a, b);
    check("add with another order", op::Map<functions::Add>{}, add, a, c);
    check(
        "less", op::Map<functions::Less>{},
        [](auto const& x, auto const& y) { return (x < y).tensor(); }, a, b);
    check(
        "add, named", op::Map<functions::Add, Dim<I, Y>, Dim<J>>{},
        [](auto const& x, auto const& y) { return map<Dim<I, Y>, Dim<J>>(functions::Add{}, x, y); },
        a, c);
    check(
        "add, named, gathered", op::Map<functions::Add, Dim<I>, Dim<J>>{},
        [](auto const& x, auto const& y) { return map<Dim<I>, Dim<J>>(functions::Add{}, x, y); }, a,
        b);
    check(
        "add, named, sliced", op::Map<functions::Add, Dim<I, X>, Dim<J, Y>>{},
        [](auto const& x, auto const& y) {
          return map<Dim<I, X>, Dim<J, Y>>(functions::Add{}, x, y);
        },
        a, c);
    auto const cyclic = matrix<double, Dim<I, Cyclic<X, 7>>, Dim<J>>(mesh, i, j);
    auto const whole = matrix<double, Dim<I>, Dim<J>>(mesh, i, j);
    check("add of cyclic and whole", op::Map<functions::Add>{}, add, cyclic, whole);
  });
}

TEST_CASE("reductions") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const run = [&](auto const& a) {
      check("sum", op::Sum<J>{}, [](auto const& x) { return sum<J>(x); }, a);
      check("sum of all", op::Sum<>{}, [](auto const& x) { return sum(x); }, a);
      check("sum, named", op::Sum<Dim<I, Y>>{}, [](auto const& x) { return sum<Dim<I, Y>>(x); }, a);
      check("max, named", op::Max<Dim<I>>{}, [](auto const& x) { return max<Dim<I>>(x); }, a);
      check("min, named", op::Min<Dim<J, Y>>{}, [](auto const& x) { return min<Dim<J, Y>>(x); }, a);
      check("mean", op::Mean<I>{}, [](auto const& x) { return mean<I>(x); }, a);
      check("prod, named", op::Prod<Dim<I>>{}, [](auto const& x) { return prod<Dim<I>>(x); }, a);
      check(
          "argmax, named", op::ArgMax<Dim<I, X>>{},
          [](auto const& x) { return argmax<Dim<I, X>>(x); }, a);
      check("norm, named", op::Norm<Dim<J>>{}, [](auto const& x) { return norm<Dim<J>>(x); }, a);
      check(
          "norm_1, named", op::Norm1<Dim<J>>{}, [](auto const& x) { return norm_1<Dim<J>>(x); }, a);
      check("norm_inf", op::NormInf<I>{}, [](auto const& x) { return norm_inf<I>(x); }, a);
      check(
          "logsumexp, named", op::LogSumExp<Dim<I>>{},
          [](auto const& x) { return logsumexp<Dim<I>>(x); }, a);
      check(
          "counted_max, named", op::CountedMax<Dim<I>>{},
          [](auto const& x) { return counted_max<Dim<I>>(x); }, a);
      check(
          "counted_min, named", op::CountedMin<Dim<J, Y>>{},
          [](auto const& x) { return counted_min<Dim<J, Y>>(x); }, a);
      check(
          "counted_prod, named", op::CountedProd<Dim<J, X>>{},
          [](auto const& x) { return counted_prod<Dim<J, X>>(x); }, a);
      check(
          "reproducible sum", op::ReproducibleSum<Dim<I, X>>{},
          [](auto const& x) { return sum<Dim<I, X>>(x, reproducible); }, a);
    };
    run(matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j));
    run(matrix<float, Dim<J>, Dim<I, Y, X>>(mesh, j, i));
    // results of the size of the operand
    run(matrix<double, Dim<I, X>, Dim<J>>(mesh, 100 * i, std::min<Int>(j, 3)));
    auto const rows = matrix<float, Dim<I, X, Y>, Dim<J>>(mesh, i, j);
    check(
        "counted_max", op::CountedMax<J>{}, [](auto const& x) { return counted_max<J>(x); }, rows);
    auto const few = matrix<float, Dim<I, X, Y>, Dim<J>>(mesh, 300 * i, std::min<Int>(j, 3));
    check(
        "counted_prod", op::CountedProd<J>{}, [](auto const& x) { return counted_prod<J>(x); },
        few);
    auto const b = matrix<bool, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    check("sum of bool", op::Sum<J>{}, [](auto const& x) { return sum<J>(x); }, b);
    check("any, named", op::Any<Dim<I>>{}, [](auto const& x) { return any<Dim<I>>(x); }, b);
    check("all", op::All<I>{}, [](auto const& x) { return all<I>(x); }, b);
  });
}

TEST_CASE("products") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    auto const b = matrix<double, Dim<J, Y>, Dim<K>>(mesh, j, i / 4);
    auto const product = [](auto const& x, auto const& y) { return matmul(x, y); };
    check("matmul", op::Matmul<>{}, product, a, b);
    check(
        "matmul, summed", op::Matmul<Dim<I, X>, Dim<K>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<I, X>, Dim<K>>(x, y); }, a, b);
    check(
        "matmul, scattered", op::Matmul<Dim<I, X>, Dim<K, Y>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<I, X>, Dim<K, Y>>(x, y); }, a, b);
    check(
        "matmul, turned", op::Matmul<Dim<K, Y>, Dim<I, X>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<K, Y>, Dim<I, X>>(x, y); }, a, b);
    check(
        "matmul, gathered", op::Matmul<Dim<I>, Dim<K>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<I>, Dim<K>>(x, y); }, a, b);
    auto const c = matrix<double, Dim<J>, Dim<K, Y>>(mesh, j, i / 4);
    check(
        "matmul, one gathered", op::Matmul<Dim<I, X>, Dim<K, Y>>{},
        [](auto const& x, auto const& y) { return matmul<Dim<I, X>, Dim<K, Y>>(x, y); }, a, c);
    auto const t = matrix<double, Dim<J, Y>, Dim<I, X>>(mesh, j, i);
    check("matmul of a transpose", op::Matmul<>{}, product, t, b);
    auto const n = matrix<Int, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    auto const m = matrix<Int, Dim<J, Y>, Dim<K>>(mesh, j, i / 4);
    check("matmul of integers", op::Matmul<>{}, product, n, m);
    check(
        "einsum, elementwise", op::Einsum<I, J>{},
        [](auto const& x, auto const& y) { return einsum<I, J>(x, y); }, a, t);
    check(
        "einsum, summed", op::Einsum<I>{},
        [](auto const& x, auto const& y) { return einsum<I>(x, y); }, a, b);
    check(
        "einsum, summed, turned", op::Einsum<K, I>{},
        [](auto const& x, auto const& y) { return einsum<K, I>(x, y); }, a, b);
    check(
        "einsum, named", op::Einsum<Dim<K, X>>{},
        [](auto const& x, auto const& y) { return einsum<Dim<K, X>>(x, y); }, a, b);
    auto const batch = [&]<class T>(Type<T>) {
      auto const p = zeros<T, Dim<I, X>, Dim<J>, Dim<B, Y>>(mesh, {i / 4, j / 4, 8});
      auto const q = zeros<T, Dim<B, Y>, Dim<J>, Dim<K>>(mesh, {8, j / 4, i / 8});
      check(
          "einsum, in batches", op::Einsum<B, I, K>{},
          [](auto const& x, auto const& y) { return einsum<B, I, K>(x, y); }, p, q);
      check(
          "einsum, batches inside", op::Einsum<I, K, B>{},
          [](auto const& x, auto const& y) { return einsum<I, K, B>(x, y); }, p, q);
      auto const two = zeros<T, Dim<K>, Dim<J>, Dim<B, Y>>(mesh, {i / 8, j / 4, 8});
      check(
          "einsum, over two", op::Einsum<K, I>{},
          [](auto const& x, auto const& y) { return einsum<K, I>(x, y); }, p, two);
      check(
          "einsum, over two in another order", op::Einsum<I, K>{},
          [](auto const& x, auto const& y) { return einsum<I, K>(x, y); }, p, q);
    };
    batch(type<double>);
    batch(type<float>);
    batch(type<Int>);
  });
}

TEST_CASE("other shardings") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    auto const b = matrix<double, Dim<I, X, Y>, Dim<J>>(mesh, i, j);
    check("all_gather", op::AllGather<X>{}, [](auto const& x) { return all_gather<X>(x); }, a);
    check(
        "all_gather to reduced", op::AllGather<X, checking::ToReduced>{},
        [](auto const& x) { return all_gather<X>(x, to_reduced); }, a);
    check(
        "used_as", op::UsedAs<Reduced<X>>{}, [](auto const& x) { return used_as<Reduced<X>>(x); },
        a);
    check(
        "all_gather along the inner dim", op::AllGather<Y>{},
        [](auto const& x) { return all_gather<Y>(x); }, a);
    check(
        "all_gather of both", op::AllGather<X, Y>{},
        [](auto const& x) { return all_gather<X, Y>(x); }, a);
    check(
        "all_to_all", op::AllToAll<Y, I, J>{}, [](auto const& x) { return all_to_all<Y, I, J>(x); },
        b);
    check(
        "permute", op::Reshard<Dim<I, Y, X>, Dim<J>>{},
        [](auto const& x) { return reshard<Dim<I, Y, X>, Dim<J>>(x); }, b);
    check(
        "to cyclic", op::Reshard<Dim<I, Cyclic<X, 16>>, Dim<J>>{},
        [](auto const& x) { return reshard<Dim<I, Cyclic<X, 16>>, Dim<J>>(x); }, b);
    check(
        "reshard to itself", op::Reshard<Dim<I, X>, Dim<J, Y>>{},
        [](auto const& x) { return reshard<Dim<I, X>, Dim<J, Y>>(x); }, a);
    auto const part = zeros<double, Dim<I>, Dim<J, Y>, Unreduced<X>>(mesh, {i, j});
    check("all_reduce", op::AllReduce<X>{}, [](auto const& x) { return all_reduce<X>(x); }, part);
    check(
        "reduce_scatter", op::ReduceScatter<X, I>{},
        [](auto const& x) { return reduce_scatter<X, I>(x); }, part);
    auto const other = zeros<double, Dim<I, Y>, Dim<J>, Unreduced<X>>(mesh, {i, j});
    check(
        "reduce_scatter along the inner dim", op::ReduceScatter<X, J>{},
        [](auto const& x) { return reduce_scatter<X, J>(x); }, other);
    check("to_partial", op::ToPartial<X>{}, [](auto const& x) { return to_partial<X>(x); }, a);
    auto const cyclic = matrix<double, Dim<I, Cyclic<X, 7>>, Dim<J>>(mesh, i, j);
    check(
        "to_partial of cyclic", op::ToPartial<X>{}, [](auto const& x) { return to_partial<X>(x); },
        cyclic);
    auto const whole = matrix<double, Dim<I>, Dim<J, Y>>(mesh, i, j);
    check("reduced", op::ToReduced<X>{}, [](auto const& x) { return reduced<X>(x); }, whole);
  });
}

template <class A, class M, class Make>
void check_made(char const* what, M const& mesh, std::array<Int, 2> const& extents, Make make) {
  INFO(what);
  op::Create<A> const create{extents};
  check(plan_at(create, mesh), {}, 0, [&] { return make(Type<A>{}, extents); });
}

TEST_CASE("tensors that are made of no other") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const in_all_ways = [&]<class A>(Type<A>) {
      check_made<A>("zeros", mesh, {i, j},
                    [&]<class B>(Type<B>, auto const& n) { return zeros<B>(mesh, n); });
      check_made<A>("full", mesh, {i, j},
                    [&]<class B>(Type<B>, auto const& n) { return full<B>(mesh, n, 2); });
      check_made<A>("from_function", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
        return from_function<B>(mesh, n, [](Int x, Int y) { return static_cast<double>(x - y); });
      });
      check_made<A>("normal", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
        return normal<B>(mesh, n, RandomKey{3});
      });
      check_made<A>("uniform", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
        return uniform<B>(mesh, n, RandomKey{3});
      });
      check_made<A>("truncated_normal", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
        return truncated_normal<B>(mesh, n, RandomKey{3}, -1, 1);
      });
      check_made<A>("bernoulli", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
        return bernoulli<B>(mesh, n, RandomKey{3}, 0.5);
      });
    };
    in_all_ways(type<Tensor<double, Dim<I, X>, Dim<J, Y>>>);
    in_all_ways(type<Tensor<double, Dim<I>, Dim<J, Y, X>>>);
    in_all_ways(type<Tensor<double, Dim<I, Cyclic<Y, 5>>, Dim<J>, Unreduced<X>>>);
    using Whole = Tensor<Int, Dim<I, Y>, Dim<J>>;
    check_made<Whole>("integers", mesh, {i, j}, [&]<class B>(Type<B>, auto const& n) {
      return integers<B>(mesh, n, RandomKey{3}, 0, 9);
    });
    using Order = Tensor<Int, Dim<I, X>>;
    check(plan_at(op::Create<Order>{{i}}, mesh), {}, 0,
          [&] { return permutation<Order>(mesh, {i}, RandomKey{3}); });
  });
}

TEST_CASE("a user's own operation") {
  for_cases([](auto const& mesh, Int i, Int j) {
    auto const a = matrix<double, Dim<I>, Dim<J, Y>>(mesh, i, j);
    auto const run = [](auto const& op) {
      return [op](auto const& x) { return call(op, std::source_location::current(), x); };
    };
    Smooth<I> const strict{.weight = 0.25};
    check("strict", strict, run(strict), a);
    auto const split = matrix<double, Dim<I, X>, Dim<J, Y>>(mesh, i, j);
    op::Named<Smooth<I>, Dim<I, X>, Dim<J, Y>> const named{{.weight = 0.25}};
    check("named", named, run(named), split);
  });
}

// Reshards of blocks as values of the executor: every pair of shardings into blocks, and some into
// block-cyclic dims.
TEST_CASE("pairs of shardings of a matrix on two axes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  AxisMap const axes = map_axes(mesh.state(), Scope<Tensor<float, Reduced<X, Y>>>::names);
  std::vector<Spec> const specs = simulate::all_specs(2, 2, true, {5, 16});
  auto const run = [&](Case const& c, Spec const& from, Spec const& to) {
    Sizing const z{Extents{{c.i, c.j}}, axes.sizes, 8};
    Plan const plan = planning::reshard_plan(from, to, z);
    auto value = execute::whole_value<Int>(from, z, axes.coords, {});
    std::int64_t const bytes = value.layout.elements() * 8;
    value.keep =
        mesh.state().pool().template take<Kokkos::HostSpace>(static_cast<std::size_t>(bytes));
    value.data = static_cast<Int const*>(value.keep.data());
    execute::Executor<Int, Kokkos::HostSpace> execute(mesh.state(), axes, z,
                                                      std::source_location::current());
    check(plan, axes.coords, bytes, [&] { return execute.run(plan, value); });
  };
  std::size_t pairs = 0;
  for (std::size_t k = 0; k < cases.size(); ++k)
    for (std::size_t a = 0; a < specs.size(); ++a)
      for (std::size_t b = 0; b < specs.size(); ++b) {
        Case const& c = cases[k];
        bool const cyclic = specs[a].cyclic_dim() >= 0 || specs[b].cyclic_dim() >= 0;
        std::size_t const each = (cyclic ? 23U : 1U) * (k == 0 ? 1U : 4U);
        if ((a * 7 + b + k) % each != 0 || !rules::reshard(specs[a], specs[b])) continue;
        INFO("from " << a << " to " << b << " of " << c.i << " x " << c.j);
        run(c, specs[a], specs[b]);
        if (++pairs % 3 != 0) continue;
        Spec turned = specs[b];
        std::swap(turned.dims[0], turned.dims[1]);
        run(c, specs[a], turned);
      }
  CHECK(pairs == 666);
}

namespace explained {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 4096> {};
struct J : Index<"J", 1000> {};
struct K : Index<"K", 30> {};

template <class Op, class M, class A>
void reshards(Op const& op, M const& mesh, Type<A>) {
  check(
      "reshard", op, [&](auto const& x) { return call(op, std::source_location::current(), x); },
      zeros<A>(mesh));
}

}  // namespace explained

TEST_CASE("the peaks in unit/explain.cpp are those of eight ranks") {
  using namespace explained;
  using explained::I, explained::J, explained::K, explained::X, explained::Y;
  if (on_ranks::rank_total() != 8) return;
  Mesh<X, Y> const mesh(MPI_COMM_WORLD);
  using F = float;
  reshards(op::Reshard<Dim<I>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I>, Dim<J>>>);
  reshards(op::Reshard<Dim<I, X>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I>, Dim<J>>>);
  reshards(op::Reshard<Dim<I>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I, X, Y>, Dim<J>>>);
  reshards(op::Reshard<Dim<I>, Dim<J, X>>{}, mesh, type<Tensor<F, Dim<I, X>, Dim<J>>>);
  reshards(op::Reshard<Dim<I, Y, X>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I, X, Y>, Dim<J>>>);
  reshards(op::Reshard<Dim<I>, Dim<J>>{}, mesh,
           type<Tensor<double, Dim<I>, Dim<J>, Unreduced<X, Y>>>);
  reshards(op::Reshard<Dim<I>, Dim<J, Y>>{}, mesh, type<Tensor<F, Dim<I>, Dim<J>, Unreduced<Y>>>);
  reshards(op::Reshard<Dim<I, Cyclic<Y, 64>>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I, Y>, Dim<J>>>);
  reshards(op::Reshard<Dim<J>, Dim<I>>{}, mesh, type<Tensor<F, Dim<I>, Dim<J>>>);
  reshards(op::Reshard<Dim<K>, Dim<I, X, Y>, Dim<J>>{}, mesh,
           type<Tensor<F, Dim<I, Y>, Dim<J>, Dim<K, X>>>);
  reshards(op::Reshard<Dim<I, Y>, Dim<J, X>, Dim<K>>{}, mesh,
           type<Tensor<F, Dim<I, X>, Dim<J, Y>, Dim<K>>>);
  reshards(op::Reshard<Dim<I, Y>, Dim<J>>{}, mesh, type<Tensor<F, Dim<I, Y>, Dim<J, X>>>);
  reshards(op::Reshard<Dim<I, Y, X>, Dim<J>>{}, mesh,
           type<Tensor<F, Dim<I>, Dim<J, Y>, Unreduced<X>>>);
  auto const a = zeros<Tensor<F, Dim<I, X>, Dim<J, Y>>>(mesh);
  auto const b = zeros<Tensor<F, Dim<J, Y>, Dim<K>>>(mesh);
  check("matmul", op::Matmul<>{}, [](auto const& x, auto const& y) { return matmul(x, y); }, a, b);
  check(
      "matmul, named", op::Matmul<Dim<I, X>, Dim<K, Y>>{},
      [](auto const& x, auto const& y) { return matmul<Dim<I, X>, Dim<K, Y>>(x, y); }, a, b);
}
