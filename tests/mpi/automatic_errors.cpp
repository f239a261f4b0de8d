// Errors of automatic mode at run time: every rank throws the same error, with the same text,
// before anything is sent, and the ranks can go on together.
// RANKS: 1 2 4
#include <cstdint>
#include <string>

#include <shardtype/shardtype.hpp>

#include "harness/call_text.hpp"
#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct Fixed : Index<"Fixed", 12> {};
struct Pair : Axis<"Pair", 2> {};

using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
using B = Tensor<float, Dim<J, Y>, Dim<K>>;

// The text of the Error that `run` throws on this rank. Checks that all ranks have the same text.
template <class Run>
std::string text_of(Run run) {
  std::string text = "none";
  try {
    run();
  } catch (Error const& e) {
    text = e.what();
    CHECK(e.where() == FailedOn::every_rank);
  }
  int size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string first = text;
  first.resize(static_cast<std::size_t>(size));
  MPI_Bcast(first.data(), size, MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(first == text);
  return text;
}

// The same of a call of evaluate, whose line the text ends with.
template <class Run>
std::string text_of_evaluate(Run run) {
  return harness::before_call(text_of(run), "evaluate", "automatic_errors.cpp");
}

A make_a(Mesh<X, Y> const& mesh, std::int64_t i, std::int64_t j) {
  return full<A>(mesh, {i, j}, 1.0F);
}

}  // namespace

TEST_CASE("an axis that a mesh without a type lacks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  runtime::MeshRef const some = mesh;
  A const a = make_a(mesh, 6, 4);
  CHECK(text_of_evaluate([&] { evaluate<Dim<I, Z>, Dim<J>>(some, lazy(a) + 1); }) ==
        "[shardtype E13] the mesh has no axis Z; it has X, Y: name one of these, or make the mesh "
        "with that "
        "axis too");
  Mesh<Z> const other(MPI_COMM_WORLD, {on_ranks::rank_total()});
  runtime::MeshRef const line = other;
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<J>>(line, lazy(a) + 1); }) ==
        "[shardtype E13] the mesh has no axis X; it has Z: name one of these, or make the mesh "
        "with that axis "
        "too");
  CHECK(on_ranks::wrong(evaluate<Dim<I>, Dim<J, X>>(some, lazy(a) + 1),
                        [](auto...) { return 2.0F; }) == 0);
}

TEST_CASE("tensors of two meshes") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const twin = on_ranks::two_axes<X, Y>();
  A const a = make_a(mesh, 6, 4);
  A const b = make_a(twin, 6, 4);
  std::string const text =
      "[shardtype E23] the operands live on two meshes; tensors of two meshes do not mix";
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) + b); }) == text);
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<J>>(mesh, lazy(b) + b); }) == text);
  CHECK(on_ranks::wrong(evaluate<Dim<I>, Dim<J>>(twin, lazy(b) + b),
                        [](auto...) { return 2.0F; }) == 0);
}

TEST_CASE("extents that differ") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  A const a = make_a(mesh, 6, 4);
  A const b = make_a(mesh, 6, 5);
  B const c = full<B>(mesh, {7, 3}, 1.0F);
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<J>>(mesh, lazy(a) + b); }) ==
        "[shardtype E24] index J has extent 5 in one tensor of the expression, elsewhere 4");
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<K>>(mesh, lazy(a) * c); }) ==
        "[shardtype E24] index J has extent 7 in one tensor of the expression, elsewhere 4");
  CHECK(text_of_evaluate([&] { evaluate<Dim<Fixed>, Dim<J>>(mesh, relabel<I, Fixed>(lazy(a))); }) ==
        "[shardtype E24] index Fixed is given to a dim of another extent by relabel; it has extent "
        "12");
}

