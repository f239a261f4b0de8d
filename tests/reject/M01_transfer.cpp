// The other mesh has P only; X is an axis of the mesh that the tensor comes from.
// EXPECT: \[shardtype M01\] the tensor type names a mesh axis that this Mesh does not have
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Mesh<P>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct P : Axis<"P", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<I, P>, Dim<J>>;
#else
using Out = Tensor<float, Dim<I, X>, Dim<J>>;
#endif

void move(A const& a, Mesh<P> const& mesh) { (void)transfer<Out>(a, mesh); }
