// A shard_map of automatic mode on more arguments than a value of a program reads.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto mapped(Mesh<X> const& mesh, A const& a) {
  auto const e = lazy(a);
  auto const first = [](auto b, auto...) { return b; };
#ifdef LEGAL
  return evaluate<Dim<I, X>>(mesh, shard_map<Dim<I, X>>(first, e, e, e, e, e, e, e, e));
#else
  return evaluate<Dim<I, X>>(mesh, shard_map<Dim<I, X>>(first, e, e, e, e, e, e, e, e, e));
#endif
}
