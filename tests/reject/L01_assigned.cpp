// An expression is assigned to a tensor.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// EXPECT: LazyTensor<shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?> ?>
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

void assign(M const& mesh, A const& a, A& b) {
#ifdef LEGAL
  b = evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) + 1);
#else
  static_cast<void>(mesh);
  b = lazy(a) + 1;
#endif
}
