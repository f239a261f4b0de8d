// An iteration, V <- V · B, that sends nothing: a step is local, and its result has the sharding of
// its operand. The compiler checks both. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 64> {};
struct P : Index<"P", 96> {};
struct Q : Index<"Q", 96> {};  // B's other index; relabel gives the product V's type again

// docs: types
// The rows of V are split over all ranks. B is given in blocks (Given); the step needs it
// replicated (Whole), so B is gathered once.
using V = Tensor<double, Dim<I, X, Y>, Dim<P>>;
using Given = Tensor<double, Dim<P, X>, Dim<Q, Y>>;
using Whole = Tensor<double, Dim<P>, Dim<Q>>;
// docs: end

// docs: step
// A strict step sends nothing, and its result type is inferred. The assert checks that it is V
// again.
auto strict_step(auto const& v, auto const& b) { return relabel<Q, P>(matmul(v, b)); }
template <class From>
using After = decltype(strict_step(std::declval<From const&>(), std::declval<Whole const&>()));
static_assert(same_spec<V, After<V>>);
// docs: end
// A V that is unreduced over Y keeps its type, too: a product is linear, so the reduction can
// follow the last step.
using Summand = Tensor<double, Dim<I, X>, Dim<P>, Unreduced<Y>>;
static_assert(same_spec<Summand, After<Summand>>);

// docs: automatic
// In automatic mode the sharding of the result is named, and the plan contains the necessary
// collectives.
template <class B>
constexpr auto step_plan =
    plan_traced<V, B>([](auto v, auto b) { return evaluate<V>(relabel<Q, P>(v * b)); });
static_assert(step_plan<Whole>.collectives() == 0 && step_plan<Whole>.bytes_per_rank() == 0);
static_assert(step_plan<Given>.collectives() == 2);  // gathers B over Y and X, in every step
// docs: end
constexpr auto gather_plan =
    plan(op::Reshard<Whole>{}, type<Given>);  // once, before the first step

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  constexpr int steps = 20;

  // A step smooths each row. The values are sums of few powers of two, which double represents
  // exactly.
  auto const first =
      from_function<V>(mesh, [](std::int64_t i, std::int64_t p) { return (i * 11 + p * p) % 8; });
  auto const given = from_function<Given>(mesh, [](std::int64_t p, std::int64_t q) {
    std::int64_t const apart = (q - p + 96) % 96;
    return apart == 0 ? 0.5 : apart == 1 || apart == 95 ? 0.25 : 0.0;
  });
  auto const b = reshard<Whole>(given);

  auto strict = first;
  auto automatic = first;
  for (int k = 0; k < steps; ++k) {
    strict = strict_step(strict, b);
    automatic = evaluate<V>(mesh, relabel<Q, P>(lazy(automatic) * b));
  }

  std::vector<double> v = to_host(first);
  for (int k = 0; k < steps; ++k) {
    std::vector<double> next(v.size());
    for (std::size_t row = 0; row < v.size(); row += 96)
      for (std::size_t p = 0; p < 96; ++p)
        next[row + p] = v[row + (p + 95) % 96] / 4 + v[row + p] / 2 + v[row + (p + 1) % 96] / 4;
    v = next;
  }
  if (to_host(strict) != v || to_host(automatic) != v)
    throw Error("example", "the iterations differ", FailedOn::every_rank);

  auto const print = [&](char const* what, std::int64_t bytes) {
    if (env.rank() == 0)
      std::printf("%-32s %8lld bytes per rank\n", what, static_cast<long long>(bytes));
  };
  if (env.rank() == 0) std::printf("== bytes\n");
  print("twenty steps, B as it is given", steps * step_plan<Given>.bytes_per_rank());
  print("twenty steps, B whole", steps * step_plan<Whole>.bytes_per_rank());
  print("to make B whole", gather_plan.bytes_per_rank());
}
