// To the other mesh they go as blocks, too.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, I, P>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct P : Axis<"P", 4> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using Out = Dim<I, P>;
#else
using Out = Dim<I, Cyclic<P, 16>>;
#endif

void move(A const& a, Mesh<P> const& mesh) { (void)transfer<Out>(a, mesh); }
