// The mesh has X only.
// EXPECT: \[shardtype M01\] the tensor type names a mesh axis that this Mesh does not have
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J, Y> ?>, shardtype::Mesh<X>, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
#endif

void make(Mesh<X> const& mesh) { (void)from_host<A>(mesh, {1, 1}, std::array{1.0f}); }
