// A tensor that is still unreduced does not go to another mesh.
// EXPECT: \[shardtype A02\] .*still unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Unreduced<Y> ?>, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct P : Axis<"P", 4> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X, Y>>;
#else
using A = Tensor<float, Dim<I, X>, Unreduced<Y>>;
#endif

void move(A const& a, Mesh<P> const& mesh) {
  auto b = transfer<Dim<I, P>>(a, mesh);
  (void)b.extent<I>();
}
