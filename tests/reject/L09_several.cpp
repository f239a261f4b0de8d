// Two types named for the results of three expressions.
// EXPECT: \[shardtype L09\] evaluate names other than one result for each expression
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto several(Mesh<X> const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Outs<A, A, A>>(mesh, std::tuple(lazy(a), lazy(a) * 2, lazy(a) + 1));
#else
  return evaluate<Outs<A, A>>(mesh, std::tuple(lazy(a), lazy(a) * 2, lazy(a) + 1));
#endif
}
