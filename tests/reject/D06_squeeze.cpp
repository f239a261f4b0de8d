// Not of extent 1.
// EXPECT: \[shardtype D06\] the static extents of the indices contradict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<One>, shardtype::Dim<Q> ?>, Q>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct One : Index<"One", 1> {};
struct Q : Index<"Q", 4> {};
using A = Tensor<float, Dim<One>, Dim<Q>>;

#ifdef LEGAL
using Gone = One;
#else
using Gone = Q;
#endif

void ask() { (void)plan(op::Squeeze<Gone>{}, type<A>); }
