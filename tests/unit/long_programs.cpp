// Programs of automatic mode with plans of hundreds of steps, of sizes that the types determine and
// of sizes given at run time; and a plan that is too long.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using planning::Collective;
using planning::ProgramStep;

namespace {

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct W : Axis<"W"> {};

struct SI : Index<"I", 64> {};
struct SJ : Index<"J", 64> {};
struct SK : Index<"K", 64> {};
struct SX : Axis<"X", 2> {};
struct SY : Axis<"Y", 2> {};
struct SZ : Axis<"Z", 2> {};

/// An expression that goes to and fro between two shardings, `N` times: several moves each time.
template <int N, class There, class Back, class E>
auto hops(E const& e) {
  if constexpr (N == 0) {
    return e;
  } else if constexpr (N % 2 == 1) {
    return hops<N - 1, There, Back>(constrain<There>(e));
  } else {
    return hops<N - 1, There, Back>(constrain<Back>(e));
  }
}

/// Whether each step reads earlier ones, each move begins at the sharding where its operand is, and
/// the last step is the result.
bool holds_together(ProgramPlan const& p) {
  bool good = p.size > 0 && p.steps[p.size - 1].node == p.program.root &&
              p.steps[p.size - 1].layout == p.program.wanted;
  for (int k = 0; k < p.size; ++k) {
    ProgramStep const& s = p.steps[k];
    for (int m = 0; m < s.inputs; ++m) good = good && s.input[m] >= 0 && s.input[m] < k;
    for (int j = 0; j < k; ++j)  // no value is brought to one sharding twice
      good = good && !(p.steps[j].node == s.node && p.steps[j].layout == s.layout);
    if (s.kind == ProgramStep::Kind::move)
      good = good && p.steps[s.input[0]].node == s.node && p.move(k).before != p.move(k).after;
  }
  return good;
}

using From = Tensor<float, Dim<SI, SX, SY, SZ>, Dim<SJ>, Dim<SK>>;
using There = Tensor<float, Dim<SI, SZ, SX>, Dim<SJ, SY>, Dim<SK>>;
using Back = Tensor<float, Dim<SI, SY>, Dim<SJ>, Dim<SK, SX, SZ>>;

}  // namespace

TEST_CASE("a constant plan of more than 256 steps") {
  constexpr auto few =
      plan_traced<From>([](auto a) { return evaluate<From>(hops<2, There, Back>(a)); });
  constexpr auto many =
      plan_traced<From>([](auto a) { return evaluate<From>(hops<66, There, Back>(a)); });
  static_assert(many.size > 256);
  // begins and ends as the short one; each further pair of hops sends the same
  constexpr auto more =
      plan_traced<From>([](auto a) { return evaluate<From>(hops<4, There, Back>(a)); });
  static_assert(many.collectives() ==
                few.collectives() + 32 * (more.collectives() - few.collectives()));
  static_assert(many.collectives() > 100);
  static_assert(many.peak_bytes() == few.peak_bytes());
  CHECK(holds_together(many));
  CHECK(many.bytes_per_rank() > 33 * few.bytes_per_rank() / 2);
}

TEST_CASE("plans of hundreds of steps, at run time") {
  using From4 = Tensor<float, Dim<I, Y>, Dim<J, X>, Dim<K, Z>>;
  using There4 = Tensor<float, Dim<I, W>, Dim<J, Z>, Dim<K, X>>;
  Machine m;
  m.latency = 1e-12;  // then many small steps pay
  auto const sized = [&](auto run) {
    return run.template extent<I>(3)
        .template extent<J>(16)
        .template extent<K>(24)
        .template ranks<X>(4)
        .template ranks<Y>(3)
        .template ranks<Z>(4)
        .template ranks<W>(4)
        .on(m)
        .planned();
  };
  PlannedProgram const one =
      sized(dry_run<From4>([](auto a) { return evaluate<From4>(hops<2, There4, From4>(a)); }));
  PlannedProgram const long_one =
      sized(dry_run<From4>([](auto a) { return evaluate<From4>(hops<90, There4, From4>(a)); }));
  CHECK(long_one.plan.size > 800);
  CHECK(long_one.plan.collectives() >= 44 * one.plan.collectives());
  CHECK(holds_together(long_one.plan));
  std::string const text = explain(long_one);
  CHECK(std::count(text.begin(), text.end(), '\n') ==
        long_one.plan.size + 2);  // all but the operand
  CHECK(to_json(long_one).size() > text.size());

  PlannedProgram const longest =
      sized(dry_run<From4>([](auto a) { return evaluate<From4>(hops<126, There4, From4>(a)); }));
  CHECK(longest.plan.size > 1100);
  CHECK(longest.plan.collectives() >= 62 * one.plan.collectives());
  CHECK(holds_together(longest.plan));
}

