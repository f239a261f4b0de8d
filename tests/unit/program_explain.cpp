// Plans of whole expressions as text: the line of each kind of step.
#include <string>

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

constexpr Machine machine{2e-6, 10e9, 50e9, 20e9, 1.05};

TEST_CASE("a chain: what is made of what, and what it costs") {
  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<J, Y>, Dim<K>>;
  using C = Tensor<float, Dim<K>, Dim<L, Y>>;
  auto const program = dry_run<A, B, C>([](auto a, auto b, auto c) {
                         return evaluate<Dim<I, X>, Dim<L, Y>>(exp(a * b * c));
                       })
                           .extent<I>(8192)
                           .extent<J>(4096)
                           .extent<K>(512)
                           .extent<L>(4096)
                           .ranks<X>(2)
                           .ranks<Y>(4)
                           .on(machine)
                           .planned();
  CHECK(explain(program) == R"(T3[I@X, L@Y] of A[I@X, J@Y], B[J@Y, K], C[K, L@Y]
  on X = 2, Y = 4; I = 8192, J = 4096, K = 512, L = 4096
  1 collective, 12.6 MB/rank, peak 54.5 MB, 8.59 GFLOP/rank, 175 ms predicted, optimal
  1  product      T1[I@X, K]{U:Y} = A[I@X, J@Y] · B[J@Y, K]  4.29 GFLOP   85.9 ms
  2  AllReduce Y  T1[I@X, K]{U:Y} -> [I@X, K]                   12.6 MB   1.27 ms
  3  product      T2[I@X, L@Y] = T1[I@X, K] · C[K, L@Y]      4.29 GFLOP   85.9 ms
  4  map          T3[I@X, L@Y] = f(T2[I@X, L@Y])                  local   1.68 ms
)");
}

