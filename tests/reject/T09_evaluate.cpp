// What is no tensor, evaluated.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
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

auto twice(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>, Dim<J>>(mesh, a);
#else
  static_cast<void>(a);
  return evaluate<Dim<I>, Dim<J>>(mesh, 3);
#endif
}