namespace {

template <int N>
struct At : Index<"At"> {};
#define SHARDTYPE_TEST_INDEX(n) \
  template <>                   \
  struct At<n> : Index<"At" #n> {};
SHARDTYPE_TEST_INDEX(0)
SHARDTYPE_TEST_INDEX(1)
SHARDTYPE_TEST_INDEX(2)
SHARDTYPE_TEST_INDEX(3)
SHARDTYPE_TEST_INDEX(4)
SHARDTYPE_TEST_INDEX(5)
SHARDTYPE_TEST_INDEX(6)
SHARDTYPE_TEST_INDEX(7)
SHARDTYPE_TEST_INDEX(8)
SHARDTYPE_TEST_INDEX(9)
SHARDTYPE_TEST_INDEX(10)
SHARDTYPE_TEST_INDEX(11)
SHARDTYPE_TEST_INDEX(12)
SHARDTYPE_TEST_INDEX(13)
SHARDTYPE_TEST_INDEX(14)
template <int N>
using Factor = Tensor<float, Dim<At<N>, X>, Dim<At<N + 1>>>;

}  // namespace

TEST_CASE("a chain of fourteen factors") {
  [&]<int... N>(std::integer_sequence<int, N...>) {
    auto run = dry_run<Factor<N>...>(
        [](auto... factor) { return evaluate<Dim<At<0>, X>, Dim<At<14>>>((... * factor)); });
    // the smallest extent is in the middle: the chain is cut there
    (run.template extent<At<N>>(N == 7 ? 2 : 64), ...);
    PlannedProgram const p = run.template extent<At<14>>(64).template ranks<X>(2).planned();
    CHECK(p.plan.possible);
    CHECK(p.plan.program.size == 105);
    int products = 0;
    for (ProgramStep const& s : p.plan)
      products += s.kind == ProgramStep::Kind::make &&
                          p.plan.program.nodes[s.node].making == planning::Making::product
                      ? 1
                      : 0;
    CHECK(products == 13);
    // 6 products by a matrix of two columns on each side, and the outer product
    CHECK(p.plan.flops() <= 2 * (2 * 6 * 64 * 64 * 2 + 64 * 64 * 2));
  }(std::make_integer_sequence<int, 14>{});
}

namespace {

template <int N>
struct Text {
  char text[4] = {'N', '0' + N / 10, '0' + N % 10, 0};
};
template <int N>
struct Named : Index<core::FixedString(Text<N>().text), 2> {};
template <int>
struct Tag;
using Six =
    Tensor<float, Dim<SI, SX>, Dim<SJ>, Dim<SK>, Dim<Named<0>>, Dim<Named<1>>, Dim<Named<2>>>;

/// Reads its operands anew at each of R times, in six dims each.
template <int R>
auto often(auto const& a, auto const& b) {
  auto const here =
      sum<SJ, SK, Named<0>, Named<1>, Named<2>>(constrain<Six>(a * static_cast<float>(R)) * b);
  if constexpr (R == 0) {
    return here;
  } else {
    return here + often<R - 1>(a, b);
  }
}
template <int R>
auto marked(auto const& a) {
  if constexpr (R == 0) {
    return exp(a);
  } else {
    return share<Tag<R>>(marked<R - 1>(a));
  }
}
template <int... N>
auto total_of(std::integer_sequence<int, N...>) {
  return dry_run<Tensor<float, Dim<Named<2 * N>>, Dim<Named<2 * N + 1>>>...>(
      [](auto... a) { return evaluate<>((sum(exp(a)) + ...)); });
}

}  // namespace

TEST_CASE("programs of many dims, indices, marks and values") {
  PlannedProgram const dims = dry_run<Six, Six>([](auto a, auto b) {
                                return evaluate<Dim<SI, SX>>(often<40>(a, b));
                              }).planned();
  CHECK(dims.plan.program.size > 128);
  CHECK(dims.plan.possible);
  CHECK(dims.plan.collectives() == 0);
  PlannedProgram const marks = dry_run<Tensor<float, Dim<SI, SX>, Dim<SJ>>>([](auto a) {
                                 return evaluate<Dim<SI>, Dim<SJ>>(marked<40>(a));
                               }).planned();
  CHECK(marks.plan.collectives() == 1);
  // eight operands to a kernel: seventy-two indices in nine kernels
  PlannedProgram const indices = total_of(std::make_integer_sequence<int, 36>{}).planned();
  CHECK(indices.plan.program.labels == 72);
  CHECK(indices.plan.possible);
  CHECK(indices.plan.collectives() == 0);
}
