// The tensor on the other mesh has K where this one has J.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct P : Axis<"P", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<J, P>, Dim<I>>;
#else
using Out = Tensor<float, Dim<I, P>, Dim<K>>;
#endif

void move(A const& a, Mesh<P> const& mesh) { (void)transfer<Out>(a, mesh); }
