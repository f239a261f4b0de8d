// The program of docs/tutorials/3_shardings_and_products.md and 4_solvers_and_transforms.md:
// shardings found from their pictures, a system of equations for each rank, and one that is split
// over all of them. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstdint>
#include <cstdio>
#include <string>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct All : Axis<"All", 8> {};
struct Half : Axis<"Half", 4> {};
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 16> {};
struct J : Index<"J", 16> {};
struct K : Index<"K", 16> {};
struct System : Index<"System", 8> {};
using Matrices = Tensor<double, Dim<System, All>, Dim<I>, Dim<J>>;
using Vectors = Tensor<double, Dim<System, All>, Dim<I>>;
// docs: end

// docs: basic-names
struct Rows : Axis<"a", 4> {};
struct Columns : Axis<"b", 2> {};
struct Any : Axis<"Any"> {};  // as many ranks as the mesh says
using Blocks = Tensor<float, Dim<I, Rows>, Dim<J, Columns>>;
static_assert(bytes_per_rank<Blocks> == 16 * 16 * sizeof(float) / 8);
// docs: end

// docs: cyclic-names
using Turns = Tensor<double, Dim<I>, Dim<J, Cyclic<All, 2>>>;
constexpr auto of_lu = plan(op::CyclicLu<I, J>{}, type<Turns>);
static_assert(of_lu.count(Collective::all_gather) == 0);
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

  section("row");
  // docs: row
  Mesh<All> const row(env.world());
  auto const a = normal<float, Dim<I, All>, Dim<J>>(row, RandomKey{0});
  visualize(a, "a");
  Mesh<Half> const half(env.world(), {4}, {0, 1, 2, 3});  // these ranks of the eight
  visualize(transfer<Dim<I, Half>, Dim<J>>(a, half), "a on four ranks");
  // docs: end

  section("alone");
  // docs: alone
  struct One : Axis<"One", 1> {};
  Mesh<One> const one(env.world());  // the first rank
  auto const alone = normal<float, Dim<I>, Dim<J>>(one, RandomKey{0});
  visualize(matmul(alone, normal<float, Dim<J>, Dim<K>>(one, RandomKey{1})), "a product");
  // docs: end

  section("transposed");
  // docs: transposed
  auto const b = reshard<Dim<I>, Dim<J, All>>(a);
  visualize(b, "b");
  auto const drawn = normal<float, Dim<I>, Dim<J, All>>(row, RandomKey{0});
  say(array_equal(b, drawn) ? "the same numbers" : "other numbers");
  // docs: end
  holds(array_equal(b, drawn), "numbers do not depend on the sharding");

  section("two");
  // docs: two
  Mesh<X, Y> const mesh(env.world());
  auto const c = transfer<Dim<I, X>, Dim<J, Y>>(a, mesh);
  visualize(c, "c");
  visualize(reshard<Dim<I, Y>, Dim<J, X>>(c), "d");
  // docs: end

  section("partial");
  // docs: partial
  struct P : Axis<"P", 2> {};
  struct Q : Axis<"Q", 2> {};
  Mesh<P, Q> const even(env.world(), {2, 2}, {0, 2, 4, 6});
  visualize(transfer<Dim<I, P>, Dim<J, Q>>(a, even), "e");
  Mesh<Y, X> const mixed(env.world(), {4, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  auto const f = transfer<Dim<I, Y>, Dim<J, X>>(a, mixed);
  visualize(f, "f");
  // docs: end
  holds(array_equal(transfer<Dim<I, All>, Dim<J>>(f, row), a), "no move changes a number");

  section("basic");
  // docs: basic
  Mesh<Rows, Columns> const grid(env.world());
  auto const x =
      from_function<Blocks>(grid, [](std::int64_t i, std::int64_t j) { return 16 * i + j; });
  auto const y = sin(x).tensor();  // computed where x is
  visualize(y, "y");
  // docs: end

  section("constrained");
  // docs: constrained
  auto const rows_of_x = constrain<Dim<I, Rows>, Dim<J>>(lazy(x));
  auto const times_transpose = rows_of_x * relabel<I, K>(rows_of_x);
  auto const gram = evaluate<Dim<I, Rows>, Dim<K, Columns>>(grid, times_transpose);
  say(explain(evaluate_to<Dim<I, Rows>, Dim<K, Columns>>, grid, times_transpose));
  // docs: end
  auto const whole_x = reshard<Dim<I>, Dim<J>>(x);  // integers: every order of sums is exact
  holds(array_equal(reshard<Dim<I>, Dim<K>>(gram), matmul(whole_x, relabel<I, K>(whole_x))),
        "the constrained product");

  section("scaling");
  // docs: scaling
  for (std::int64_t const ranks : {1, 2, 4, 8}) {
    Mesh<Any> const some(env.world(), {ranks});  // the first ones
    if (!some.here()) continue;
    auto const part = from_function<double, Dim<I, Any>, Dim<J>>(
        some, [](std::int64_t i, std::int64_t j) { return static_cast<double>(i * j % 7); });
    double const total = item(sum<Tensor<double>>(square(part)));
    say(std::to_string(ranks) + " ranks: " + std::to_string(total) + ", " +
        std::to_string(8 * part.local_size()) + " bytes on the first");
  }
  // docs: end

  section("solvers");
  // docs: solvers
  auto const as = normal<Matrices>(row, RandomKey{1});
  auto const bs = normal<Vectors>(row, RandomKey{2});
  auto const xs = linalg::solve<I, J>(as, bs);  // each rank its system
  static_assert(plan(op::Solve<I, J>{}, type<Matrices>, type<Vectors>).collectives() == 0);
  auto const by_hand = shard_map<Dim<System, All>, Dim<J>>(
      [](auto const& m, auto const& v) { return linalg::solve<I, J>(m, v); }, as, bs);
  say(type_name(xs) + (array_equal(by_hand, xs) ? ", by hand the same bits" : ""));
  // docs: end
  holds(allclose(einsum<System, I>(as, xs), bs, 1e-9, 1e-9), "A x = b of each system");
  holds(array_equal(by_hand, xs), "by hand the same bits");

  // docs: one-system
  auto const rows = normal<double, Dim<I, All>, Dim<J>>(row, RandomKey{3});
  auto const right = normal<double, Dim<I>>(row, RandomKey{4});
  auto const solution = linalg::solve<I, J, Dim<J, All>>(rows, right);
  // docs: end
  auto const whole = reshard<Dim<J>>(solution);
  holds(allclose(reshard<Dim<I>>(matmul(rows, whole)), right, 1e-9, 1e-9), "A x = b");

  section("lu");
  // docs: lu
  auto const columns = reshard<Turns>(rows);
  auto const once = linalg::solve<I, J>(columns, right);  // f64[J@All%2]
  auto const lu = linalg::lu_factor<I, J>(columns);
  auto const again = linalg::lu_solve<I, J>(lu, right);
  say(explain(op::CyclicLu<I, J>{}, columns));
  print(lu.pivots);
  // docs: end
  holds(allclose(reshard<Dim<J>>(once), whole, 1e-9, 1e-9), "both solutions agree");
  holds(allclose(reshard<Dim<J>>(again), whole, 1e-9, 1e-9), "the factors solve it too");
  return wrong == 0 ? 0 : 1;
}
