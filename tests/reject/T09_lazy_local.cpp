// A block of manual mode together with an expression.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// FORBID: error:.*error:
// MAX-LINES: 14
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto twice(A const& a) {
#ifdef LEGAL
  return shard_map<Dim<I, X>, Dim<J>>([&](auto block) { return block + block; }, a);
#else
  return shard_map<Dim<I, X>, Dim<J>>([&](auto block) { return block + lazy(a); }, a);
#endif
}
