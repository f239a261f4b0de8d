// Nor does a transfer make a value unreduced.
// EXPECT: \[shardtype R02\] .*never makes a replicated value unreduced
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, P>
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
using Out = Tensor<float, Dim<I>, Reduced<P>>;
#else
using Out = Tensor<float, Dim<I>, Unreduced<P>>;
#endif

void move(A const& a, Mesh<P> const& mesh) { (void)plan_transfer<Out>(a, mesh); }
