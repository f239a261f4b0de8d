// A dry run whose result lacks an index, and what hangs on it.
// EXPECT: \[shardtype L07\] the result that evaluate names has other indices than the expression
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

auto moves() {
#ifdef LEGAL
  return dry_run<A, B>([](auto a, auto b) { return evaluate<Dim<I>, Dim<K>>(a * b); })
      .extent<I>(8)
      .ranks<Y>(4)
      .planned()
      .seconds();
#else
  return dry_run<A, B>([](auto a, auto b) { return evaluate<Dim<I>>(a * b); })
      .extent<I>(8)
      .ranks<Y>(4)
      .planned()
      .seconds();
#endif
}
