// A traced function that evaluates nothing.
// EXPECT: \[shardtype L05\] plan_traced and dry_run plan what evaluate names
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I", 4096> {};
struct J : Index<"J", 4096> {};
struct K : Index<"K", 4096> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

constexpr int moves() {
#ifdef LEGAL
  return plan_traced<A, B>([](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
      .collectives();
#else
  return plan_traced<A, B>([](auto a, auto b) { return a * b; }).collectives();
#endif
}
