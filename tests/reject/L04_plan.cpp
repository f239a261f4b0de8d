// The same of a plan.
// EXPECT: \[shardtype L04\] no plan of the expression keeps to the memory limit
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
struct Small {
  static constexpr std::int64_t memory_limit = 1000;
};

constexpr int moves() {
#ifdef LEGAL
  return plan_traced<A, B>([](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); })
      .collectives();
#else
  return plan_traced<A, B>(
             [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b, Small{}); })
      .collectives();
#endif
}