TEST_CASE("no collective, and every number of them") {
  using A = Tensor<float, Dim<I, X>, Dim<J>>;
  auto const local = dry_run<A, Tensor<float, Dim<J>, Dim<K>>>(
                         [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
                         .extent<I>(1024)
                         .extent<J>(512)
                         .extent<K>(256)
                         .ranks<X>(4)
                         .on(machine)
                         .planned();
  CHECK(explain(local) == R"(T1[I@X, K] of A[I@X, J], B[J, K]
  on X = 4; I = 1024, J = 512, K = 256
  0 collectives, 0 B/rank, peak 1.31 MB, 67.1 MFLOP/rank, 1.34 ms predicted, optimal
  1  product  T1[I@X, K] = A[I@X, J] · B[J, K]  67.1 MFLOP   1.34 ms
)");

  auto const gathers = dry_run<A, Tensor<float, Dim<J, X>, Dim<K>>>(
                           [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
                           .extent<I>(1024)
                           .extent<J>(512)
                           .extent<K>(256)
                           .ranks<X>(4)
                           .on(machine)
                           .planned();
  CHECK(explain(gathers) == R"(T1[I@X, K] of A[I@X, J], B[J@X, K]
  on X = 4; I = 1024, J = 512, K = 256
  1 collective, 393 kB/rank, peak 1.44 MB, 67.1 MFLOP/rank, 1.39 ms predicted, optimal
  1  AllGather X  B[J@X, K] -> [J, K]                   393 kB   47.3 µs
  2  product      T1[I@X, K] = A[I@X, J] · B[J, K]  67.1 MFLOP   1.34 ms
)");

  using OverJ = Tensor<float, Dim<I>, Dim<J, X>>;
  auto const scatters = dry_run<OverJ, Tensor<float, Dim<J, X>, Dim<K>>>(
                            [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
                            .extent<I>(1024)
                            .extent<J>(512)
                            .extent<K>(256)
                            .ranks<X>(4)
                            .on(machine)
                            .planned();
  CHECK(explain(scatters) == R"(T1[I@X, K] of A[I, J@X], B[J@X, K]
  on X = 4; I = 1024, J = 512, K = 256
  1 collective, 786 kB/rank, peak 3.01 MB, 67.1 MFLOP/rank, 1.43 ms predicted, optimal
  1  product          T1[I, K]{U:X} = A[I, J@X] · B[J@X, K]  67.1 MFLOP   1.34 ms
  2  ReduceScatter X  T1[I, K]{U:X} -> [I@X, K]                  786 kB   86.6 µs
)");

  // unreduced values, and dims in another order
  auto const turns = dry_run<Tensor<float, Dim<I, X>, Dim<J, Y>>>(
                         [](auto a) { return evaluate<Dim<J, X>, Dim<I, Y>>(a); })
                         .extent<I>(1024)
                         .extent<J>(512)
                         .ranks<X>(4)
                         .ranks<Y>(2)
                         .on(machine)
                         .planned();
  CHECK(explain(turns) == R"(T1[J@X, I@Y] of A[I@X, J@Y]
  on X = 4, Y = 2; I = 1024, J = 512
  3 collectives, 492 kB/rank, peak 1.05 MB, 0 FLOP/rank, 99.4 µs predicted, optimal
  1  AllToAll Y    A[I@X, J@Y] -> [I@(X,Y), J]        131 kB   17.1 µs
  2  AllToAll X,Y  A[I@(X,Y), J] -> [I, J@(X,Y)]      229 kB   38.9 µs
  3  AllToAll Y    A[I, J@(X,Y)] -> [I@Y, J@X]        131 kB   17.1 µs
  4  transpose     T1[J@X, I@Y] = A[I@Y, J@X]          local   26.2 µs
)");
}

TEST_CASE("plans found at compile time") {
  struct Rows : Index<"I", 1024> {};
  struct Inner : Index<"J", 512> {};
  struct Columns : Index<"K", 256> {};
  struct Four : Axis<"X", 4> {};
  using A = Tensor<float, Dim<Rows>, Dim<Inner, Four>>;
  using B = Tensor<float, Dim<Inner, Four>, Dim<Columns>>;
  constexpr auto scatters = plan_traced<A, B>(
      [](auto a, auto b) { return evaluate<Dim<Rows, Four>, Dim<Columns>>(a * b); });
  static_assert(scatters.collectives() == 1);
  CHECK(explain(scatters) == R"(T1[I@X, K] of A[I, J@X], B[J@X, K]
  on X = 4; I = 1024, J = 512, K = 256
  1 collective, 786 kB/rank, peak 3.01 MB, 67.1 MFLOP/rank, 1.43 ms predicted, optimal
  1  product          T1[I, K]{U:X} = A[I, J@X] · B[J@X, K]  67.1 MFLOP   1.34 ms
  2  ReduceScatter X  T1[I, K]{U:X} -> [I@X, K]                  786 kB   86.6 µs
)");
}

TEST_CASE("slices, reductions, other labels") {
  auto const sums =
      dry_run<Tensor<float, Dim<I>, Dim<J>>>([](auto a) { return evaluate<Dim<I, X>>(sum<J>(a)); })
          .extent<I>(1024)
          .extent<J>(512)
          .ranks<X>(4)
          .on(machine)
          .planned();
  CHECK(explain(sums) == R"(T1[I@X] of A[I, J]
  on X = 4; I = 1024, J = 512
  0 collectives, 0 B/rank, peak 2.62 MB, 0 FLOP/rank, 52.5 µs predicted, optimal
  1  slice      A[I, J] -> [I@X, J]               local   26.2 µs
  2  reduction  T1[I@X] = reduce(A[I@X, J])       local   26.3 µs
)");

  // the extent of a new label is that of the old one
  auto const total = dry_run<Tensor<double, Dim<I, X>, Dim<J, Y>>>(
                         [](auto a) { return evaluate<>(max(a * relabel<J, K>(a))); })
                         .extent<I>(1024)
                         .extent<J>(512)
                         .ranks<X>(4)
                         .ranks<Y>(2)
                         .on(machine)
                         .planned();
  CHECK(explain(total) == R"(T3[] of A[I@X, J@Y]
  on X = 4, Y = 2; I = 1024, J = 512, K = 512
  4 collectives, 1.31 MB/rank, peak 2.88 MB, 67.1 MFLOP/rank, 2.86 ms predicted, optimal
  1  AllGather Y      A[I@X, J@Y] -> [I@X, J]                         524 kB   56.4 µs
  2  relabel          T1[I@X, K] = A[I@X, J]                           local       0 s
  3  product          T2[J@Y, K]{U:X} = A[I@X, J@Y] · T1[I@X, K]  67.1 MFLOP   2.68 ms
  4  ReduceScatter X  T2[J@Y, K]{U:X} -> [J@(Y,X), K]                 786 kB   86.6 µs
  5  reduction        T3[]{U_max:X,Y} = reduce(T2[J@(Y,X), K])         local   13.1 µs
  6  AllReduce X      T3[]{U_max:X,Y} -> []{U_max:Y}                    12 B     14 µs
  7  AllReduce Y      T3[]{U_max:Y} -> []                                8 B      6 µs
)");
}

TEST_CASE("a program without steps, and without axes") {
  auto const program =
      dry_run<Tensor<float, Dim<I>>>([](auto a) { return evaluate<Dim<I>>(a); }).extent<I>(1024);
  CHECK(explain(program.planned()) == R"(A[I] of A[I]
  I = 1024
  0 collectives, 0 B/rank, peak 4.1 kB, 0 FLOP/rank, 0 s predicted, optimal
)");
  // a scalar on an axis
  auto const scalar = dry_run<automatic_mode::Axes<X>, Tensor<float>>([](auto a) {
                        return evaluate<>(a);
                      }).ranks<X>(3);
  CHECK(explain(scalar.planned()) == R"(A[] of A[]
  on X = 3
  0 collectives, 0 B/rank, peak 4 B, 0 FLOP/rank, 0 s predicted, optimal
)");
}

TEST_CASE("a plan that keeps to no limit") {
  auto const program = dry_run<Tensor<float, Dim<I, X>, Dim<J>>, Tensor<float, Dim<J, X>, Dim<K>>>(
                           [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
                           .extent<I>(1024)
                           .extent<J>(512)
                           .extent<K>(256)
                           .ranks<X>(4)
                           .within(1000)
                           .planned();
  CHECK(!program.plan.possible);
  CHECK(explain(program) == "no plan keeps to the memory limit\n");
}

TEST_CASE("what evaluate will run is explained with the sizes of its tensors") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {1, 1});
  auto const a = zeros<float, Dim<I, X>, Dim<J, Y>>(mesh, {30, 40});
  auto const b = zeros<float, Dim<J, Y>, Dim<K>>(mesh, {40, 50});
  auto const e = lazy(a) * lazy(b);
  auto const same = dry_run<automatic_mode::Axes<X, Y>, std::remove_const_t<decltype(a)>,
                            std::remove_const_t<decltype(b)>>(
                        [](auto p, auto q) { return evaluate<Dim<I, X>, Dim<K, Y>>(p * q); })
                        .extent<I>(30)
                        .extent<J>(40)
                        .extent<K>(50)
                        .ranks<X>(1)
                        .ranks<Y>(1)
                        .planned();
  std::string const text = explain(evaluate_to<Dim<I, X>, Dim<K, Y>>, mesh, e);
  CHECK(text == explain(same));
  CHECK(text.find("I = 30, J = 40, K = 50") != std::string::npos);
  CHECK(planned(evaluate_to<Dim<I, X>, Dim<K, Y>>, mesh, e).plan.bytes_per_rank() ==
        same.plan.bytes_per_rank());
  // other sizes, another plan of the same types
  auto const c = zeros<float, Dim<I, X>, Dim<J, Y>>(mesh, {31, 40});
  CHECK(explain(evaluate_to<Dim<I, X>, Dim<K, Y>>, mesh, lazy(c) * lazy(b)).find("I = 31") !=
        std::string::npos);
  // a tensor alone, and the errors of evaluate
  CHECK(explain(evaluate_to<Dim<I>, Dim<J, Y>>, mesh, a).find("AllGather X") != std::string::npos);
  auto const d = zeros<float, Dim<J, Y>, Dim<K>>(mesh, {41, 50});
  CHECK_THROWS_WITH(explain(evaluate_to<Dim<I>, Dim<K>>, mesh, lazy(a) * lazy(d)),
                    Catch::Contains("E24"));
  CHECK_THROWS_WITH(explain(evaluate_to<Dim<I>, Dim<J>>, mesh, lazy(a), MemoryLimit<7>{}),
                    Catch::Contains("E69"));
}

TEST_CASE("a label that relabel brings has the extent of the one before") {
  Mesh<X, Y> const mesh(MPI_COMM_WORLD, {1, 1});
  auto const a = full<float, Dim<I, X>, Dim<J, Y>>(mesh, {3, 4}, 2);
  auto const b = evaluate<Dim<I>, Dim<K, Y>>(mesh, relabel<J, K>(lazy(a)));
  CHECK(b.extent<K>() == 4);
  CHECK(harness::host_block(b)(2, 3) == 2);
}

TEST_CASE("seconds to three digits") {
  CHECK(detail::seconds_text(0) == "0 s");
  CHECK(detail::seconds_text(1.2345) == "1.23 s");
  CHECK(detail::seconds_text(0.99949) == "999 ms");
  CHECK(detail::seconds_text(0.99951) == "1 s");
  CHECK(detail::seconds_text(2e-6) == "2 µs");
  CHECK(detail::seconds_text(3.4e-11) == "0.034 ns");
  CHECK(detail::bytes_text(999'499) == "999 kB");
  CHECK(detail::bytes_text(999'999) == "1 MB");
}

// Of types alone: the plan that plan_traced gives has its names.
struct X4 : Axis<"X", 4> {};
struct I1024 : Index<"I", 1024> {};
struct J512 : Index<"J", 512> {};
struct K256 : Index<"K", 256> {};
struct L4 : Index<"L", 4> {};
struct Machine4 {
  static constexpr Machine machine = ::machine;
};

TEST_CASE("the plan of types as text") {
  using A = Tensor<float, Dim<I1024>, Dim<J512, X4>>;
  using B = Tensor<float, Dim<J512, X4>, Dim<K256>>;
  auto const f = [](auto a, auto b) {
    return evaluate<Dim<I1024, X4>, Dim<K256>>(a * b, Machine4{});
  };
  constexpr auto plan = plan_traced<A, B>(f);
  CHECK(explain(plan) == explain(dry_run<A, B>(f).planned()));
  CHECK(explain(plan_traced<A, B>(f)).find("ReduceScatter X  T1[I, K]{U:X} -> [I@X, K]") !=
        std::string::npos);
  CHECK(to_json(plan) == to_json(dry_run<A, B>(f).planned()));
  auto const named = shardtype::plan(op::Einsum<Dim<I1024, X4>, Dim<L4>>{}, type<A>, type<B>,
                                     type<Tensor<float, Dim<K256>, Dim<L4>>>);
  CHECK(explain(named).find("T2[I@X, L] of A[I, J@X], B[J@X, K], C[K, L]") == 0);
}

TEST_CASE("the plan of open types as text: which sizes it needs") {
  using A = Tensor<float, Dim<I, X>, Dim<J512>>;
  using B = Tensor<float, Dim<J512>, Dim<K>>;
  CHECK(explain(
            plan_traced<A, B>([](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })) ==
        "the plan depends on sizes that the types leave open: I, K, X\n"
        "  explain(dry_run<...>(f).extent<I>(n).extent<K>(n).ranks<X>(p).planned()) has it\n");
}

}  // namespace
