// The same in a function that is traced, and what hangs on its plan.
// EXPECT: \[shardtype C01\] the operands share no index
// FORBID: error:.*error:
// MAX-LINES: 14
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I", 4096> {};
struct J : Index<"J", 4096> {};
struct K : Index<"K", 4096> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using V = Tensor<float, Dim<K>>;
using W = Tensor<float, Dim<J>>;

constexpr auto moves() {
#ifdef LEGAL
  return plan_traced<A, W>([](auto a, auto w) { return evaluate<Dim<I>>(matmul(a, w)); })
      .collectives();
#else
  return plan_traced<A, V>([](auto a, auto v) { return evaluate<Dim<I>>(matmul(a, v)); })
      .collectives();
#endif
}
