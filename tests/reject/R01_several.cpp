// One of several results is named with an index that its expression lacks.
// EXPECT: \[shardtype R01\]
// MAX-LINES: 12
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#ifdef LEGAL
using Sums = Tensor<float, Dim<I>>;
#else
using Sums = Tensor<float, Dim<J>>;
#endif

auto several(Mesh<X> const& mesh, A const& a) {
  return evaluate<Outs<A, Sums>>(mesh, std::tuple(lazy(a) * 2, sum<J>(lazy(a))));
}
