// Reading an expression that is not evaluated yet.
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

auto total(M const& mesh, A const& a) {
#ifdef LEGAL
  return item(evaluate<>(mesh, sum(lazy(a))));
#else
  static_cast<void>(mesh);
  return item(sum(lazy(a)));
#endif
}
