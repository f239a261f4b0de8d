// Plans of strict mode as text: the line of each kind of step.
#include <string>

#include <shardtype/plan/explain.hpp>
#include <shardtype/types.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 4096> {};
struct J : Index<"J", 1000> {};
struct K : Index<"K", 30> {};

template <class Op, class... Operands>
std::string text(Op const& op, Type<Operands>... operands) {
  return "\n" + explain(plan(op, operands...), checking::Resolve<Op, Operands...>::S::names);
}

}  // namespace

TEST_CASE("reshards as text: one step of each kind") {
  CHECK(text(op::Reshard<Dim<I>, Dim<J>>{}, type<Tensor<float, Dim<I>, Dim<J>>>) == R"(
B[I, J] = A[I, J]                                            0 collectives, 0 B/rank, peak 16.4 MB
)");
  CHECK(text(op::Reshard<Dim<I, X>, Dim<J>>{}, type<Tensor<float, Dim<I>, Dim<J>>>) == R"(
B[I@X, J] = A[I, J]                                          0 collectives, 0 B/rank, peak 24.6 MB
  1  slice            A[I, J] -> B[I@X, J]                           free
)");
  CHECK(text(op::Reshard<Dim<I>, Dim<J>>{}, type<Tensor<float, Dim<I, X, Y>, Dim<J>>>) == R"(
B[I, J] = A[I@(X,Y), J]                                      2 collectives, 14.3 MB/rank, peak 26.6 MB
  1  AllGather Y      A[I@(X,Y), J] -> A[I@X, J]                     6.14 MB
  2  AllGather X      A[I@X, J] -> B[I, J]                           8.19 MB
)");
  CHECK(text(op::Reshard<Dim<I>, Dim<J, X>>{}, type<Tensor<float, Dim<I, X>, Dim<J>>>) == R"(
B[I, J@X] = A[I@X, J]                                        1 collective, 4.1 MB/rank, peak 24.6 MB
  1  AllToAll X       A[I@X, J] -> B[I, J@X]                         4.1 MB
)");
  CHECK(text(op::Reshard<Dim<I, Y, X>, Dim<J>>{}, type<Tensor<float, Dim<I, X, Y>, Dim<J>>>) == R"(
B[I@(Y,X), J] = A[I@(X,Y), J]                                1 collective, 2.05 MB/rank, peak 4.1 MB
  1  Permute X,Y      A[I@(X,Y), J] -> B[I@(Y,X), J]                 2.05 MB
)");
  CHECK(
      text(op::Reshard<Dim<I>, Dim<J>>{}, type<Tensor<double, Dim<I>, Dim<J>, Unreduced<X, Y>>>) ==
      R"(
B[I, J] = A[I, J]{U:X,Y}                                     3 collectives, 57.3 MB/rank, peak 73.7 MB
  1  ReduceScatter Y  A[I, J]{U:X,Y} -> A[I@Y, J]{U:X}               24.6 MB
  2  AllReduce X      A[I@Y, J]{U:X} -> A[I@Y, J]                    8.19 MB
  3  AllGather Y      A[I@Y, J] -> B[I, J]                           24.6 MB
)");
  CHECK(text(op::Reshard<Dim<I>, Dim<J, Y>>{}, type<Tensor<float, Dim<I>, Dim<J>, Unreduced<Y>>>) ==
        R"(
B[I, J@Y] = A[I, J]{U:Y}                                     1 collective, 12.3 MB/rank, peak 36.9 MB
  1  ReduceScatter Y  A[I, J]{U:Y} -> B[I, J@Y]                      12.3 MB
)");
  CHECK(
      text(op::Reshard<Dim<I, Cyclic<Y, 64>>, Dim<J>>{}, type<Tensor<float, Dim<I, Y>, Dim<J>>>) ==
      R"(
B[I@Y%64, J] = A[I@Y, J]                                     1 collective, 3.07 MB/rank, peak 16.4 MB
  1  AllToAll Y       A[I@Y, J] -> B[I@Y%64, J]                      3.07 MB
)");
  CHECK(text(op::Reshard<Dim<J>, Dim<I>>{}, type<Tensor<float, Dim<I>, Dim<J>>>) == R"(
B[J, I] = A[I, J]                                            0 collectives, 0 B/rank, peak 32.8 MB
  1  transpose        A[I, J] -> B[J, I]                             free
)");
}

