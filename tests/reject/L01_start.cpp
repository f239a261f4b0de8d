// A collective of an expression, started.
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

auto gathered(M const& mesh, A const& a) {
#ifdef LEGAL
  return start(op::AllGather<X>{}, evaluate<Dim<I, X>, Dim<J>>(mesh, lazy(a) + 1)).wait();
#else
  static_cast<void>(mesh);
  return start(op::AllGather<X>{}, lazy(a) + 1);
#endif
}
