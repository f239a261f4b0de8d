// The program of docs/concepts.md: meshes, shardings, unreduced values, and the four ways to write
// a computation, with the pictures that the library draws. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 8> {};
struct J : Index<"J", 12> {};
struct K : Index<"K", 4> {};
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  // docs: mesh
  Mesh<X, Y> const mesh(env.world());
  // docs: end
  bool const first = env.rank() == 0;
  auto const section = [&](char const* name) {
    if (first) std::printf("== %s\n", name);
  };
  auto const say = [&](std::string const& text) {
    if (first) std::printf("%s\n", text.c_str());
  };
  int wrong = 0;
  auto const holds = [&](bool fact, char const* what) {
    if (fact) return;
    ++wrong;
    std::printf("does not hold: %s\n", what);
  };

  section("mesh");
  // docs: mesh-picture
  visualize(full<float, Dim<I, X>, Dim<J, Y>>(mesh, 1.0F));
  // docs: end

  section("replicated");
  // docs: replicated
  visualize(full<float, Dim<I>, Dim<J>>(mesh, 1.0F));
  // docs: end

  section("split");
  // docs: split
  visualize(full<float, Dim<I, X>, Dim<J>>(mesh, 1.0F));
  // docs: end

  section("split-twice");
  // docs: split-twice
  visualize(full<float, Dim<I, X, Y>, Dim<J>>(mesh, 1.0F));
  // docs: end

  // docs: values
  auto const a = from_function<float, Dim<I, X>, Dim<J, Y>>(
      mesh, [](std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5); });
  auto const b = from_function<float, Dim<J, Y>, Dim<K>>(
      mesh, [](std::int64_t j, std::int64_t k) { return static_cast<float>((3 * j + k) % 4); });
  // docs: end

  section("unreduced");
  // docs: unreduced
  auto const rows = sum<J>(a);  // every rank adds up the columns that it has
  say(type_name(rows));
  auto const total = all_reduce<Y>(rows);  // the ranks along Y add up what they have
  say(type_name(total));
  // docs: end

  section("strict");
  // docs: strict
  auto const c = matmul(a, b);  // nothing is sent
  static_assert(std::is_same_v<std::remove_const_t<decltype(c)>,
                               Tensor<float, Dim<I, X>, Dim<K>, Unreduced<Y>>>);
  say(explain(op::Matmul<>{}, a, b));
  // docs: end

  section("named");
  // docs: named
  auto const d = matmul<Dim<I, X>, Dim<K, Y>>(a, b);
  say(explain(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b));
  // docs: end

  section("manual");
  // docs: manual
  auto const e = shard_map<Dim<I, X>, Dim<K>>(
      [](auto const& p, auto const& q) { return all_reduce<Y>(matmul(p, q)); }, a, b);
  say(type_name(e));
  // docs: end
  holds(array_equal(reshard<Dim<I, X>, Dim<K>>(d), e), "named and manual agree");

  section("automatic");
  // docs: automatic
  auto const expression = exp(lazy(a) * b);
  auto const f = evaluate<Dim<I, X>, Dim<K, Y>>(mesh, expression);
  say(explain(evaluate_to<Dim<I, X>, Dim<K, Y>>, mesh, expression));
  // docs: end
  holds(allclose(f, exp(d), 1e-6, 0.0), "automatic and named agree");

  section("asserted");
  // docs: asserted
  static_assert(plan(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b).count(Collective::all_gather) == 0);
  static_assert(plan(op::Matmul<>{}, a, b).collectives() == 0);
  // docs: end
  say("checked by the compiler");
  return wrong;
}
