// A dry run of a function that evaluates nothing, and what hangs on it.
// EXPECT: \[shardtype L05\] plan_traced and dry_run plan what evaluate names
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

auto moves() {
#ifdef LEGAL
  return dry_run<A, B>([](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
      .extent<I>(8)
      .planned()
      .plan.collectives();
#else
  return dry_run<A, B>([](auto, auto) {}).extent<I>(8).planned().plan.collectives();
#endif
}