TEST_CASE("a memory limit that no plan keeps to") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  A const a = make_a(mesh, 64, 32);
  B const b = full<B>(mesh, {32, 16}, 1.0F);
  auto const product = lazy(a) * b;
  auto const text =
      text_of_evaluate([&] { evaluate<Dim<I>, Dim<K>>(mesh, product, MemoryLimit<1000>{}); });
  // the whole result, 64 x 16, takes more than the limit on every rank
  CHECK(text.starts_with(
      "[shardtype E69] no plan of the expression keeps to 1000 bytes of temporaries on a "
      "rank; the fastest one takes "));
  CHECK(std::stoll(text.substr(text.rfind(' '))) >= 64 * 16 * 4);
  auto const c = evaluate<Dim<I>, Dim<K>>(mesh, product, MemoryLimit<1'000'000>{});
  CHECK(on_ranks::wrong(c, [](auto...) { return 32.0F; }) == 0);
}

TEST_CASE("one share that was run twice") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  A const a = make_a(mesh, 6, 4);
  A const b = make_a(mesh, 6, 4);
  auto const twice = [](A const& t) { return share(lazy(t) * 2); };
  CHECK(text_of_evaluate([&] { evaluate<Dim<I>, Dim<J>>(mesh, twice(a) + twice(b)); }) ==
        "[shardtype E70] one share(...) of the program text was run twice, and both values stand "
        "in one "
        "expression; give each a tag of its own: share<struct First>(a)");
  // one value of it may be read several times, also by its copies
  auto const once = twice(a);
  auto const copy = once;
  auto const sum = evaluate<Dim<I>, Dim<J>>(mesh, once + copy * once);
  CHECK(on_ranks::wrong(sum, [](auto...) { return 6.0F; }) == 0);
}

TEST_CASE("sizes of a dry run") {
  auto const f = [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); };
  auto run = [&] { return dry_run<A, B>(f); };
  CHECK(text_of([&] { run().extent<I>(8).extent<K>(8).ranks<X>(2).ranks<Y>(2).planned(); }) ==
        "[shardtype E71] the size of index J is open; give it with extent<J>(n)");
  CHECK(text_of([&] { run().extent<I>(8).extent<J>(8).extent<K>(8).ranks<X>(2).planned(); }) ==
        "[shardtype E71] the size of axis Y is open; give it with ranks<Y>(n)");
  CHECK(text_of([&] { run().ranks<Z>(2); }) == "[shardtype E71] the program has no axis Z");
  CHECK(text_of([&] { run().extent<Fixed>(2); }) ==
        "[shardtype E71] the program has no index Fixed");
  CHECK(text_of([&] { run().extent<I>(-1); }) == "[shardtype E71] index I cannot have size -1");
  CHECK(text_of([&] { run().ranks<X>(0); }) == "[shardtype E71] axis X cannot have size 0");
  CHECK(text_of([&] { run().extent<I>(8).extent<I>(9); }) ==
        "[shardtype E71] index I cannot have size 9: it has 8");
  auto const turned = dry_run<A>([](auto a) { return evaluate<Dim<K>, Dim<J>>(relabel<I, K>(a)); });
  CHECK(text_of([&] {
          auto t = turned;
          t.extent<I>(8).extent<K>(9).extent<J>(2).ranks<X>(2).ranks<Y>(2).planned();
        }) ==
        "[shardtype E71] index K is given to a dim of another extent by relabel; it has extent 9");
  {
    auto t = turned;
    t.extent<I>(8).extent<J>(6).ranks<X>(2).ranks<Y>(1);
    CHECK(t.planned().plan.block_bytes(t.planned().plan.size - 1) == 8 * 6 * 4);
  }
  using C = Tensor<float, Dim<Fixed, Pair>>;
  auto const g = [](auto c) { return evaluate<Dim<Fixed>>(c + 1); };
  CHECK(text_of([&] { dry_run<C>(g).extent<Fixed>(8); }) ==
        "[shardtype E71] index Fixed cannot have size 8: it has 12");
  CHECK(text_of([&] { dry_run<C>(g).ranks<Pair>(3); }) ==
        "[shardtype E71] axis Pair cannot have size 3: it has 2");
  CHECK(dry_run<C>(g).extent<Fixed>(12).ranks<Pair>(2).planned().plan.possible);
  CHECK_FALSE(run()
                  .extent<I>(64)
                  .extent<J>(64)
                  .extent<K>(64)
                  .ranks<X>(2)
                  .ranks<Y>(2)
                  .within(64)
                  .planned()
                  .plan.possible);
}