TEST_CASE("reshards as text: several steps") {
  CHECK(text(op::Reshard<Dim<K>, Dim<I, X, Y>, Dim<J>>{},
             type<Tensor<float, Dim<I, Y>, Dim<J>, Dim<K, X>>>) == R"(
B[K, I@(X,Y), J] = A[I@Y, J, K@X]                            2 collectives, 92.2 MB/rank, peak 184 MB
  1  transpose        A[I@Y, J, K@X] -> A[K@X, I@Y, J]               free
  2  AllToAll X       A[K@X, I@Y, J] -> A[K, I@(Y,X), J]             30.7 MB
  3  Permute Y,X      A[K, I@(Y,X), J] -> B[K, I@(X,Y), J]           61.4 MB
)");
  CHECK(text(op::Reshard<Dim<I, Y>, Dim<J, X>, Dim<K>>{},
             type<Tensor<float, Dim<I, X>, Dim<J, Y>, Dim<K>>>) == R"(
B[I@Y, J@X, K] = A[I@X, J@Y, K]                              3 collectives, 108 MB/rank, peak 246 MB
  1  AllToAll X       A[I@X, J@Y, K] -> A[I, J@Y, K@X]               30.7 MB
  2  AllToAll Y       A[I, J@Y, K@X] -> A[I@Y, J, K@X]               46.1 MB
  3  AllToAll X       A[I@Y, J, K@X] -> B[I@Y, J@X, K]               30.7 MB
)");
  CHECK(text(op::Reshard<Dim<I, Y>, Dim<J>>{}, type<Tensor<float, Dim<I, Y>, Dim<J, X>>>) == R"(
B[I@Y, J] = A[I@Y, J@X]                                      1 collective, 2.05 MB/rank, peak 10.2 MB
  1  AllGather X      A[I@Y, J@X] -> B[I@Y, J]                       2.05 MB
)");
  CHECK(text(op::Reshard<Dim<I, Y, X>, Dim<J>>{},
             type<Tensor<float, Dim<I>, Dim<J, Y>, Unreduced<X>>>) == R"(
B[I@(Y,X), J] = A[I, J@Y]{U:X}                               2 collectives, 3.84 MB/rank, peak 10.2 MB
  1  ReduceScatter X  A[I, J@Y]{U:X} -> A[I, J@(Y,X)]                2.05 MB
  2  AllToAll Y,X     A[I, J@(Y,X)] -> B[I@(Y,X), J]                 1.79 MB
)");
}

TEST_CASE("products as text") {
  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<float, Dim<J, Y>, Dim<K>>;
  CHECK(text(op::Matmul<>{}, type<A>, type<B>) == R"(
C[I@X, K]{U:Y} = A[I@X, J@Y] · B[J@Y, K]                     0 collectives, 0 B/rank, peak 2.32 MB, 30.7 MFLOP/rank
  1  local            C[I@X, K]{U:Y} = A · B                         30.7 MFLOP
)");
  CHECK(text(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, type<A>, type<B>) == R"(
C[I@X, K@Y] = A[I@X, J@Y] · B[J@Y, K]                        1 collective, 197 kB/rank, peak 2.64 MB, 30.7 MFLOP/rank
  1  local            P[I@X, K]{U:Y} = A · B                         30.7 MFLOP
  2  ReduceScatter Y  P[I@X, K]{U:Y} -> C[I@X, K@Y]                  197 kB
)");
}
