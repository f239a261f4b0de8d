// An expression into a tensor that is there.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void add(M const& mesh, A& a) {
#ifdef LEGAL
  a += evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) * 2);
#else
  static_cast<void>(mesh);
  a += lazy(a) * 2;
#endif
}
