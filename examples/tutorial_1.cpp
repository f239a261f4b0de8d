// The program of docs/tutorials/1_parallel_basics.md: meshes, split matrices, the four cases of a
// product, and the collectives. On 4 ranks.
// SHOWN: docs
// RANKS: 4
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I", 4> {};
struct J : Index<"J", 4> {};
struct K : Index<"K", 4> {};
// docs: end

// docs: ring-names
struct R : Axis<"R", 4> {};  // all ranks in a row
struct N : Index<"N"> {};
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  bool const first = env.rank() == 0;
  int wrong = 0;
  auto const section = [&](char const* name) {
    if (first) std::printf("== %s\n", name);
  };
  auto const say = [&](std::string const& text) {
    if (first) std::printf("%s\n", text.c_str());
  };
  auto const holds = [&](bool fact, char const* what) {
    if (fact) return;
    ++wrong;
    std::printf("does not hold: %s\n", what);
  };

  section("mesh");
  // docs: mesh
  Mesh<X, Y> const mesh(env.world());
  say(std::to_string(env.size()) + " ranks, " + std::to_string(mesh.size_of<X>()) +
      " along X and " + std::to_string(mesh.size_of<Y>()) + " along Y");
  // docs: end

  section("split");
  // docs: split
  struct Row : Index<"Row", 1024> {};
  struct Column : Index<"Column", 1024> {};
  using Matrix = Tensor<float, Dim<Row, X>, Dim<Column, Y>>;
  auto const big = ones<Matrix>(mesh);
  visualize(big, "big");
  // docs: end

  section("blocks");
  // docs: blocks
  static_assert(bytes_per_rank<Matrix> == 1_MiB);  // of 4 MiB
  auto const rows = big.rows();
  say("rank 0 has rows " + std::to_string(rows[0].begin) + " to " +
      std::to_string(rows[0].end() - 1) + " and columns " + std::to_string(rows[1].begin) + " to " +
      std::to_string(rows[1].end() - 1));
  // docs: end

  section("all-blocks");
  // docs: all-blocks
  // A row for each rank: its first row, the one after its last; its first column, ...
  struct Rank : Index<"Rank"> {};
  struct Bound : Index<"Bound"> {};
  std::vector<std::int64_t> const bounds{rows[0].begin, rows[0].end(), rows[1].begin,
                                         rows[1].end()};
  print(from_function<std::int64_t, Dim<Rank, X, Y>, Dim<Bound>>(
      mesh, {4, 4},
      [&](std::int64_t, std::int64_t k) { return bounds[static_cast<std::size_t>(k)]; }));
  // docs: end

  section("elementwise");
  // docs: elementwise
  auto const s = sin(big).tensor();  // each rank its block; nothing is sent
  constexpr auto of_sin = plan([](auto const& m) { return sin(m).tensor(); }, type<Matrix>);
  static_assert(of_sin.collectives() == 0);
  // docs: end
  say(type_name(s));

  section("time");
  // docs: time
  auto const milliseconds = [](auto const& m) {
    double const begin = MPI_Wtime();
    for (int k = 0; k < 5; ++k) auto const result = sin(m).tensor();
    return std::to_string(1e3 / 5 * (MPI_Wtime() - begin));
  };
  auto const copies = ones<float, Dim<Row>, Dim<Column>>(mesh);  // each rank has all of it
  say(milliseconds(copies) + " ms for the whole matrix, " + milliseconds(big) +
      " ms where each rank has a block");
  // docs: end

  section("strategies");
  // docs: strategies
  visualize(zeros<float, Dim<I, X>, Dim<J, Y>>(mesh));
  visualize(zeros<float, Dim<I, Y>, Dim<J, X>>(mesh));
  visualize(zeros<float, Dim<I, X>, Dim<J>>(mesh));
  visualize(zeros<float, Dim<I>, Dim<J, Y>>(mesh));
  // docs: end

  // docs: values
  // A = 0, 1, ..., 15 and B = 16, 17, ..., 31
  auto const a_at = [](std::int64_t i, std::int64_t j) { return static_cast<float>(4 * i + j); };
  auto const b_at = [](std::int64_t j, std::int64_t k) {
    return static_cast<float>(16 + 4 * j + k);
  };
  auto const whole_a = from_function<float, Dim<I>, Dim<J>>(mesh, a_at);
  auto const whole_b = from_function<float, Dim<J>, Dim<K>>(mesh, b_at);
  auto const expected = matmul(whole_a, whole_b);
  // docs: end

  section("case-1");
  // docs: case-1
  auto const rows_of_a = reshard<Dim<I, X>, Dim<J>>(whole_a);     // a slice, free
  auto const columns_of_b = reshard<Dim<J>, Dim<K, Y>>(whole_b);  // a slice, free
  auto const c1 = matmul(rows_of_a, columns_of_b);
  say(explain(op::Matmul<>{}, rows_of_a, columns_of_b));
  visualize(c1, "C");
  // docs: end
  holds(array_equal(reshard<Dim<I>, Dim<K>>(c1), expected), "case 1");

  section("case-2");
  // docs: case-2
  auto const columns_of_a = reshard<Dim<I>, Dim<J, X>>(whole_a);
  // matmul(columns_of_a, whole_b) does not compile: C02
  auto const c2 = matmul(all_gather<X>(columns_of_a), whole_b);
  print(c2);
  // docs: end
  holds(array_equal(c2, expected), "case 2");

  section("case-2-blocks");
  // docs: case-2-blocks
  auto const by_hand = shard_map<Dim<I>, Dim<K>>(
      [](auto const& a, auto const& b) { return matmul(all_gather<X, J>(a), b); }, columns_of_a,
      whole_b);
  say(explain(op::AllGather<X>{}, columns_of_a));
  // docs: end
  holds(array_equal(by_hand, expected), "case 2 by blocks");

  section("case-2-named");
  // docs: case-2-named
  auto const named = matmul<Dim<I>, Dim<K>>(columns_of_a, whole_b);
  say(explain(op::Matmul<Dim<I>, Dim<K>>{}, columns_of_a, whole_b));
  // docs: end
  holds(array_equal(named, expected), "case 2, named");

  section("case-3");
  // docs: case-3
  auto const rows_of_b = reshard<Dim<J, X>, Dim<K>>(whole_b);
  auto const partial = matmul(columns_of_a, rows_of_b);  // each rank a part of every sum
  say(type_name(partial));
  auto const c3 = all_reduce<X>(partial);
  print(c3);
  // docs: end
  holds(array_equal(c3, expected), "case 3");

  section("case-3-halves");
  // docs: case-3-halves
  auto const scattered = reduce_scatter<X, I>(partial);  // half of an all_reduce
  auto const gathered = all_gather<X>(scattered);        // the other half
  say(explain(op::AllReduce<X>{}, partial));
  say(explain(op::ReduceScatter<X, I>{}, partial));
  say(explain(op::AllGather<X>{}, scattered));
  // docs: end
  holds(array_equal(gathered, c3), "an all_reduce is a reduce_scatter and an all_gather");

  section("case-4");
  // docs: case-4
  auto const also_over_x = reshard<Dim<J>, Dim<K, X>>(whole_b);
  // matmul(rows_of_a, also_over_x) does not compile: C04, X would split both dims of the result
  auto const gather_b = matmul(rows_of_a, all_gather<X>(also_over_x));
  auto const gather_a = matmul(all_gather<X>(rows_of_a), also_over_x);
  say(type_name(gather_b) + "\n" + type_name(gather_a));
  // docs: end
  holds(array_equal(reshard<Dim<I>, Dim<K>>(gather_b), expected), "case 4, B gathered");
  holds(array_equal(reshard<Dim<I>, Dim<K>>(gather_a), expected), "case 4, A gathered");

  section("collectives");
  // docs: collectives
  Mesh<R> const ring(env.world());
  std::vector<float> const numbers{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
  auto const v = from_host<float, Dim<N, R>>(ring, {16}, numbers);
  // each function gets a block of four numbers
  print(shard_map<Dim<N>>([](auto b) { return all_gather<R, N>(b); }, v));
  print(shard_map<Dim<N>>([](auto b) { return all_reduce<R>(b); }, v));
  print(shard_map<Dim<N, R>>([](auto b) { return reduce_scatter<R, N>(b); }, v));
  print(shard_map<Dim<N, R>>([](auto b) { return all_to_all<R, N, N>(b); }, v));
  // docs: end

  section("automatic");
  // docs: automatic
  auto const product = lazy(columns_of_a) * whole_b;
  auto const c5 = evaluate<Dim<I, X>, Dim<K, Y>>(mesh, product);
  say(explain(evaluate_to<Dim<I, X>, Dim<K, Y>>, mesh, product));
  // docs: end
  holds(array_equal(reshard<Dim<I>, Dim<K>>(c5), expected), "automatic");
  return wrong;
}
