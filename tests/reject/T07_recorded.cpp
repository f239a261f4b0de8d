// An operation of automatic mode on more operands than a value of a program reads.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto joined(Mesh<X> const& mesh, A const& a) {
  auto const e = lazy(a);
#ifdef LEGAL
  return evaluate<Dim<I, X>, Dim<J>>(mesh, concat<J>(e, e, e, e, e, e, e, e));
#else
  return evaluate<Dim<I, X>, Dim<J>>(mesh, concat<J>(e, e, e, e, e, e, e, e, e));
#endif
}
