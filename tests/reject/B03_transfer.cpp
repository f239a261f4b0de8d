// Blocks go to another mesh.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct P : Axis<"P", 4> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 16>>>;
#endif

void move(A const& a, Mesh<P> const& mesh) {
  auto b = transfer<Dim<I, P>>(a, mesh);
  (void)b.extent<I>();
}
